"""The meaning of every operation on cooperative matrices, in numpy.

A matrix is a two-dimensional array of its component type's dtype (`ComponentType.numpy`); memory is a one-dimensional
array of the same dtype. Strides count components. Types that numpy lacks are not covered. Floating point follows IEEE
754, NaN and infinities included; docstrings name what the language leaves undefined.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .variants import COMPONENT_TYPES, ComponentType, Layout, MatrixShape, Operands

Array = NDArray[Any]

_BY_DTYPE = {row.numpy: row for row in COMPONENT_TYPES.values() if not row.is_bits}


def component_type(array: Array) -> ComponentType:
    """Return the component type of an array's dtype. Raise KeyError for a dtype that no component type has."""
    return _BY_DTYPE[array.dtype.name]


# --- memory ----------------------------------------------------------------------------------------


def offsets(shape: MatrixShape, component: ComponentType, layout: Layout, stride: int) -> NDArray[np.int64]:
    """Return the offset of each component (r, c), counted in components from the pointer; see `Layout`."""
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
    """Load a matrix. With stride 0 every row (or column, or group of packed rows) is the same."""
    result: Array = memory[offsets(shape, component_type(memory), layout, stride)]
    return result


def store(memory: Array, matrix: Array, layout: Layout, stride: int) -> None:
    """Store a matrix to its places in `memory` and nowhere else; undefined if two components share a place."""
    memory[offsets(MatrixShape(*matrix.shape), component_type(matrix), layout, stride)] = matrix


def fill(shape: MatrixShape, component: ComponentType, scalar: Any) -> Array:
    """Return a matrix whose every component is the scalar, converted as by assignment."""
    return np.full((shape.rows, shape.columns), convert(np.asarray(scalar), component))


# --- component-wise --------------------------------------------------------------------------------


def binary(operator: str, x: Array, y: Array) -> Array:
    """Return the result of `operator` (add, sub, mul, div) on arrays of one dtype.

    Integers are modulo 2^bits and their quotient truncates; division by zero and the most negative number by -1 are
    undefined.
    """
    with np.errstate(all="ignore"):
        if operator == "div" and component_type(x).is_integer:
            quotient, remainder = np.divmod(x, y)
            result = quotient + ((remainder != 0) & ((x < 0) != (y < 0))).astype(x.dtype)
        else:
            result = _ARITHMETIC[operator](x, y)
    return np.asarray(result, dtype=x.dtype)


_ARITHMETIC: dict[str, Any] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def negate(x: Array) -> Array:
    """Return the negated components; integers modulo 2^bits."""
    return np.asarray(-x if not component_type(x).is_integer else np.zeros_like(x) - x)


def scalar_mul(x: Array, scalar: Any) -> Array:
    """Return the product with a scalar, which is converted to the component type first."""
    return binary("mul", x, convert(np.asarray(scalar), component_type(x)))


# --- reductions ------------------------------------------------------------------------------------


def reduce(function: np.ufunc, how: int, x: Array, shape: MatrixShape) -> Array:
    """Combine the components of each row (`how` 1), of each column (2), of all (3) or of each block of 2x2 (4), for a
    result of this shape: what is combined is a value, which is as often there as the shape says."""
    if how == 4:
        rows, columns = (extent // 2 for extent in x.shape)
        return np.asarray(function.reduce(x.reshape(rows, 2, columns, 2), axis=(1, 3), dtype=x.dtype))
    axes = {1: (1,), 2: (0,), 3: (0, 1)}[how]
    values = function.reduce(x, axis=axes, keepdims=True, dtype=x.dtype)
    return np.broadcast_to(values, (shape.rows, shape.columns))


# --- conversion ------------------------------------------------------------------------------------

_ROUND_TO_INTEGER: dict[str, Any] = {"": np.trunc, "rtz": np.trunc, "rte": np.rint, "rtp": np.ceil, "rtn": np.floor}


def convert(x: Array, to: ComponentType, rounding: str = "", saturate: bool = False) -> Array:
    """Convert like a C cast: to integers toward zero, to floating point to nearest even, between integers modulo
    2^bits.

    `rounding` ("rte", "rtz", "rtp", "rtn") and `saturate` are those of OpenCL's convert_ functions; a NaN saturates to
    0. Floating point beyond the integer type's range, unsaturated, is undefined.
    """
    with np.errstate(all="ignore"):
        if to.is_integer:
            return _to_integer(x, to, rounding, saturate)
        return _to_float(x, to, rounding)


def _to_integer(x: Array, to: ComponentType, rounding: str, saturate: bool) -> Array:
    dtype = np.dtype(to.numpy)
    if x.dtype.kind == "f":
        x = _ROUND_TO_INTEGER[rounding](x.astype(np.float64))
        if not saturate:
            return x.astype(dtype)
        x = np.nan_to_num(x, nan=0.0, posinf=2.0**65, neginf=-(2.0**65))
    elif not saturate:
        return x.astype(dtype)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    clamped = [min(max(int(value), low), high) for value in x.ravel()]
    return np.array(clamped, dtype=dtype).reshape(x.shape)


def _to_float(x: Array, to: ComponentType, rounding: str) -> Array:
    dtype = np.dtype(to.numpy)
    # Integers to half go through double, which is exact wherever the result is finite.
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


# --- multiply-add ----------------------------------------------------------------------------------


def mul_add(a: Array, b: Array, c: Array, operands: Operands) -> Array:
    """Return a b + c, of c's component type.

    Integers: the low bits of the exact result, where the mask determines the signedness of the operands. With
    SATURATING the products are summed modulo 2^bits, read with the result's signedness, and only the final + c
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
    """Return the error that a floating-point multiply-add may have: (K + 2) eps (|a| |b| + |c|), eps of c's dtype."""
    if component_type(c).is_integer:
        return np.zeros(c.shape)
    with np.errstate(all="ignore"):
        magnitude = np.abs(_double(a)) @ np.abs(_double(b)) + np.abs(_double(c))
        return np.asarray((a.shape[1] + 2) * float(np.finfo(c.dtype).eps) * magnitude)


def _double(x: Array) -> NDArray[np.float64]:
    return x.astype(np.float64)


def _integers(x: Array, signed: bool) -> NDArray[np.object_]:
    """Return exact Python integers: the bits of x, read with the sign `signed`."""
    return np.ascontiguousarray(x).view(f"{'' if signed else 'u'}int{component_type(x).bits}").astype(object)
