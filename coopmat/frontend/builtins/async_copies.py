"""Async copies between global and local memory, and prefetch (OpenCL C 3.0, section 6.15.11)."""

from __future__ import annotations

from functools import partial

from .rows import rows

EXTENDED = "cl_khr_extended_async_copies"
_rows = partial(rows, section="6.15.11", convergent=True)
_block_rows = partial(_rows, section=EXTENDED, lowering="async_block_copy", needs=EXTENDED)
_ELEMENTS = "for T in numbers, n in any"


def _both_ways(parameters: str) -> tuple[str, str]:
    to_local = f"event_t @(local Tn *, global const Tn *, {parameters}, event_t) {_ELEMENTS}"
    to_global = f"event_t @(global Tn *, local const Tn *, {parameters}, event_t) {_ELEMENTS}"
    return to_local, to_global


def _block(sizes: int) -> tuple[str, str]:
    """Return the signatures of a block copy to local memory and of one to global memory.

    The parameters are pointers and offsets, then `sizes` sizes: of an element, the extents, and the pitches of source
    and target.
    """
    return tuple(  # type: ignore[return-value]
        f"event_t @({target} void *, size_t, {source} const void *, size_t, {', '.join(['size_t'] * sizes)}, event_t)"
        for target, source in (("local", "global"), ("global", "local"))
    )


TABLE = (
    *_rows("async_work_group_copy", *_both_ways("size_t"), lowering="async_copy"),
    *_rows("async_work_group_strided_copy", *_both_ways("size_t, size_t"), lowering="async_copy"),
    *_rows(
        "wait_group_events", "void @(int, private event_t *)", "void @(int, generic event_t *)", lowering="wait_events"
    ),
    *_block_rows("async_work_group_copy_2D2D", *_block(5)),
    *_block_rows("async_work_group_copy_3D3D", *_block(8)),
    *_rows("prefetch", f"void @(global const Tn *, size_t) {_ELEMENTS}", convergent=False),
)
