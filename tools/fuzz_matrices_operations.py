"""Operations on components and whole matrices in numpy, as the language defines them, without coopmat.

Matrices are arrays of the shape (subgroups, rows, columns). Floating-point results that the language leaves to the
implementation must not occur: an operation whose result is not exact raises InexactError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from fuzz_matrices_types import (
    DOUBLE,
    FLOAT,
    Array,
    Component,
    round_to_integers,
    round_values,
)


class InexactError(Exception):
    """Raised for a program whose result is not fully defined, by an error of the generator or of the reducer."""


def settle(component: Component, values: Array) -> Array:
    """Return the exact result of an operation, rounded to a floating-point component type."""
    if component.kind == "small":
        if not np.array_equal(round_values(FLOAT, values), values):
            raise InexactError(component.name)
        return round_values(component, values)
    rounded = round_values(component, values)
    if not np.array_equal(rounded, values) or not np.isfinite(values).all():
        raise InexactError(component.name)
    if component is DOUBLE and np.abs(values).max(initial=0) > 2**50:
        raise InexactError(component.name)
    return rounded


def convert(source: Component, target: Component, values: Array, mode: str = "", saturate: bool = False) -> Array:
    """Return converted components; the rounding mode "" is the default of the conversion."""
    if not source.floating and not target.floating:
        if not saturate:
            return values.astype(target.dtype)
        exact = np.clip(values.astype(object), target.low, target.high)
        return exact.astype(target.dtype)
    if target.floating:
        if not source.floating and np.abs(values.astype(object)).max(initial=0) > 2**53:
            raise InexactError("a wide integer")
        result = round_values(target, values.astype(np.float64), mode or "rte", saturate)
        if not np.isfinite(result).all():
            raise InexactError("out of range")
        return result
    if not saturate and values.size:
        whole = np.trunc(values)
        if whole.max() > target.high or whole.min() < target.low:
            raise InexactError("out of range")
    return round_to_integers(target, values, mode or "rtz", saturate)


def _divide_integers(a: Array, b: Array) -> Array:
    """Divide integers and round towards zero."""
    exact_a, exact_b = a.astype(object), b.astype(object)
    if (exact_b == 0).any():
        raise InexactError("division by zero")
    quotient = abs(exact_a) // abs(exact_b)
    return np.where((exact_a < 0) != (exact_b < 0), -quotient, quotient)


def arithmetic(component: Component, op: str, a: Array, b: Array) -> Array:
    """Return the component-wise result of an operator; integers wrap."""
    if not component.floating:
        if op == "/":
            return wrap(component, _divide_integers(a, b))
        with np.errstate(over="ignore"):
            result: Array = {"+": np.add, "-": np.subtract, "*": np.multiply}[op](a, b)
        return result.astype(component.dtype)
    if op == "/" and (b == 0).any():
        raise InexactError("division by zero")
    function: Any = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op]
    if op == "/" and not (np.frexp(b)[0] ** 2 == 0.25).all():
        raise InexactError("a quotient")
    return settle(component, function(a, b))


def wrap(component: Component, exact: Array) -> Array:
    """Return exact integers (Python's) modulo 2**N."""
    mask = (1 << component.bits) - 1
    size = 1 << component.bits
    flat = [int(v) & mask for v in np.asarray(exact, object).ravel()]
    values = [v - size if v > component.high else v for v in flat]
    return np.array(values, component.dtype).reshape(np.shape(exact))


def negate(component: Component, x: Array) -> Array:
    """Return the negation; integers wrap."""
    if component.floating:
        return -x
    return arithmetic(component, "-", np.zeros_like(x), x)


def _reinterpret(component: Component, x: Array, signed: bool) -> Array:
    """Return the components' bits, read as signed or unsigned, as integers of 64 bits."""
    kind = np.dtype(f"{'i' if signed else 'u'}{component.bits // 8}")
    return x.view(kind).astype(np.int64 if signed else np.uint64).astype(np.uint64)


def multiply_add(kinds: tuple[Component, Component, Component], a: Array, b: Array, c: Array, mask: int) -> Array:
    """Return a b + c; the mask has the bits of the operands argument."""
    result = kinds[2]
    if result.floating:
        return settle(result, np.matmul(a, b) + c)
    left, right = _reinterpret(kinds[0], a, bool(mask & 1)), _reinterpret(kinds[1], b, bool(mask & 2))
    products = np.zeros(c.shape, np.uint64)
    with np.errstate(over="ignore"):
        for k in range(a.shape[2]):
            products += left[:, :, k : k + 1] * right[:, k : k + 1, :]
        wrapped = products + _reinterpret(result, c, bool(mask & 4))
    if not mask & 16:
        kind = np.dtype(f"u{result.bits // 8}")
        return wrapped.astype(kind).view(result.dtype)
    return _saturated(result, products, _reinterpret(result, c, bool(mask & 4)), mask)


def _saturated(component: Component, products: Array, c: Array, mask: int) -> Array:
    """Return c plus sums of products that fit, saturated by the result's sign."""
    signed = bool(mask & 8)
    low = -(1 << (component.bits - 1)) if signed else 0
    high = (1 << (component.bits - 1)) - 1 if signed else (1 << component.bits) - 1
    exact = products.view(np.int64).astype(object)
    if exact.size and (max(exact.ravel()) > high or min(exact.ravel()) < low):
        raise InexactError("a sum of products that overflows")
    addend = (c.view(np.int64) if mask & 4 else c).astype(object)
    return wrap(component, np.clip(exact + addend, low, high))


_WHOLE: dict[str, Any] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "trunc": np.trunc,
    "sign": np.sign,
}


