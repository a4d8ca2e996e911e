"""Miscellaneous vector functions (OpenCL C 3.0, section 6.15.13) and what else the language names."""

from __future__ import annotations

from .rows import NOT_YET, rows

TABLE = (
    *rows(
        "shuffle",
        "Tm @(Tn, Um) for T in numbers, n in 2 4 8 16, m in 2 4 8 16",
        section="6.15.13",
        lowering="shuffle",
        pure=True,
    ),
    *rows(
        "shuffle2",
        "Tm @(Tn, Tn, Um) for T in numbers, n in 2 4 8 16, m in 2 4 8 16",
        section="6.15.13",
        lowering="shuffle",
        pure=True,
    ),
    *rows("vec_step", section="6.15.13", lowering="analysis"),
    *rows("to_global to_local to_private get_fence", section="6.15.10", status=NOT_YET),
    *rows("printf", section="6.15.14", status=NOT_YET),
    *rows(
        "read_imagef read_imagei read_imageui read_imageh write_imagef write_imagei write_imageui write_imageh"
        " get_image_width get_image_height get_image_depth get_image_dim get_image_array_size get_image_num_mip_levels"
        " get_image_num_samples get_image_channel_data_type get_image_channel_order",
        section="6.15.15",
        status=NOT_YET,
    ),
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
