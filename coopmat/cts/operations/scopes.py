"""The operation workgroup_scope: matrices of all work-items of a work-group, of one subgroup or several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from coopmat.matrices.variants import SCOPE_WORKGROUP, MatrixType, Use, Variant

from ..experiment import Experiment
from ..profile import Profile
from ..writers import Value, Writer
from .base import Case, Operation, Setting
from .elements import sum_of, sum_of_scalars
from .inputs import is_plain, multiply_add_cases, operands_of, plain, product, types_of
from .maps import CHOSEN
from .reductions import COLUMN, FUNCTIONS, combined, reducible

_GROUPS = 2
_SUB_GROUPS = (2, 3, 1)
# The largest number of components of a lowered matrix, and of products of components in a multiply-add. The number of
# multiply-adds for each number of subgroups.
_MOST_COMPONENTS, _MOST_PRODUCTS, _FEW = 256, 512, 8


@dataclass(frozen=True)
class OfWorkGroup:
    """A matrix type or a multiply-add (`subject`), in work-groups of `sub_groups` subgroups."""

    subject: MatrixType | Variant
    sub_groups: int


def _cases(profile: Profile) -> Iterable[Case]:
    """Yield matrix types and multiply-adds on lowered routes.

    Native routes have no cases: no device reports its matrices of work-groups. Each type runs with one of the numbers
    of subgroups, or with all of them if the profile is exhaustive.
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


# --- matrix types: access to components, and operations that exchange components between work-items


def _type_experiment(setting: Setting) -> Experiment:
    matrix: MatrixType = setting.parameters.subject
    rng, component, shape = setting.random(), matrix.component, (matrix.rows, matrix.columns)
    x, y = (reducible(rng, "max", component, *shape) for _ in range(2))
    places = (index.astype(np.uint32) for index in np.indices(shape))
    greatest = combined(FUNCTIONS["max"](component), x.T)
    turned = MatrixType(component, matrix.columns, matrix.rows, Use((matrix.use + 1) % 3))
    reduced = replace(matrix, rows=2, use=Use.ACCUMULATOR)
    results = {
        "chosen": (matrix, CHOSEN.function(component).value(*places, x, y)),
        "turned": (turned, y.T),
        "reduced": (reduced, np.broadcast_to(greatest, (2, matrix.columns))),
        "changed": (matrix, sum_of(component, x, y)),
    }
    inputs = [setting.input(name, _of_work_group(matrix), values) for name, values in (("x", x), ("y", y))]
    outputs = [setting.output(name, _of_work_group(kind), values) for name, (kind, values) in results.items()]
    return Experiment([*inputs, *outputs], setting.parameters.sub_groups, _GROUPS)


def _write_type(setting: Setting, w: Writer) -> None:
    x, y, chosen, turned, reduced, changed = w.experiment.arguments
    matrix = _of_work_group(setting.parameters.subject)
    component, accumulator = matrix.component, replace(matrix, use=Use.ACCUMULATOR)
    m, n = w.load(x), w.load(y)
    w.store(chosen, w.map(matrix, CHOSEN.function(component), [m, n], []))
    assert turned.place is not None and reduced.place is not None
    w.store(turned, w.transpose(matrix, turned.place.matrix, n))
    operand = m if matrix == accumulator else w.convert(matrix, accumulator, m)
    w.store(reduced, w.reduce(accumulator, reduced.place.matrix, COLUMN, FUNCTIONS["max"](component), operand))
    target, other = w.declare(matrix, m), w.declare(matrix, n)

    def add(i: Value) -> None:
        total = sum_of_scalars(w, component, w.component(target, i), w.component(other, i))
        w.set_component(target, i, total)

    w.each_component(matrix, add)
    w.store(changed, w.read(target))


# --- multiply-adds


def _product_experiment(setting: Setting) -> Experiment:
    variant: Variant = setting.parameters.subject
    values = plain(setting.random(), variant)
    result, tolerance = product(variant, values)
    types = [_of_work_group(matrix) for matrix in types_of(variant)]
    inputs = [setting.input(n, matrix, array) for n, matrix, array in zip("abc", types, values, strict=True)]
    out = setting.output("out", types[2], result, tolerance)
    return Experiment([*inputs, out], setting.parameters.sub_groups, _GROUPS)


def _write_product(setting: Setting, w: Writer) -> None:
    *inputs, out = w.experiment.arguments
    types = [_of_work_group(matrix) for matrix in types_of(setting.parameters.subject)]
    a, b, c = (w.load(argument) for argument in inputs)
    w.store(out, w.multiply_add(types, a, b, c, operands_of(setting.parameters.subject)))


# --- both


def _experiment(setting: Setting) -> Experiment:
    is_type = isinstance(setting.parameters.subject, MatrixType)
    return _type_experiment(setting) if is_type else _product_experiment(setting)


def _write(setting: Setting, w: Writer) -> None:
    (_write_type if isinstance(setting.parameters.subject, MatrixType) else _write_product)(setting, w)


OPERATIONS = (Operation("workgroup_scope", _cases, _experiment, _write),)
