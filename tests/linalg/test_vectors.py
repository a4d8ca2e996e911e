"""`coopmat.linalg.gemv`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coopmat.devices import DeviceInfo
from coopmat.linalg import gemv, products

RANDOM = np.random.default_rng(6)


@pytest.mark.covering
@pytest.mark.parametrize("route", ("one", "lanes", ""))
@pytest.mark.parametrize("dtype", (np.float32, np.float16, np.int8))
def test_vectors(queue: Any, route: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyopencl.array as arrays

    if route:
        monkeypatch.setenv("COOPMAT_ROUTE", route)
    products._product.cache_clear()  # it keeps launches, whose sizes are those of a route
    for transpose in (False, True):
        for vectors in ((), (1,), (5,), (16,)):
            a = RANDOM.integers(-4, 5, (77, 50) if transpose else (50, 77)).astype(dtype)
            x = RANDOM.integers(-4, 5, (*vectors, 77)).astype(dtype)
            result = gemv(queue, arrays.to_device(queue, a), arrays.to_device(queue, x), trans_a=transpose)
            wanted = x.astype(np.float64) @ (a if transpose else a.T).astype(np.float64)
            assert result.shape == wanted.shape and np.array_equal(result.get(), wanted)


def test_results_in_place(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    a, x = RANDOM.integers(-4, 5, (30, 20)).astype(np.float32), RANDOM.integers(-4, 5, 40).astype(np.float32)
    y, bias = RANDOM.integers(-4, 5, 60).astype(np.float32), RANDOM.integers(-4, 5, 30).astype(np.float32)
    out = arrays.to_device(queue, y)
    view = out[::2]
    result = gemv(
        queue,
        arrays.to_device(queue, a),
        arrays.to_device(queue, x)[1::2],
        view,
        alpha=2,
        beta=3,
        bias=arrays.to_device(queue, bias),
        activation="relu",
    )
    wanted = y.copy()
    wanted[::2] = np.maximum(2 * a @ x[1::2] + 3 * y[::2] + bias, 0)
    assert result is view and result.events
    result.events[-1].wait()
    assert np.array_equal(out.get(), wanted)


def test_empty_vectors(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    x, y = arrays.zeros(queue, (5,), np.float32), arrays.zeros(queue, (0,), np.float32)
    assert gemv(queue, arrays.zeros(queue, (0, 5), np.float32), x, y) is y
    rows = arrays.zeros(queue, (0, 5), np.float32)
    assert gemv(queue, arrays.zeros(queue, (4, 5), np.float32), rows).shape == (0, 4)


@pytest.mark.parametrize(
    ("a", "x", "y", "error", "text"),
    [
        ((30, 20), (2, 3, 20), None, ValueError, "x: expected 1 dimension, or 2 for several vectors, not 3"),
        ((30, 20, 1), (20,), None, ValueError, "a: expected 2 dimensions, not 3"),
        ((30, 20), (20,), (1, 30), ValueError, "y: expected 1 dimensions, as x has, not 2"),
        ((30, 20), (17, 20), None, ValueError, "x: expected at most 16 vectors, not 17; use gemm"),
        ((30, 20), (30,), None, ValueError, "x: expected vectors of 20 components"),
        ((30, 20), (2, 20), (2, 31), ValueError, "y: expected 30 components for each vector"),
    ],
)
def test_wrong_shapes(queue: Any, device: DeviceInfo, a: Any, x: Any, y: Any, error: Any, text: str) -> None:
    import pyopencl.array as arrays

    matrix, vectors, out = (None if shape is None else arrays.zeros(queue, shape, np.float32) for shape in (a, x, y))
    with pytest.raises(error, match=text):
        gemv(queue, matrix, vectors, out)


def test_errors_name_the_arguments(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    floats, bytes_ = arrays.zeros(queue, (30, 20), np.float32), arrays.zeros(queue, (20,), np.int8)
    with pytest.raises(TypeError, match=r"^x, a: s8 and f32 cannot be multiplied"):
        gemv(queue, floats, bytes_)
    with pytest.raises(TypeError, match=r"^dtype_x: expected a str, not int"):
        gemv(queue, floats, bytes_, dtype_x=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^y: the memory from its first to its last element overlaps a's memory"):
        gemv(queue, floats, arrays.zeros(queue, (20,), np.float32), floats[:, 0])
