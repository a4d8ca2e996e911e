"""Matrix types, and objects that contain matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .meaning import ELEMENTS, Array


@dataclass(frozen=True)
class Kind:
    """A matrix type; `padding` unused elements follow each column, or each row if it is `row_major`."""

    element: str
    rows: int
    columns: int
    row_major: bool = False
    padding: int = 0

    @property
    def name(self) -> str:
        return (
            f"{self.element}_{self.rows}x{self.columns}"
            + "_r" * self.row_major
            + f"_p{self.padding}" * bool(self.padding)
        )

    @property
    def typedef(self) -> str:
        clauses = ", layout(row_major)" * self.row_major
        if self.padding:
            clauses += f", {'row' if self.row_major else 'column'}_padding({self.padding})"
        return f"typedef {self.element} {self.name} __attribute__((matrix_type({self.rows}, {self.columns}{clauses})));"

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def stride(self) -> int:
        return (self.columns if self.row_major else self.rows) + self.padding

    @property
    def storage(self) -> int:
        """The number of elements of an object."""
        return self.stride * (self.rows if self.row_major else self.columns)

    def places(self) -> Array:
        """Return the index of each element in an object."""
        return submatrix(self.rows, self.columns, self.stride, self.row_major)


def submatrix(rows: int, columns: int, stride: int, row_major: bool) -> Array:
    row, column = np.mgrid[:rows, :columns]
    return row * stride + column if row_major else row + column * stride


@dataclass(eq=False)
class Memory:
    """A sequence of elements of one type.

    data: the values at this point of the program.
    known: a mask of the defined values; others, such as the padding of a matrix, are arbitrary.
    start: the values before the kernel runs.
    """

    element: str
    data: Array
    known: Array
    start: Array

    @classmethod
    def of(cls, element: str, count: int) -> Memory:
        data = np.zeros(count, ELEMENTS[element])
        return cls(element, data, np.zeros(count, bool), data.copy())

    @classmethod
    def with_data(cls, element: str, data: Array) -> Memory:
        return cls(element, data, np.ones(data.size, bool), data.copy())


@dataclass(frozen=True, eq=False)
class Place:
    """A matrix object, named by the expression `text`, in `memory` from the index `offset` on."""

    text: str
    kind: Kind
    memory: Memory
    offset: int = 0
    writable: bool = True

    @property
    def value(self) -> Array:
        at = self.kind.places() + self.offset
        assert self.memory.known[at].all()
        return self.memory.data[at]

    def store(self, value: Array) -> None:
        at = self.kind.places() + self.offset
        assert value.shape == self.kind.shape and value.dtype == self.memory.data.dtype
        self.memory.known[self.offset : self.offset + self.kind.storage] = False
        self.memory.data[at] = value
        self.memory.known[at] = True
