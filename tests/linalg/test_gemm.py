"""The promises of the documentation of coopmat.linalg.gemm, one by one."""

from __future__ import annotations

import gc
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from random_products.formats import FORMATS

from coopmat.devices import DeviceInfo, opencl
from coopmat.linalg import gemm

pytestmark = pytest.mark.device

Array = npt.NDArray[Any]
Pair = tuple[Array, Array, Any, Any]
RANDOM = np.random.default_rng(11)


@pytest.fixture(scope="module")
def context(device: DeviceInfo) -> Any:
    return opencl().Context([device.handle])


@pytest.fixture(scope="module")
def queue(context: Any) -> Any:
    """Return a queue of the context, which the other fixture keeps: a queue of the CPU's runtime does not."""
    return opencl().CommandQueue(context)


def _upload(queue: Any, values: Array) -> Any:
    import pyopencl.array

    return pyopencl.array.to_device(queue, values)


def _integers(*shape: int, dtype: Any = np.float32) -> Array:
    """Return small integers, whose products and sums are exact in every type of sums."""
    return RANDOM.integers(-4, 5, shape).astype(dtype)


@pytest.fixture
def pair(queue: Any) -> Pair:
    """Return matrices of 5 x 7 and 7 x 3 floats on the host and on the device."""
    a, b = _integers(5, 7), _integers(7, 3)
    return a, b, _upload(queue, a), _upload(queue, b)


def test_new_array(queue: Any, pair: Pair) -> None:
    a, b, on_a, on_b = pair
    c = gemm(queue, on_a, on_b)
    assert (c.shape, c.dtype) == ((5, 3), np.float32)
    assert np.array_equal(c.get(), a @ b)


def test_alpha_beta_and_bias(queue: Any, pair: Pair) -> None:
    a, b, on_a, on_b = pair
    before, bias = _integers(5, 3), _integers(3)
    c = _upload(queue, before)
    assert gemm(queue, on_a, on_b, c, alpha=2, beta=-3, bias=_upload(queue, bias)) is c
    assert np.array_equal(c.get(), 2 * (a @ b) - 3 * before + bias)


def test_bias_of_columns(queue: Any, pair: Pair) -> None:
    a, b, on_a, on_b = pair
    bias = _integers(5, 1)
    assert np.array_equal(gemm(queue, on_a, on_b, bias=_upload(queue, bias)).get(), a @ b + bias)


def test_bias_of_shape_n_with_square_result(queue: Any) -> None:
    a, b, bias = _integers(4, 2), _integers(2, 4), _integers(4)
    c = gemm(queue, _upload(queue, a), _upload(queue, b), bias=_upload(queue, bias))
    assert np.array_equal(c.get(), a @ b + bias)


def test_result_without_beta_ignores_c(queue: Any, pair: Pair) -> None:
    a, b, on_a, on_b = pair
    c = _upload(queue, np.full((5, 3), np.nan, np.float32))
    gemm(queue, on_a, on_b, c)
    assert np.array_equal(c.get(), a @ b)


def test_transposed_operands(queue: Any, pair: Pair) -> None:
    a, b, _, _ = pair
    on_a, on_b = _upload(queue, np.ascontiguousarray(a.T)), _upload(queue, np.ascontiguousarray(b.T))
    assert np.array_equal(gemm(queue, on_a, on_b, trans_a=True, trans_b=True).get(), a @ b)
    assert np.array_equal(gemm(queue, on_a.T, on_b.T).get(), a @ b)


def test_array_times_its_own_transpose(queue: Any, pair: Pair) -> None:
    a, _, on_a, _ = pair
    assert np.array_equal(gemm(queue, on_a, on_a, trans_b=True).get(), a @ a.T)


def test_empty_sum(queue: Any) -> None:
    import pyopencl.array

    a, b = (pyopencl.array.Array(queue, shape, np.float32) for shape in ((2, 0), (0, 3)))
    bias = _integers(3)
    assert np.array_equal(gemm(queue, a, b, bias=_upload(queue, bias)).get(), np.broadcast_to(bias, (2, 3)))


def test_strides_and_offset_of_every_operand(queue: Any) -> None:
    a, b, c = _integers(9, 9), _integers(9, 9), _integers(9, 9)
    on_a, on_b, on_c = (_upload(queue, found) for found in (a, b, c))
    gemm(queue, on_a[1:8:2, 2:8], on_b.T[3:9, 1:6], on_c[2:6, 0:9:2], beta=1)
    expected = c.copy()
    expected[2:6, 0:9:2] += a[1:8:2, 2:8] @ b.T[3:9, 1:6]
    assert np.array_equal(on_c.get(), expected)


