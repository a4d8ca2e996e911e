"""Kernels and memory that are kept for contexts."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from coopmat.devices import DeviceInfo, opencl
from coopmat.linalg import contexts, forget, gemm, kernels


def multiply(context: Any) -> None:
    """Compute a product with panels, which needs kernels and memory."""
    import pyopencl.array as arrays

    queue = opencl().CommandQueue(context)
    a = arrays.to_device(queue, np.ones((60, 60), np.float32))
    assert np.array_equal(gemm(queue, a, a).get(), np.full((60, 60), 60))
    queue.finish()


def test_the_least_recently_used_contexts_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "_kept", type(contexts._kept)())
    calls: list[tuple[Any, ...]] = []
    kept = contexts.keep(lambda *given: calls.append(given) or len(calls))
    most = contexts._MOST_CONTEXTS
    assert [kept(0, "x"), kept(0, "x"), kept(0, "y")] == [1, 1, 2]
    for context in range(1, most):
        kept(context, "x")
    kept(0, "x")  # used again, so that context 1 is the first to be forgotten
    count = len(calls)
    kept(most, "x")
    assert len(contexts._kept) == most and 1 not in contexts._kept
    kept(0, "x")
    assert len(calls) == count + 1
    kept(1, "x")
    assert len(calls) == count + 2


def test_a_context_is_released_once_it_is_forgotten(device: DeviceInfo) -> None:
    """Other contexts keep their kernels, and the forgotten one can be used again."""
    cl = opencl()
    context, other = (cl.Context([device.handle]) for _ in range(2))
    multiply(context)
    multiply(other)
    kept = [weakref.ref(item) for item in contexts._kept[context].values() if isinstance(item, kernels.Kernel)]
    assert kept
    forget(context)
    gc.collect()
    assert not any(item() for item in kept) and other in contexts._kept
    multiply(context)
    forget()
    assert not contexts._kept
