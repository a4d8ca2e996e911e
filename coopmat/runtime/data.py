"""The values of a run header's expressions: sizes, scalars and arrays."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .evaluator import MAX_ELEMENTS, TYPES, EvaluationError, evaluate, parse
from .runheader import Argument, Piece, header_error

Array = np.ndarray[Any, np.dtype[Any]]


def value_of(piece: Piece, names: Mapping[str, Any]) -> Any:
    """Return the value of a header expression over `names`.

    Raises CompileError at the part of the expression that is wrong.
    """
    try:
        return evaluate(piece.text, names)
    except EvaluationError as error:
        raise header_error(error.message, piece, error.start, error.end) from None


def integer_of(piece: Piece, names: Mapping[str, Any]) -> int:
    """Return the value of a header expression, which must be a whole number.

    A float such as the value of `N/16` is accepted if it is whole. Raises CompileError otherwise.
    """
    return _whole(value_of(piece, names), piece)


def _whole(value: Any, piece: Piece) -> int:
    """Return a whole number as an int. Raises CompileError for any other value."""
    if isinstance(value, (int, float, np.integer, np.floating)) and float(value).is_integer():
        return int(value)
    raise header_error(f"this is {value}, not a whole number", piece)


def sizes_of(piece: Piece, names: Mapping[str, Any], what: str) -> tuple[int, ...]:
    """Return the value of a header expression: one to three positive work sizes.

    `what` names the sizes in messages. Raises CompileError for any other value.
    """
    value = value_of(piece, names)
    sizes = tuple(_whole(item, piece) for item in (value if isinstance(value, tuple) else (value,)))
    if not 1 <= len(sizes) <= 3:
        raise header_error(f"a {what} has one to three dimensions, not {len(sizes)}", piece)
    if min(sizes) < 1:
        raise header_error(f"a {what} is positive, not {sizes}", piece)
    return sizes


def shape_of(piece: Piece, names: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the value of a header expression: the positive extents of an array.

    Raises CompileError for any other value, and for more than `MAX_ELEMENTS` elements.
    """
    value = value_of(piece, names)
    shape = tuple(_whole(item, piece) for item in (value if isinstance(value, tuple) else (value,)))
    if not shape or min(shape) < 1:
        raise header_error(f"an array's extents are positive, not {shape}", piece)
    if np.prod([float(extent) for extent in shape]) > MAX_ELEMENTS:
        raise header_error(f"array of more than {MAX_ELEMENTS} elements", piece)
    return shape


@dataclass(frozen=True, slots=True)
class Fill:
    """A way to fill an array.

    arity: the number of values that the fill takes.
    make: a function of a random generator, a shape and these values that returns the array.
    """

    arity: int
    make: Callable[..., Any]


def _blocks(rng: np.random.Generator, shape: tuple[int, ...], first: int, count: int, size: int) -> Array:
    """Return blocks of quantized weights as bytes, along the last axis: random, but for scales of moderate size.

    `count` scales begin at byte `first`. They have `size` bytes each: 2 for halves, or 1 for E8M0.
    """
    result: Array = rng.integers(0, 256, shape, np.uint8)
    each = (*shape[:-1], int(count))
    if int(size) == 2:
        data = rng.uniform(0.01, 0.02, each).astype(np.float16).view(np.uint8)
    else:
        data = rng.integers(120, 126, each, np.uint8)
    result[..., int(first) : int(first) + data.shape[-1]] = data
    return result


FILLS: dict[str, Fill] = {
    "zeros": Fill(0, lambda rng, shape: np.zeros(shape)),
    "ones": Fill(0, lambda rng, shape: np.ones(shape)),
    "range": Fill(0, lambda rng, shape: np.arange(np.prod(shape)).reshape(shape)),
    "full": Fill(1, lambda rng, shape, value: np.full(shape, value)),
    "uniform": Fill(2, lambda rng, shape, low, high: rng.uniform(low, high, shape)),
    "blocks": Fill(3, _blocks),
    "integers": Fill(2, lambda rng, shape, low, high: rng.integers(int(low), int(high), shape)),
}
"""Name -> fill. `range` counts from 0 in row-major order; `uniform` and `integers` draw from [low, high).
`blocks` are those of quantized weights."""


def make_array(argument: Argument, names: Mapping[str, Any]) -> Array:
    """Return the array of an argument that has a shape and a fill.

    Random data depends only on the argument's name, so that it is equal in all runs on all routes. Raises CompileError
    if the shape or the fill is wrong.
    """
    assert argument.shape is not None and argument.fill is not None
    shape = shape_of(argument.shape, names)
    fill, values = _fill(argument.fill, names)
    rng = np.random.default_rng(zlib.crc32(argument.name.text.encode()))
    try:
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(fill.make(rng, shape, *values).astype(TYPES[argument.type]))
    except (ValueError, OverflowError, TypeError) as error:
        raise header_error(str(error), argument.fill) from None


def _fill(piece: Piece, names: Mapping[str, Any]) -> tuple[Fill, list[Any]]:
    """Return the fill that a text such as `uniform(-1, 1)` names, and the numbers in its parentheses.

    Raises CompileError.
    """
    try:
        tree = parse(piece.text)
    except EvaluationError as error:
        raise header_error(error.message, piece, error.start, error.end) from None
    function = tree.func if isinstance(tree, ast.Call) else tree
    fill = FILLS.get(function.id) if isinstance(function, ast.Name) else None
    if fill is None or (isinstance(tree, ast.Call) and tree.keywords):
        raise header_error(f"unknown fill; the fills are {' '.join(FILLS)}", piece)
    nodes = tree.args if isinstance(tree, ast.Call) else []
    if len(nodes) != fill.arity:
        raise header_error(f"this fill takes {fill.arity} numbers, not {len(nodes)}", piece)
    values = [value_of(piece.part(node.col_offset, node.end_col_offset), names) for node in nodes]
    if not all(isinstance(value, (int, float, np.number)) for value in values):
        raise header_error("the values of a fill must be numbers", piece)
    return fill, values


def make_scalar(argument: Argument, names: Mapping[str, Any]) -> Any:
    """Return the numpy scalar of an argument without a shape.

    Raises CompileError if the value is no number, or is an integer that its type cannot hold.
    """
    assert argument.fill is not None
    value = value_of(argument.fill, names)
    dtype = TYPES[argument.type]
    if not isinstance(value, (int, float, np.number)):
        raise header_error("a scalar argument takes a number", argument.fill)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= (whole := _whole(value, argument.fill)) <= limits.max:
            raise header_error(f"{whole} does not fit {argument.type}", argument.fill)
        return dtype.type(whole)
    with np.errstate(all="ignore"):
        return dtype.type(value)
