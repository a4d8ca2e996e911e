"""Barriers and fences (OpenCL C 3.0, sections 6.15.8 and 6.15.9)."""

from __future__ import annotations

from functools import partial

from .rows import rows

_barrier = partial(rows, section="6.15.8", lowering="barrier", convergent=True)
_fence = partial(rows, section="6.15.9", lowering="fence")
_FORMS = ("void @(cl_mem_fence_flags)", "void @(cl_mem_fence_flags, memory_scope)")

TABLE = (
    *_barrier("barrier", _FORMS[0]),
    *_barrier("work_group_barrier", *_FORMS),
    *_barrier("sub_group_barrier", *_FORMS, section="6.15.8, 6.15.19", needs="cl_khr_subgroups", subgroup=True),
    *_fence("mem_fence read_mem_fence write_mem_fence", "void @(cl_mem_fence_flags)"),
    *_fence("atomic_work_item_fence", "void @(cl_mem_fence_flags, memory_order, memory_scope)", needs="CL2.0"),
)
