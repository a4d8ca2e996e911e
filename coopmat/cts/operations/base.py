"""What an operation is: the variants that it has on a device, and what one of them runs."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from coopmat.matrices.reference import Array
from coopmat.matrices.variants import ComponentType, Layout, MatrixType

from ..experiment import GUARD, Argument, Experiment, Place, matrix_input, matrix_output, pointee_size
from ..profile import SLOW, Profile
from ..values import whole_range

T = TypeVar("T")
# Variants of a test, unless all of them are asked for.
MOST = 100


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

    def place(
        self,
        name: str,
        matrix: MatrixType,
        layout: Layout | None = None,
        vector: int = 1,
        scalar: ComponentType | None = None,
    ) -> Place:
        """Somewhere in a buffer: with padding, at any pointee that the device allows; `name` makes it another.

        `vector` of `scalar`, of the component type if none is given, are a pointee. Without a layout it is row-major
        or column-major.
        """
        rng = self.random(f"place {name}")
        if layout is None:
            layout = Layout(int(rng.integers(2)))
        size, pack = matrix.component.size, max(1, 4 // matrix.component.size) if layout == Layout.PACKED else 1
        width = matrix.rows if layout == Layout.COLUMN_MAJOR else matrix.columns * pack
        pointee = max(1, pointee_size(scalar or matrix.component, vector) // size)
        step, align = (math.lcm(pointee, max(1, n // size)) for n in self._granularity)
        stride = -(-(width + int(rng.integers(4))) // step) * step
        offset = -(-GUARD // align) * align + align * int(rng.integers(4))
        return Place(matrix, layout, stride, offset, vector, scalar)

    @property
    def _granularity(self) -> tuple[int, int]:
        """What strides and places in memory are multiples of, in bytes."""
        return self.profile.stride_multiple, self.profile.pointer_alignment

    def input(self, name: str, matrix: MatrixType, values: Array, layout: Layout | None = None) -> Argument:
        """A buffer that a matrix is loaded from, somewhere in it."""
        return matrix_input(name, self.place(name, matrix, layout), values)

    def output(
        self, name: str, matrix: MatrixType, values: Array, tolerance: Array | float = 0.0, layout: Layout | None = None
    ) -> Argument:
        """A buffer that a matrix is stored to, somewhere in it."""
        return matrix_output(name, self.place(name, matrix, layout), values, tolerance)

    def drawn(self, names: Iterable[str], draw: Draw = whole_range) -> dict[str, Array]:
        """Values by name for matrices of the type that the case is about."""
        rng, matrix = self.random(), self.parameters
        return {name: draw(rng, matrix.component, matrix.rows, matrix.columns) for name in names}

    def inputs(self, values: Mapping[str, Array]) -> list[Argument]:
        """Buffers with matrices of the type that the case is about."""
        return [self.input(name, self.parameters, array) for name, array in values.items()]

    def outputs(self, values: Mapping[str, Array]) -> list[Argument]:
        return [self.output(name, self.parameters, array) for name, array in values.items()]


Draw = Callable[..., Array]


def of_matrices(results: Callable[..., Mapping[str, Array]], names: str = "xy") -> Callable[[Setting], Experiment]:
    """Experiments with matrices of one type: those of these names go in, and what `results` makes of the component type
    and of them comes out."""

    def experiment(setting: Setting) -> Experiment:
        values = setting.drawn(names)
        outputs = results(setting.parameters.component, *values.values())
        return Experiment([*setting.inputs(values), *setting.outputs(outputs)])

    return experiment


@dataclass(frozen=True)
class Operation:
    """`cases` are the variants on a device; `experiment` the buffers of one; `write` makes its kernel with a `Writer`,
    where there is the mode "c" alone with a `CWriter`.

    `modes`: "spirv" and "c", or "c" alone for what SPIR-V has no instruction for; `not_spirv` tells the cases that the
    mode "spirv" leaves out of the others.
    """

    name: str
    cases: Callable[[Profile], Iterable[Case]]
    experiment: Callable[[Setting], Experiment]
    write: Callable[[Setting, Any], None]
    modes: tuple[str, ...] = ("spirv", "c")
    not_spirv: Callable[[Case], bool] = lambda case: False

    def has(self, mode: str, case: Case) -> bool:
        """Whether a mode has this of the operation's cases."""
        return mode in self.modes and not (mode == "spirv" and self.not_spirv(case))


def type_cases(profile: Profile) -> Iterable[Case]:
    """A variant for each matrix type."""
    for matrix, size in profile.matrix_types:
        yield Case(matrix.name + profile.suffix(size), size, matrix)


def thinned(profile: Profile, cases: Iterable[Case], most: int = 0, first: int = 0) -> Sequence[Case]:
    """At most so many (MOST, or half of them on a slow route, where none are told), evenly; all where the profile is
    exhaustive. `first` makes the choice another one."""
    every = list(cases)
    most = most or (MOST // 2 if profile.route in SLOW else MOST)
    if profile.exhaustive or len(every) <= most:
        return every
    return [every[(number * len(every) // most + first) % len(every)] for number in range(most)]


def dealt(profile: Profile, name: str, options: Sequence[T], count: int = 1) -> Sequence[T]:
    """So many of the options, others for another name; all where the profile is exhaustive."""
    if profile.exhaustive or len(options) <= count:
        return options
    first = zlib.crc32(name.encode())
    return [options[(first + number) % len(options)] for number in range(count)]


def is_of_small_floats(case: Case) -> bool:
    """SPIR-V has no arithmetic on small floats: SPV_KHR_bfloat16 allows conversions and multiply-adds."""
    return bool(case.parameters.component.is_bits)