def test_rows_in_reverse(queue: Any, pair: Pair) -> None:
    import pyopencl.array

    a, b, on_a, on_b = pair
    strides = (-a.strides[0], a.strides[1])
    turned = pyopencl.array.Array(queue, a.shape, a.dtype, data=on_a.data, offset=4 * a.strides[0], strides=strides)
    assert np.array_equal(gemm(queue, turned, on_b).get(), a[::-1] @ b)


@pytest.mark.parametrize("name", ["bias", "scale_a", "scale_b"])
@pytest.mark.parametrize("start", [0, 1, 3])
def test_offset_of_vectors(queue: Any, pair: Pair, name: str, start: int) -> None:
    a, b, on_a, on_b = pair
    size = 5 if name == "scale_a" else 3
    values = _integers(9)
    numbers = values[start : start + size]
    vector = _upload(queue, values)[start : start + size]
    expected = a @ b + numbers if name == "bias" else a @ b * (numbers[:, None] if name == "scale_a" else numbers)
    arguments: dict[str, Any] = {name: vector}
    assert np.array_equal(gemm(queue, on_a, on_b, **arguments).get(), expected)


@pytest.mark.parametrize("name", ["bias", "scale_a", "scale_b"])
def test_vectors_with_gaps(queue: Any, pair: Pair, name: str) -> None:
    size = 5 if name == "scale_a" else 3
    arguments: dict[str, Any] = {name: _upload(queue, _integers(2 * size))[::2]}
    with pytest.raises(ValueError, match=f"^{name}:"):
        gemm(queue, *pair[2:], **arguments)


@pytest.mark.parametrize(("batch_a", "batch_b"), [((3,), (3,)), ((1,), (3,)), ((3,), (1,)), ((), (3,)), ((3,), ())])
def test_batches(queue: Any, batch_a: tuple[int, ...], batch_b: tuple[int, ...]) -> None:
    a, b = _integers(*batch_a, 4, 6), _integers(*batch_b, 6, 5)
    c = gemm(queue, _upload(queue, a), _upload(queue, b))
    assert c.shape == (3, 4, 5)
    assert np.array_equal(c.get(), a @ b)


def test_batch_of_one(queue: Any) -> None:
    a, b = _integers(1, 4, 6), _integers(1, 6, 5)
    for first, second in ((a, b), (a[0], b), (a, b[0])):
        c = gemm(queue, _upload(queue, first), _upload(queue, second))
        assert c.shape == (1, 4, 5) and np.array_equal(c.get(), a @ b)
    c = _upload(queue, np.zeros((4, 5), np.float32))  # an array may have two dimensions
    assert gemm(queue, _upload(queue, a), _upload(queue, b), c) is c and np.array_equal(c.get(), (a @ b)[0])


def test_empty_batches_and_matrices(queue: Any) -> None:
    a, b = _integers(0, 4, 6), _integers(6, 5)
    assert gemm(queue, _upload(queue, a), _upload(queue, b)).shape == (0, 4, 5)
    assert gemm(queue, _upload(queue, b.T), _upload(queue, np.zeros((0, 6, 5), np.float32))).shape == (0, 5, 5)
    with pytest.raises(ValueError, match=r"c: expected the shape \(0, 4, 5\), not \(4, 5\)"):
        gemm(queue, _upload(queue, a), _upload(queue, b), _upload(queue, np.zeros((4, 5), np.float32)))
    # pyopencl.array.to_device makes an empty array with strides of 0.
    c = _upload(queue, np.zeros((0, 5), np.float32))
    assert gemm(queue, _upload(queue, a.reshape(0, 6)), _upload(queue, b), c) is c


@pytest.mark.parametrize("a_type", [np.int8, np.uint8])
@pytest.mark.parametrize("b_type", [np.int8, np.uint8])
def test_integers(queue: Any, a_type: Any, b_type: Any) -> None:
    ends = [np.iinfo(found) for found in (a_type, b_type)]
    a = RANDOM.choice([ends[0].min, ends[0].max, 1], (4, 50)).astype(a_type)
    b = RANDOM.choice([ends[1].min, ends[1].max, 1], (50, 4)).astype(b_type)
    c = gemm(queue, _upload(queue, a), _upload(queue, b))
    assert c.dtype == np.int32
    assert np.array_equal(c.get(), a.astype(np.int32) @ b.astype(np.int32))


