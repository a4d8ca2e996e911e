"""`coopmat.linalg.conv2d` against loops over the kernel's pixels."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from coopmat.devices import DeviceInfo
from coopmat.linalg import conv2d, convolution, products

RANDOM = np.random.default_rng(5)


@pytest.fixture
def queue(out_of_order_queue: Any) -> Any:
    return out_of_order_queue


def oracle(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Convolve in double, pixel by pixel of the kernel."""
    (sy, sx), (py, px), (dy, dx) = stride, padding, dilation
    padded = np.pad(x.astype(np.float64), ((0, 0), (py, py), (px, px), (0, 0)))
    height = (padded.shape[1] - dy * (w.shape[1] - 1) - 1) // sy + 1
    width = (padded.shape[2] - dx * (w.shape[2] - 1) - 1) // sx + 1
    out = np.zeros((len(x), height, width, len(w)))
    depth, filters = x.shape[3] // groups, len(w) // groups
    for f in range(len(w)):
        channels = slice(f // filters * depth, (f // filters + 1) * depth)
        for i in range(w.shape[1]):
            for j in range(w.shape[2]):
                part = padded[:, i * dy : i * dy + sy * (height - 1) + 1 : sy, :, channels]
                part = part[:, :, j * dx : j * dx + sx * (width - 1) + 1 : sx]
                out[..., f] += part @ w[f, i, j].astype(np.float64)
    return out


# x, w, stride, padding, dilation, groups
CASES = {
    "3 x 3": ((2, 9, 11, 5), (7, 3, 3, 5), (1, 1), (1, 1), (1, 1), 1),
    "one pixel": ((2, 5, 6, 8), (3, 1, 1, 8), (1, 1), (0, 0), (1, 1), 1),
    "one pixel of groups": ((1, 5, 6, 8), (6, 1, 1, 4), (1, 1), (0, 0), (1, 1), 2),
    "strides": ((1, 13, 10, 3), (4, 3, 2, 3), (2, 3), (0, 1), (1, 1), 1),
    "one pixel with stride": ((1, 7, 7, 4), (4, 1, 1, 4), (2, 2), (0, 0), (1, 1), 1),
    "dilation": ((1, 12, 12, 4), (5, 3, 3, 4), (1, 2), (2, 0), (2, 3), 1),
    "groups": ((2, 6, 6, 12), (9, 3, 3, 4), (1, 1), (1, 1), (1, 1), 3),
    "by depth": ((1, 8, 8, 6), (12, 3, 3, 1), (1, 1), (1, 1), (1, 1), 6),
    "padding beyond the kernel": ((1, 2, 3, 2), (3, 2, 2, 2), (1, 1), (3, 2), (1, 1), 1),
    "kernel of the image's size": ((3, 4, 5, 2), (2, 4, 5, 2), (1, 1), (0, 0), (1, 1), 1),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", (np.float32, np.int8))
def test_shapes(queue: Any, case: str, dtype: Any) -> None:
    import pyopencl.array as arrays

    image, kernel, stride, padding, dilation, groups = CASES[case]
    x, w = (RANDOM.integers(-4, 5, shape).astype(dtype) for shape in (image, kernel))
    on_device = [arrays.to_device(queue, item) for item in (x, w)]
    how: dict[str, Any] = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    result = conv2d(queue, *on_device, **how)
    wanted = oracle(x, w, stride, padding, dilation, groups)
    assert result.dtype == (np.int32 if dtype is np.int8 else np.float32)
    assert result.shape == wanted.shape and np.array_equal(result.get(), wanted)


@pytest.mark.parametrize("route", ("one", "lanes"))
def test_routes_and_epilogues(queue: Any, route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyopencl.array as arrays

    monkeypatch.setenv("COOPMAT_ROUTE", route)
    products._product.cache_clear()  # it keeps launches, whose sizes are those of a route
    x, w = (RANDOM.integers(-4, 5, shape).astype(np.float16) for shape in ((2, 6, 7, 4), (6, 3, 3, 2)))
    bias, guard = RANDOM.integers(-9, 10, 6).astype(np.float32), RANDOM.random((4, 6, 7, 6)).astype(np.float16)
    memory = arrays.to_device(queue, guard)
    a, b, c = (arrays.to_device(queue, item) for item in (x, w, bias))
    queue.finish()
    out = memory[1:3]
    result = conv2d(queue, a, b, out, padding=1, groups=2, bias=c, activation="relu")
    queue.finish()
    wanted = guard.copy()
    wanted[1:3] = np.maximum(oracle(x, w, (1, 1), (1, 1), (1, 1), 2) + bias, 0)
    assert result is out and np.array_equal(memory.get(), wanted)


def test_images_are_convolved_in_parts(queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyopencl.array as arrays

    monkeypatch.setattr(convolution, "_MOST_BYTES", 2 * 6 * 6 * 9 * 3 * 4)  # the patches of two images
    x, w = (RANDOM.integers(-4, 5, shape).astype(np.float32) for shape in ((5, 6, 6, 3), (4, 3, 3, 3)))
    result = conv2d(queue, arrays.to_device(queue, x), arrays.to_device(queue, w), padding=1)
    for event in result.events:
        event.wait()
    assert np.array_equal(result.get(), oracle(x, w, (1, 1), (1, 1), (1, 1), 1))


def test_many_groups_do_not_wait_on_the_host(queue: Any, device: DeviceInfo) -> None:
    import pyopencl as cl
    import pyopencl.array as arrays

    x, w = (RANDOM.integers(-4, 5, shape).astype(np.float32) for shape in ((1, 6, 6, 16), (16, 3, 3, 1)))
    a, b = arrays.to_device(queue, x), arrays.to_device(queue, w)
    queue.finish()
    start = cl.UserEvent(queue.context)
    # If the call waits for it, the timer ends the test.
    late = threading.Timer(20, start.set_status, [cl.command_execution_status.COMPLETE])
    late.start()
    result = conv2d(queue, a, b, groups=16, wait_for=[start])
    has_returned = late.is_alive()
    late.cancel()
    if has_returned:
        start.set_status(cl.command_execution_status.COMPLETE)
    result.events[-1].wait()
    assert has_returned and np.array_equal(result.get(), oracle(x, w, (1, 1), (0, 0), (1, 1), 16))


@pytest.mark.parametrize("size", (1, 3))
def test_no_channels(queue: Any, device: DeviceInfo, size: int) -> None:
    import pyopencl.array as arrays

    x, w = (arrays.zeros(queue, shape, np.float32) for shape in ((2, 4, 4, 0), (3, size, size, 0)))
    bias = arrays.to_device(queue, np.arange(3, dtype=np.float32))
    queue.finish()
    result = conv2d(queue, x, w, bias=bias)
    assert np.array_equal(result.get(), np.broadcast_to(np.arange(3), (2, 5 - size, 5 - size, 3)))


def test_empty_images(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    w = arrays.zeros(queue, (4, 3, 3, 2), np.float32)
    for image, wanted in (((0, 5, 5, 2), (0, 3, 3, 4)), ((2, 2, 5, 2), (2, 0, 3, 4))):
        assert conv2d(queue, arrays.zeros(queue, image, np.float32), w).shape == wanted


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"x": (2, 5, 5)}, ValueError, "x: expected 4 dimensions, not 3"),
        ({"w": (4, 3, 3, 3)}, ValueError, r"w: expected 2 channels \(those of x divided by groups\), not 3"),
        ({"w": (4, 0, 3, 2)}, ValueError, "w: expected a kernel of at least one pixel"),
        ({"groups": 3}, ValueError, "groups: expected a positive divisor"),
        ({"stride": 0}, ValueError, "stride: expected at least 1, not 0"),
        ({"padding": 2**31}, ValueError, "padding: expected at most 2147483647, not 2147483648"),
        ({"padding": (1, 2, 3)}, ValueError, "padding: expected an integer or a pair of integers"),
        ({"out": (2, 3, 3, 5)}, ValueError, r"out: expected the shape \(2, 3, 3, 4\)"),
        ({"bias": (5,)}, ValueError, r"bias: expected the shape \(4,\), not \(5,\)"),
        ({"bias": np.int32}, TypeError, "bias: expected an array of float32, not int32"),
        ({"activation": "rely"}, ValueError, "activation: expected"),
        ({"dtype_w": "bf16"}, TypeError, "dtype_w|w: an array of bf16"),
        ({"x": np.int8}, TypeError, "x, w: s8 and f32 cannot be multiplied"),
    ],
)
def test_wrong_arguments(queue: Any, device: DeviceInfo, changes: dict[str, Any], error: Any, text: str) -> None:
    import pyopencl.array as arrays

    shapes: dict[str, Any] = {"x": (2, 5, 5, 2), "w": (4, 3, 3, 2), "out": None, "bias": (4,)}
    given: dict[str, Any] = {}
    for name, shape in shapes.items():
        change = changes.get(name)
        dtype = change if isinstance(change, type) else np.float32
        shape = change if isinstance(change, tuple) else shape
        given[name] = None if shape is None else arrays.zeros(queue, shape, dtype)
    others = {name: value for name, value in changes.items() if name not in shapes}
    with pytest.raises(error, match=text):
        conv2d(queue, given["x"], given["w"], given["out"], bias=given["bias"], **others)


def test_gaps_are_rejected(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    x, w = arrays.zeros(queue, (2, 5, 5, 4), np.float32), arrays.zeros(queue, (4, 3, 3, 2), np.float32)
    with pytest.raises(ValueError, match="x: expected a contiguous array"):
        conv2d(queue, x[..., ::2], w)


def test_other_objects_and_offsets_are_rejected(queue: Any, device: DeviceInfo) -> None:
    import pyopencl as cl
    import pyopencl.array as arrays

    x, w = arrays.zeros(queue, (1, 5, 5, 2), np.float32), arrays.zeros(queue, (4, 3, 3, 2), np.float32)
    with pytest.raises(TypeError, match=r"w: expected a pyopencl\.array\.Array, not NoneType"):
        conv2d(queue, x, None)
    memory = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 512)
    apart = arrays.Array(queue, x.shape, np.float32, data=memory, offset=2)
    with pytest.raises(ValueError, match="x: its offset must be a multiple of 4 bytes, not 2"):
        conv2d(queue, apart, w)
