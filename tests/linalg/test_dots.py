"""Products of few rows by dot products (dot.cl)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from coopmat import CompileError
from coopmat.devices import DeviceInfo
from coopmat.linalg import gemm, parameters, products
from coopmat.linalg.parameters import Tiling
from coopmat.matrices.numpy_reference import narrow, widen
from coopmat.matrices.variants import COMPONENT_TYPES


@pytest.fixture(autouse=True)
def _own_tilings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(parameters, "_forced", [])
    products._product.cache_clear()
    yield
    products._product.cache_clear()


def numbers(name: str, shape: tuple[int, ...], seed: int) -> tuple[Any, Any]:
    """Return small whole numbers, whose sums are exact, as an array of this component type, and in double."""
    whole = np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float64)
    return narrow(COMPONENT_TYPES[name], whole), whole


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 16), st.integers(2, 40), st.integers(2, 150)),
    tile=st.sampled_from([(1, 8, 16, 1), (2, 4, 8, 8), (4, 4, 4, 32), (8, 2, 16, 1)]),
    strip=st.sampled_from([None, (1, 32, 16, 1), (2, 16, 8, 1), (4, 24, 4, 1), (8, 16, 16, 1)]),
    trans_a=st.booleans(),
    types=st.sampled_from(
        [("f32", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("f16", "f32"), ("f32", "bf16"), ("f64", "f64")]
    ),
    output=st.sampled_from(["f32", "f16", "f64"]),
    epilogue=st.booleans(),
    seed=st.integers(0, 99),
)
def test_shapes_types_and_epilogues(
    queue: Any,
    sizes: tuple[int, int, int, int],
    tile: tuple[int, int, int, int],
    strip: tuple[int, int, int, int] | None,
    trans_a: bool,
    types: tuple[str, str],
    output: str,
    epilogue: bool,
    seed: int,
) -> None:
    """B is by columns, or by rows, which are added up in strips; A may be by columns then."""
    import pyopencl.array as arrays

    tile = strip or tile
    parameters.force(Tiling(tile[:3], dot=tile[3]))
    products._product.cache_clear()
    batch, m, n, k = sizes
    output = "f64" if "f64" in types else output
    real = np.float64 if output == "f64" else np.float32
    trans_a, trans_b = trans_a and strip is not None, strip is None
    a, x = numbers(types[0], (batch, k, m) if trans_a else (batch, m, k), seed)
    b, y = numbers(types[1], (batch, n, k) if trans_b else (batch, k, n), seed + 1)
    c, z = numbers(output, (batch, m, n), seed + 2)
    wanted = (x.swapaxes(1, 2) if trans_a else x) @ (y.swapaxes(1, 2) if trans_b else y)
    words: dict[str, Any] = {f"dtype_{name}": t for name, t in zip("ab", types, strict=True) if t == "bf16"}
    result = arrays.to_device(queue, c)
    if epilogue:
        bias, scale = np.arange(n).astype(real), np.arange(m).astype(real) % 3
        words |= {"bias": arrays.to_device(queue, bias), "scale_a": arrays.to_device(queue, scale)}
        words |= {"alpha": 2, "beta": -1, "activation": "REAL activation(REAL x) { return x / 2; }"}
        wanted = (2 * scale[:, None] * wanted - z + bias) / 2
    words |= {"trans_a": trans_a, "trans_b": trans_b}
    gemm(queue, arrays.to_device(queue, a), arrays.to_device(queue, b), result, **words)
    exact = narrow(COMPONENT_TYPES[output], wanted)
    assert np.array_equal(widen(COMPONENT_TYPES[output], result.get()), widen(COMPONENT_TYPES[output], exact))


def test_weights_by_rows_take_dot_products(queue: Any, device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only floating-point weights, consecutive along k, that few rows read are multiplied by dot products."""
    import pyopencl.array as arrays

    monkeypatch.setenv("COOPMAT_ROUTE", "one")
    parameters.route_of.cache_clear()
    launches: list[Any] = []
    launch = products.Product._launch
    monkeypatch.setattr(products.Product, "_launch", lambda *given: launches.append(launch(*given)) or launches[-1])
    a = arrays.zeros(queue, (3, 64), np.float32)
    gemm(queue, a, arrays.zeros(queue, (50, 64), np.float32), trans_b=True)
    gemm(queue, a, arrays.zeros(queue, (64, 50), np.float32))
    gemm(queue, a.astype(np.int8), arrays.zeros(queue, (50, 64), np.int8), trans_b=True)
    gemm(queue, arrays.zeros(queue, (17, 64), np.float32), arrays.zeros(queue, (50, 64), np.float32), trans_b=True)
    parameters.route_of.cache_clear()
    assert [bool(item.variant.tiling.dot) for item in launches] == [True, False, False, False]