def test_scaled_integers(queue: Any) -> None:
    a, b = _integers(4, 6, dtype=np.int8), _integers(6, 5, dtype=np.int8)
    factors = np.array([0.5, 2, -1, 4], np.float32)
    c = gemm(queue, _upload(queue, a), _upload(queue, b), scale_a=_upload(queue, factors), scale_b=0.25)
    assert c.dtype == np.float32
    assert np.array_equal(c.get(), (a.astype(np.int32) @ b) * factors[:, None] * 0.25)


def test_saturated_integers(queue: Any) -> None:
    a, b = np.array([[100], [-100], [3]], np.int8), np.array([[2, 1]], np.int8)
    c = gemm(queue, _upload(queue, a), _upload(queue, b), out_dtype=np.int8)
    assert c.get().tolist() == [[127, 100], [-128, -100], [6, 3]]


def test_ties_round_to_even(queue: Any) -> None:
    a, b = np.array([[0.5], [1.5], [2.5], [-0.5], [300.0]], np.float32), np.ones((1, 1), np.float32)
    c = gemm(queue, _upload(queue, a), _upload(queue, b), out_dtype="uint8")
    assert c.get().ravel().tolist() == [0, 2, 2, 0, 255]


@pytest.mark.parametrize("name", ["bf16", "e4m3", "e5m2"])
def test_named_formats(queue: Any, name: str) -> None:
    form = FORMATS[name]
    a, b = form.encode(_integers(4, 6)), form.encode(_integers(6, 5))
    c = gemm(queue, _upload(queue, a), _upload(queue, b), dtype_a=name, dtype_b=name)
    assert c.dtype == np.float32
    assert np.array_equal(c.get(), form.decode(a) @ form.decode(b))


@pytest.mark.parametrize("name", ["bf16", "e4m3", "e5m2"])
def test_named_results(queue: Any, pair: Pair, name: str) -> None:
    a, b, on_a, on_b = pair
    form = FORMATS[name]
    c = gemm(queue, on_a, on_b, out_dtype=name)
    assert c.dtype == form.dtype
    assert np.array_equal(form.decode(c.get()), form.round((a @ b).astype(np.float64)))


def test_named_c(queue: Any, pair: Pair) -> None:
    a, b, on_a, on_b = pair
    form = FORMATS["bf16"]
    c = _upload(queue, form.encode(_integers(5, 3)))
    before = form.decode(c.get())
    gemm(queue, on_a, on_b, c, beta=1, out_dtype="bf16")
    assert np.array_equal(form.decode(c.get()), form.round((a @ b + before).astype(np.float64)))


@pytest.mark.parametrize("limit", [448.0, 464.0, 465.0, 1e9])
def test_largest_e4m3(queue: Any, limit: float) -> None:
    a, b = np.full((1, 1), limit, np.float32), np.ones((1, 1), np.float32)
    stored = gemm(queue, _upload(queue, a), _upload(queue, b), out_dtype="e4m3").get()
    assert stored[0, 0] == (0x7E if limit <= 464 else 0x7F)


def test_double(queue: Any) -> None:
    a, b = np.array([[1.0, 2.0**-40]]), np.ones((2, 1))
    c = gemm(queue, _upload(queue, a), _upload(queue, b))
    assert c.dtype == np.float64
    assert c.get()[0, 0] == 1 + 2.0**-40


def test_halves_are_added_up_in_float(queue: Any) -> None:
    a, b = np.ones((1, 4096), np.float16), np.ones((4096, 1), np.float16)
    assert gemm(queue, _upload(queue, a), _upload(queue, b)).get()[0, 0] == 4096


