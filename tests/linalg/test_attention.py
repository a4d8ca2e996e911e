"""Attention, compared with numpy in double."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from coopmat.devices import opencl
from coopmat.linalg import attention

pytestmark = pytest.mark.device

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(11)
TOLERANCE = 2e-3  # some routes round the exponentials to half


@pytest.fixture(params=("one", "lanes", ""))
def route(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Compute by a route; "" is the device's own."""
    if request.param:
        monkeypatch.setenv("COOPMAT_ROUTE", request.param)
    return str(request.param)


def inputs(heads: int, kv_heads: int, rows: int, columns: int, size: int) -> list[Array]:
    """Return Q, K and V."""
    shapes = (heads, rows, size), (kv_heads, columns, size), (kv_heads, columns, size)
    return [RANDOM.standard_normal(shape).astype(np.float16) for shape in shapes]


def upload(queue: Any, *arrays: Array) -> list[Any]:
    import pyopencl.array

    return [pyopencl.array.to_device(queue, array) for array in arrays]


def expected(
    q: Array, k: Array, v: Array, causal: bool = False, scale: float | None = None, lengths: Any = None
) -> Array:
    heads, rows, size = q.shape
    columns = k.shape[1]
    q, k, v = (x.astype(np.float64) for x in (q, *(np.repeat(x, heads // x.shape[0], 0) for x in (k, v))))
    column, row = np.arange(columns), np.arange(rows)[:, None]
    mask = np.broadcast_to(column <= row + columns - rows if causal else column >= 0, (heads, rows, columns))
    if lengths is not None:
        mask = mask & (column < np.broadcast_to(lengths, (heads,))[:, None, None])
    scores = q @ k.swapaxes(1, 2) * (size**-0.5 if scale is None else scale)
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(2, keepdims=True, initial=-1e9))
    return weights @ v / np.maximum(weights.sum(2, keepdims=True), 1e-9)


@pytest.mark.covering
@pytest.mark.parametrize("causal", (False, True))
@pytest.mark.parametrize(
    "shape",
    (
        (4, 2, 37, 75, 64),  # heads, heads of K and V, rows, columns, size
        (2, 2, 130, 130, 64),
        (2, 1, 50, 20, 40),  # causal: the first rows attend to nothing
        (6, 2, 1, 150, 64),  # one row
        (1, 1, 17, 33, 1),
    ),
)
def test_shapes(queue: Any, route: str, shape: tuple[int, ...], causal: bool) -> None:
    arrays = inputs(*shape)
    result = attention(queue, *upload(queue, *arrays), causal=causal, kv_heads=shape[1])
    assert (result.shape, result.dtype, len(result.events)) == (arrays[0].shape, np.float32, 1)
    assert np.abs(result.get() - expected(*arrays, causal)).max() < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("size", (2, 7, 16, 48, 80, 96, 128, 200, 256))
@pytest.mark.parametrize("rows", (1, 20, 60))
def test_sizes(queue: Any, size: int, rows: int) -> None:
    arrays = inputs(4, 2, rows, 140, size)
    result = attention(queue, *upload(queue, *arrays), causal=rows == 20)
    assert np.abs(result.get() - expected(*arrays, rows == 20)).max() < TOLERANCE


@pytest.mark.covering
@pytest.mark.parametrize("rows", (3, 40))
@pytest.mark.parametrize("causal", (False, True))
def test_lengths(queue: Any, route: str, rows: int, causal: bool) -> None:
    """Columns behind the lengths are not read as numbers: those behind the longest one are none here."""
    q, k, v = inputs(4, 2, rows, 90, 32)
    given, counted = [0, 65, -3, 32], [0, 65, 0, 32]
    on_device = [x[:, :80] if i else x for i, x in enumerate(upload(queue, q, k, v))]
    lengths = upload(queue, np.array([given, given], np.int32).T)[0][:, 1]
    result = attention(queue, *on_device, causal=causal, lengths=lengths).get()
    assert np.abs(result - expected(q, k[:, :80], v[:, :80], causal, lengths=counted)).max() < TOLERANCE
    assert not result[0].any() and not result[2].any()
    k[:, 70:], v[:, 70:] = np.nan, np.inf
    result = attention(queue, *upload(queue, q, k, v), causal=causal, lengths=np.int32(70)).get()
    k[:, 70:], v[:, 70:] = 0, 0
    assert np.abs(result - expected(q, k, v, causal, lengths=70)).max() < TOLERANCE


def test_lengths_beyond_the_columns(queue: Any) -> None:
    arrays = inputs(2, 2, 5, 20, 16)
    lengths = np.array([21, 2**31 - 1], np.int32)
    result = attention(queue, *upload(queue, *arrays, lengths)[:3], lengths=upload(queue, lengths)[0])
    assert np.abs(result.get() - expected(*arrays)).max() < TOLERANCE


@pytest.mark.covering
@pytest.mark.parametrize("rows", (5, 40))
@pytest.mark.parametrize("dtype", (np.float32, np.float16))
def test_views_and_guard_zones(queue: Any, route: str, rows: int, dtype: Any) -> None:
    """Rows with gaps, heads behind rows, rows in reverse; the array around `out` keeps its components."""
    import pyopencl.array

    q, k, v = inputs(4, 2, rows, 30, 24)
    q_rows = np.ascontiguousarray(q.transpose(1, 0, 2))  # (rows, heads, size), as of a layer's product
    k_gaps = np.zeros((2, 62, 29), np.float16)
    k_gaps[:, 1:61:2, 3:27] = k
    guard = RANDOM.standard_normal((4, rows + 3, 30)).astype(dtype)
    on_q, on_k, on_v, around = upload(queue, q_rows, k_gaps, np.ascontiguousarray(v[:, ::-1]), guard)
    step, line, one = on_v.strides
    turned = pyopencl.array.Array(queue, v.shape, v.dtype, data=on_v.data, offset=29 * line, strides=(step, -line, one))
    out = around[:, 2 : 2 + rows, 3:27]
    result = attention(queue, on_q.transpose((1, 0, 2)), on_k[:, 1:61:2, 3:27], turned, out=out, scale=0.3)
    assert result is out
    wanted = guard.astype(np.float64)
    wanted[:, 2 : 2 + rows, 3:27] = expected(q, k, v, scale=0.3)
    queue.finish()
    difference = np.abs(around.get() - wanted)
    assert difference.max() < TOLERANCE
    difference[:, 2 : 2 + rows, 3:27] = 0
    assert not difference.any()


def test_one_head_of_strides_zero(queue: Any) -> None:
    """K and V may be views of one head for several."""
    import pyopencl.array

    q, k, v = inputs(3, 1, 20, 30, 16)
    on_q, *others = upload(queue, q, k, v)
    views = [
        pyopencl.array.Array(queue, (3, 30, 16), x.dtype, data=x.data, strides=(0, *x.strides[1:])) for x in others
    ]
    assert np.abs(attention(queue, on_q, *views).get() - expected(q, k, v)).max() < TOLERANCE


@pytest.mark.parametrize("shape", ((0, 1, 5, 5, 8), (0, 0, 5, 5, 8), (2, 1, 0, 5, 8)))
def test_empty_results(queue: Any, shape: tuple[int, ...]) -> None:
    import pyopencl.array

    heads, kv_heads, rows, columns, size = shape
    shapes = (heads, rows, size), (kv_heads, columns, size), (kv_heads, columns, size)
    empty = [pyopencl.array.Array(queue, shape, np.float16) for shape in shapes]
    # An empty array of `to_device` has strides of 0.
    for arrays in (empty, [pyopencl.array.to_device(queue, np.empty(shape, np.float16)) for shape in shapes]):
        result = attention(queue, *arrays)
        assert result.shape == shapes[0] and not result.events


@pytest.mark.parametrize("rows", (1, 40))
def test_no_columns(queue: Any, rows: int) -> None:
    import pyopencl.array

    q = upload(queue, inputs(2, 1, rows, 1, 8)[0])[0]
    none = pyopencl.array.Array(queue, (1, 0, 8), np.float16)
    assert not attention(queue, q, none, none, causal=True).get().any()


def test_large_scores(queue: Any) -> None:
    arrays = [x * np.float16(30) for x in inputs(1, 1, 30, 140, 64)]
    result = attention(queue, *upload(queue, *arrays), scale=-1)
    assert np.abs(result.get() - expected(*arrays, scale=-1)).max() < 0.2


def test_waits_for_events(queue: Any) -> None:
    """In an out-of-order queue, the launch waits for the user's event and for the arrays' own."""
    cl = opencl()
    properties = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    other = cl.CommandQueue(queue.context, properties=properties)
    arrays = inputs(2, 2, 40, 40, 32)
    on_device = upload(other, *(np.zeros_like(x) for x in arrays))
    start = cl.UserEvent(queue.context)
    pairs = zip(on_device, arrays, strict=True)
    copies = [cl.enqueue_copy(other, x.data, y, is_blocking=False, wait_for=[start]) for x, y in pairs]
    on_device[0].add_event(copies[0])
    result = attention(other, *on_device, wait_for=copies[1:])
    start.set_status(cl.command_execution_status.COMPLETE)
    result.events[-1].wait()
    assert np.abs(result.get() - expected(*arrays)).max() < TOLERANCE


def changed(number: int, change: Any) -> Any:
    """Return a change of one of Q, K and V."""
    return lambda arrays: arrays.__setitem__(number, change(arrays[number]))


ERRORS = {
    "queue": (None, {"queue": 3}, TypeError, "queue: expected a pyopencl.CommandQueue, not int"),
    "no array": (changed(1, lambda x: 3), {}, TypeError, "k: expected a pyopencl.array.Array, not int"),
    "integers": (changed(2, lambda x: x.view(np.int16)), {}, TypeError, "v: expected an array of float16, not int16"),
    "dimensions": (changed(0, lambda x: x[0]), {}, ValueError, "q: expected 3 dimensions, not 2"),
    "columns": (changed(2, lambda x: x[:, 1:]), {}, ValueError, r"v: expected the shape \(2, 9, 8\), not \(2, 8, 8\)"),
    "size": (changed(1, lambda x: x[:, :, 1:]), {}, ValueError, r"k: expected the shape \(2, 9, 8\), not \(2, 9, 7\)"),
    "no size": (changed(0, lambda x: x[:, :, :0]), {}, ValueError, "q: its rows have 0 components; expected 1 to 256"),
    "heads": (changed(0, lambda x: x[:3]), {}, ValueError, "k: it has 2 heads; expected a divisor of 3"),
    "kv_heads": (None, {"kv_heads": 4}, ValueError, "kv_heads: 4 is not the number of heads of k and v, which is 2"),
    "scale": (None, {"scale": "1"}, TypeError, "scale: expected a number, not str"),
    "infinite": (None, {"scale": np.inf}, ValueError, "scale: inf is not finite"),
    "too large": (None, {"scale": 1e39}, ValueError, "scale: 1e[+]39 is not finite, or too large for float"),
    "lengths": (None, {"lengths": 10}, ValueError, "lengths: 10 is not a number of columns; expected 0 to 9"),
    "negative": (None, {"lengths": -1}, ValueError, "lengths: -1 is not a number of columns; expected 0 to 9"),
    "list": (None, {"lengths": [1]}, TypeError, "lengths: expected a pyopencl.array.Array or a number, not list"),
    "out": (None, {"out": "q"}, ValueError, "out: the memory from its first to its last element overlaps q's memory"),
    "event": (None, {"wait_for": [3]}, TypeError, "wait_for: expected a sequence of pyopencl.Event"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(queue: Any, name: str) -> None:
    change, arguments, error, message = ERRORS[name]
    arrays = upload(queue, *inputs(4, 2, 5, 9, 8))
    if change:
        change(arrays)
    arguments = {"queue": queue, **arguments}
    if arguments.get("out") == "q":
        arguments["out"] = arrays[0]
    with pytest.raises(error, match=message):
        attention(q=arrays[0], k=arrays[1], v=arrays[2], **arguments)


def test_errors_of_other_arrays(queue: Any) -> None:
    import pyopencl.array

    q, k, v = upload(queue, *inputs(4, 2, 9, 9, 9))
    with pytest.raises(ValueError, match="k: the components of a row must be consecutive, not 9 apart"):
        attention(queue, q, k.transpose((0, 2, 1)), v)
    with pytest.raises(ValueError, match=r"lengths: expected the shape \(4,\), not \(2,\)"):
        attention(queue, q, k, v, lengths=pyopencl.array.zeros(queue, 2, np.int32))
    with pytest.raises(TypeError, match="lengths: expected an array of int32, not int64"):
        attention(queue, q, k, v, lengths=pyopencl.array.zeros(queue, 4, np.int64))
    with pytest.raises(TypeError, match="out: expected an array of float32 or float16, not float64"):
        attention(queue, q, k, v, out=pyopencl.array.zeros(queue, q.shape, np.float64))
    with pytest.raises(ValueError, match=r"out: expected the shape \(4, 9, 9\), not \(4, 9, 8\)"):
        attention(queue, q, k, v, out=pyopencl.array.zeros(queue, (4, 9, 8), np.float32))
    whole = pyopencl.array.zeros(queue, (1, 9, 9), np.float32)
    shared = pyopencl.array.Array(queue, q.shape, np.float32, data=whole.data, strides=(0, 36, 4))
    with pytest.raises(ValueError, match="out: several of its elements may share memory"):
        attention(queue, q, k, v, out=shared)
    context = opencl().Context([queue.device])  # a queue of the CPU's runtime does not keep it
    other = opencl().CommandQueue(context)
    with pytest.raises(ValueError, match="q: its memory belongs to another context than the queue's"):
        attention(other, q, k, v)
