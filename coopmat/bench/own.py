"""Our contender: the calls of `coopmat.linalg`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coopmat import linalg
from coopmat.devices import opencl, select
from coopmat.matrices.numpy_reference import narrow
from coopmat.matrices.variants import COMPONENT_TYPES

from .cases import Array, Case


def open_queue(device: str) -> Any:
    """Return a queue on the device with these "platform:device" numbers, which keeps its context."""
    cl = opencl()
    context = cl.Context([select(device).handle])
    _contexts.append(context)  # a queue of some drivers does not keep its context
    return cl.CommandQueue(context)


_contexts: list[Any] = []


def to_device(queue: Any, array: Array) -> Any:
    """Return a copy of an array in the queue's memory."""
    import pyopencl.array

    return pyopencl.array.to_device(queue, array)


def own_call(case: Case, inputs: Sequence[Array], device: str) -> tuple[Callable[[], object], Callable[[], Array]]:
    """Prepare a call of `coopmat.linalg`, whose result goes to the same array each time."""
    queue = open_queue(device)
    if case.operation not in ("attention", "gemm_quantized"):
        names = case.type, "s8" if case.type == "u8" else case.type
        inputs = [narrow(COMPONENT_TYPES[name], array) for name, array in zip(names, inputs, strict=True)]
    call = _function(case, queue, [to_device(queue, array) for array in inputs])
    out = call(None)

    def run() -> None:
        call(out)
        out.events.clear()
        queue.finish()

    return run, lambda: np.asarray(out.get())


def _function(case: Case, queue: Any, arrays: Sequence[Any]) -> Callable[[Any], Any]:
    """Return the function that enqueues the call. Its argument is the array for the result, or None for a new one."""
    if case.operation == "attention":
        return lambda out: linalg.attention(queue, *arrays, causal=case.is_causal, out=out)
    a, b = arrays
    if case.operation == "gemm_quantized":
        _m, n, k = case.shape
        return lambda out: linalg.gemm_quantized(queue, a, b, case.type, (n, k), out)
    word = case.type if COMPONENT_TYPES[case.type].is_bits else None
    if case.operation == "conv2d":
        padding = case.shape[-1] // 2
        return lambda out: linalg.conv2d(queue, a, b, out, padding=padding, dtype_x=word, dtype_w=word)
    if case.operation == "gemv":
        return lambda out: linalg.gemv(queue, b, a, out, dtype_a=word, dtype_x=word)
    if case.is_constant:
        packed = linalg.pack(queue, b, dtype_b=word, dtype_a=word)
        return lambda out: linalg.gemm(queue, a, packed, out, dtype_a=word)
    return lambda out: linalg.gemm(queue, a, b, out, dtype_a=word, dtype_b=word)
