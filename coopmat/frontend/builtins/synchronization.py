"""Barriers and fences (OpenCL C 3.0, sections 6.15.8 and 6.15.9)."""

from __future__ import annotations

from .rows import rows

TABLE = (
    *rows("barrier", "void @(cl_mem_fence_flags)", section="6.15.8", lowering="barrier", convergent=True),
    *rows(
        "work_group_barrier",
        "void @(cl_mem_fence_flags)",
        "void @(cl_mem_fence_flags, memory_scope)",
        section="6.15.8",
        lowering="barrier",
        convergent=True,
    ),
    *rows(
        "sub_group_barrier",
        "void @(cl_mem_fence_flags)",
        "void @(cl_mem_fence_flags, memory_scope)",
        section="6.15.8, 6.15.19",
        lowering="barrier",
        convergent=True,
        needs="cl_khr_subgroups",
        subgroup=True,
    ),
    *rows(
        "mem_fence read_mem_fence write_mem_fence",
        "void @(cl_mem_fence_flags)",
        section="6.15.9",
        lowering="fence",
    ),
    *rows(
        "atomic_work_item_fence",
        "void @(cl_mem_fence_flags, memory_order, memory_scope)",
        section="6.15.9",
        lowering="fence",
        needs="CL2.0",
    ),
)
