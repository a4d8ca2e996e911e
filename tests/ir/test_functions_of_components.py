"""Changes of use, transpositions, maps and reductions in LLVM IR: every dialect is read back, and faults are told."""

from __future__ import annotations

import re

import pytest

import coopmat
from coopmat.spirv import tools

ACCUMULATOR = "coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, {}, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)"
SOURCE = f"""
typedef half A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 8, CLK_COOPERATIVE_MATRIX_A)));
typedef float C __attribute__(({ACCUMULATOR.format(8)}));
typedef float T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef float D __attribute__(({ACCUMULATOR.format(1)}));
float sum(float x, float y) {{ return x + y; }}
float scaled(uint r, uint c, float x, float s) {{ return x * s + r; }}
kernel void k(global float *p, global half *h)
{{
    C c = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    %s;
    coop_mat_store(%s, x, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}}
"""
CHANGES = {
    "use": SOURCE % ("A x = (A)c", "h"),
    "transposed": SOURCE % ("T x = coop_mat_transpose(c)", "p"),
    "reduce": SOURCE % ("D x = coop_mat_reduce(c, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, sum)", "p"),
    "map": SOURCE % ("C x = coop_mat_map(c, scaled, 2.0f)", "p"),
}
OPTIONS = ["-w", "--native-profile", "maint1"]


def written(change: str, *options: str) -> str:
    return coopmat.compile(CHANGES[change], [*OPTIONS, *options]).llvm_ir


def read(text: str, *options: str) -> coopmat.Module:
    return coopmat.compile(text, [*OPTIONS, *options], language="ir", name="k.ll")


@pytest.mark.parametrize("dialect", ["khr", "rfc", "clang", "intel", "intel-opaque", "intel-spirv"])
@pytest.mark.parametrize("change", CHANGES)
def test_every_dialect_is_read_back(change: str, dialect: str) -> None:
    module = read(written(change, "--dialect", dialect))
    ours = tools.disassemble(coopmat.compile(CHANGES[change], OPTIONS).spirv)
    names = re.findall(r"Op\w+", tools.disassemble(module.spirv))
    assert sorted(names) == sorted(re.findall(r"Op\w+", ours)) and module.validated


@pytest.mark.parametrize("matrices", ["one", "lanes", "scratch"])
@pytest.mark.parametrize("change", CHANGES)
def test_every_one_is_lowered(change: str, matrices: str) -> None:
    module = read(written(change), "--matrices", matrices)
    assert "Cooperative" not in tools.disassemble(module.spirv) and module.validated


@pytest.mark.parametrize(
    ("change", "old", "new", "message"),
    [
        ("reduce", "_sum", "_total", "the module does not define the function 'total'"),
        ("reduce", "_sum", "_other", "the function 'other' is not float (float, float)"),
        ("reduce", "__cm_reduce_1", "__cm_reduce_5", "the reduction kind is 5, not one of 1"),
        ("reduce", "__cm_reduce_1", "__cm_reduce_2", "the result's shape does not fit"),
        ("reduce", "__cm_reduce_1", "__cm_reduce_4", "the result's shape does not fit"),
        ("map", "__cm_map_1", "__cm_map_2", "takes 2 matrices of the result's type"),
        ("map", "__cm_map_1", "__cm_map_0", "takes 0 matrices of the result's type"),
        ("map", "_scaled", "_other", "the function 'other' is not float (i32, i32, float, float)"),
        ("transposed", "_transposed_", "_use_", "the result's component type, scope or shape is another"),
        ("use", "FConvert_use_", "FConvert_rte_", "the result is not a matrix of the operand's shape, use and scope"),
        ("use", "FConvert_use_", "SConvert_use_", "does not fit the component types"),
    ],
)
def test_faults_are_told(change: str, old: str, new: str, message: str) -> None:
    text = written(change)
    broken = re.sub(r'@"__cm_[^"]*"', lambda match: match[0].replace(old, new), text)
    assert broken != text
    broken += "\ndefine spir_func float @other(i32 %x) { ret float 0.0 }\n"
    with pytest.raises(coopmat.CompileError, match=re.escape(message)) as refused:
        _ = read(broken).spirv
    assert refused.value.diagnostics[0].code == "ir-operation"