def test_few_rows_add_up_strips_if_there_are_enough(queue: Any, device: DeviceInfo, monkeypatch: Any) -> None:
    """Weights by rows are added up if each compute unit has a strip; else matrices are multiplied."""
    monkeypatch.setenv("COOPMAT_ROUTE", "one")
    parameters.route_of.cache_clear()
    types = (COMPONENT_TYPES["f32"],) * 5
    units = device.handle.max_compute_units
    found = [
        parameters.tilings_of(device.handle, types, (1, m, n * units, 64), by)[0]
        for m, n, by in ((1, 1024, "axpys"), (1, 512, "axpys"), (1, 511, "axpys"), (16, 1024, "axpys"), (1, 1024, ""))
    ]
    parameters.route_of.cache_clear()
    assert [tiling.tile[:2] for tiling in found if tiling.dot] == [(1, 1024), (1, 512), (8, 1024)]


def test_a_function_of_the_caller_may_have_any_name(queue: Any, device: DeviceInfo) -> None:
    import pyopencl.array as arrays

    text = "REAL sum_of(REAL x) { return x + 1; } REAL activation(REAL x) { return sum_of(x); }"
    x, w = (arrays.zeros(queue, (rows, 32), np.float32) + 1 for rows in (1, 5))
    assert np.array_equal(gemm(queue, x, w, trans_b=True, activation=text).get(), np.full((1, 5), 33))


def test_a_function_of_the_caller_is_compiled_by_coopmat(queue: Any, device: DeviceInfo) -> None:
    """It may use types that the device's compiler lacks, and its errors are those of the compiler."""
    import pyopencl.array as arrays

    rounds = "REAL activation(REAL x) { bfloat16 y = (bfloat16)x; return (REAL)y; }"
    messages = []
    for m in (1, 40):  # by dot products, and by matrices
        x, w = (arrays.zeros(queue, (rows, 32), np.float32) + 8.0625 for rows in (m, 5))
        expected = narrow(COMPONENT_TYPES["bf16"], np.full((m, 5), 32 * 8.0625**2))
        found = gemm(queue, x, w, trans_b=True, activation=rounds).get()
        assert np.array_equal(found, widen(COMPONENT_TYPES["bf16"], expected))
        with pytest.raises(CompileError) as caught:
            gemm(queue, x, w, trans_b=True, activation="REAL activation(REAL x) {\n  return x + missing; }")
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "activation:2:14: " in messages[0]
    assert "'missing'" in messages[0] and "return x + missing;" in messages[0]


def test_the_lists_of_the_user_exclude_dot_products(monkeypatch: pytest.MonkeyPatch) -> None:
    own = parameters.table("one") | {"deny": [[1, 8, 8]]}
    monkeypatch.setattr(parameters, "route_of", lambda _: "one")
    monkeypatch.setattr(parameters, "table", lambda _: own)
    types = (COMPONENT_TYPES["f32"],) * 3
    tilings = parameters.tilings_of(None, types, (1, 1, 99, 99), "dots")
    assert tilings[0].tile == (2, 8, 8) and tilings[0].dot  # the next row
