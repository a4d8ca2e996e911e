"""The operation workgroup_scope: matrices that belong to all work-items of a work-group, of one subgroup or several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from coopmat.matrices import meaning
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import SCOPE_WORKGROUP, MatrixType, Use, Variant

from ..experiment import Experiment
from ..profile import Profile
from ..writers.c import CWriter
from .base import Case, Operation, Setting
from .inputs import is_plain, multiply_add_cases, operands_of, plain, product, types_of
from .maps import CHOSEN
from .reductions import COLUMN, FUNCTIONS, combined, reducible
from .stack import Stack

_GROUPS = 2
_SUB_GROUPS = (2, 3, 1)
# Components of a lowered matrix, products of components in a multiply-add, and multiply-adds for each number of
# subgroups.
_MOST_COMPONENTS, _MOST_PRODUCTS, _FEW = 256, 512, 8


@dataclass(frozen=True)
class OfWorkGroup:
    """A matrix type or a multiply-add, in work-groups of so many subgroups."""

    subject: MatrixType | Variant
    sub_groups: int


def _cases(profile: Profile) -> Iterable[Case]:
    """Yield matrix types and multiply-adds, if they are lowered: no device tells which matrices of work-groups it has.

    Each has one of the numbers of subgroups; all of them if the profile is exhaustive.
    """
    if profile.is_native:
        return
    types = [
        (matrix, size)
        for matrix, size in profile.matrix_types
        if matrix.rows * matrix.columns <= _MOST_COMPONENTS or profile.exhaustive
    ]
    for turn, count in enumerate(_SUB_GROUPS):
        suffix = f".{count}subgroups"
        for matrix, size in types if profile.exhaustive else types[turn :: len(_SUB_GROUPS)]:
            name = f"{_of_work_group(matrix).name}{suffix}{profile.suffix(size)}"
            yield Case(name, size, OfWorkGroup(matrix, count))
        for case in multiply_add_cases(profile, is_plain, _MOST_PRODUCTS, f".workgroup{suffix}", _FEW, first=turn):
            yield replace(case, parameters=OfWorkGroup(case.parameters, count))


def _of_work_group(matrix: MatrixType) -> MatrixType:
    return replace(matrix, scope=SCOPE_WORKGROUP)


def _stacks(setting: Setting, **types: MatrixType) -> list[Stack]:
    """Return the places of matrices, one of each work-group."""
    return [Stack.of(setting, name, _of_work_group(matrix), _GROUPS) for name, matrix in types.items()]


def _load(w: CWriter, stack: Stack) -> str:
    return w.variable(stack.place.matrix, stack.load("number"))


# --- matrix types: component by component, and what exchanges components between work-items


def _type_stacks(setting: Setting) -> list[Stack]:
    matrix: MatrixType = setting.parameters.subject
    turned = MatrixType(matrix.component, matrix.columns, matrix.rows, Use((matrix.use + 1) % 3))
    reduced = replace(matrix, rows=2, use=Use.ACCUMULATOR)
    return _stacks(setting, x=matrix, y=matrix, chosen=matrix, codes=matrix, turned=turned, reduced=reduced)


_CODES = """\
for (uint i = 0; i < coop_mat_length({m}); i++) {{
    uint2 at = coop_mat_coord({m}, i);
    {m}[i] = ({s}){wide}((at.x * 5 + at.y * 3 + number) & 127);
}}"""


def _type_results(setting: Setting, group: int, x: Array, y: Array) -> list[Array]:
    """Return the contents of the stacks behind those of x and y."""
    matrix: MatrixType = setting.parameters.subject
    component, shape = matrix.component, (matrix.rows, matrix.columns)
    rows, columns = np.indices(shape, np.uint32)
    chosen = CHOSEN.function(component).value(rows, columns, x, y)
    codes = meaning.narrow(component, (rows * 5 + columns * 3 + group) & 127)
    greatest = combined(FUNCTIONS["max"](component), x.T)
    return [chosen, codes, y.T, np.broadcast_to(greatest, (2, matrix.columns))]


def _type_experiment(setting: Setting) -> Experiment:
    matrix: MatrixType = setting.parameters.subject
    rng, stacks = setting.random(), _type_stacks(setting)
    inputs = [
        [reducible(rng, "max", matrix.component, matrix.rows, matrix.columns) for _ in range(2)] for _ in range(_GROUPS)
    ]
    results = [_type_results(setting, group, *pair) for group, pair in enumerate(inputs)]
    buffers = [stack.input(arrays) for stack, arrays in zip(stacks, zip(*inputs, strict=True), strict=False)]
    buffers += [stack.output(arrays) for stack, arrays in zip(stacks[2:], zip(*results, strict=True), strict=True)]
    return Experiment(buffers, setting.parameters.sub_groups, _GROUPS)


def _write_type(setting: Setting, w: CWriter) -> None:
    x, y, chosen, codes, turned, reduced = _type_stacks(setting)
    matrix, component = x.place.matrix, x.place.matrix.component
    m, n = _load(w, x), _load(w, y)
    w.line(chosen.store("number", w.map(matrix, CHOSEN.function(component), [m, n], [])))
    w.line(turned.store("number", w.transpose(matrix, turned.place.matrix, n)))
    accumulator = replace(matrix, use=Use.ACCUMULATOR)
    operand = m if matrix == accumulator else w.convert(matrix, accumulator, m)
    greatest = w.reduce(accumulator, reduced.place.matrix, COLUMN, FUNCTIONS["max"](component), operand)
    w.line(reduced.store("number", greatest))
    w.lines_of(_CODES, m=m, s=component.opencl_c, wide="(float)" * component.is_bits)
    w.line(codes.store("number", m))


# --- multiply-adds


def _product_stacks(setting: Setting) -> list[Stack]:
    a, b, c = types_of(setting.parameters.subject)
    return _stacks(setting, a=a, b=b, c=c, out=c)


def _product_experiment(setting: Setting) -> Experiment:
    variant: Variant = setting.parameters.subject
    rng, (*stacks, out) = setting.random(), _product_stacks(setting)
    inputs = [plain(rng, variant) for _ in range(_GROUPS)]
    results, tolerances = zip(*(product(variant, item) for item in inputs), strict=True)
    buffers = [stack.input(matrices) for stack, matrices in zip(stacks, zip(*inputs, strict=True), strict=True)]
    return Experiment([*buffers, out.output(results, tolerances)], setting.parameters.sub_groups, _GROUPS)


def _write_product(setting: Setting, w: CWriter) -> None:
    *stacks, out = _product_stacks(setting)
    types = [stack.place.matrix for stack in stacks]
    operands = operands_of(setting.parameters.subject)
    a, b, c = (_load(w, stack) for stack in stacks)
    w.line(out.store("number", w.multiply_add(types, a, b, c, operands)))


# --- both


def _experiment(setting: Setting) -> Experiment:
    is_type = isinstance(setting.parameters.subject, MatrixType)
    return _type_experiment(setting) if is_type else _product_experiment(setting)


def _write(setting: Setting, w: CWriter) -> None:
    w.line("uint number = get_group_id(0);")
    (_write_type if isinstance(setting.parameters.subject, MatrixType) else _write_product)(setting, w)


OPERATIONS = (Operation("workgroup_scope", _cases, _experiment, _write, ("c",)),)