@pytest.mark.parametrize("name", ["relu", "gelu", "silu"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_named_activations(queue: Any, name: str, dtype: Any) -> None:
    x = np.linspace(-6, 6, 49, dtype=dtype).reshape(49, 1)
    y = gemm(queue, _upload(queue, x), _upload(queue, np.ones((1, 1), dtype)), activation=name).get()
    expected = {
        "relu": np.maximum(x, 0),
        "gelu": np.array([[0.5 * v * (1 + math.erf(v / math.sqrt(2)))] for v in x.ravel()]),
        "silu": x / (1 + np.exp(-x)),
    }
    assert np.allclose(y, expected[name], rtol=1e-6, atol=1e-6 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activation_in_opencl_c(queue: Any, pair: Pair, dtype: Any) -> None:
    a, b = pair[0].astype(dtype), pair[1].astype(dtype)
    text = "static REAL square(REAL x) { return x * x; }\nREAL activation(REAL x) { return square(x) + sizeof(REAL); }"
    c = gemm(queue, _upload(queue, a), _upload(queue, b), activation=text)
    assert np.array_equal(c.get(), (a @ b) ** 2 + np.dtype(dtype).itemsize)


def test_last_event(queue: Any, pair: Pair) -> None:
    a, b, on_a, on_b = pair
    cl = opencl()
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    launches = cl.CommandQueue(queue.context, properties=out_of_order)
    gate = cl.UserEvent(queue.context)
    c = gemm(launches, on_a, on_b, wait_for=[gate])
    assert c.events[-1].command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    c.events[-1].wait()
    assert np.array_equal(c.get(), a @ b)


def test_calls_that_depend_on_each_other(queue: Any, pair: Pair) -> None:
    a, b, on_a, on_b = pair
    cl = opencl()
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    launches = cl.CommandQueue(queue.context, properties=out_of_order)
    gate = cl.UserEvent(queue.context)
    first = gemm(launches, on_a, on_b, wait_for=[gate])
    second = gemm(launches, first, on_b, trans_b=True)
    gemm(launches, on_a, on_b, first, beta=1)
    gate.set_status(cl.command_execution_status.COMPLETE)
    launches.finish()
    assert np.array_equal(first.get(), 2 * (a @ b))
    assert second.shape == (5, 7)


def test_unsupported_types(queue: Any, pair: Pair) -> None:
    _, _, on_a, on_b = pair
    with pytest.raises(TypeError, match=r"^a:"):
        gemm(queue, _upload(queue, np.ones((5, 7), np.int32)), on_b)
    with pytest.raises(TypeError, match=r"^(a, )?b:"):
        gemm(queue, on_a, _upload(queue, np.ones((7, 3), np.int8)))


def test_unfit_shapes(queue: Any, pair: Pair) -> None:
    _, _, on_a, on_b = pair
    with pytest.raises(ValueError, match=r"^(a, b|b):"):
        gemm(queue, on_b, on_a)
    with pytest.raises(ValueError, match=r"^c:"):
        gemm(queue, on_a, on_b, on_a)
    with pytest.raises(ValueError, match=r"^bias:"):
        gemm(queue, on_a, on_b, bias=_upload(queue, np.ones(4, np.float32)))


def test_unfit_memory(queue: Any) -> None:
    square = _upload(queue, np.ones((4, 4), np.float32))
    with pytest.raises(ValueError, match=r"^c:"):
        gemm(queue, square, square, square)
    assert (square.get() == 1).all()


def test_beta_without_c(queue: Any, pair: Pair) -> None:
    with pytest.raises(ValueError, match=r"^beta:"):
        gemm(queue, *pair[2:], beta=1)


def test_unknown_activation(queue: Any, pair: Pair) -> None:
    with pytest.raises(ValueError, match=r"^activation:"):
        gemm(queue, *pair[2:], activation="softplus")


def test_subsequent_contexts(device: DeviceInfo) -> None:
    """Kernels of a context that is gone are not used in another one, which may have the same address."""
    for _ in range(5):
        context = opencl().Context([device.handle])
        queue = opencl().CommandQueue(context)
        a, b = _integers(3, 4), _integers(4, 2)
        assert np.array_equal(gemm(queue, _upload(queue, a), _upload(queue, b)).get(), a @ b)
        del queue, context
        gc.collect()


def test_unfit_context(queue: Any, pair: Pair) -> None:
    context = opencl().Context([queue.device])
    other = opencl().CommandQueue(context)
    with pytest.raises(ValueError, match=r"^a:"):
        gemm(queue, _upload(other, pair[0]), pair[3])


@pytest.mark.parametrize("alpha", [2, 2.0, np.float64(2), np.int64(2)])
def test_factors_of_integer_results(queue: Any, alpha: Any) -> None:
    a, b = _integers(4, 6, dtype=np.int8), _integers(6, 5, dtype=np.int8)
    c = gemm(queue, _upload(queue, a), _upload(queue, b), alpha=alpha)
    assert np.array_equal(c.get(), 2 * (a.astype(np.int32) @ b))
    with pytest.raises(ValueError, match=r"^alpha, scale_a: 0.5 is no integer"):
        gemm(queue, _upload(queue, a), _upload(queue, b), scale_a=0.5, out_dtype=np.int32)
    with pytest.raises(ValueError, match=r"^alpha: 0.5 is no integer"):
        gemm(queue, _upload(queue, a), _upload(queue, b), alpha=0.5)
    with pytest.raises(TypeError, match=r"^scale_a: expected a pyopencl.array.Array or a number, not str"):
        gemm(queue, _upload(queue, a), _upload(queue, b), scale_a="2")


def test_scaled_integers_to_double(queue: Any) -> None:
    a, b = _integers(4, 6, dtype=np.int8), _integers(6, 5, dtype=np.int8)
    c = gemm(queue, _upload(queue, a), _upload(queue, b), scale_a=0.5, out_dtype=np.float64)
    assert np.array_equal(c.get(), 0.5 * (a.astype(np.int32) @ b))


def test_empty_sums_of_reversed_batches(queue: Any) -> None:
    import pyopencl.array

    memory = _upload(queue, np.ones(64, np.float32)).data
    a = pyopencl.array.Array(queue, (2, 3, 0), np.float32, data=memory, offset=64, strides=(-16, 4, 4))
    b = pyopencl.array.Array(queue, (2, 0, 5), np.float32, data=memory, strides=(16, 4, 4))
    assert not gemm(queue, a, b).get().any()


def test_components_of_c_that_share_memory(queue: Any, pair: Pair) -> None:
    import pyopencl.array

    memory = _upload(queue, np.zeros(64, np.float32)).data
    for strides in ((0, 4), (4, 4), (8, 4)):
        c = pyopencl.array.Array(queue, (5, 3), np.float32, data=memory, strides=strides)
        with pytest.raises(ValueError, match=r"^c:"):
            gemm(queue, *pair[2:], c)


@pytest.mark.parametrize(("name", "size"), [("bias", 3), ("scale_a", 5), ("scale_b", 3)])
def test_c_that_overlaps_vectors(queue: Any, pair: Pair, name: str, size: int) -> None:
    c = _upload(queue, np.zeros((5, 3), np.float32))
    arguments: dict[str, Any] = {name: c.reshape(15)[:size]}
    with pytest.raises(ValueError, match=rf"^(c|{name}):"):
        gemm(queue, *pair[2:], c, **arguments)


@pytest.mark.parametrize("name", ["a", "b", "c", "bias"])
def test_array_outside_its_sub_buffer(queue: Any, pair: Pair, name: str) -> None:
    import pyopencl.array

    arrays = {"a": pair[2], "b": pair[3], "c": _upload(queue, pair[0][:, :3].copy()), "bias": None}
    shape = (3,) if name == "bias" else arrays[name].shape
    memory = opencl().Buffer(queue.context, 0, 4096)
    part = memory.get_sub_region(0, 4 * math.prod(shape) - 4)
    arrays[name] = pyopencl.array.Array(queue, shape, np.float32, data=part)
    with pytest.raises(ValueError, match=rf"^{name}:"):
        gemm(queue, arrays["a"], arrays["b"], arrays["c"], bias=arrays["bias"])


def test_integers_added_to_double(queue: Any) -> None:
    a, b = _integers(4, 6, dtype=np.int8), _integers(6, 5, dtype=np.int8)
    before = _integers(4, 5) + 0.5
    c = _upload(queue, before.astype(np.float64))
    gemm(queue, _upload(queue, a), _upload(queue, b), c, beta=1)
    assert np.array_equal(c.get(), a.astype(np.int32) @ b + before)


def test_a_column_of_a_matrix_is_no_bias(queue: Any, pair: Pair) -> None:
    """Its elements are as far apart as it has elements, which must not pass for consecutive ones."""
    _, _, on_a, on_b = pair
    square = _upload(queue, _integers(5, 5))
    with pytest.raises(ValueError, match="bias: expected an array whose elements are consecutive"):
        gemm(queue, on_a, on_b, bias=square[:, :1])
    with pytest.raises(ValueError, match="scale_a: expected an array whose elements are consecutive"):
        gemm(queue, on_a, on_b, scale_a=square[:, 0])
