"""Emulated instructions of half for devices without cl_khr_fp16, where values of half are bit patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

from coopmat.devices import DeviceInfo
from coopmat.runtime import run_file

SOURCE = """\
// run: kernel=multiply global=(sg) local=(sg) -DOUT={out} a=f16[16,16]:integers(-4,5) b=f16[16,16]:integers(-4,5)
//      c={name}[16,16]:zeros
// check: c.astype(f32) == a.astype(f32) @ b.astype(f32)
#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define MATRIX(USE) __attribute__((coop_mat(SCOPE, 16, 16, CLK_COOPERATIVE_MATRIX_##USE)))
#define BY_ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef half A MATRIX(A);
typedef half B MATRIX(B);
typedef OUT C MATRIX(ACCUMULATOR);

kernel void multiply(const global half *a, const global half *b, global OUT *c)
{{
    A x = coop_mat_load(a, BY_ROWS, 16);
    B y = coop_mat_load(b, BY_ROWS, 16);
    C sum = coop_mat_init(0);
    coop_mat_store(c, coop_mat_mulAdd(x, y, sum), BY_ROWS, 16);
}}
"""


@pytest.mark.device
@pytest.mark.parametrize("family", ["mma", "wmma", "mfma", "dpas"])
@pytest.mark.parametrize(("out", "name"), [("float", "f32"), ("half", "f16")])
def test_products_of_bit_patterns(device: DeviceInfo, family: str, out: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "multiply.cl"
    path.write_text(SOURCE.format(out=out, name=name), encoding="utf-8")
    options = ["--code=c", "-cl-ext=-cl_khr_fp16"]
    (result,) = run_file(path, device, options, matrices=f"{family}:emulated")
    assert result.ok, result.checks
