"""A numpy reference for terms: the exact bits without contraction, and the largest error of contracted results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...matrices.variants import ComponentType
from .terms import (
    Broadcast,
    Converted,
    Elementwise,
    Object,
    Part,
    Product,
    Term,
    Transposed,
    WithElement,
    WithPart,
)

Array = NDArray[Any]
_OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


@dataclass(frozen=True)
class Value:
    """A matrix, and for each element the largest difference of a contracted evaluation from it."""

    matrix: Array
    error: NDArray[np.float64]


def value(term: Term, inputs: Sequence[Any]) -> Array:
    """Return the value of a term without contraction.

    `inputs` are matrices as two-dimensional arrays of their element's dtype, scalars, and indices.
    """
    return value_with_error(term, inputs).matrix


def value_with_error(term: Term, inputs: Sequence[Any]) -> Value:
    """Return the `value` of a term and its bound; conversions of inexact values to integers are not covered."""
    with np.errstate(all="ignore"):
        return _bounded(term, inputs)


def _bounded(term: Term, inputs: Sequence[Any]) -> Value:
    """Return the value and the bound of a term, by recursion."""
    if isinstance(term, Object):
        return _exact(np.asarray(inputs[term.number], _dtype(term.element)))
    if isinstance(term, Broadcast):
        return _exact(np.full((term.rows, term.columns), inputs[term.number], _dtype(term.element)))
    operands = [_bounded(operand, inputs) for operand in term.operands]
    x = operands[0]
    if isinstance(term, Elementwise):
        return _elementwise(term, *operands)
    if isinstance(term, Product):
        return _product(term, *operands)
    if isinstance(term, Transposed):
        return Value(x.matrix.T, x.error.T)
    if isinstance(term, Converted):
        return _converted(term, x)
    if isinstance(term, Part):
        at = _at(term.which, int(inputs[term.number]))
        return Value(x.matrix[at], x.error[at])
    matrix, error = x.matrix.copy(), x.error.copy()
    if isinstance(term, WithPart):
        at = _at(term.which, int(inputs[term.number]))
        matrix[at], error[at] = operands[1].matrix, operands[1].error
        return Value(matrix, error)
    assert isinstance(term, WithElement)
    place = int(inputs[term.row]), int(inputs[term.column])
    matrix[place], error[place] = inputs[term.number], 0
    return Value(matrix, error)


def _elementwise(term: Elementwise, x: Value, y: Value) -> Value:
    matrix = _OPERATORS[term.operator](x.matrix, y.matrix)
    if term.operator == "mul":
        error = x.error * abs(_wide(y)) + y.error * abs(_wide(x)) + x.error * y.error
    else:
        error = x.error + y.error
    # A product that is added without rounding: the contracted evaluation has one rounding less.
    return Value(matrix, _rounded(term.element, error, matrix, 2))


def _product(term: Product, x: Value, y: Value) -> Value:
    total = np.zeros((term.rows, term.columns), _dtype(term.element))
    sizes = np.zeros((term.rows, term.columns))
    for k in range(term.left.columns):
        total = total + x.matrix[:, k : k + 1] * y.matrix[k : k + 1]
        sizes += abs(total.astype(np.float64))
    a, b = abs(_wide(x)), abs(_wide(y))
    error = x.error @ b + a @ y.error + x.error @ y.error
    sizes += a @ b + error * term.left.columns
    return Value(total, _rounded(term.element, error, sizes, 2))


def _converted(term: Converted, x: Value) -> Value:
    with np.errstate(all="ignore"):
        matrix = x.matrix.astype(_dtype(term.element))
    return Value(matrix, _rounded(term.element, x.error, matrix, 1))


def _rounded(element: ComponentType, error: NDArray[np.float64], size: Array, roundings: int) -> NDArray[np.float64]:
    """Return the error after `roundings` further roundings of numbers with absolute values of at most `size`.

    Integers are exact.
    """
    if element.is_integer:
        return error
    info = np.finfo(element.numpy)
    bound: NDArray[np.float64] = error + roundings * (
        float(info.eps) * (abs(size.astype(np.float64)) + error) + float(info.smallest_subnormal)
    )
    return bound


def _wide(x: Value) -> NDArray[np.float64]:
    """Return a value's matrix as doubles."""
    return x.matrix.astype(np.float64)


def _exact(matrix: Array) -> Value:
    """Return a matrix without an error."""
    return Value(matrix, np.zeros(matrix.shape))


def _at(which: str, index: int) -> tuple[slice, slice]:
    """Return the slices that select one row or column of an array."""
    one = slice(index, index + 1)
    return (one, slice(None)) if which == "row" else (slice(None), one)


def _dtype(element: ComponentType) -> np.dtype[Any]:
    return np.dtype(element.numpy)
