"""Products whose operands are copied into panels first."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from coopmat.devices import DeviceInfo, opencl
from coopmat.linalg import gemm, kernels, pack, parameters, products
from coopmat.linalg.parameters import Tiling

RANDOM = np.random.default_rng(11)
# Types of A and B -> (dtypes, the tiling). The tiles need no matrix instructions, so that each device computes them.
TILINGS = {
    "f32 f32": Tiling((4, 16, 1), panels=("f32", "f32")),
    "f16 f16": Tiling((4, 16, 1), panels=("f32", "f32")),
    "f64 f64": Tiling((4, 8, 1), panels=("f64", "f64")),
    "e5m2 e5m2": Tiling((4, 16, 2), panels=("bf16", "bf16")),
    "bf16 bf16": Tiling((4, 16, 2), panels=("bf16", "bf16")),
    "bf16 e5m2": Tiling((4, 16, 1), panels=("f32", "f32")),
    **{f"{a} {b}": Tiling((4, 16, 4), panels=("u8", "s8")) for a in ("s8", "u8") for b in ("s8", "u8")},
}
# m, n and k: whole panels, parts of panels, several chunks of columns, one row, one column.
SHAPES = ((8, 32, 128), (9, 33, 300), (1, 17, 65), (13, 1, 1), (30, 50, 513))


@pytest.fixture
def queue(out_of_order_queue: Any) -> Any:
    return out_of_order_queue


@pytest.fixture(params=("one", "lanes", ""))
def route(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Compute all products by panels, by a route; "" is the device's own."""
    if request.param:
        monkeypatch.setenv("COOPMAT_ROUTE", request.param)
    products._product.cache_clear()  # it keeps the launches, which have tilings

    def tilings_of(_device: Any, types: Any, shape: Any, by: str) -> list[Tiling]:
        return [TILINGS[f"{types[0].name} {types[1].name}"]]

    monkeypatch.setattr(kernels, "tilings_of", tilings_of)
    return str(request.param)


