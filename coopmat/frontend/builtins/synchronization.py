"""Barriers and fences (OpenCL C 3.0, sections 6.15.8 and 6.15.9), async copies and prefetch (6.15.11), atomics."""

from __future__ import annotations

from .rows import NOT_YET, rows

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
    *rows("prefetch", "void @(global const Tn *, size_t) for T in numbers, n in any", section="6.15.11"),
    *rows(
        "async_work_group_copy async_work_group_strided_copy wait_group_events",
        section="6.15.11",
        status=NOT_YET,
    ),
    *rows(
        "async_work_group_copy_2D2D async_work_group_copy_3D3D",
        section="cl_khr_extended_async_copies",
        status=NOT_YET,
    ),
    *rows(
        "atomic_work_item_fence atomic_init atomic_store atomic_store_explicit atomic_load atomic_load_explicit"
        " atomic_exchange atomic_exchange_explicit atomic_compare_exchange_strong"
        " atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak atomic_compare_exchange_weak_explicit"
        " atomic_fetch_add atomic_fetch_add_explicit atomic_fetch_sub atomic_fetch_sub_explicit atomic_fetch_or"
        " atomic_fetch_or_explicit atomic_fetch_xor atomic_fetch_xor_explicit atomic_fetch_and"
        " atomic_fetch_and_explicit atomic_fetch_min atomic_fetch_min_explicit atomic_fetch_max"
        " atomic_fetch_max_explicit atomic_flag_test_and_set atomic_flag_test_and_set_explicit atomic_flag_clear"
        " atomic_flag_clear_explicit atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg atomic_min"
        " atomic_max atomic_and atomic_or atomic_xor",
        section="6.15.12",
        status=NOT_YET,
    ),
    *rows(
        "atom_add atom_sub atom_xchg atom_inc atom_dec atom_cmpxchg atom_min atom_max atom_and atom_or atom_xor",
        section="cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics",
        status=NOT_YET,
    ),
)
