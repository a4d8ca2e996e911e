"""Several matrices of one type, one after the other in a buffer, with guards and padding between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import Layout, MatrixType

from ..experiment import Argument, Place, pattern
from ..writers.c import LAYOUTS
from .base import Setting


@dataclass(frozen=True)
class Stack:
    """A sequence of `count` matrices in the buffer `name`.

    place: the place of the first matrix.
    span: the distance between the beginnings of two matrices, in components.
    """

    name: str
    place: Place
    span: int
    count: int

    @classmethod
    def of(cls, setting: Setting, name: str, matrix: MatrixType, count: int, layout: Layout | None = None) -> Stack:
        place = setting.place(name, matrix, layout)
        align = max(2 if matrix.component.is_nibble else 1, setting.profile.pointer_alignment // matrix.component.size)
        return cls(name, place, -(-place.room // align) * align, count)

    def filled(self, matrices: Sequence[Array]) -> Array:
        """Return the contents of the whole buffer: the matrices at their places, and PATTERN elsewhere."""
        memory = pattern(self.span * self.count, self.place.matrix.component)
        for number, values in enumerate(matrices):
            memory[self.place.indices() + number * self.span] = values
        return memory

    def input(self, matrices: Sequence[Array]) -> Argument:
        return Argument(self.name, self.place.matrix.component, self.filled(matrices))

    def output(self, matrices: Sequence[Array], tolerances: Sequence[Array | float] = ()) -> Argument:
        component = self.place.matrix.component
        off = np.zeros(self.span * self.count)
        for number, tolerance in enumerate(tolerances):
            finite = np.where(np.isfinite(tolerance), tolerance, 0.0)
            off[self.place.indices() + number * self.span] = finite
        before = pattern(self.span * self.count, component)
        return Argument(self.name, component, before, self.filled(matrices), off)

    def pointer(self, number: str) -> str:
        """Return an expression for a pointer to the matrix with the index `number`, an expression."""
        return f"{self.name} + {self.place.at(self.place.offset)} + ({number}) * {self.place.at(self.span)}"

    @property
    def access(self) -> str:
        """The arguments for layout and stride."""
        return access(self.place)

    def load(self, number: str) -> str:
        """Return an expression that loads the matrix with the index `number`."""
        return f"coop_mat_load({self.pointer(number)}, {self.access})"

    def store(self, number: str, value: str) -> str:
        """Return a statement that stores `value` to the matrix with the index `number`."""
        return f"coop_mat_store({self.pointer(number)}, {value}, {self.access});"


def access(place: Place) -> str:
    """Return the arguments for layout and stride of a load or store at a place."""
    return f"{LAYOUTS[place.layout]}, {place.stride}"
