"""Products with quantized weights, compared with decoders in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from quantized_blocks import BLOCKS, RANDOM, decode, random_blocks

from coopmat.devices import DeviceInfo, opencl
from coopmat.linalg import gemm_quantized, products, quantized

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def context(device: DeviceInfo) -> Any:
    return opencl().Context([device.handle])


@pytest.fixture(scope="module")
def queue(context: Any) -> Any:
    cl = opencl()
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    yield queue
    queue.finish()  # a queue that is released before can hang Intel's runtime


@pytest.fixture(params=("one", "lanes", "", "like a GPU"))
def route(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, device: DeviceInfo) -> Any:
    """Return a queue of a context of its own, which builds its kernels by a route; "" is the device's own."""
    if request.param == "like a GPU":
        monkeypatch.setattr(quantized, "is_cpu", lambda _: False)
    elif request.param:
        monkeypatch.setenv("COOPMAT_ROUTE", request.param)
    cl = opencl()
    context = cl.Context([device.handle])
    yield cl.CommandQueue(context)


def upload(queue: Any, values: Array) -> Any:
    import pyopencl.array

    return pyopencl.array.to_device(queue, values)


def check(result: Any, a: Array, w: Array, rounded: float = 1e-5) -> None:
    """Compare a result with the product, with a tolerance for the rounding of weights, products and sums."""
    a = a.astype(float)
    found = result.get() if hasattr(result, "get") else result
    rounding = np.finfo(found.dtype).eps * np.abs(a @ w.T)
    assert np.all(np.abs(found - a @ w.T) <= rounded * (np.abs(a) @ np.abs(w).T) + rounding + 1e-30)


@pytest.mark.covering
@pytest.mark.parametrize("name", BLOCKS)
def test_formats_and_shapes(route: Any, name: str) -> None:
    k = 3 * BLOCKS[name][0]
    blocks = random_blocks(name, 37, k)
    w, on_device = decode(name, blocks), upload(route, blocks)
    for m, n in ((1, 37), (2, 5), (3, 37), (17, 4), (40, 37), (65, 33), (72, 32)):
        a = RANDOM.uniform(-1, 1, (m, k)).astype(np.float32)
        result = gemm_quantized(route, upload(route, a), on_device, name, (n, k))
        assert (result.shape, result.dtype) == ((m, n), np.float32)
        check(result, a, w[:n])


@pytest.mark.covering
@pytest.mark.parametrize("m", [5, 67])
@pytest.mark.parametrize("name", BLOCKS)
def test_half_views_and_guard_zones(route: Any, name: str, m: int) -> None:
    half_views_and_guard_zones(route, name, m)


def half_views_and_guard_zones(route: Any, name: str, m: int) -> None:
    """The operands are parts of larger arrays, and nothing outside C is written."""
    k, n = 2 * BLOCKS[name][0], 35
    blocks = random_blocks(name, n, k)
    # Small, since sums of more than 65504 are infinite in half.
    numbers = RANDOM.uniform(-1 / 8, 1 / 8, (2 * m + 1, k + 6)).astype(np.float16)
    guarded = np.full((m + 2, n + 3), 77, np.float16)
    on_device = upload(route, guarded)
    # The blocks begin at an odd address.
    data = upload(route, np.concatenate([np.full(3, 255, np.uint8), blocks.ravel(), np.full(9, 255, np.uint8)]))
    gemm_quantized(route, upload(route, numbers)[1::2, 5:-1], data[3:], name, (n, k), on_device[1:-1, 2:-1])
    found = on_device.get()
    # GPUs round decoded weights to half.
    rounded = 1e-5 if quantized.is_cpu(route.device) or m < 9 or name == "mxfp4" else 2.0**-11
    check(found[1:-1, 2:-1], numbers[1::2, 5:-1], decode(name, blocks), rounded)
    found[1:-1, 2:-1] = 77
    assert np.array_equal(found, guarded)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_gpu_multiplies_operands_of_one_type(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, name: str, dtype: Any
) -> None:
    """Products of half by float are slow on GPUs. The scales of mxfp4 have more exponents than half."""
    multiplied: list[tuple[str, str]] = []

    def gemm(queue: Any, a: Any, b: Any, *given: Any, **words: Any) -> Any:
        multiplied.append((str(a.dtype), str(b.dtype)))
        return products.gemm(queue, a, b, *given, **words)

    monkeypatch.setattr(quantized, "is_cpu", lambda _: False)
    monkeypatch.setattr(quantized, "gemm", gemm)
    monkeypatch.setenv("COOPMAT_ROUTE", "lanes")
    context = opencl().Context([device.handle])
    queue = opencl().CommandQueue(context)
    if dtype == np.float16:
        half_views_and_guard_zones(queue, name, 33)
    else:
        a, blocks = RANDOM.uniform(-1, 1, (33, 256)).astype(dtype), random_blocks(name, 35, 256)
        result = gemm_quantized(queue, upload(queue, a), upload(queue, blocks), name, (35, 256))
        check(result, a, decode(name, blocks))
    expected = "float32" if name == "mxfp4" else str(np.dtype(dtype))
    assert multiplied == [(expected, expected)]


