"""Products by exported libraries equal numpy's."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_library import TYPES, CLibrary, Matrix

from coopmat.devices import DeviceInfo, from_key_values, opencl
from coopmat.export import Library, header_text
from coopmat.linalg import listing as listing_module, parameters
from coopmat.linalg.listing import Listing
from coopmat.linalg.parameters import tilings_of
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.runtime.ahead import AheadTarget

pytestmark = pytest.mark.device

# m, n, k
SHAPES = (
    *((1, 1, 1), (1, 300, 70), (1, 512, 64), (3, 17, 5), (8, 256, 64), (16, 100, 33), (17, 19, 23)),
    *((33, 65, 127), (64, 64, 64), (100, 30, 40), (300, 7, 50), (30, 300, 257), (96, 960, 96), (130, 1000, 31)),
    *((192, 192, 192), (129, 200, 300), (650, 700, 530), (5, 3, 0), (40, 50, 0)),
)


def integers(rng: np.random.Generator, shape: tuple[int, int], dtype: Any) -> Any:
    least = 0 if np.dtype(dtype).kind == "u" else -3
    return rng.integers(least, 4, shape).astype(dtype)


def product(
    code: CLibrary,
    function: str,
    sizes: tuple[int, int, int],
    dtypes: tuple[Any, Any, Any],
    *,
    factors: tuple[float, float] = (1, 0),
    offsets: tuple[int, int, int] = (0, 0, 0),
    padding: tuple[int, int, int] = (0, 0, 0),
    real: Any = ctypes.c_float,
    transposed: bool = False,
) -> None:
    """Multiply random integers, for which no result is rounded, and compare the result with numpy's."""
    (m, n, k), rng = sizes, np.random.default_rng(sum(sizes))
    values = [integers(rng, shape, t) for shape, t in zip(((m, k), (k, n), (m, n)), dtypes, strict=True)]
    stored = [values[0], values[1].T if transposed else values[1], values[2]]
    a, b, c = (Matrix(code.queue, *item) for item in zip(stored, offsets, padding, strict=True))
    result, event = code.call(function, sizes, a.argument, b.argument, c.argument, *factors, real=real)
    assert result == 0
    event.wait()
    wide = [value.astype(np.float64) for value in values]
    expected = factors[0] * (wide[0] @ wide[1]) + factors[1] * wide[2]
    if dtypes[2] == np.int8:
        expected = np.clip(expected, -128, 127)
    assert np.array_equal(c.values(), expected.astype(dtypes[2])), sizes


@pytest.mark.parametrize("sizes", SHAPES)
def test_halves(code: CLibrary, sizes: tuple[int, int, int]) -> None:
    product(code, "gemm_f16", sizes, (np.float16, np.float16, np.float32))


@pytest.mark.parametrize("sizes", SHAPES)
def test_bytes(code: CLibrary, sizes: tuple[int, int, int]) -> None:
    product(code, "gemm_s8", sizes, (np.int8, np.int8, np.int32), real=ctypes.c_int)


def test_other_results_and_factors(in_c: Library, queue: Any, tmp_path: Path) -> None:
    code = CLibrary(header_text(in_c, "gemm"), tmp_path, queue)
    for factors in [(2, 0), (1, 1), (-1, 3), (0, 2)]:
        for sizes in [(200, 30, 77), (64, 64, 0)]:
            product(code, "gemm_f32_f32_f16", sizes, (np.float32, np.float32, np.float16), factors=factors)
        product(code, "gemm_u8_s8_s8", (100, 90, 80), (np.uint8, np.int8, np.int8), factors=factors)
    code.release()


@pytest.mark.parametrize("factors", [(2, 0), (1, 1), (-1, 3), (0, 2)])
def test_factors_of_integers(code: CLibrary, factors: tuple[int, int]) -> None:
    product(code, "gemm_s8", (100, 90, 80), (np.int8, np.int8, np.int32), factors=factors, real=ctypes.c_int)


@pytest.mark.parametrize("sizes", [(2, 40, 30), (100, 90, 80), (192, 192, 192), (333, 31, 65)])
def test_offsets_and_distances_of_rows(code: CLibrary, sizes: tuple[int, int, int]) -> None:
    others = {"offsets": (3, 5, 7), "padding": (1, 11, 13), "factors": (0.5, 2)}
    product(code, "gemm_f16", sizes, (np.float16, np.float16, np.float32), **others)


