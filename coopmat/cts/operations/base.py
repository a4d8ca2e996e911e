"""The base of operations: the variants of each on a device, and the experiment of one variant."""

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
    """A variant of a test. `name` contains neither blanks nor `*`; `parameters` are the operation's own."""

    name: str
    sub_group_size: int | None
    parameters: Any = field(hash=False)


@dataclass(frozen=True)
class Setting:
    """The argument of an operation's functions: the case, the profile that it runs in, and random numbers that depend
    only on the seed and the case's name."""

    case: Case
    profile: Profile
    seed: int = 0

    @property
    def parameters(self) -> Any:
        return self.case.parameters

    @property
    def lanes(self) -> int:
        """The number of work-items in a subgroup; if the device chooses, the number with which it is launched."""
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
        """Return a place in a buffer: with padding, at any pointee that the device allows; it depends on `name`.

        The pointee is `vector` of `scalar`, by default of the component type. The default layout is row-major or
        column-major.
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
        """Return the bytes of which strides, and places in memory, are multiples."""
        return self.profile.stride_multiple, self.profile.pointer_alignment

    def input(self, name: str, matrix: MatrixType, values: Array, layout: Layout | None = None) -> Argument:
        """Return a buffer that a matrix is loaded from, at some place."""
        return matrix_input(name, self.place(name, matrix, layout), values)

    def output(
        self, name: str, matrix: MatrixType, values: Array, tolerance: Array | float = 0.0, layout: Layout | None = None
    ) -> Argument:
        """Return a buffer that a matrix is stored to, at some place."""
        return matrix_output(name, self.place(name, matrix, layout), values, tolerance)

    def drawn(self, names: Iterable[str], draw: Draw = whole_range) -> dict[str, Array]:
        """Return random values by name for matrices of the case's type."""
        rng, matrix = self.random(), self.parameters
        return {name: draw(rng, matrix.component, matrix.rows, matrix.columns) for name in names}

    def inputs(self, values: Mapping[str, Array]) -> list[Argument]:
        """Return buffers with matrices of the case's type."""
        return [self.input(name, self.parameters, array) for name, array in values.items()]

    def outputs(self, values: Mapping[str, Array]) -> list[Argument]:
        return [self.output(name, self.parameters, array) for name, array in values.items()]


Draw = Callable[..., Array]


def of_matrices(results: Callable[..., Mapping[str, Array]], names: str = "xy") -> Callable[[Setting], Experiment]:
    """Return a function that makes experiments with matrices of one type: the inputs have these names, and the outputs
    are the `results` for the component type and the inputs."""

    def experiment(setting: Setting) -> Experiment:
        values = setting.drawn(names)
        outputs = results(setting.parameters.component, *values.values())
        return Experiment([*setting.inputs(values), *setting.outputs(outputs)])

    return experiment


@dataclass(frozen=True)
class Operation:
    """An `Operation` is tested by its `cases`, the variants on a device; `experiment` makes the buffers of one; `write`
    makes its kernel with a `Writer`, or with a `CWriter` if the only mode is "c".

    `modes`: "spirv" and "c", or "c" alone if SPIR-V has no instruction for it; `not_spirv` selects the cases that the
    mode "spirv" excludes.
    """

    name: str
    cases: Callable[[Profile], Iterable[Case]]
    experiment: Callable[[Setting], Experiment]
    write: Callable[[Setting, Any], None]
    modes: tuple[str, ...] = ("spirv", "c")
    not_spirv: Callable[[Case], bool] = lambda case: False

    def has(self, mode: str, case: Case) -> bool:
        """Return whether a mode includes this case of the operation."""
        return mode in self.modes and not (mode == "spirv" and self.not_spirv(case))


def type_cases(profile: Profile) -> Iterable[Case]:
    """Yield a variant for each matrix type."""
    for matrix, size in profile.matrix_types:
        yield Case(matrix.name + profile.suffix(size), size, matrix)


def thinned(profile: Profile, cases: Iterable[Case], most: int = 0, first: int = 0) -> Sequence[Case]:
    """Return at most so many cases (by default MOST, or half of them on a slow route), evenly distributed; all if the
    profile is exhaustive. `first` varies the choice."""
    every = list(cases)
    most = most or (MOST // 2 if profile.route in SLOW else MOST)
    if profile.exhaustive or len(every) <= most:
        return every
    return [every[(number * len(every) // most + first) % len(every)] for number in range(most)]


def dealt(profile: Profile, name: str, options: Sequence[T], count: int = 1) -> Sequence[T]:
    """Return so many of the options, depending on the name; all if the profile is exhaustive."""
    if profile.exhaustive or len(options) <= count:
        return options
    first = zlib.crc32(name.encode())
    return [options[(first + number) % len(options)] for number in range(count)]


class Turns:
    """Turns of options, by a name: those that were not taken yet come first; all come each time if the profile is
    exhaustive."""

    def __init__(self, profile: Profile) -> None:
        self._exhaustive = profile.exhaustive
        self._first: dict[str, int] = {}

    def next(self, name: str, options: Sequence[T], count: int) -> Sequence[T]:
        """Return so many of the options, the first time from one on that depends on the name."""
        if self._exhaustive or len(options) <= count:
            return options
        first = self._first.get(name, zlib.crc32(name.encode()))
        self._first[name] = first + count
        return [options[(first + number) % len(options)] for number in range(count)]


def is_of_small_floats(case: Case) -> bool:
    """Return whether a case has small floats, on which SPIR-V has no arithmetic: SPV_KHR_bfloat16 allows conversions
    and multiply-adds."""
    return bool(case.parameters.component.is_bits)