def numbers(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return numbers whose products are exact, as an array for the device and as one for numpy."""
    if name in ("s8", "u8"):
        low, dtype = (-128, np.int8) if name == "s8" else (0, np.uint8)
        whole = RANDOM.integers(low, low + 256, shape)
        return whole.astype(dtype), whole
    whole = RANDOM.integers(-4, 5, shape)
    halves = whole.astype(np.float16)
    if name == "e5m2":  # the upper byte of a half
        return (halves.view(np.uint16) >> 8).astype(np.uint8), whole
    if name == "bf16":
        return (whole.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), whole
    return whole.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[name]), whole


def call(queue: Any, a: Any, b: Any, names: list[str], **more: Any) -> Any:
    types = {f"dtype_{x}": name for x, name in zip("ab", names, strict=True) if name in ("bf16", "e5m2")}
    return gemm(queue, a, b, **types, **more)


@pytest.mark.covering
@pytest.mark.parametrize("types", TILINGS)
def test_shapes_and_layouts(queue: Any, route: str, types: str) -> None:
    import pyopencl.array as arrays

    names = types.split()
    for (m, n, k), (first, second) in itertools.product(SHAPES, itertools.product((False, True), repeat=2)):
        (a, x), (b, y) = numbers(names[0], (k, m) if first else (m, k)), numbers(names[1], (n, k) if second else (k, n))
        on_device = [arrays.to_device(queue, item) for item in (a, b)]
        result = call(queue, *on_device, names, trans_a=first, trans_b=second)
        wanted = (x.T if first else x) @ (y.T if second else y)
        assert np.array_equal(result.get(), wanted), (m, n, k, first, second)


@pytest.mark.covering
@pytest.mark.parametrize("types", ("f32 f32", "s8 u8"))
def test_batches_views_and_epilogues(queue: Any, route: str, types: str) -> None:
    import pyopencl.array as arrays

    names = types.split()
    (a, x), (b, y) = numbers(names[0], (3, 14, 90)), numbers(names[1], (91, 45))
    left, right = arrays.to_device(queue, a), arrays.to_device(queue, b)
    bias = RANDOM.integers(-9, 10, 44).astype(np.float32)
    guard = RANDOM.integers(-9, 10, (3, 14, 50)).astype(np.float32)
    c = arrays.to_device(queue, guard)
    out, how = c[:, :, 3:47], {"bias": arrays.to_device(queue, bias), "activation": "relu", "alpha": 2, "beta": 1}
    # A transposed view of the batch's strides, and a single B that serves all matrices.
    result = call(queue, left, right[1:, :44], names, c=out, out_dtype="f32", **how)
    wanted = guard.copy()
    wanted[:, :, 3:47] = np.maximum(2.0 * (x @ y[1:, :44]) + guard[:, :, 3:47] + bias, 0)
    queue.finish()
    assert result is out and np.array_equal(c.get(), wanted)


def test_products_share_their_memory_in_turn(queue: Any, route: str) -> None:
    """Launches in an out-of-order queue, and in a second queue: none overwrites panels that another still reads."""
    import pyopencl.array as arrays

    cl = opencl()
    queues = [queue, cl.CommandQueue(queue.context)]
    results = []
    for turn in range(12):
        a, b = RANDOM.integers(-4, 5, (2, 40 + turn, 40 + turn)).astype(np.float32)
        on_device = [arrays.to_device(queue, item) for item in (a, b)]
        queue.finish()
        results.append((gemm(queues[turn % 2], *on_device), a @ b))
    for result, wanted in results:
        for event in result.events:
            event.wait()
        assert np.array_equal(result.get(queue), wanted)


def test_devices_without_an_instruction_take_the_row_of_float(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "route_of", lambda _: "x86")
    types = tuple(parameters.COMPONENT_TYPES[name] for name in ("bf16", "bf16"))
    for instructions, name in ((("vdpbf16ps",), "bf16"), (("vpdpbusd",), "f32")):
        monkeypatch.setattr(parameters, "instructions_of", lambda *_, given=instructions: given)
        assert parameters.tilings_of(None, types, (1, 999, 999, 999))[0].panels == (name, name)
        assert not any(row.panels for row in parameters.tilings_of(None, types, (1, 999, 999, 0)))
    bytes_ = tuple(parameters.COMPONENT_TYPES[name] for name in ("s8", "u8"))
    monkeypatch.setattr(parameters, "instructions_of", lambda *_: ())
    assert not any(row.panels for row in parameters.tilings_of(None, bytes_, (1, 999, 999, 999)))


# --- operands that are packed once ---


def test_packed_operands(queue: Any, device: DeviceInfo) -> None:
    """By the device's own tilings: types, layouts, batches, few and many rows, and one B for several products."""
    import pyopencl.array as arrays

    for types, second, batch in itertools.product(
        ("f32 f32", "f16 f16", "s8 s8", "u8 s8", "s8 u8"), (False, True), (1, 3)
    ):
        names = types.split()
        shape = (batch, 70, 90) if batch > 1 else (70, 90)
        b, y = numbers(names[1], shape)
        packed = pack(queue, arrays.to_device(queue, b), trans_b=second)
        right = y.swapaxes(-1, -2) if second else y
        assert packed.shape == right.shape
        for rows in (1, 3, 5, 40):
            a, x = numbers(names[0], (rows, right.shape[-2]))
            result = gemm(queue, arrays.to_device(queue, a), packed)
            assert np.array_equal(result.get(), x @ right), (types, second, batch, rows)


def test_views_are_packed(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    a, b = RANDOM.integers(-4, 5, (2, 60, 120)).astype(np.float32)
    left, right = arrays.to_device(queue, a), arrays.to_device(queue, b)
    packed = pack(queue, right[:, ::2])  # neither rows nor columns are consecutive
    for place in (np.s_[:, :60], np.s_[5:9, 60:]):
        assert np.array_equal(gemm(queue, left[place], packed, alpha=2).get(), 2 * a[place] @ b[:, ::2])


def test_wrong_uses_of_packed_operands(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    floats, doubles, bytes_ = (arrays.zeros(queue, (40, 40), dtype) for dtype in (np.float32, np.float64, np.int8))
    packed = pack(queue, floats)
    with pytest.raises(ValueError, match="trans_b, dtype_b: b is packed"):
        gemm(queue, floats, packed, trans_b=True)
    with pytest.raises(ValueError, match="a has 30 columns, b has 40 rows"):
        gemm(queue, floats[:, :30], packed)
    with pytest.raises(TypeError, match="f32 and s8 cannot be multiplied"):
        pack(queue, bytes_, dtype_a="f32")
    with pytest.raises(TypeError, match="dtype_a: the type f33 is not supported"):
        pack(queue, floats, dtype_a="f33")
    with pytest.raises(TypeError, match=r"b: expected a pyopencl\.array\.Array"):
        pack(queue, np.zeros((4, 4)))
    if packed.format is not None:
        with pytest.raises(ValueError, match="b: it was packed for a of type f32, not f16"):
            gemm(queue, arrays.zeros(queue, (40, 40), np.float16), packed)
    other = opencl().Context([device.handle])
    with pytest.raises(ValueError, match="b: its memory belongs to another context"):
        gemm(opencl().CommandQueue(other), arrays.zeros(opencl().CommandQueue(other), (40, 40), np.float32), packed)
    with pytest.raises(TypeError, match="cannot be multiplied"):
        gemm(queue, doubles, packed)
