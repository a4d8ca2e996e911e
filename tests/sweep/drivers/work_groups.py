"""Work-group collectives: each result is the same for any order of the work-items, or is defined by it."""

from __future__ import annotations

import re

import numpy as np
from cases import KERNEL, Array, Case, Driver, Same, dtype, scalar

from coopmat.frontend.builtins import Overload

from .folding import OPERATIONS, as_array, fold, operands

GROUPS, SHAPE = 3, (8, 3, 2)
SIZE = int(np.prod(SHAPE))
_FOLD = re.compile(rf"work_group_(?P<kind>reduce|scan_inclusive|scan_exclusive)_(?P<operation>{'|'.join(OPERATIONS)})")
_INDEX = (
    "size_t i = get_group_id(0) * get_local_size(0) * get_local_size(1) * get_local_size(2) + get_local_linear_id();"
)


def _case(overload: Overload, call: str, values: Array, expected: Array, truth: bool) -> Case:
    t = overload.parameters[0]
    text = f"kernel void {KERNEL}(global const {t} *a, global {t} *r) {{ {_INDEX} r[i] = {call}; }}"
    sizes = (SHAPE[0] * GROUPS, *SHAPE[1:])
    return Case(
        text, [values, np.full(len(values), 77, dtype(t))], {1: Same(reference=expected, truth=truth)}, sizes, SHAPE
    )


def _fold(overload: Overload) -> Case:
    match, element = _FOLD.fullmatch(overload.name), scalar(overload.parameters[0]).name
    assert match is not None
    values = operands(match["operation"], element, GROUPS * SIZE)
    found = [fold(match["kind"], match["operation"], part.tolist(), element) for part in np.split(values, GROUPS)]
    expected = as_array([v for part in found for v in part], element)
    return _case(overload, f"{overload.name}(a[i])", values, expected, match["operation"].startswith("logical"))


def _predicate(overload: Overload) -> Case:
    values = np.zeros((GROUPS, SIZE), np.int32)
    values[1] = 5
    values[2, 7] = -1
    found = {"work_group_all": values.all, "work_group_any": values.any}[overload.name](1)
    expected = np.repeat(found, SIZE).astype(np.int32)
    return _case(overload, f"{overload.name}(a[i])", values.ravel(), expected, truth=True)


def _broadcast(overload: Overload) -> Case:
    """From another work-item in each group: the indices are uniform."""
    t, dimensions = overload.parameters[0], len(overload.parameters) - 1
    values = operands("max", scalar(t).name, GROUPS * SIZE)
    at = (3, 2, 1)
    if dimensions < 3:
        # As many dimensions as there are indices.
        shape = (SIZE,) if dimensions == 1 else (8, SIZE // 8)
        index = "size_t i = get_group_id(0) * " + f"{SIZE} + get_local_linear_id();"
    else:
        shape, index = SHAPE, _INDEX
    indices = [f"get_group_id(0) + {at[0]}", *map(str, at[1:dimensions])]
    call = f"{overload.name}(a[i], {', '.join(indices)})"
    source = f"kernel void {KERNEL}(global const {t} *a, global {t} *r) {{ {index} r[i] = {call}; }}"
    strides = (1, shape[0], SHAPE[0] * SHAPE[1])
    chosen = [g * SIZE + g + sum(k * s for k, s in zip(at[:dimensions], strides, strict=False)) for g in range(GROUPS)]
    expected = np.repeat(values[chosen], SIZE)
    sizes = (shape[0] * GROUPS, *shape[1:])
    blank = np.full(len(values), 77, dtype(t))
    return Case(source, [values, blank], {1: Same(reference=expected)}, sizes, shape)


def _kills(overload: Overload) -> bool:
    return len(overload.parameters) == 4 and scalar(overload.parameters[0]).name == "half"


DRIVERS = (
    Driver("work-group reductions and scans", lambda o: _FOLD.fullmatch(o.name) is not None, _fold),
    Driver("work-group votes", lambda o: o.name in ("work_group_all", "work_group_any"), _predicate),
    Driver("work-group broadcasts", lambda o: o.name == "work_group_broadcast", _broadcast, alone=_kills),
)
