"""`pack`: operands that are copied into panels once, for many products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyopencl.array

from coopmat.matrices.variants import COMPONENT_TYPES

from .kernels import PanelCopy, readable
from .operands import describe_array, events_before, operand, require_memory
from .panels import Format, Packed, panels_of
from .parameters import tilings_of
from .products import sum_type


def pack(
    queue: Any,
    b: Any,
    *,
    trans_b: bool = False,
    dtype_b: str | None = None,
    dtype_a: str | None = None,
    wait_for: Sequence[Any] | None = None,
) -> Packed:
    """Enqueue a copy of B in the order in which products read it, and return what `gemm` takes as b.

    A constant matrix, such as weights, is then not copied for each product. If the products of the queue's device copy
    no operands, nothing is enqueued, and the result refers to b. Otherwise, later changes of b have no effect.

    queue, b, trans_b, dtype_b, wait_for: as for `gemm`.
    dtype_a: the component type of A; by default that of B. Signed and unsigned bytes are one type in this respect.

    Raises TypeError and ValueError as `gemm` does; nothing is enqueued then.
    """
    events = events_before(queue, wait_for)
    described = describe_array("b", b)
    right = operand("b", described, dtype_b, transpose=bool(trans_b))
    if dtype_a is not None and dtype_a not in COMPONENT_TYPES:
        raise TypeError(
            f"dtype_a: the type {dtype_a} is not supported (supported: {', '.join(sorted(COMPONENT_TYPES))})"
        )
    component = right.component if dtype_a is None else COMPONENT_TYPES[dtype_a]
    sum_type(component, right.component)
    left = replace(right, name="a", component=component)
    require_memory({"b": b}, queue)
    # The tiles of large products: those of others have other rows, but may have the same panels of B.
    tilings = tilings_of(queue.device, (component, right.component), (1, 4096, 4096, 4096))
    tiling = next((tiling for tiling in tilings if tiling.panels), None)
    if tiling is None or not b.size:
        return Packed(described, dtype_b, bool(trans_b), None, b)
    memory = {"b": b.base_data}
    events += b.events
    right = readable(queue, right, memory, events)
    # The sums of bytes serve an A that is flipped; whether it is depends on A's signedness.
    panels = replace(panels_of((left, right), tiling)[1], has_sums=right.component.is_integer)
    data = pyopencl.array.empty(queue, (panels.bytes,), "uint8")
    data.add_event(PanelCopy.to(panels, 0).enqueue(queue, memory, data.base_data, events))
    return Packed(described, dtype_b, bool(trans_b), Format(panels, tiling, component.name), data)
