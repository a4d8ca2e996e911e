"""For each warning, an example and a source without the warning, or advice if a source alone does not cause it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warning_cases import CASES, HEAD

from .error_codes.matrices import PRELUDE


@dataclass(frozen=True, slots=True)
class WarningExample:
    """An example of a warning.

    source: a source that causes the warning, compiled with `options` and -W of its name; empty if there is none.
    fix: a source that does not.
    before: the text before both.
    advice: what to do, if there is no source.
    """

    source: str = ""
    fix: str = ""
    options: tuple[str, ...] = ()
    before: str = ""
    advice: str = ""


def _matrices(source: str, fix: str, *options: str) -> WarningExample:
    return WarningExample(source, fix, options, PRELUDE)


_PRAGMA = "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable\n"
_TYPE = "typedef float M __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_A)));"

_OWN = {
    "sub-group-size": _matrices(
        "kernel __attribute__((intel_reqd_sub_group_size(8))) void k(global float *p)\n{\n"
        "    C c = coop_mat_load(p, ROW_MAJOR, 32);\n    coop_mat_store(p, c, ROW_MAJOR, 32);\n}",
        "kernel void k(global float *p)\n{\n"
        "    C c = coop_mat_load(p, ROW_MAJOR, 32);\n    coop_mat_store(p, c, ROW_MAJOR, 32);\n}",
        *("--matrices", "one"),
    ),
    "atomic-memory-ordering": WarningExample(
        "int f(global atomic_int *p) { return atomic_load_explicit(p, memory_order_release); }",
        "int f(global atomic_int *p) { return atomic_load_explicit(p, memory_order_acquire); }",
    ),
    "excess-initializers": WarningExample("constant int a[2] = { 1, 2, 3 };", "constant int a[3] = { 1, 2, 3 };"),
    "ignored-pragmas": WarningExample(
        "void f(int n)\n{\n#pragma unroll\n    n++;\n}",
        "void f(global int *p)\n{\n#pragma unroll\n    for (int i = 0; i < 4; i++) p[i] = 0;\n}",
    ),
    "ignored-attributes": WarningExample(
        "void f(int n) { __attribute__((opencl_unroll_hint)) n++; }",
        "void f(global int *p)\n{\n    __attribute__((opencl_unroll_hint(2))) for (int i = 0; i < 4; i++) p[i] = 0;\n}",
    ),
    "coop-mat-string-enumerator": _matrices(
        'typedef float M __attribute__((coop_mat("CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP", 16, 16,\n'
        "                                        CLK_COOPERATIVE_MATRIX_A)));",
        "typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16,\n"
        "                                        CLK_COOPERATIVE_MATRIX_A)));",
    ),
    "coop-mat-uninitialized": _matrices(
        "void f(A a, B b, global float *p)\n{\n    C sum;\n    sum = coop_mat_mulAdd(a, b, sum);\n"
        "    coop_mat_store(p, sum, ROW_MAJOR, 32);\n}",
        "void f(A a, B b, global float *p)\n{\n    C sum = coop_mat_init(0.0f);\n"
        "    sum = coop_mat_mulAdd(a, b, sum);\n"
        "    coop_mat_store(p, sum, ROW_MAJOR, 32);\n}",
    ),
    "coop-mat-nonuniform": _matrices(
        "kernel void k(global float *p)\n{\n    if (get_global_id(0) < 8) {\n"
        "        C c = coop_mat_load(p, ROW_MAJOR, 32);\n        coop_mat_store(p, c, ROW_MAJOR, 32);\n    }\n}",
        "kernel void k(global float *p)\n{\n    if (get_group_id(0) < 8) {\n"
        "        C c = coop_mat_load(p, ROW_MAJOR, 32);\n        coop_mat_store(p, c, ROW_MAJOR, 32);\n    }\n}",
    ),
    "coop-mat-alignment": _matrices(
        "kernel void k(global float *p)\n{\n    C c = coop_mat_load(p + 1, ROW_MAJOR, 32);\n"
        "    coop_mat_store(p, c, ROW_MAJOR, 32);\n}",
        "kernel void k(global float *p)\n{\n    C c = coop_mat_load(p + 4, ROW_MAJOR, 32);\n"
        "    coop_mat_store(p, c, ROW_MAJOR, 32);\n}",
        *("--matrix-pointer-alignment", "16"),
    ),
    "coop-mat-zero-stride": _matrices(
        "void f(global float *p, C c) { coop_mat_store(p, c, ROW_MAJOR, 0); }",
        "void f(global float *p, C c) { coop_mat_store(p, c, ROW_MAJOR, 32); }",
    ),
    "coop-mat-stride": _matrices(
        "void f(global float *p, C c) { coop_mat_store(p, c, ROW_MAJOR, 16); }",
        "void f(global float *p, C c) { coop_mat_store(p, c, ROW_MAJOR, 32); }",
    ),
    "coop-mat-operands-sign": _matrices(
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED); }",
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
    ),
    "coop-mat-pragma": WarningExample(_TYPE, _PRAGMA + _TYPE),
    "coop-mat-address": _matrices(
        "void g(C *c);\nvoid f(C c) { g(&c); }\nvoid g(C *c) { }", "void g(C c) { }\nvoid f(C c) { g(c); }"
    ),
    "coop-mat-operands-type": _matrices(
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c, 0); }",
        "void f(A a, B b, C c) { c = coop_mat_mulAdd(a, b, c); }",
    ),
    "stride-type": _matrices(
        "void f(global float *p, int n) { C c = coop_mat_load(p, ROW_MAJOR, n); }",
        "void f(global float *p, size_t n) { C c = coop_mat_load(p, ROW_MAJOR, n); }",
    ),
    "spirv-matrices": WarningExample(
        advice="Change the program that wrote the SPIR-V module. The message names the instruction and the reason."
    ),
    "spirv-specialisation": WarningExample(
        advice="Make the shape or layout an ordinary constant of the module. For several values, write several modules."
    ),
    "unknown-warning-option": WarningExample(
        advice="Correct the name. The table of warnings has the names of all warnings and groups."
    ),
    "unused-command-line-argument": WarningExample(advice="Remove the option that the message names."),
    "unchecked-shapes": WarningExample(
        advice="List the device's multiply-adds with `--matrix-variants`, or choose a device that reports them."
    ),
    **{
        f"matrix-performance-{name}": WarningExample(
            advice=f"{advice} For measured examples, see [the advice](performance.md#advice-on-slow-kernels)."
        )
        for name, advice in {
            "instruction": "Use matrices of component types and a shape for which the device has a matrix instruction.",
            "registers": "Use smaller matrices (tiles of the result), or fewer in each subgroup.",
            "tile": "Use matrices of the size (the tile) that the message states.",
            "stride": "Pad each row of the matrix in memory with some unused elements, which makes the stride longer.",
            "layout": "Before the kernel runs, store the factor (A or B) in the layout that the message names.",
            "checked": "Use checked loads only for tiles that cross the edge of the matrix, else `coop_mat_load`.",
        }.items()
    },
}


def _of_cases() -> dict[str, WarningExample]:
    """Return the first pair of sources of each warning that the table of cases has."""
    found: dict[str, WarningExample] = {}
    for case in CASES:
        if case.name not in found:
            pair = [text.replace("§", "") for text in (case.positive, case.negative)]
            head = _head(" ".join(pair))
            shown = [text if case.whole else f"{head}\n{{\n    {text.strip()}\n}}" for text in pair]
            found[case.name] = WarningExample(*shown)
    return found


def _head(text: str) -> str:
    """Return the head of a function with those parameters that a text names."""
    name, _, parameters = HEAD.rstrip(")").partition("(")
    named = [item for item in parameters.split(", ") if re.search(rf"\b{item.split()[-1].lstrip('*')}\b", text)]
    return f"{name}({', '.join(named)})"


EXAMPLES = {**_of_cases(), **_OWN}
