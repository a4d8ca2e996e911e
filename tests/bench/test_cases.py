"""Cases of `coopmat bench`: what a command line selects, the inputs, and numpy's results."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from coopmat.bench import LIBRARIES as BENCH_LIBRARIES, OPERATIONS, cases, cases_of
from coopmat.bench.cases import Case
from coopmat.cli.bench import LIBRARIES, OPERATIONS as NAMES
from coopmat.options import UsageError


def test_the_command_line_names_what_the_room_has() -> None:
    assert tuple(OPERATIONS) == NAMES and BENCH_LIBRARIES == LIBRARIES


def test_all_operations_with_their_shapes_are_the_default() -> None:
    found = cases_of((), (), ())
    counts = Counter((case.operation, case.type) for case in found)
    assert counts["gemm", "f32"] == counts["gemm", "s8"] == counts["gemm", "u8"] == 16
    assert counts["attention", "f16"] == 4 and {case.operation for case in found} == set(OPERATIONS)
    assert [case.shape for case in found if case.operation == "gemm_quantized" and case.type == "q4_0"] == [
        (m, 4096, 4096) for m in (1, 8, 32, 512)
    ]
    assert all(case.is_constant == (case.operation == "gemm" and case.type in ("s8", "u8")) for case in found)


def test_types_and_shapes_restrict_the_cases() -> None:
    found = cases_of(("gemm",), ("s8", "f32"), ("96x128x64x32", "5x6x7"), is_constant=True)
    assert [(case.type, case.shape, case.label) for case in found] == [
        ("s8", (96, 128, 64, 32), "96x128x64x32"),
        ("s8", (1, 5, 6, 7), "5x6x7"),
        ("f32", (96, 128, 64, 32), "96x128x64x32"),
        ("f32", (1, 5, 6, 7), "5x6x7"),
    ]
    assert all(case.is_constant for case in found)
    assert {case.operation for case in cases_of((), ("q8_0", "bf16"), ())} == {
        "gemm",
        "gemv",
        "gemm_quantized",
        "conv2d",
    }


@pytest.mark.parametrize(
    ("operations", "types", "shapes", "text"),
    [
        ((), (), ("4x4x4",), "--shapes needs exactly one operation"),
        (("gemm",), ("f64",), (), "--types: f64 is not supported"),
        (("attention",), ("s8",), (), "none of s8 is supported by attention"),
        (("gemm",), (), ("4x4",), r"expected \[BATCHx\]MxNxK for gemm, not 4x4"),
        (("gemm",), (), ("4x4x-4",), "not 4x4x-4"),
        (("gemm",), (), ("4x4x0",), "not 4x4x0"),
        (("attention",), (), ("1x2x3x4",), "expected HEADSxROWSxSIZE for attention"),
        (("gemm_quantized",), (), ("1x32x48",), "multiple of 32, not 48"),
        (("conv2d",), (), ("1x8x8x3x4x2",), "must be odd, not 2"),
    ],
)
def test_wrong_arguments(
    operations: tuple[str, ...], types: tuple[str, ...], shapes: tuple[str, ...], text: str
) -> None:
    with pytest.raises(UsageError, match=text):
        cases_of(operations, types, shapes)


def test_operations_and_bytes_by_hand() -> None:
    gemm = Case("gemm", "f16", (3, 4, 5, 6))
    assert gemm.flop == 3 * 4 * 5 * (6 + 6) and gemm.bytes == 3 * (2 * 4 * 6 + 2 * 6 * 5 + 4 * 4 * 5)
    weights = Case("gemm_quantized", "q4_0", (2, 3, 64))
    assert weights.flop == 2 * 2 * 3 * 64 and weights.bytes == 4 * 2 * 64 + 3 * 2 * 18 + 4 * 2 * 3
    attention = Case("attention", "f16", (2, 3, 4))
    assert attention.flop == 2 * (3 * 3 * 4 * 2) * 2 and attention.bytes == 2 * 3 * 4 * (3 * 2 + 4)
    causal = Case("attention", "f16", (2, 3, 4), is_causal=True)
    assert causal.flop == 2 * ((1 + 2 + 3) * 4 * 2) * 2 and causal.label == "2x3x4, causal"
    image = Case("conv2d", "f32", (1, 5, 7, 2, 3, 3))
    assert image.flop == 2 * 5 * 7 * 3 * (3 * 3 * 2) and image.bytes == 4 * (5 * 7 * 2 + 3 * 9 * 2 + 5 * 7 * 3)


def result_of(case: Case) -> tuple[list[cases.Array], cases.Array]:
    floats = cases.float_inputs(case, cases.inputs_of(case))
    return floats, cases.reference(case, *floats)


def test_the_convolution_by_loops() -> None:
    (x, w), result = result_of(Case("conv2d", "f32", (2, 4, 5, 3, 2, 3)))
    assert result.shape == (2, 4, 5, 2)
    for image, row, column, filter_ in itertools.product(*map(range, result.shape)):
        total = 0.0
        for down, right, channel in itertools.product(range(3), range(3), range(3)):
            y, z = row + down - 1, column + right - 1
            if 0 <= y < 4 and 0 <= z < 5:
                total += float(x[image, y, z, channel]) * float(w[filter_, down, right, channel])
        assert result[image, row, column, filter_] == total


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_by_loops(is_causal: bool) -> None:
    (q, k, v), result = result_of(Case("attention", "f16", (2, 5, 4), is_causal=is_causal))
    for head, row in itertools.product(range(2), range(5)):
        columns = range(row + 1 if is_causal else 5)
        weights = [math.exp(sum(map(float, q[head, row] * k[head, column])) / 2) for column in columns]
        expected = sum(part * v[head, column].astype(float) for part, column in zip(weights, columns, strict=True))
        assert result[head, row] == pytest.approx(expected / sum(weights), rel=1e-5)


@pytest.mark.parametrize("name", ["q4_0", "q8_0"])
def test_weights_by_loops(name: str) -> None:
    case = Case("gemm_quantized", name, (1, 3, 64))
    blocks = cases.inputs_of(case)[1]
    weights = cases.decoded(name, blocks)
    assert weights.shape == (3, 64) and len(np.unique(weights)) > 20
    for row, column in itertools.product(range(3), range(64)):
        block, place = blocks[row, column // 32], column % 32
        scale = float(block[:2].view(np.float16)[0])
        whole = (int(block[2 + place % 16]) >> 4 * (place // 16) & 15) - 8 if name == "q4_0" else None
        value = int(block[2:].view(np.int8)[place]) if whole is None else whole
        assert weights[row, column] == np.float32(scale * value)


def test_products_of_inputs_are_exact_in_half() -> None:
    a, b = cases.inputs_of(Case("gemm", "f16", (1, 64, 64, 4096)))
    assert np.abs(a) @ np.abs(b) == pytest.approx(np.rint(np.abs(a) @ np.abs(b)))
    assert float(np.abs(a @ b).max()) < 2048 and (a >= 0).all()


def test_wrong_results_are_refused() -> None:
    case = Case("gemm", "f32", (1, 4, 4, 4))
    _floats, expected = result_of(case)
    cases.require_right(case, "f32", expected.astype(np.int32), expected)
    wrong = expected.copy()
    wrong[2, 1] += 1
    for result in (wrong, expected[:3], np.full_like(expected, np.nan)):
        with pytest.raises(ArithmeticError, match="differs from numpy's"):
            cases.require_right(case, "f32", result, expected)
