"""Matrices as expressions: an id in the module, and its value in numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from coopmat.matrices.numpy_reference import Array, narrow, widen
from coopmat.matrices.variants import ComponentType, MatrixType

Environment = dict[str, Array]


@dataclass
class Value:
    """An id in the module; `compute` returns the matrix, given id -> value of parameters and phis."""

    id: str
    matrix: MatrixType
    compute: Callable[[Environment], Array] = field(repr=False)

    def of(self, environment: Environment) -> Array:
        if self.id not in environment:
            environment[self.id] = self.compute(environment)
        return environment[self.id]


def small(component: ComponentType, shape: tuple[int, int], rng: np.random.Generator, most: int = 3) -> Array:
    """Return small integers, which every component type can represent."""
    low = -most if component.signed else 0
    numbers = rng.integers(low, most + 1, shape)
    return from_integers(component, numbers)


def from_integers(component: ComponentType, numbers: Array) -> Array:
    return narrow(component, numbers)


def is_exact(component: ComponentType, values: Array, most: float) -> bool:
    """Return whether all are integers up to `most`: then products and sums of a few are exact in any order."""
    wide = widen(component, values).astype(np.float64)
    return bool(np.all(np.isfinite(wide)) and np.all(wide == np.round(wide)) and np.all(np.abs(wide) <= most))
