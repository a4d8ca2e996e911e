"""What an operation is: the variants that it has on a device, and what one of them runs."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coopmat.matrices.variants import Layout, MatrixType

from ..experiment import GUARD, Experiment, Place
from ..profile import Profile
from ..writers import Writer


@dataclass(frozen=True)
class Case:
    """A variant of a test. `name` holds neither blanks nor `*`; `parameters` are the operation's own."""

    name: str
    sub_group_size: int | None
    parameters: Any = field(hash=False)


@dataclass(frozen=True)
class Setting:
    """What an operation's functions are called with: the case, where it runs, and random numbers that depend on the
    seed and the case's name alone."""

    case: Case
    profile: Profile
    seed: int = 0

    @property
    def parameters(self) -> Any:
        return self.case.parameters

    @property
    def lanes(self) -> int:
        """Work-items of a subgroup; where the device chooses, what it is launched with."""
        return self.case.sub_group_size or 16

    def random(self, purpose: str = "values") -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(f"{purpose} {self.case.name}".encode())])

    def place(self, name: str, matrix: MatrixType, layout: Layout | None = None) -> Place:
        """Somewhere in a buffer: with padding, at any component that the device allows; `name` makes it another."""
        rng = self.random(f"place {name}")
        if layout is None:
            layout = Layout(int(rng.integers(2)))
        size, pack = matrix.component.size, max(1, 4 // matrix.component.size) if layout == Layout.PACKED else 1
        width = matrix.rows if layout == Layout.COLUMN_MAJOR else matrix.columns * pack
        step, align = max(1, self.profile.stride_multiple // size), max(1, self.profile.pointer_alignment // size)
        stride = -(-(width + int(rng.integers(4))) // step) * step
        offset = -(-GUARD // align) * align + align * int(rng.integers(4))
        return Place(matrix, layout, stride, offset)


@dataclass(frozen=True)
class Operation:
    """`cases` are the variants on a device; `experiment` the buffers of one; `write` makes its kernel.

    `modes`: "spirv" and "c", or "c" alone for what SPIR-V has no instruction for.
    """

    name: str
    cases: Callable[[Profile], Iterable[Case]]
    experiment: Callable[[Setting], Experiment]
    write: Callable[[Setting, Writer], None]
    modes: tuple[str, ...] = ("spirv", "c")


def type_cases(profile: Profile) -> Iterable[Case]:
    """A variant for each matrix type."""
    for matrix, size in profile.types():
        yield Case(matrix.name + profile.suffix(size), size, matrix)