def test_transposed_b(device: DeviceInfo, queue: Any, tmp_path: Path) -> None:
    made = Library.of(AheadTarget.of(device, code="c"), [Listing.of(("f16",), True)])
    code = CLibrary(header_text(made, "gemm"), tmp_path, queue)
    for sizes in [(1, 300, 70), (33, 65, 127), (192, 192, 192), (40, 50, 0)]:
        dtypes = np.float16, np.float16, np.float32
        product(code, "gemm_f16", sizes, dtypes, offsets=(1, 2, 3), padding=(0, 5, 1), transposed=True)
    code.release()


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_few_rows_of_transposed_b_are_dot_products(device: DeviceInfo, queue: Any, tmp_path: Path, name: str) -> None:
    listing = Listing.of((name,), True)
    made = Library.of(AheadTarget.of(device, code="c"), [listing])
    code = CLibrary(header_text(made, "gemm"), tmp_path, queue)
    for m, n, k in [(1, 300, 70), (3, 65, 127), (16, 40, 500), (17, 40, 90), (2, 9, 0)]:
        best = tilings_of(device.handle, listing.types, (1, m, n, k), "dots")[0]
        assert code.chosen(0, m, n, k)[:3] == best.tile and (best.dot or m > 4 or name == "f16")
        if name != "bf16":  # numpy has no such type
            dtypes = np.dtype(COMPONENT_TYPES[name].numpy), np.dtype(COMPONENT_TYPES[name].numpy), np.float32
            for factors in ((1, 0), (-1, 3)):
                product(code, f"gemm_{name}", (m, n, k), dtypes, transposed=True, factors=factors, offsets=(1, 2, 3))
    code.release()


