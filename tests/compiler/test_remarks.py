"""-Rpass=matrix: what became of each multiply-add."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.diagnostics import Severity
from coopmat.options import UsageError

TEXT = """
typedef {a} A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {m}, {k}, CLK_COOPERATIVE_MATRIX_A)));
typedef {a} B __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {k}, {n}, CLK_COOPERATIVE_MATRIX_B)));
typedef {c} C __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {m}, {n},
    CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global {a} *a, global {c} *c)
{{
    A x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {k});
    B y = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {n});
    C z = coop_mat_mulAdd(x, y, (C)coop_mat_init(0));
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {n});
}}
"""


def remarks(route: str, m: int, n: int, k: int, a: str = "char", c: str = "int") -> list[str]:
    text = TEXT.format(m=m, n=n, k=k, a=a, c=c)
    module = coopmat.compile(text, ["--matrices", route, "-Rpass=matrix"])
    _ = module.llvm_ir if route == "native" else module.opencl_c
    found = [item for item in module.diagnostics if item.severity is Severity.REMARK]
    assert all(item.code == "matrix" and item.span is not None for item in found)
    assert [item.span.line for item in found if item.span] == [10, 11]
    assert len({item.message for item in found}) == 1
    return [found[0].message]


@pytest.mark.parametrize(
    ("route", "shape", "types", "expected"),
    [
        ("x86", (8, 32, 64), (), "8 x 32 x 64 multiply-add of s8 x s8 + s32: 256 of vpdpbusd (1 x 16 x 4)"),
        (
            "x86",
            (8, 30, 64),
            (),
            "8 x 30 x 64 multiply-add of s8 x s8 + s32: "
            "the shape is no multiple of an instruction's 1 x 16 x 4 or 16 x 16 x 64",
        ),
        ("x86", (32, 32, 64), (), "32 x 32 x 64 multiply-add of s8 x s8 + s32: 4 of tdpbssd (16 x 16 x 64)"),
        ("x86", (16, 16, 64), ("uchar", "uint"), "u8 x u8 + u32: 1 of tdpbuud (16 x 16 x 64)"),
        ("x86", (8, 16, 8), ("float", "float"), "f32 x f32 + f32: no instruction of the device has these types"),
        ("one", (8, 32, 64), (), "no matrix instruction on the route 'one'"),
        ("mma:emulated", (32, 16, 32), (), "4 of mma_m16n8k32_s8_s32 (16 x 8 x 32)"),
        ("native", (8, 32, 64), (), "multiply-add: OpCooperativeMatrixMulAddKHR"),
    ],
)
def test_each_multiply_add_has_a_remark(
    route: str, shape: tuple[int, int, int], types: tuple[str, ...], expected: str
) -> None:
    assert remarks(route, *shape, *types)[0].endswith(expected)


def test_there_are_none_unless_asked() -> None:
    module = coopmat.compile(TEXT.format(m=8, n=16, k=8, a="char", c="int"), ["--matrices", "one"])
    assert module.opencl_c and not module.diagnostics
    with pytest.raises(UsageError, match="-Rpass takes matrix"):
        coopmat.compile("", ["-Rpass=loop"])
