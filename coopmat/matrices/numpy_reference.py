"""A numpy reference of every operation on cooperative matrices.

A matrix is a two-dimensional array of its component type's dtype (`ComponentType.numpy`). Memory is a one-dimensional
array of the same dtype. Strides count components. Floating point follows IEEE 754, including NaN and infinities. The
docstrings name the cases that the language leaves undefined.

A matrix of a floating-point type that numpy lacks is an array of bit patterns. The functions `numpy_...` do not support
these types; `binary`, `negate`, `convert` and `mul_add` do. Their arithmetic is in float32 with a further rounding. For
a single operation the result is exact, because float32 has more than twice the digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .variants import COMPONENT_TYPES, ComponentType, Layout, MatrixShape, Operands

Array = NDArray[Any]

F32 = COMPONENT_TYPES["f32"]
# component type -> error of a division in units in the last place; 1 for other floating-point types. Other operations
# are exact.
DIVISION = {"f32": 2.5, "f64": 0.0}
BY_DTYPE = {row.numpy: row for row in COMPONENT_TYPES.values() if not row.is_bits}


def component_type(array: Array) -> ComponentType:
    """Return the component type of an array's dtype. Raise KeyError for a dtype that no component type has."""
    return BY_DTYPE[array.dtype.name]


# --- bit patterns ----------------------------------------------------------------------------------

# OpenCL's suffix for a rounding mode -> the function that rounds to an integer.
_ROUND: dict[str, Any] = {"": np.rint, "rte": np.rint, "rtz": np.trunc, "rtp": np.ceil, "rtn": np.floor}


def decode_bits(component: ComponentType, patterns: Array) -> Array:
    """Return the numbers that bit patterns represent, as float32, which can represent all of them."""
    mantissa, last = component.mantissa, 2**component.exponent - 1
    bits = patterns.astype(np.int64)
    if component.is_integer:
        return np.asarray((bits & 15) - (bits & 8) * 2 * component.signed).astype(np.float32)
    if not mantissa:
        return np.asarray(np.where(bits == last, np.nan, np.ldexp(1.0, bits - component.bias)).astype(np.float32))
    exponent, fraction = bits >> mantissa & last, bits & (2**mantissa - 1)
    significand = fraction + np.where(exponent > 0, 2**mantissa, 0)
    value = np.ldexp(significand.astype(np.float64), np.maximum(exponent, 1) - component.bias - mantissa)
    if component.infinities:
        value = np.where(exponent == last, np.where(fraction == 0, np.inf, np.nan), value)
    elif component.nans:
        value = np.where((exponent == last) & (fraction == 2**mantissa - 1), np.nan, value)
    return np.asarray(np.where(bits >> (component.width - 1) & 1, -value, value).astype(np.float32))


def encode_bits(component: ComponentType, x: Array, rounding: str = "", saturate: bool = False) -> Array:
    """Return the bit patterns of numbers, rounded once; the default is to nearest, with ties to even.

    A number that is too large becomes infinity, or NaN if the type has no infinity. With `saturate`, or if it is
    rounded towards zero, it becomes the largest number.
    """
    mantissa, exact = component.mantissa, x.astype(np.longdouble)
    if component.is_integer:
        inside = np.clip(np.where(np.isnan(exact), 0, exact), component.least, component.largest)
        return np.asarray(_ROUND[rounding or "rtz"](inside).astype(np.int64).astype(np.uint8))
    if not mantissa:
        return _powers_of_two(exact, rounding, saturate)
    if not component.nans:
        saturate, exact = True, np.where(np.isnan(exact), np.longdouble(-0.0), exact)
    with np.errstate(all="ignore"):
        least = 1 - component.bias
        exponent = np.where(exact == 0, least, np.maximum(np.frexp(exact)[1] - 1, least))
        units = np.abs(_ROUND[rounding](np.ldexp(exact, mantissa - exponent)))
        finite = np.isfinite(exact)
        significand = np.where(finite, units, 0).astype(np.int64)
    # If rounding carries the significand to the next power of two, the addition carries into the exponent.
    patterns = ((exponent - least).astype(np.int64) << mantissa) + significand
    infinite = (2**component.exponent - 1) << mantissa
    last = infinite + 2**mantissa - 1
    largest = infinite - 1 if component.infinities else last - component.nans
    beyond = infinite if component.infinities else last
    negative = np.signbit(exact)
    clamp = finite & {"rtz": np.bool_(True), "rtp": negative, "rtn": ~negative}.get(rounding, np.bool_(False))
    patterns = np.where(finite & (patterns <= largest), patterns, np.where(clamp | saturate, largest, beyond))
    patterns = np.where(np.isnan(exact), infinite | 1 << (mantissa - 1) if component.infinities else last, patterns)
    return np.asarray((patterns | negative.astype(np.int64) << (component.width - 1)).astype(component.numpy))