def test_the_dot_products_of_a_gpu(
    device: DeviceInfo, queue: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several work-items share a sum. C is not read if beta is 0."""
    rows = {"default": {"tile": [8, 8, 4]}, "dots": {"tile": [2, 2, 8], "dot": 32, "rows": 4}}
    monkeypatch.setattr(parameters, "table", lambda _route: {"measured": "", "gemm": {"f16": rows, "f32": rows}})
    monkeypatch.setattr(listing_module, "table", parameters.table)
    made = Library.of(AheadTarget.of(device, "one", "c"), [Listing.of(("f16",), True)])
    assert [row.choice.rows for row in made.products[0][1]] == [4, 7, 0]
    code = CLibrary(header_text(made, "gemm"), tmp_path, queue)
    for m in (1, 3, 4, 5, 8, 9):
        product(code, "gemm_f16", (m, 33, 700), (np.float16, np.float16, np.float32), transposed=True)
    nans = Matrix(queue, np.full((1, 20), np.nan, np.float32))
    ones = Matrix(queue, np.ones((20, 20), np.float16))
    assert code.call("gemm_f16", (1, 20, 20), ones.argument, ones.argument, nans.argument)[0] == 0
    assert np.array_equal(nans.values(), np.full((1, 20), 20, np.float32))
    code.release()


def test_c_is_not_read_if_beta_is_0(code: CLibrary) -> None:
    ones, nans = np.ones((20, 20), np.float16), np.full((20, 20), np.nan, np.float32)
    a, c = Matrix(code.queue, ones), Matrix(code.queue, nans)
    assert code.call("gemm_f16", (20, 20, 20), a.argument, a.argument, c.argument)[0] == 0
    assert np.array_equal(c.values(), np.full((20, 20), 20, np.float32))


def test_the_choices_are_those_of_linalg(code: CLibrary, device: DeviceInfo) -> None:
    rng = np.random.default_rng(1)
    shapes = [*SHAPES, *(tuple(map(int, 2 ** rng.uniform(0, 11, 3))) for _ in range(300))]
    for number, names in enumerate(TYPES):
        listing = Listing.of(names)
        for m, n, k in [*shapes, (480, 480, 480), (576, 576, 96)]:
            if k:
                best = tilings_of(device.handle, listing.types, (1, m, n, k))[0]
                assert code.chosen(number, m, n, k)[:4] == (*best.tile, bool(best.panels)), (names, m, n, k)


def test_invalid_sizes_are_errors(code: CLibrary) -> None:
    invalid_value = -30
    a = Matrix(code.queue, np.ones((20, 20), np.float16))
    c = Matrix(code.queue, np.zeros((20, 20), np.float32))
    for sizes, row_a, offset_c, row_c in (
        ((2**31, 20, 20), 20, 0, 20),
        ((20, 20, 20), 20, 8, 20),
        ((20, 20, 20), 21, 0, 20),
        ((20, 20, 20), 2**63, 0, 20),
        ((20, 20, 20), 20, 2**63, 20),
        ((20, 20, 20), 20, 0, 19),
        ((20, 20, 2**30), 20, 0, 20),
    ):
        result, event = code.call("gemm_f16", sizes, (a.buffer, 0, row_a), a.argument, (c.buffer, offset_c, row_c))
        assert (result, event) == (invalid_value, None), sizes
    assert code.call("gemm_f16", (20, 20, 20), (None, 0, 20), a.argument, c.argument)[0] == invalid_value
    assert not c.values().any()


def test_an_empty_result_waits_for_events(code: CLibrary) -> None:
    a = Matrix(code.queue, np.ones((2, 2), np.float16))
    gate = opencl().UserEvent(code.queue.context)
    result, event = code.call("gemm_f16", (0, 2, 2), *[a.argument] * 3, wait_for=(gate,))
    complete = opencl().command_execution_status.COMPLETE
    assert result == 0 and event.command_execution_status != complete
    gate.set_status(complete)
    event.wait()


def test_products_on_two_queues_share_the_panels(code: CLibrary) -> None:
    """The second product waits for the first, which the events of another queue hold back."""
    cl = opencl()
    properties = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    queues = [cl.CommandQueue(code.queue.context, properties=properties) for _ in range(2)]
    rng, events, expected, results = np.random.default_rng(3), [], [], []
    gate = cl.UserEvent(code.queue.context)
    for number in range(6):
        values = [integers(rng, (200, 200), np.float16) for _ in range(2)]
        operands = [Matrix(code.queue, value) for value in values]
        c = Matrix(code.queue, np.zeros((200, 200), np.float32))
        arguments = (200, 200, 200), *(item.argument for item in (*operands, c))
        error, event = code.call("gemm_f16", *arguments, queue=queues[number % 2], wait_for=(gate,))
        assert error == 0
        events.append(event)
        results.append((c, operands))
        expected.append(values[0].astype(np.float32) @ values[1].astype(np.float32))
    gate.set_status(cl.command_execution_status.COMPLETE)
    cl.wait_for_events(events)
    assert all(np.array_equal(c.values(), want) for (c, _), want in zip(results, expected, strict=True))
    for queue in queues:
        queue.finish()


INFO = """CL_PLATFORM_NAME="A platform"
CL_DEVICE_NAME="A device */"
CL_DEVICE_TYPE=CL_DEVICE_TYPE_CPU
CL_DEVICE_VERSION="OpenCL 3.0"
CL_DEVICE_OPENCL_C_VERSION="OpenCL C 1.2"
CL_DEVICE_EXTENSIONS="cl_khr_fp16 cl_khr_fp64"
CL_DEVICE_LOCAL_MEM_SIZE=32768
"""


def test_the_route_lanes(device: DeviceInfo, queue: Any, tmp_path: Path) -> None:
    if not device.sub_groups:
        pytest.skip("the device has no subgroups")
    code = CLibrary(
        header_text(Library.of(AheadTarget.of(device, "lanes"), [Listing.of(("f16",))]), "gemm"), tmp_path, queue
    )
    for sizes in SHAPES[:12]:
        product(code, "gemm_f16", sizes, (np.float16, np.float16, np.float32))
    code.release()


def test_blocks_in_local_memory(
    device: DeviceInfo, queue: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are multiples of 16 or 8 bytes are read in blocks, others are not, nor are empty matrices."""
    row = {"tile": [8, 8, 4], "block": [32, 32, 32], "sub_group_size": 1}
    table = {"measured": "", "gemm": {"f16": {"default": row}, "f32": {"default": row}}}
    monkeypatch.setattr(parameters, "table", lambda _route: table)
    made = Library.of(AheadTarget.of(device, "one", "c"), [Listing.of(("f16",))])
    rows = made.products[0][1]
    assert [(row.choice.piece, row.choice.tiling.block, row.choice.rows) for row in rows] == [
        (16, (32, 32, 32), 0),
        (8, (32, 32, 32), 0),
        (0, (), 7),
        (0, (), 0),
    ]
    code = CLibrary(header_text(made, "gemm"), tmp_path, queue)
    pieces = {(64, 128, 128): 16, (40, 80, 96): 16, (33, 48, 64): 16, (44, 36, 20): 8, (17, 19, 23): 0, (64, 64, 0): 0}
    for sizes, piece in pieces.items():
        assert code.chosen(0, *sizes)[4] == piece
        product(code, "gemm_f16", sizes, (np.float16, np.float16, np.float32))
    for offsets, padding in (((4, 8, 1), (4, 0, 3)), ((2, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 1, 0))):
        dtypes = np.float16, np.float16, np.float32
        product(code, "gemm_f16", (40, 80, 96), dtypes, offsets=offsets, padding=padding, factors=(2, 1))
    code.release()


@pytest.mark.parametrize("versions", ["", "SPIR-V_1.2"])
def test_the_header_for_a_described_device(queue: Any, tmp_path: Path, versions: str) -> None:
    """A file describes a device with SPIR-V or without; the header runs on this device as well."""
    described = from_key_values(f'{INFO}CL_DEVICE_IL_VERSION="{versions}"\n', "info")
    made = Library.of(AheadTarget.of(described), [Listing.of(types) for types in TYPES])
    forms = {part[0] for program in made.programs.values() for part in program.parts}
    assert forms == {"spirv" if versions else "c"}
    if versions and not queue.device.il_version:
        pytest.skip("the device takes no SPIR-V")
    text = header_text(made, "gemm")
    assert ("clCreateProgramWithIL" in text) and "A device * /" in text and "were not measured" in text
    code = CLibrary(text, tmp_path, queue)
    for sizes in SHAPES:
        product(code, "gemm_f16", sizes, (np.float16, np.float16, np.float32))
        product(code, "gemm_s8", sizes, (np.int8, np.int8, np.int32), real=ctypes.c_int)
    code.release()


def test_names_of_functions() -> None:
    from coopmat.export.header import function_name

    names = {("f16",): "f16", ("f16", "f16", "f16"): "f16_f16_f16", ("u8", "s8"): "u8_s8_s32", ("f64", "f64"): "f64"}
    for types, name in names.items():
        assert function_name("gemm", Listing.of(types)) == f"gemm_{name}"
    assert Listing.of(("s8", "s8", "s8")).types[3] == COMPONENT_TYPES["f32"]
