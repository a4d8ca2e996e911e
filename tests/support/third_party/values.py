"""Matrices as expressions: an id in the module, and how numpy computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from coopmat.matrices.meaning import narrow, widen
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import ComponentType, MatrixType

Environment = dict[str, Array]


@dataclass
class Value:
    """`compute` gives the matrix from the values of parameters and phis, which the environment has by id."""

    id: str
    matrix: MatrixType
    compute: Callable[[Environment], Array] = field(repr=False)

    def of(self, environment: Environment) -> Array:
        if self.id not in environment:
            environment[self.id] = self.compute(environment)
        return environment[self.id]


def small(component: ComponentType, shape: tuple[int, int], rng: np.random.Generator, most: int = 3) -> Array:
    """Small integers, which every type has."""
    low = -most if component.signed else 0
    numbers = rng.integers(low, most + 1, shape)
    return from_integers(component, numbers)


def from_integers(component: ComponentType, numbers: Array) -> Array:
    return narrow(component, numbers)


def is_exact(component: ComponentType, values: Array, most: float) -> bool:
    """Whether all are integers of this size, so that products and sums of a few are exact whatever their order."""
    wide = widen(component, values).astype(np.float64)
    return bool(np.all(np.isfinite(wide)) and np.all(wide == np.round(wide)) and np.all(np.abs(wide) <= most))