@pytest.mark.parametrize("m", [3, 70])
def test_strides_that_need_copies(queue: Any, m: int) -> None:
    blocks = random_blocks("q8_0", 9, 64)
    a = RANDOM.uniform(-1, 1, (64, m)).astype(np.float32)
    c = upload(queue, np.zeros((9, m), np.float32))
    gemm_quantized(queue, upload(queue, a).T, upload(queue, blocks), "q8_0", (9, 64), c.T)
    check(c.get().T, a.T, decode("q8_0", blocks))


@pytest.mark.parametrize("name", BLOCKS)
def test_slices_of_columns(queue: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Weights are decoded for 64 columns at a time."""
    k = BLOCKS[name][0]
    monkeypatch.setattr(quantized, "_PANEL_BYTES", 64 * k * 4)
    blocks, a = random_blocks(name, 150, k), RANDOM.uniform(-1, 1, (66, k)).astype(np.float32)
    on_device = upload(queue, a), upload(queue, blocks)
    results = [gemm_quantized(queue, *on_device, name, (150, k)) for _ in range(3)]  # they share scratch memory
    for result in results:
        check(result, a, decode(name, blocks))


def test_extreme_scales_of_mxfp4(queue: Any) -> None:
    """The smallest scale is a denormal number; the largest byte is NaN."""
    blocks = np.full((3, 1, 17), 0x77, np.uint8)
    blocks[1, 0, 1:] = 0x11
    blocks[:, 0, 0] = 0, 254, 255
    for m in (1, 65):
        a = np.zeros((m, 32), np.float32)
        a[:, 0] = 2.0**20, *[2.0**-20] * (m - 1)
        found = gemm_quantized(queue, upload(queue, a), upload(queue, blocks), "mxfp4", (3, 32)).get()
        assert found[0, 0] == 6 * 2.0**-107
        assert np.isnan(found[:, 2]).all()
        assert m == 1 or found[1, 1] == 2.0**106


@pytest.mark.parametrize("shape", [(0, 4, 32), (4, 0, 32), (0, 0, 0), (4, 0, 0)])
def test_empty_results(queue: Any, shape: tuple[int, int, int]) -> None:
    import pyopencl.array

    m, n, k = shape
    a, blocks = pyopencl.array.Array(queue, (m, k), np.float32), upload(queue, np.zeros((4, 18), np.uint8))
    result = gemm_quantized(queue, a, blocks, "q4_0", (n, k))
    assert (result.shape, result.events) == ((m, n), [])


@pytest.mark.parametrize("m", [2, 70, 5000])
def test_empty_sums(queue: Any, m: int) -> None:
    import pyopencl.array

    a, blocks = pyopencl.array.Array(queue, (m, 0), np.float32), pyopencl.array.Array(queue, (0,), np.uint8)
    assert np.array_equal(gemm_quantized(queue, a, blocks, "q4_0", (5, 0)).get(), np.zeros((m, 5)))


@pytest.mark.parametrize("m", [2, 70])
def test_events(queue: Any, m: int) -> None:
    """The launch waits for `wait_for` and the arrays' events, on a queue out of order."""
    cl = opencl()
    blocks, a = random_blocks("q4_0", 8, 32), RANDOM.uniform(-1, 1, (m, 32)).astype(np.float32)
    on_device = upload(queue, a), upload(queue, blocks)
    gate, other = cl.UserEvent(queue.context), cl.UserEvent(queue.context)
    on_device[0].add_event(other)
    result = gemm_quantized(queue, *on_device, "q4_0", (8, 32), wait_for=[gate])
    (event,) = result.events
    for user_event in (gate, other):
        assert event.command_execution_status != cl.command_execution_status.COMPLETE
        user_event.set_status(cl.command_execution_status.COMPLETE)
    check(result, a, decode("q4_0", blocks))


def test_errors(queue: Any, context: Any, device: DeviceInfo) -> None:
    a, blocks = upload(queue, np.zeros((4, 64), np.float32)), upload(queue, np.zeros((8, 2, 18), np.uint8))
    other = opencl().Context([device.handle])
    foreign = opencl().CommandQueue(other)

    def fails(error: type[Exception], words: str, **changes: Any) -> None:
        given = {"queue": queue, "a": a, "blocks": blocks, "format": "q4_0", "shape": (8, 64)} | changes
        with pytest.raises(error) as caught:
            gemm_quantized(**given)
        assert words in str(caught.value)

    fails(TypeError, "queue: expected a pyopencl.CommandQueue, not int", queue=1)
    fails(TypeError, "wait_for: expected a sequence of pyopencl.Event", wait_for=[1])
    fails(TypeError, "wait_for: expected a sequence of pyopencl.Event", wait_for=3)
    fails(TypeError, "a: expected a pyopencl.array.Array, not ndarray", a=np.zeros((4, 64)))
    fails(TypeError, "a: expected an array of float32 or float16, not float64", a=a.astype(np.float64))
    fails(ValueError, "a: expected 2 dimensions, not 3", a=a.reshape(1, 4, 64))
    fails(ValueError, "a: expected the shape (m, 64), because shape is (8, 64), not (8, 32)", a=a.reshape(8, 32))
    fails(TypeError, "blocks: expected an array of uint8, not int8", blocks=blocks.view(np.int8))
    fails(ValueError, "blocks: expected a contiguous array, not strides", blocks=blocks[:, ::2])
    fails(ValueError, "blocks: expected at least 288 bytes, not 252", blocks=blocks[1:])
    fails(TypeError, "format: expected a str, not int", format=4)
    fails(ValueError, "format: expected q4_0, q8_0, q4_k, q6_k, mxfp4, not 'q4_1'", format="q4_1")
    fails(TypeError, "shape: expected two integers, n and k, not 8", shape=8)
    fails(TypeError, "shape: expected two integers, n and k, not (8, 64.0)", shape=(8, 64.0))
    fails(ValueError, "shape: expected n and k of 0 to 2147483647, not (-1, 64)", shape=(-1, 64))
    fails(ValueError, "shape: for q4_k, k must be a multiple of 256, not 64", format="q4_k")
    fails(TypeError, "c: expected an array of float32 or float16, not int32", c=a.view(np.int32))
    fails(ValueError, "c: expected the shape (4, 8), not (8, 4)", c=upload(queue, np.zeros((8, 4), np.float32)))
    fails(ValueError, "c: the memory from its first to its last element overlaps a's memory", c=a[:, :8])
    fails(ValueError, "memory belongs to another context", a=upload(foreign, np.zeros((4, 64), np.float32)))
