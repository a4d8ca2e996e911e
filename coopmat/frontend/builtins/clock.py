"""Functions that read a clock in a kernel (extension cl_khr_kernel_clock)."""

from __future__ import annotations

from .rows import Builtin, rows

EXTENSION = "cl_khr_kernel_clock"


def _of_scope(scope: str) -> tuple[Builtin, ...]:
    """Return the rows for one scope: the clock as a ulong, or as a uint2 of its lower and upper half.

    The rows are not pure: each call reads the clock again.
    """
    needs = f"{EXTENSION} __opencl_c_kernel_clock_scope_{scope}"
    table: list[Builtin] = []
    for name, signature in ((f"clock_read_{scope}", "ulong @(void)"), (f"clock_read_hilo_{scope}", "uint2 @(void)")):
        table += rows(name, signature, section=EXTENSION, needs=needs, extensions="SPV_KHR_shader_clock")
    return tuple(table)


TABLE = tuple(row for scope in ("device", "work_group", "sub_group") for row in _of_scope(scope))
