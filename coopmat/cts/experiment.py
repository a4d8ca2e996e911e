"""The data of one variant's run: buffers with guards, launch sizes, and every byte's required value afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, from_memory, in_memory
from coopmat.matrices.variants import ComponentType, Layout, MatrixType

# The byte that fills memory before the kernel writes it.
PATTERN = 0xA5
# The number of components before and after a matrix that the kernel must not change.
GUARD = 16


@dataclass(frozen=True)
class Place:
    """The position of a matrix in a buffer, and the pointee type of the kernel's pointer to that buffer.

    stride: the distance between rows or columns, in components.
    offset: the index of component (0, 0) in the buffer.
    vector: the number of scalars in a pointee: 1, 2, 3, 4, 8 or 16. A pointee of 3 has a fourth scalar as padding.
    scalar: the scalar type of a pointee; None for the matrix's component type.

    Stride and offset are multiples of the pointee's size.
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
        """Return the number of pointees that have the size of `components` components."""
        return components * self.matrix.component.size // pointee_size(*self.pointee)

    def at(self, components: int) -> int:
        """Return the number of pointees from the pointer to a component: a pointer to 4 bits points to two of them."""
        halves = self.vector == 1 and self.matrix.component.is_nibble
        return self.pointees(components) // (2 if halves else 1)

    def indices(self) -> Array:
        """Return the index of each component in the buffer, as an array of the matrix's shape."""
        m = self.matrix
        return np.asarray(self.offset + numpy_reference.offsets(m.shape, m.component, self.layout, self.stride))

    @property
    def room(self) -> int:
        """The size of the buffer in components, guards included, rounded up to whole pointees."""
        whole = max(1, pointee_size(*self.pointee) // self.matrix.component.size)
        return -(-(int(self.indices().max()) + 1 + GUARD) // whole) * whole

    def with_values(self, values: Array, memory: Array | None = None) -> Array:
        """Return a copy of `memory` (PATTERN by default) with the matrix `values` written to its place."""
        result: Array = pattern(self.room, self.matrix.component) if memory is None else memory.copy()
        result[self.indices()] = values
        return result


def pointee_size(scalar: ComponentType, vector: int) -> int:
    """Return the size of a pointee in bytes."""
    return scalar.size * (4 if vector == 3 else vector)


def pattern(size: int, component: ComponentType) -> Array:
    memory: Array = np.frombuffer(bytes([PATTERN]) * (size * component.size), component.numpy).copy()
    return memory & 5 if component.is_nibble else memory


@dataclass(frozen=True)
class Argument:
    """A buffer or local array of the kernel, with its contents before the launch and the required contents after it.

    expected: the required contents; None if the kernel must not change the buffer.
    tolerance: the allowed absolute error, one number or one for each component of the buffer.
    place: the position of the matrix in the buffer, if the buffer contains one.
    space: the address space of the kernel's pointer.
    look: a function that replaces the comparison. Given the actual contents, it returns a description of the errors, or
    "".
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
        """The pointee type of the kernel's pointer: a scalar type, and the number of its scalars."""
        return (self.component, 1) if self.place is None else self.place.pointee

    @property
    def items(self) -> int:
        """The number of scalars in memory: bytes, if the components have 4 bits."""
        return -(-self.before.size // 2) if self.component.is_nibble else self.before.size

    @property
    def in_memory(self) -> Array:
        """The contents of the memory before the launch."""
        return np.ascontiguousarray(in_memory(self.component, self.before))

    def contents(self, memory: Array) -> Array:
        """Return the components in memory."""
        return from_memory(self.component, memory, self.before.size)

    @property
    def result(self) -> Array:
        """The required contents after the launch."""
        return self.before if self.expected is None else self.expected

    def wrong(self, actual: Array) -> Array:
        """Return a mask of the components of `actual` that differ from the required ones by more than the tolerance."""
        return numpy_reference.wrong_places(self.component, actual, self.result, self.tolerance)


def matrix_input(name: str, place: Place, values: Array) -> Argument:
    """Return a buffer with the matrix `values` at `place`, from which the kernel loads."""
    return Argument(name, place.matrix.component, place.with_values(values), place=place)


def matrix_output(name: str, place: Place, values: Array, tolerance: Array | float = 0.0) -> Argument:
    """Return a buffer to which the kernel must store the matrix `values` at `place`.

    `tolerance` is one number, or an array of the matrix's shape; infinite and NaN tolerances count as 0.
    """
    component = place.matrix.component
    off: Array | float = 0.0
    if np.any(np.asarray(tolerance) > 0):
        off = np.zeros(place.room)
        off[place.indices()] = np.where(np.isfinite(tolerance), tolerance, 0.0)
    return Argument(name, component, pattern(place.room, component), place.with_values(values), off, place)


@dataclass(frozen=True)
class Experiment:
    """The data and launch sizes of one variant.

    arguments: the kernel's arguments, in order.
    sub_groups: the number of subgroups in a work-group.
    groups: the number of work-groups.
    """

    arguments: Sequence[Argument]
    sub_groups: int = 1
    groups: int = 1

    def argument(self, name: str) -> Argument:
        return next(argument for argument in self.arguments if argument.name == name)
