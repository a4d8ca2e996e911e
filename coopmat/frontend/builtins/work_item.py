"""Work-item functions (OpenCL C 3.0, section 6.15.1)."""

from __future__ import annotations

from functools import partial

from .rows import rows

_rows = partial(rows, section="6.15.1", pure=True)

TABLE = (
    *_rows("get_work_dim", "uint @(void)"),
    *_rows(
        "get_global_size get_global_id get_local_size get_enqueued_local_size get_local_id get_num_groups get_group_id"
        " get_global_offset",
        "size_t @(uint)",
    ),
    *_rows("get_global_linear_id get_local_linear_id", "size_t @(void)"),
)
