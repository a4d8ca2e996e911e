"""Copies between global and local memory by a whole work-group, and waiting for them."""

from __future__ import annotations

import numpy as np
from cases import KERNEL, Case, Driver, blank, in_memory, same

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import INT, AddressSpace, PointerType

from .values import value_arguments

# More elements than work-items, and no multiple of them.
GROUP, GROUPS, COUNT, STRIDE = 16, 3, 21, 3
_EACH = f"for (int k = l; k < {COUNT}; k += {GROUP})"


def _to_local(overload: Overload) -> bool:
    target = overload.parameters[0]
    return isinstance(target, PointerType) and target.qualifiers.space is AddressSpace.LOCAL


def _copy(overload: Overload) -> Case:
    """Global memory to local memory to global memory; one of the two ways is the builtin's, the other one a loop."""
    pointer = overload.parameters[0]
    assert isinstance(pointer, PointerType)
    t, strided = pointer.pointee, "strided" in overload.name
    step = STRIDE if strided else 1
    more = f", {STRIDE}" if strided else ""
    wait = "wait_group_events(1, &e);"
    if _to_local(overload):
        body = (
            f"event_t e = {overload.name}(s, a + g * {COUNT * step}, (size_t){COUNT}{more}, 0); {wait}"
            f" {_EACH} r[g * {COUNT} + k] = s[k];"
        )
    else:
        body = (
            f"{_EACH} s[k] = a[g * {COUNT} + k]; barrier(CLK_LOCAL_MEM_FENCE);"
            f" event_t e = {overload.name}(r + g * {COUNT * step}, s, (size_t){COUNT}{more}, 0); {wait}"
        )
    text = (
        f"kernel void {KERNEL}(global const {t} *a, global {t} *r) {{ local {t} s[{COUNT}];"
        f" int l = get_local_id(0), g = get_group_id(0); {body} }}"
    )
    (values,) = value_arguments([t], "copy")
    read, written = (step, 1) if _to_local(overload) else (1, step)
    total = COUNT * GROUPS
    values = np.resize(values, (total * read, values.shape[1]))
    result = np.broadcast_to(blank(t, total * written)[:, : values.shape[1]], (total * written, values.shape[1])).copy()
    result[::written] = values[::read]
    arguments = [in_memory(values, t), blank(t, total * written)]
    return Case(text, arguments, {1: same(t, reference=result)}, (GROUP * GROUPS,), (GROUP,))


def _wait(overload: Overload) -> Case:
    """For two copies, which share an event or have one each."""
    pointer = overload.parameters[1]
    assert isinstance(pointer, PointerType)
    generic = pointer.qualifiers.space is AddressSpace.GENERIC
    events = "__generic event_t *w = e;" if generic else "event_t *w = e;"
    if not generic:
        events = "__private event_t *w = e;"
    text = (
        f"kernel void {KERNEL}(global const int *a, global int *r) {{ local int s[{2 * COUNT}];"
        f" int l = get_local_id(0), g = get_group_id(0); global const int *b = a + g * {2 * COUNT}; event_t e[2];"
        f" e[0] = async_work_group_copy(s, b, (size_t){COUNT}, 0);"
        f" e[1] = async_work_group_copy(s + {COUNT}, b + {COUNT}, (size_t){COUNT}, 0); {events}"
        f" wait_group_events(2, w); for (int k = l; k < {2 * COUNT}; k += {GROUP}) r[g * {2 * COUNT} + k] = 2 * s[k];"
        f" barrier(CLK_LOCAL_MEM_FENCE);"
        f" event_t f = async_work_group_copy(s, b + 1, (size_t)2, 0);"
        f" f = async_work_group_copy(s + 2, b, (size_t)2, f);"
        f" wait_group_events(1, &f); if (l < 4) r[g * {2 * COUNT} + l] += s[l]; }}"
    )
    a = np.arange(2 * COUNT * GROUPS, dtype=np.int32).reshape(GROUPS, -1) * 3 + 1
    expected = 2 * a
    expected[:, :2] += a[:, 1:3]
    expected[:, 2:4] += a[:, :2]
    check = same(INT, reference=expected.reshape(-1, 1))
    return Case(text, [a, np.zeros_like(a)], {1: check}, (GROUP * GROUPS,), (GROUP,))


# A block of planes, lines and elements inside larger ones, in elements of 4 bytes.
_PLANES, _LINES, _WIDTH = 2, 3, 5
_FROM, _TO = (4, 7), (5, 6)  # lines in a plane, elements in a line
_FROM_OFFSET, _TO_OFFSET = 2, 1


def _block(overload: Overload) -> Case:
    """Offsets and lengths are in elements (cl_khr_extended_async_copies)."""
    three = overload.name.endswith("3D3D")
    planes = _PLANES if three else 1
    sizes = [4, _WIDTH, _LINES, *([_PLANES] if three else [])]
    for lines, line in (_FROM, _TO):
        sizes += [line, *([lines * line] if three else [])]
    lengths = ", ".join(f"(size_t){size}" for size in sizes)
    source = _FROM_OFFSET + planes * _FROM[0] * _FROM[1]
    target = _TO_OFFSET + planes * _TO[0] * _TO[1]
    to_local = _to_local(overload)
    here, there = ("s", "a") if to_local else ("r", "s")
    fill = f"for (int k = l; k < {target if to_local else source}; k += {GROUP}) s[k] = {'-1' if to_local else 'a[k]'};"
    back = f"for (int k = l; k < {target}; k += {GROUP}) r[k] = s[k];" if to_local else ""
    text = (
        f"kernel void {KERNEL}(global const int *a, global int *r) {{ local int s[{max(source, target)}];"
        f" int l = get_local_id(0); {fill} barrier(CLK_LOCAL_MEM_FENCE);"
        f" event_t e = {overload.name}({here}, (size_t){_TO_OFFSET}, {there}, (size_t){_FROM_OFFSET}, {lengths}, 0);"
        f" wait_group_events(1, &e); {back} }}"
    )
    a = np.arange(source, dtype=np.int32) + 100
    r = np.full(target, -1, np.int32)
    expected = r.copy()
    block = a[_FROM_OFFSET:].reshape(planes, *_FROM)[:, :_LINES, :_WIDTH]
    expected[_TO_OFFSET:].reshape(planes, *_TO)[:, :_LINES, :_WIDTH] = block
    return Case(text, [a, r], {1: same(INT, reference=expected.reshape(-1, 1))}, (GROUP,), (GROUP,))


DRIVERS = (
    Driver("async copies", lambda o: o.name in ("async_work_group_copy", "async_work_group_strided_copy"), _copy),
    Driver("waiting for copies", lambda o: o.name == "wait_group_events", _wait),
    Driver("async copies of blocks", lambda o: o.name.startswith("async_work_group_copy_"), _block),
)
