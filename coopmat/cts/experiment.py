"""The data of one variant's run: buffers with guards and patterns, sizes, and the required contents of every byte
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from coopmat.matrices import meaning, reference
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import ComponentType, Layout, MatrixType

# The contents of memory that was not written.
PATTERN = 0xA5
# Components before and behind a matrix that must stay as they are.
GUARD = 16


@dataclass(frozen=True)
class Place:
    """The place of a matrix in a buffer: `stride` and `offset` count components, and component (0, 0) is at `offset`.

    The kernel's pointer points to a vector of `vector` (1, 2, 3, 4, 8, 16; of 3 the fourth is padding) of `scalar`,
    None for the component type; stride and offset are whole pointees.
    """

    matrix: MatrixType
    layout: Layout
    stride: int
    offset: int = GUARD
    vector: int = 1
    scalar: ComponentType | None = None

    @property
    def pointee(self) -> tuple[ComponentType, int]:
        """The scalar type of a pointee, and the number of its scalars."""
        return self.scalar or self.matrix.component, self.vector

    def pointees(self, components: int) -> int:
        """Return how many pointees contain so many components."""
        return components * self.matrix.component.size // pointee_size(*self.pointee)

    def indices(self) -> Array:
        """Return the index in the buffer of each component, as an array of the matrix's shape."""
        m = self.matrix
        return np.asarray(self.offset + reference.offsets(m.shape, m.component, self.layout, self.stride))

    @property
    def room(self) -> int:
        """The number of components of a buffer, guards included: whole pointees."""
        whole = max(1, pointee_size(*self.pointee) // self.matrix.component.size)
        return -(-(int(self.indices().max()) + 1 + GUARD) // whole) * whole

    def with_values(self, values: Array, memory: Array | None = None) -> Array:
        """Return `memory` (a pattern by default) with the matrix in it."""
        result: Array = pattern(self.room, self.matrix.component) if memory is None else memory.copy()
        result[self.indices()] = values
        return result


def pointee_size(scalar: ComponentType, vector: int) -> int:
    """Return the size of a pointee in bytes."""
    return scalar.size * (4 if vector == 3 else vector)


def pattern(size: int, component: ComponentType) -> Array:
    memory: Array = np.frombuffer(bytes([PATTERN]) * (size * component.size), component.numpy).copy()
    return memory


@dataclass(frozen=True)
class Argument:
    """A buffer, with its contents before the launch and the required contents after it.

    `expected` is None if the kernel must not change the buffer. `tolerance` (absolute, a number or one for each
    component of the buffer) is the allowed error. `look`, if given, replaces the comparison: it describes the errors in
    the buffer's contents, if any.
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
        """The pointee of the kernel's pointer: a scalar type, and the number of its scalars."""
        return (self.component, 1) if self.place is None else self.place.pointee

    @property
    def result(self) -> Array:
        """The required contents after the launch."""
        return self.before if self.expected is None else self.expected

    def wrong(self, actual: Array) -> Array:
        """Return where `actual` differs from the required contents."""
        return meaning.wrong_places(self.component, actual, self.result, self.tolerance)


def matrix_input(name: str, place: Place, values: Array) -> Argument:
    """Return a buffer that a matrix is loaded from."""
    return Argument(name, place.matrix.component, place.with_values(values), place=place)


def matrix_output(name: str, place: Place, values: Array, tolerance: Array | float = 0.0) -> Argument:
    """Return a buffer that a matrix is stored to; `tolerance` is a number, or has the matrix's shape."""
    component = place.matrix.component
    off: Array | float = 0.0
    if np.any(np.asarray(tolerance) > 0):
        off = np.zeros(place.room)
        off[place.indices()] = np.where(np.isfinite(tolerance), tolerance, 0.0)
    return Argument(name, component, pattern(place.room, component), place.with_values(values), off, place)


@dataclass(frozen=True)
class Experiment:
    """An `Experiment` is what a variant runs. Arguments are in the kernel's order; `groups` work-groups of `sub_groups`
    subgroups each run it."""

    arguments: Sequence[Argument]
    sub_groups: int = 1
    groups: int = 1

    def argument(self, name: str) -> Argument:
        return next(argument for argument in self.arguments if argument.name == name)