def _float_builtin(name: str, args: list[Array]) -> Array:
    """Return the result of a floating-point builtin, before it is rounded."""
    x = args[0]
    match name:
        case "fmin" | "min":
            return np.minimum(x, args[1])
        case "fmax" | "max":
            return np.maximum(x, args[1])
        case "clamp":
            return np.minimum(np.maximum(x, args[1]), args[2])
        case "fabs":
            return np.abs(x)
        case "floor" | "ceil" | "rint" | "trunc" | "sign":
            return np.asarray(_WHOLE[name](x))
        case "round":
            return np.copysign(np.floor(np.abs(x) + 0.5), x)
        case "copysign":
            return np.copysign(x, args[1])
        case "fma" | "mad":
            return x * args[1] + args[2]
        case "mix":
            return x + (args[1] - x) * args[2]
        case "step":
            return np.where(args[1] < x, 0.0, 1.0)
        case "fdim":
            return np.where(x > args[1], x - args[1], 0.0)
        case "fmod":
            return np.fmod(x, args[1])
        case "maxmag" | "minmag":
            return _magnitudes(name, x, args[1])
    raise AssertionError(name)


def _magnitudes(name: str, x: Array, y: Array) -> Array:
    """Return the result of OpenCL's maxmag() or minmag()."""
    first = np.abs(x) > np.abs(y) if name == "maxmag" else np.abs(x) < np.abs(y)
    second = np.abs(x) < np.abs(y) if name == "maxmag" else np.abs(x) > np.abs(y)
    equal = np.maximum(x, y) if name == "maxmag" else np.minimum(x, y)
    return np.where(first, x, np.where(second, y, equal))


def _count_bits(component: Component, name: str, x: int) -> int:
    """Return the result of clz(), ctz() or popcount() on the bits of an integer."""
    bits = x & ((1 << component.bits) - 1)
    if name == "popcount":
        return bits.bit_count()
    if name == "clz":
        return component.bits - bits.bit_length()
    return component.bits if bits == 0 else (bits & -bits).bit_length() - 1


def _rotate(component: Component, x: int, count: int) -> int:
    """Return the result of OpenCL's rotate()."""
    size = component.bits
    bits, count = x & ((1 << size) - 1), count % size
    return bits << count | bits >> (size - count)


def _saturate(component: Component, x: int) -> int:
    """Return an integer, clamped to the type's range."""
    return min(max(x, component.low), component.high)


def _integer_builtin(component: Component, name: str, x: int, y: int = 0, z: int = 0) -> int:
    """Return the exact result of a builtin of integers; the caller wraps it."""
    size = component.bits
    match name:
        case "min":
            return min(x, y)
        case "max":
            return max(x, y)
        case "clamp":
            return min(max(x, y), z)
        case "add_sat" | "sub_sat" | "mad_sat":
            return _saturate(component, {"add_sat": x + y, "sub_sat": x - y, "mad_sat": x * y + z}[name])
        case "hadd" | "rhadd":
            return (x + y + (name == "rhadd")) >> 1
        case "mul_hi" | "mad_hi":
            return (x * y >> size) + z
        case "abs":
            return abs(x)
        case "abs_diff":
            return abs(x - y)
        case "rotate":
            return _rotate(component, x, y)
        case "mul24" | "mad24":
            return x * y + z
    return _count_bits(component, name, x)


def builtin(component: Component, name: str, args: list[Array]) -> Array:
    """Return the result of a builtin of scalars for each component."""
    shaped = np.broadcast_arrays(*args)
    if component.floating:
        return settle(component, _float_builtin(name, list(shaped)))
    if name in ("min", "max", "clamp"):
        low = np.maximum(shaped[0], shaped[1]) if name != "min" else np.minimum(shaped[0], shaped[1])
        return np.minimum(low, shaped[2]) if name == "clamp" else low
    lists = [[int(v) for v in item.ravel()] for item in shaped]
    exact = [_integer_builtin(component, name, *values) for values in zip(*lists, strict=True)]
    return wrap(component, np.array(exact, object)).reshape(shaped[0].shape)


def position(layout: str, component: Component, rows: Array, columns: Array, stride: int) -> Array:
    """Return the positions of components in memory, in components from the matrix's address."""
    if layout == "ROW":
        return rows * stride + columns
    if layout == "COL":
        return columns * stride + rows
    factor = component.packed()
    return rows // factor * stride + columns * factor + rows % factor
