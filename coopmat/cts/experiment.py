"""What one variant runs: buffers with guards and patterns, sizes, and what must be in every byte afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from coopmat.matrices import meaning, reference
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import ComponentType, Layout, MatrixType

# What memory holds where nothing was written.
PATTERN = 0xA5
# Components before and behind a matrix that must stay as they are.
GUARD = 16


@dataclass(frozen=True)
class Place:
    """Where a matrix lies in a buffer: `stride` and `offset` count components, and component (0, 0) is at `offset`.

    What the kernel's pointer points to is a vector of `vector` (1, 2, 3, 4, 8, 16; of 3 the fourth is padding) of
    `scalar`, None for the component type; stride and offset are whole pointees.
    """

    matrix: MatrixType
    layout: Layout
    stride: int
    offset: int = GUARD
    vector: int = 1
    scalar: ComponentType | None = None

    @property
    def pointee(self) -> tuple[ComponentType, int]:
        """A scalar, and how many of them."""
        return self.scalar or self.matrix.component, self.vector

    def pointees(self, components: int) -> int:
        """How many pointees so many components take."""
        return components * self.matrix.component.size // pointee_size(*self.pointee)

    def indices(self) -> Array:
        """Of each component in the buffer, as an array of the matrix's shape."""
        m = self.matrix
        return np.asarray(self.offset + reference.offsets(m.shape, m.component, self.layout, self.stride))

    @property
    def room(self) -> int:
        """Components that a buffer has, guards included: whole pointees."""
        whole = max(1, pointee_size(*self.pointee) // self.matrix.component.size)
        return -(-(int(self.indices().max()) + 1 + GUARD) // whole) * whole

    def with_values(self, values: Array, memory: Array | None = None) -> Array:
        """`memory` (pattern, if none is given) with the matrix in it."""
        result: Array = pattern(self.room, self.matrix.component) if memory is None else memory.copy()
        result[self.indices()] = values
        return result


def pointee_size(scalar: ComponentType, vector: int) -> int:
    """In bytes."""
    return scalar.size * (4 if vector == 3 else vector)


def pattern(size: int, component: ComponentType) -> Array:
    memory: Array = np.frombuffer(bytes([PATTERN]) * (size * component.size), component.numpy).copy()
    return memory


@dataclass(frozen=True)
class Argument:
    """A buffer: what it holds before, and what it must hold after the launch.

    `expected` is None where the kernel must leave everything as it was. `tolerance` (absolute, a number or one for each
    component of the buffer) is how far it may be off where it is not 0. `look`, where given, says instead of the
    comparison what is wrong with the buffer's contents, or nothing.
    """

    name: str
    component: ComponentType
    before: Array
    expected: Array | None = None
    tolerance: Array | float = 0.0
    place: Place | None = None
    space: str = "global"
    look: Callable[[Array], str] | None = field(default=None, compare=False)

    @property
    def is_output(self) -> bool:
        return self.expected is not None or self.look is not None

    @property
    def pointee(self) -> tuple[ComponentType, int]:
        """What the kernel's pointer points to: a scalar, and how many of them."""
        return (self.component, 1) if self.place is None else self.place.pointee

    @property
    def wanted(self) -> Array:
        """What it must hold after the launch."""
        return self.before if self.expected is None else self.expected

    def wrong(self, got: Array) -> Array:
        """Where `got` is not what it must be."""
        return meaning.wrong_places(self.component, got, self.wanted, self.tolerance)


def matrix_input(name: str, place: Place, values: Array) -> Argument:
    """A buffer that a matrix is loaded from."""
    return Argument(name, place.matrix.component, place.with_values(values), place=place)


def matrix_output(name: str, place: Place, values: Array, tolerance: Array | float = 0.0) -> Argument:
    """A buffer that a matrix is stored to; `tolerance` is a number, or has the matrix's shape."""
    component = place.matrix.component
    off: Array | float = 0.0
    if np.any(np.asarray(tolerance) > 0):
        off = np.zeros(place.room)
        off[place.indices()] = np.where(np.isfinite(tolerance), tolerance, 0.0)
    return Argument(name, component, pattern(place.room, component), place.with_values(values), off, place)


@dataclass(frozen=True)
class Experiment:
    """Arguments in the kernel's order; `groups` work-groups of `sub_groups` subgroups each run it."""

    arguments: Sequence[Argument]
    sub_groups: int = 1
    groups: int = 1

    def argument(self, name: str) -> Argument:
        return next(argument for argument in self.arguments if argument.name == name)
