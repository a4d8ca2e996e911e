"""Barriers, fences and prefetch: kernels whose results depend on what the barriers make visible."""

from __future__ import annotations

import numpy as np
from cases import KERNEL, Case, Driver, Same, blank, in_memory, same
from differential import Value

from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import PointerType, element_count

from .values import value_arguments

ITEMS, GROUP, SUBGROUP = 256, 64, 8
NAMES = (
    "barrier",
    "work_group_barrier",
    "sub_group_barrier",
    "mem_fence",
    "read_mem_fence",
    "write_mem_fence",
    "atomic_work_item_fence",
)


def _barrier(overload: Overload) -> Case:
    """Every work-item reads what another one of its group wrote, in local and then in global memory."""
    name, scoped = overload.name, len(overload.parameters) > 1
    subgroup = name == "sub_group_barrier"
    scope = ", memory_scope_sub_group" if subgroup else ", memory_scope_work_group"
    size = SUBGROUP if subgroup else GROUP
    attribute = f"__attribute__((intel_reqd_sub_group_size({SUBGROUP}))) " if subgroup else ""

    def call(flags: str) -> str:
        if name == "atomic_work_item_fence":
            return f"{name}({flags}, memory_order_acq_rel, memory_scope_work_group); barrier({flags});"
        if name.endswith("mem_fence"):
            return f"{name}({flags}); barrier({flags});"
        return f"{name}({flags}{scope if scoped else ''});"

    # First a constant, then flags that the compiler does not know.
    text = (
        f"{attribute}kernel void {KERNEL}(global const int *a, global int *b, global int *r, uint flags) {{"
        f" local int s[{GROUP}]; size_t i = get_global_id(0), l = get_local_id(0), o = l ^ {size - 1};"
        f" s[l] = a[i]; {call('CLK_LOCAL_MEM_FENCE')}"
        f" b[i] = 3 * s[o]; {call('CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE')}"
        f" s[l] = b[i ^ {size - 1}] + 1; {call('flags')} r[i] = s[o]; }}"
    )
    a = np.arange(ITEMS, dtype=np.int32) * 7
    other = np.arange(ITEMS) ^ (size - 1)
    arguments = [a, np.zeros_like(a), np.zeros_like(a), Value(np.array([3], np.uint32))]
    written, result = 3 * a[other], 3 * a[other] + 1
    checks = {1: Same(reference=written), 2: Same(reference=result)}
    optimised = "lanes" if subgroup else "one"
    return Case(text, arguments, checks, (ITEMS,), (GROUP,), optimised=optimised)


def _prefetch(overload: Overload) -> Case:
    """It may do nothing; what is read afterwards is what is there."""
    pointer = overload.parameters[0]
    assert isinstance(pointer, PointerType)
    t = pointer.pointee
    (values,) = value_arguments([t], "prefetch")
    text = (
        f"kernel void {KERNEL}(global const {t} *a, global {t} *r)"
        f" {{ size_t i = get_global_id(0); prefetch(a + i, 1); r[i] = a[i]; }}"
    )
    items = len(values)
    arguments = [in_memory(values, t), blank(t, items)]
    return Case(text, arguments, {1: same(t, reference=values[:, : element_count(t)])}, (items,), (16,))


DRIVERS = (
    Driver("barriers", lambda o: o.name in NAMES, _barrier),
    Driver("prefetch", lambda o: o.name == "prefetch", _prefetch),
)
