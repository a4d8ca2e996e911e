"""The interface of operations: the variants of each on a device, and the data and kernel of one variant."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import ComponentType, Layout, MatrixType

from ..experiment import GUARD, Argument, Experiment, Place, matrix_input, matrix_output, pointee_size
from ..profile import SLOW, Profile
from ..values import whole_range

T = TypeVar("T")
# The largest number of a test's variants, unless a run is exhaustive.
MOST = 100


@dataclass(frozen=True)
class Case:
    """A variant of a test.

    name: contains neither blanks nor `*`.
    sub_group_size: in work-items; None if the device chooses.
    parameters: the parameters of the operation, such as a matrix type; each operation has its own type of parameters.
    """

    name: str
    sub_group_size: int | None
    parameters: Any = field(hash=False)


@dataclass(frozen=True)
class Setting:
    """The argument of an operation's functions: a case, its profile, and the seed of random numbers."""

    case: Case
    profile: Profile
    seed: int = 0

    @property
    def parameters(self) -> Any:
        return self.case.parameters

    @property
    def lanes(self) -> int:
        """The number of work-items in a subgroup; 16 if the device chooses."""
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
        """Return a place for a matrix in a buffer, with random padding and offset that the device allows.

        The place depends on the seed, the case and `name`. A pointee is a vector of `vector` scalars of type `scalar`,
        which is the component type by default. The default layout is row-major or column-major, at random.
        """
        rng = self.random(f"place {name}")
        if layout is None:
            layout = Layout(int(rng.integers(2)))
        size, pack = matrix.component.size, layout.pack(matrix.component)
        width = matrix.rows if layout == Layout.COLUMN_MAJOR else matrix.columns * pack
        pointee = max(1, pointee_size(scalar or matrix.component, vector) // size)
        step, align = (math.lcm(pointee, max(1, n // size)) for n in self._granularity)
        align = math.lcm(align, 2 if matrix.component.is_nibble else 1)
        stride = -(-(width + int(rng.integers(4))) // step) * step
        offset = -(-GUARD // align) * align + align * int(rng.integers(4))
        return Place(matrix, layout, stride, offset, vector, scalar)

    @property
    def _granularity(self) -> tuple[int, int]:
        """Return the bytes of which strides must be multiples, and the alignment of matrices in bytes."""
        return self.profile.stride_multiple, self.profile.pointer_alignment

    def input(self, name: str, matrix: MatrixType, values: Array, layout: Layout | None = None) -> Argument:
        """Return a buffer with the matrix `values` at a random place, from which the kernel loads."""
        return matrix_input(name, self.place(name, matrix, layout), values)

    def output(
        self, name: str, matrix: MatrixType, values: Array, tolerance: Array | float = 0.0, layout: Layout | None = None
    ) -> Argument:
        """Return a buffer to which the kernel must store the matrix `values`, at a random place."""
        return matrix_output(name, self.place(name, matrix, layout), values, tolerance)

    def drawn(self, names: Iterable[str], draw: Draw = whole_range) -> dict[str, Array]:
        """Return name -> random values, by `draw`, for matrices of the case's type."""
        rng, matrix = self.random(), self.parameters
        return {name: draw(rng, matrix.component, matrix.rows, matrix.columns) for name in names}

    def inputs(self, values: Mapping[str, Array]) -> list[Argument]:
        """Return input buffers with matrices of the case's type; `values` is name -> matrix."""
        return [self.input(name, self.parameters, array) for name, array in values.items()]

    def outputs(self, values: Mapping[str, Array]) -> list[Argument]:
        return [self.output(name, self.parameters, array) for name, array in values.items()]


Draw = Callable[..., Array]


def of_matrices(results: Callable[..., Mapping[str, Array]], names: str = "xy") -> Callable[[Setting], Experiment]:
    """Return a function that makes experiments on matrices of one type.

    The input buffers have the names in `names`, one letter each. `results` computes name -> output from the component
    type and the inputs.
    """

    def experiment(setting: Setting) -> Experiment:
        values = setting.drawn(names)
        outputs = results(setting.parameters.component, *values.values())
        return Experiment([*setting.inputs(values), *setting.outputs(outputs)])

    return experiment


@dataclass(frozen=True)
class Operation:
    """An operation of the conformance runner.

    cases: the function that yields the variants on a device.
    experiment: the function that makes the buffers of one variant.
    write: the function that writes the kernel of one variant with a `Writer`, or with a `CWriter` if the only mode is
    "c".
    modes: ("spirv", "c"), or ("c",) if SPIR-V has no instruction for the operation.
    not_spirv: the function that selects the cases that the mode "spirv" excludes.
    narrow: whether matrices of types of fewer than 8 bits have the operation, in the mode "c".
    """

    name: str
    cases: Callable[[Profile], Iterable[Case]]
    experiment: Callable[[Setting], Experiment]
    write: Callable[[Setting, Any], None]
    modes: tuple[str, ...] = ("spirv", "c")
    not_spirv: Callable[[Case], bool] = lambda case: False
    narrow: bool = False

    def has(self, mode: str, case: Case) -> bool:
        """Return whether a mode includes this case of the operation."""
        return mode in self.modes and not (mode == "spirv" and self.not_spirv(case))


def type_cases(profile: Profile) -> Iterable[Case]:
    """Yield a variant for each matrix type."""
    for matrix, size in profile.matrix_types:
        yield Case(matrix.name + profile.suffix(size), size, matrix)


def sample_evenly(profile: Profile, cases: Iterable[Case], most: int = 0, first: int = 0) -> Sequence[Case]:
    """Return at most `most` cases, evenly distributed; all of them if the profile is exhaustive.

    The default of `most` is MOST, or half of it on a slow route. `first` rotates the choice.
    """
    every = list(cases)
    most = most or (MOST // 2 if profile.route in SLOW else MOST)
    if profile.exhaustive or len(every) <= most:
        return every
    return [every[(number * len(every) // most + first) % len(every)] for number in range(most)]


def round_robin(profile: Profile, name: str, options: Sequence[T], count: int = 1) -> Sequence[T]:
    """Return `count` consecutive options, from a position that depends on `name`.

    If the profile is exhaustive, return all options.
    """
    if profile.exhaustive or len(options) <= count:
        return options
    first = zlib.crc32(name.encode())
    return [options[(first + number) % len(options)] for number in range(count)]


class Turns:
    """A source of options for test variants: successive requests for a name get successive options, cyclically.

    If the profile is exhaustive, each request gets all options.
    """

    def __init__(self, profile: Profile) -> None:
        self._exhaustive = profile.exhaustive
        self._first: dict[str, int] = {}

    def next(self, name: str, options: Sequence[T], count: int) -> Sequence[T]:
        """Return the next `count` options for a name.

        The first time, they begin at a position that depends on the name.
        """
        if self._exhaustive or len(options) <= count:
            return options
        first = self._first.get(name, zlib.crc32(name.encode()))
        self._first[name] = first + count
        return [options[(first + number) % len(options)] for number in range(count)]


def is_of_small_floats(case: Case) -> bool:
    """Return whether a case has small floats, on which SPIR-V has no arithmetic.

    SPV_KHR_bfloat16 allows only conversions and multiply-adds.
    """
    return bool(case.parameters.component.is_bits)
