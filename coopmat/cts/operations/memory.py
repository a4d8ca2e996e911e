"""Loads, stores, constants: transfers between memory and matrices that do not change the values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from coopmat.devices.variants import component_types
from coopmat.matrices.numpy_reference import Array, narrow
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Layout, MatrixType, Use

from ..experiment import GUARD, Argument, Experiment, matrix_input, matrix_output, pattern
from ..profile import Profile
from ..values import specials, whole_range
from ..writers import Writer
from .base import Case, Operation, Setting, round_robin, sample_evenly, type_cases

_UINT = COMPONENT_TYPES["u32"]


# --- length: the number of components in each work-item


# The largest possible subgroup size, for devices that choose the size.
_MOST_LANES = 128
_GROUPS = _SUB_GROUPS = 2


def _length_experiment(setting: Setting) -> Experiment:
    """Make an experiment of two work-groups of two subgroups, or of a single subgroup if the size is unknown."""
    matrix: MatrixType = setting.parameters
    size = setting.case.sub_group_size
    sub_groups, groups = (_SUB_GROUPS, _GROUPS) if size else (1, 1)
    slots = sub_groups * groups * (size or _MOST_LANES)
    before = pattern(slots + 2 * GUARD, _UINT)

    def look(actual: Array) -> str:
        return wrong_lengths(matrix, actual, before[0], size, setting.profile.copies(matrix, size) or 1)

    return Experiment([Argument("out", _UINT, before, look=look)], sub_groups, groups)


def wrong_lengths(matrix: MatrixType, actual: Array, untouched: int, lanes: int | None, copies: int = 1) -> str:
    """Return a description of the errors in the numbers of components that the work-items stored, "" if there are none.

    actual: the buffer with one number for each work-item, between guards.
    untouched: the value of an item that was not written.
    lanes: the subgroup size, None if unknown.
    copies: the number of work-items that hold each component.
    """
    size = matrix.rows * matrix.columns
    if np.any(actual[:GUARD] != untouched) or np.any(actual[-GUARD:] != untouched):
        return "the guards have been written to"
    slots = actual[GUARD:-GUARD]
    lengths = slots if lanes else slots[slots != untouched]
    over = np.flatnonzero(lengths > size)
    if over.size:
        item = int(over[0])
        return f"work-item {item} holds {lengths[item]} components of the matrix's {size}"
    sums = lengths.reshape(-1, lanes or max(1, lengths.size)).sum(axis=1, dtype=np.int64)
    for number, total in enumerate(sums):
        # If the subgroup size is unknown, the sum may include several subgroups or copies.
        if total != size * copies and (lanes or total % size or not total):
            wanted = f"the matrix has {size}" + f", in {copies} copies" * (copies > 1)
            return f"the work-items of subgroup {number} hold {total} components together, and {wanted}"
    return "" if sums.size else "nothing was written"


def _write_length(setting: Setting, w: Writer) -> None:
    w.store_length(w.experiment.arguments[0], setting.parameters, GUARD)


# --- constant: all components have the same value


def _constants(setting: Setting) -> list[int | float]:
    """Return 0 and three of the values that devices mishandle most easily."""
    candidates = specials(setting.parameters.component)
    rng = setting.random("constants")
    return [0, *(candidates[int(number)] for number in rng.choice(len(candidates), 3, replace=False))]


def _constant_experiment(setting: Setting) -> Experiment:
    matrix: MatrixType = setting.parameters
    constants = [narrow(matrix.component, np.array(value)) for value in _constants(setting)]
    shape = (matrix.rows, matrix.columns)
    return Experiment(setting.outputs({f"out{n}": np.full(shape, value) for n, value in enumerate(constants)}))


def _write_constant(setting: Setting, w: Writer) -> None:
    for out, value in zip(w.experiment.arguments, _constants(setting), strict=True):
        w.store(out, w.constant(setting.parameters, value))


# --- copy: load and store, in every pair of layouts


@dataclass(frozen=True)
class Copy:
    matrix: MatrixType
    source: Layout
    target: Layout


_PLAIN = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)


def _copy_cases(profile: Profile, packed: bool = True) -> Iterable[Case]:
    """Yield two of the pairs of layouts for each matrix type; all of them if the profile is exhaustive.

    `packed` allows the packed layout for matrices of the use B.
    """
    for matrix, size in profile.matrix_types:
        layouts = (*_PLAIN, Layout.PACKED) if packed and matrix.use == Use.B else _PLAIN
        pairs = [(source, target) for source in layouts for target in layouts]
        for source, target in round_robin(profile, f"copy {matrix}", pairs, 2):
            name = f"{matrix.name}.{source.short}.{target.short}{profile.suffix(size)}"
            yield Case(name, size, Copy(matrix, source, target))


def _is_packed(case: Case) -> bool:
    """Return whether a case uses the packed layout, which is an extension of this project's OpenCL C.

    The layout has no number in SPIR-V.
    """
    return Layout.PACKED in (case.parameters.source, case.parameters.target)


def _copy_experiment(setting: Setting) -> Experiment:
    copy: Copy = setting.parameters
    matrix = copy.matrix
    values = whole_range(setting.random(), matrix.component, matrix.rows, matrix.columns)
    out = setting.output("out", matrix, values, layout=copy.target)
    return Experiment([setting.input("x", matrix, values, copy.source), out], groups=2)


def _write_copy(setting: Setting, w: Writer) -> None:
    x, out = w.experiment.arguments
    w.store(out, w.load(x))


# --- copy_stride0: all rows, or columns, are the same memory


def _stride0_experiment(setting: Setting) -> Experiment:
    copy: Copy = setting.parameters
    place = replace(setting.place("x", copy.matrix, copy.source), stride=0)
    memory = whole_range(setting.random(), copy.matrix.component, place.room)
    values = memory[place.indices()]
    out = setting.output("out", copy.matrix, values, layout=copy.target)
    return Experiment([matrix_input("x", place, values), out])


# --- copy_workgroup: by way of local memory


def _workgroup_experiment(setting: Setting) -> Experiment:
    """Make an experiment of two subgroups that store the same matrix to local memory.

    The output `whole` is the content of local memory after that, guards included.
    """
    values = setting.drawn("x")
    return Experiment([*setting.inputs(values), *setting.outputs(dict.fromkeys(("out", "whole"), values["x"]))], 2)


def _write_workgroup(setting: Setting, w: Writer) -> None:
    """Write a kernel without a barrier between the store and the copies of the whole array.

    None is needed: each subgroup that reads the array has stored every component itself.
    """
    x, out, whole = w.experiment.arguments
    assert whole.place is not None
    stored, copied = w.local("stored", whole.place), w.local("copied", whole.place)
    w.copy_components(whole, stored)
    w.barrier()
    w.store(stored, w.load(x))
    w.copy_array(stored, copied)
    w.copy_components(stored, whole)
    w.barrier()
    w.store(out, w.load(copied))


# --- multicomponent_load, multicomponent_store: pointers to vectors, or to other scalars than the component type


@dataclass(frozen=True)
class Pointee:
    """A pointee type: a vector of `width` scalars of type `scalar`.

    If `scalar` is None, the scalars have the matrix's component type.
    """

    width: int = 1
    scalar: ComponentType | None = None

    def name(self, matrix: MatrixType) -> str:
        return f"{self.scalar or matrix.component}{f'x{self.width}' if self.width > 1 else ''}"


@dataclass(frozen=True)
class Pointees:
    """A matrix type, and the pointee types of the buffers from which it is loaded and to which it is stored."""

    matrix: MatrixType
    source: Pointee = Pointee()
    target: Pointee = Pointee()


_WIDTHS = (2, 3, 4, 8, 16)


def _pointee_cases(profile: Profile, store: bool) -> Iterable[Case]:
    """Return cases with vectors of the component type, and as many with pointees of other scalar types.

    The pointee type is that of the store if `store`, else that of the load.
    """
    word = "store" if store else "load"
    own: list[Case] = []
    others: list[Case] = []
    for matrix, size in profile.matrix_types:
        # OpenCL C has no vectors of small floats.
        vectors = [] if matrix.component.is_bits else [Pointee(width) for width in _WIDTHS]
        types = _other_pointees(profile, matrix)
        own += [
            _pointee_case(profile, matrix, size, p, store) for p in round_robin(profile, f"{word} {matrix}", vectors, 2)
        ]
        others += [
            _pointee_case(profile, matrix, size, p, store) for p in round_robin(profile, f"{word}s {matrix}", types)
        ]
    return [*sample_evenly(profile, own), *sample_evenly(profile, others)]


def _other_pointees(profile: Profile, matrix: MatrixType) -> list[Pointee]:
    scalars = [c for c in component_types(profile.device) if not c.is_bits and c.name != matrix.component.name]
    return [Pointee(width, scalar) for width in (1, *_WIDTHS) for scalar in scalars]


def _pointee_case(profile: Profile, matrix: MatrixType, size: int | None, pointee: Pointee, store: bool) -> Case:
    pointees = Pointees(matrix, target=pointee) if store else Pointees(matrix, pointee)
    buffers = f"inBuf_{pointees.source.name(matrix)}.outBuf_{pointees.target.name(matrix)}"
    return Case(f"{matrix.name}.{buffers}{profile.suffix(size)}", size, pointees)


def _pointee_experiment(setting: Setting) -> Experiment:
    pointees: Pointees = setting.parameters
    matrix, source, target = pointees.matrix, pointees.source, pointees.target
    values = whole_range(setting.random(), matrix.component, matrix.rows, matrix.columns)
    x = setting.place("x", matrix, vector=source.width, scalar=source.scalar)
    out = setting.place("out", matrix, vector=target.width, scalar=target.scalar)
    return Experiment([matrix_input("x", x, values), matrix_output("out", out, values)])


OPERATIONS = (
    Operation("length", type_cases, _length_experiment, _write_length, narrow=True),
    Operation("constant", type_cases, _constant_experiment, _write_constant, narrow=True),
    Operation("copy", _copy_cases, _copy_experiment, _write_copy, not_spirv=_is_packed, narrow=True),
    Operation("copy_stride0", lambda p: _copy_cases(p, False), _stride0_experiment, _write_copy, narrow=True),
    Operation("copy_workgroup", type_cases, _workgroup_experiment, _write_workgroup, narrow=True),
    Operation("multicomponent_load", lambda p: _pointee_cases(p, False), _pointee_experiment, _write_copy),
    Operation("multicomponent_store", lambda p: _pointee_cases(p, True), _pointee_experiment, _write_copy),
)
