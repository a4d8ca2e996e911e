"""A numpy reference of every operation on cooperative matrices.

A matrix is a two-dimensional array of its component type's dtype (`ComponentType.numpy`). Memory is a one-dimensional
array of the same dtype. Strides count components. Types that numpy lacks are not covered (see `meaning`). Floating
point follows IEEE 754, including NaN and infinities. The docstrings name the cases that the language leaves undefined.
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
    return np.full((shape.rows, shape.columns), convert(np.asarray(scalar), component))


# --- component-wise --------------------------------------------------------------------------------


def binary(operator: str, x: Array, y: Array) -> Array:
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


def negate(x: Array) -> Array:
    """Return the negated components; integers wrap modulo 2^bits."""
    return np.asarray(-x if not component_type(x).is_integer else np.zeros_like(x) - x)


def scalar_mul(x: Array, scalar: Any) -> Array:
    """Return the product with a scalar, which is first converted to the component type."""
    return binary("mul", x, convert(np.asarray(scalar), component_type(x)))


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

_ROUND_TO_INTEGER: dict[str, Any] = {"": np.trunc, "rtz": np.trunc, "rte": np.rint, "rtp": np.ceil, "rtn": np.floor}


def convert(x: Array, to: ComponentType, rounding: str = "", saturate: bool = False) -> Array:
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
    """Convert to an integer type; see `convert`."""
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
    """Convert to a floating-point type; see `convert`."""
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


# --- multiply-add ----------------------------------------------------------------------------------


def mul_add(a: Array, b: Array, c: Array, operands: Operands) -> Array:
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


def _double(x: Array) -> NDArray[np.float64]:
    return x.astype(np.float64)


def _integers(x: Array, signed: bool) -> NDArray[np.object_]:
    """Return exact Python integers: the bits of x, read as signed or unsigned."""
    return np.ascontiguousarray(x).view(f"{'' if signed else 'u'}int{component_type(x).bits}").astype(object)