def _powers_of_two(x: Array, rounding: str, saturate: bool) -> Array:
    """Return the codes of powers of two: c for 2^(c - 127), 255 for NaNs, zeros, negative and too large numbers."""
    with np.errstate(all="ignore"):
        significand, exponent = np.frexp(x)
        up = {"rtz": significand > 1, "rtn": significand > 1, "rtp": significand > 0.5}.get(
            rounding, significand >= 0.75
        )
        codes = np.where(np.isinf(x), 256, np.maximum(exponent + 126 + up, 0))
        codes = np.minimum(codes, 254 if saturate else 255)
        return np.asarray(np.where(x > 0, codes, 255).astype(np.uint8))


def widen(component: ComponentType, x: Array) -> Array:
    """Convert an array to the type in which numpy calculates; bit patterns become float32, other types remain."""
    return decode_bits(component, x) if component.is_bits else x


def narrow(component: ComponentType, x: Array) -> Array:
    """Convert an array back from the type of `widen`; bit patterns are rounded to nearest, ties to even."""
    return encode_bits(component, x) if component.is_bits else x.astype(component.numpy)


def arithmetic_type(component: ComponentType) -> ComponentType:
    """Return the type in which numpy calculates with a component type."""
    return F32 if component.is_bits else component


# --- memory ----------------------------------------------------------------------------------------


