"""Reductions and scans over the work-items of a group, on Python's numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cases import Array
from differential import NUMPY
from inputs import arguments, finite

Operation = Callable[[Any, Any], Any]

OPERATIONS: dict[str, Operation] = {
    "add": operator.add,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "logical_and": lambda a, b: int(bool(a) and bool(b)),
    "logical_or": lambda a, b: int(bool(a) or bool(b)),
    "logical_xor": lambda a, b: int(bool(a) != bool(b)),
}


def identity(operation: str, element: str) -> Any:
    """What the first work-item of an exclusive scan gets."""
    kind = np.dtype(NUMPY[element])
    low, high = (-math.inf, math.inf) if kind.kind == "f" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    ones = -1 if kind.kind == "i" else high
    return {"mul": 1, "min": high, "max": low, "and": ones, "logical_and": 1}.get(operation, 0)


def fold(kind: str, operation: str, values: Sequence[Any], element: str) -> list[Any]:
    """The result of each work-item; `kind` is reduce, scan_inclusive or scan_exclusive."""
    function, running = OPERATIONS[operation], identity(operation, element)
    before, after = [], []
    for value in values:
        before.append(running)
        running = function(running, value)
        after.append(running)
    return {"reduce": [running] * len(values), "scan_inclusive": after, "scan_exclusive": before}[kind]


def operands(operation: str, element: str, count: int) -> Array:
    """Values whose sums and products are exact in any order."""
    generator = np.random.default_rng(len(operation) + len(element))
    kind = np.dtype(NUMPY[element])
    if operation == "add":
        return generator.integers(0 if kind.kind == "u" else -9, 10, count).astype(kind)
    if operation == "mul":
        return generator.choice([1, 1, 2, 1] if kind.kind == "u" else [1, 1, -1, 2], count).astype(kind)
    if operation.startswith("logical"):
        return generator.choice([0, 1, -5, 0x100], count).astype(kind)
    values = arguments([element], operation, values=max(count, 512))[0][:count]
    return finite(values) if kind.kind == "f" else values


def as_array(values: Sequence[Any], element: str) -> Array:
    """Python's numbers as those of the type; integers modulo its width."""
    kind = np.dtype(NUMPY[element])
    if kind.kind == "f":
        return np.array(values, kind)
    mask = (1 << kind.itemsize * 8) - 1
    return np.array([int(v) & mask for v in values], f"u{kind.itemsize}").view(kind)
