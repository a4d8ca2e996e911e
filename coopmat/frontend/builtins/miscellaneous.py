"""Miscellaneous vector functions (OpenCL C 3.0, section 6.15.13), address space casts, printf, pipes and queues."""

from __future__ import annotations

from functools import partial

from ...features import GENERIC
from .rows import NOT_YET, rows

_shuffle = partial(rows, section="6.15.13", lowering="shuffle", pure=True)
_fence = partial(rows, section="6.15.10", lowering="get_fence", needs=GENERIC)

TABLE = (
    *_shuffle("shuffle", "Tm @(Tn, Um) for T in numbers, n in 2 4 8 16, m in 2 4 8 16"),
    *_shuffle("shuffle2", "Tm @(Tn, Tn, Um) for T in numbers, n in 2 4 8 16, m in 2 4 8 16"),
    *rows("vec_step", section="6.15.13", lowering="analysis"),
    *rows("to_global to_local to_private", section="6.15.10", lowering="analysis", needs=GENERIC),
    *_fence("get_fence", "cl_mem_fence_flags @(generic const void *)", "cl_mem_fence_flags @(generic void *)"),
    *rows("printf", section="6.15.14", lowering="analysis", needs="CL1.2"),
    *rows(
        "read_pipe write_pipe reserve_read_pipe reserve_write_pipe commit_read_pipe commit_write_pipe"
        " work_group_reserve_read_pipe work_group_reserve_write_pipe work_group_commit_read_pipe"
        " work_group_commit_write_pipe sub_group_reserve_read_pipe sub_group_reserve_write_pipe"
        " sub_group_commit_read_pipe sub_group_commit_write_pipe get_pipe_num_packets get_pipe_max_packets"
        " is_valid_reserve_id",
        section="6.15.17",
        status=NOT_YET,
    ),
    *rows(
        "enqueue_kernel enqueue_marker get_kernel_work_group_size get_kernel_preferred_work_group_size_multiple"
        " get_kernel_max_sub_group_size_for_ndrange get_kernel_sub_group_count_for_ndrange retain_event release_event"
        " create_user_event is_valid_event set_user_event_status capture_event_profiling_info get_default_queue"
        " ndrange_1D ndrange_2D ndrange_3D",
        section="6.15.18",
        status=NOT_YET,
    ),
)