def offsets(shape: MatrixShape, component: ComponentType, layout: Layout, stride: int) -> NDArray[np.int64]:
    """Return the offset of each component (r, c) from the pointer, counted in components; see `Layout`."""
    r, c = np.indices((shape.rows, shape.columns), dtype=np.int64)
    if layout == Layout.ROW_MAJOR:
        return r * stride + c
    if layout == Layout.COLUMN_MAJOR:
        return c * stride + r
    pack = layout.pack(component)
    if layout == Layout.PACKED_A:
        return (c // pack) * stride + r * pack + c % pack
    return (r // pack) * stride + c * pack + r % pack


def load(memory: Array, shape: MatrixShape, layout: Layout, stride: int) -> Array:
    """Load a matrix; with stride 0 all rows (or columns, or groups of packed rows) are equal."""
    result: Array = memory[offsets(shape, component_type(memory), layout, stride)]
    return result


def store(memory: Array, matrix: Array, layout: Layout, stride: int) -> None:
    """Store the components of a matrix to `memory`; undefined if two components have the same offset."""
    memory[offsets(MatrixShape(*matrix.shape), component_type(matrix), layout, stride)] = matrix


def fill(shape: MatrixShape, component: ComponentType, scalar: Any) -> Array:
    """Return a matrix with all components equal to the scalar, converted as by assignment."""
    return np.full((shape.rows, shape.columns), numpy_convert(np.asarray(scalar), component))


# --- component-wise --------------------------------------------------------------------------------


def numpy_binary(operator: str, x: Array, y: Array) -> Array:
    """Return the result of `operator` ("add", "sub", "mul", "div") on arrays of one dtype.

    Integers wrap modulo 2^bits, and their quotient truncates. Division by zero, and of the most negative number by -1,
    is undefined.
    """
    with np.errstate(all="ignore"):
        if operator == "div" and component_type(x).is_integer:
            quotient, remainder = np.divmod(x, y)
            result = quotient + ((remainder != 0) & ((x < 0) != (y < 0))).astype(x.dtype)
        else:
            result = _ARITHMETIC[operator](x, y)
    return np.asarray(result, dtype=x.dtype)


_ARITHMETIC: dict[str, Any] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def numpy_negate(x: Array) -> Array:
    """Return the negated components; integers wrap modulo 2^bits."""
    return np.asarray(-x if not component_type(x).is_integer else np.zeros_like(x) - x)


def binary(component: ComponentType, operator: str, x: Array, y: Array) -> Array:
    """Return the result of an operator on two arrays of a component type."""
    return narrow(component, numpy_binary(operator, widen(component, x), widen(component, y)))


def negate(component: ComponentType, x: Array) -> Array:
    """Return the negated components of an array of a component type."""
    return narrow(component, numpy_negate(widen(component, x)))


def scalar_mul(x: Array, scalar: Any) -> Array:
    """Return the product with a scalar, which is first converted to the component type."""
    return numpy_binary("mul", x, numpy_convert(np.asarray(scalar), component_type(x)))


# --- reductions ------------------------------------------------------------------------------------


def reduce(function: np.ufunc, how: int, x: Array, shape: MatrixShape) -> Array:
    """Combine components and return a matrix of the shape `shape` with the results.

    `how` selects the components of each row (1), each column (2), the whole matrix (3) or each block of 2x2 (4). For 1
    to 3, each result is repeated along the dimensions that were combined, as often as `shape` has rows or columns.
    """
    if how == 4:
        rows, columns = (extent // 2 for extent in x.shape)
        return np.asarray(function.reduce(x.reshape(rows, 2, columns, 2), axis=(1, 3), dtype=x.dtype))
    axes = {1: (1,), 2: (0,), 3: (0, 1)}[how]
    values = function.reduce(x, axis=axes, keepdims=True, dtype=x.dtype)
    return np.broadcast_to(values, (shape.rows, shape.columns))


# --- conversion ------------------------------------------------------------------------------------


def numpy_convert(x: Array, to: ComponentType, rounding: str = "", saturate: bool = False) -> Array:
    """Convert like a C cast, or like OpenCL's convert_ functions with `rounding` and `saturate`.

    A cast rounds to integers toward zero, to floating point to nearest even, and wraps integers modulo 2^bits.
    `rounding` is "rte", "rtz", "rtp" or "rtn". A NaN saturates to 0. Without `saturate`, a floating-point number
    outside the integer type's range is undefined.
    """
    with np.errstate(all="ignore"):
        if to.is_integer:
            return _to_integer(x, to, rounding, saturate)
        return _to_float(x, to, rounding)


def _to_integer(x: Array, to: ComponentType, rounding: str, saturate: bool) -> Array:
    """Convert to an integer type; see `numpy_convert`."""
    dtype = np.dtype(to.numpy)
    if x.dtype.kind == "f":
        x = _ROUND[rounding or "rtz"](x.astype(np.float64))
        if not saturate:
            return x.astype(dtype)
        x = np.nan_to_num(x, nan=0.0, posinf=2.0**65, neginf=-(2.0**65))
    elif not saturate:
        return x.astype(dtype)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    clamped = [min(max(int(value), low), high) for value in x.ravel()]
    return np.array(clamped, dtype=dtype).reshape(x.shape)


def _to_float(x: Array, to: ComponentType, rounding: str) -> Array:
    """Convert to a floating-point type; see `numpy_convert`."""
    dtype = np.dtype(to.numpy)
    # Convert integers to half by way of double, which is exact whenever the result is finite.
    nearest: Array = (x.astype(np.float64) if dtype == np.float16 else x).astype(dtype)
    if rounding in ("", "rte"):
        return nearest
    exact, rounded = x.astype(np.longdouble), nearest.astype(np.longdouble)
    low, high = rounded < exact, rounded > exact
    if rounding != "rtn":
        low &= (exact < 0) if rounding == "rtz" else True
        nearest = np.where(low, np.nextafter(nearest, dtype.type(np.inf)), nearest)
    if rounding != "rtp":
        high &= (exact > 0) if rounding == "rtz" else True
        nearest = np.where(high, np.nextafter(nearest, dtype.type(-np.inf)), nearest)
    return nearest


def convert(x: Array, source: ComponentType, to: ComponentType, rounding: str = "", saturate: bool = False) -> Array:
    """Convert an array from one component type to another, like `numpy_convert`."""
    if source == to:
        return x
    if not to.is_bits:
        wide = widen(source, x)
        wide = wide.astype(np.int32) if source.is_integer and source.is_bits else wide
        return numpy_convert(wide, to, rounding, saturate)
    return encode_bits(to, widen(source, x), rounding, saturate)


# --- multiply-add ----------------------------------------------------------------------------------


def numpy_mul_add(a: Array, b: Array, c: Array, operands: Operands) -> Array:
    """Return a b + c in c's component type.

    Integers: the low bits of the exact result; the mask determines the signedness of the operands. With SATURATING, the
        products are summed modulo 2^bits, the sum is read with the result's signedness, and only the addition of c
        saturates. Floating point: the sum is calculated in double and rounded once; `mul_add_bound` is the error that a
        device may have.
    """
    if not component_type(c).is_integer:
        with np.errstate(all="ignore"):
            return np.asarray((_double(a) @ _double(b) + _double(c)).astype(c.dtype))
    bits = component_type(c).bits
    total = _integers(a, Operands.A_SIGNED in operands) @ _integers(b, Operands.B_SIGNED in operands)
    addend = _integers(c, Operands.C_SIGNED in operands)
    result_signed = Operands.RESULT_SIGNED in operands
    if Operands.SATURATING in operands:
        low = -(2 ** (bits - 1)) if result_signed else 0
        exact = (total - low) % 2**bits + low + addend
        result = np.clip(exact, low, low + 2**bits - 1)
    else:
        result = total + addend
    return np.asarray((result % 2**bits).astype(f"uint{bits}").view(c.dtype))


def mul_add_bound(a: Array, b: Array, c: Array) -> Array:
    """Return the largest error of a floating-point multiply-add: (K + 2) eps (|a| |b| + |c|), with eps of c's dtype.

    For integers, return zeros.
    """
    if component_type(c).is_integer:
        return np.zeros(c.shape)
    with np.errstate(all="ignore"):
        magnitude = np.abs(_double(a)) @ np.abs(_double(b)) + np.abs(_double(c))
        return np.asarray((a.shape[1] + 2) * float(np.finfo(c.dtype).eps) * magnitude)


def mul_add(types: tuple[ComponentType, ...], a: Array, b: Array, c: Array, mask: Operands) -> tuple[Array, Array]:
    """Return a b + c, and the largest error of each component."""
    if types[2].is_integer or not any(t.is_bits for t in types):
        return numpy_mul_add(a, b, c, mask), mul_add_bound(a, b, c)
    wide = [widen(t, x).astype(np.float64) for t, x in zip(types, (a, b, c), strict=True)]
    with np.errstate(all="ignore"):
        exact = wide[0] @ wide[1] + wide[2]
        size = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
    return narrow(types[2], exact), (a.shape[1] + 2) * types[2].epsilon * size


def _double(x: Array) -> NDArray[np.float64]:
    return x.astype(np.float64)


def _integers(x: Array, signed: bool) -> NDArray[np.object_]:
    """Return exact Python integers: the bits of x, read as signed or unsigned."""
    return np.ascontiguousarray(x).view(f"{'' if signed else 'u'}int{component_type(x).bits}").astype(object)


# --- comparison ------------------------------------------------------------------------------------


def division_tolerance(component: ComponentType, quotient: Array) -> Array | float:
    """Return the largest absolute error of a quotient."""
    ulps = 0.0 if component.is_integer else DIVISION.get(component.name, 1.0)
    if not ulps:
        return 0.0
    with np.errstate(all="ignore"):
        if component.is_bits:
            wide = np.abs(widen(component, quotient).astype(np.float64))
            least = component.normal * component.epsilon
            return np.where(np.isfinite(wide), np.maximum(wide * component.epsilon, least), 0.0)
        return ulps * np.spacing(np.abs(quotient)).astype(np.float64)


def wrong_places(component: ComponentType, actual: Array, expected: Array, tolerance: Array | float = 0.0) -> Array:
    """Return a mask of the components in which two arrays differ.

    Components are compared bit for bit, except that all NaNs are equal, and numbers within the absolute `tolerance` are
    equal.
    """
    same = actual.view(f"u{component.size}") == expected.view(f"u{component.size}")
    if not component.is_integer:
        with np.errstate(all="ignore"):
            x, y = widen(component, actual).astype(np.float64), widen(component, expected).astype(np.float64)
            near = np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= tolerance) & (np.asarray(tolerance) > 0)
        same = same | near | (np.isnan(x) & np.isnan(y))
    return np.asarray(~same)


# --- memory ----------------------------------------------------------------------------------------


def in_memory(component: ComponentType, values: Array) -> Array:
    """Return the bytes in memory of a one-dimensional array of components; zeros fill the last byte."""
    if not component.is_nibble:
        return values
    even = np.append(values, values[:0] if len(values) % 2 == 0 else np.uint8(0)).astype(np.uint8) & 15
    return np.asarray(even[0::2] | even[1::2] << 4)


def from_memory(component: ComponentType, memory: Array, count: int) -> Array:
    """Return the first `count` components in memory, the reverse of `in_memory`."""
    if not component.is_nibble:
        return memory[:count]
    codes = np.stack([memory & 15, memory >> 4], axis=1).reshape(-1)[:count]
    return narrow(component, widen(component, codes)) if component.is_integer else codes
