"""Matrix types and multiply-adds that a device does not have."""

from __future__ import annotations

import pytest

from coopmat.compiler import CompileOptions, UsageError, compile
from coopmat.diagnostics import CompileError, Diagnostic

F16, S8 = "16x16x16.f16xf16_f32_f32.nosat", "8x16x32.s8xs8_s32_s32.nosat"
SATURATING, UNSIGNED = "8x16x32.s8xs8_s32_s32.sat", "8x16x32.u8xs8_s32_s32"
HEAD = """
#define S memory_scope_sub_group
#define M(T, NAME, R, C, USE) typedef T NAME __attribute__((coop_mat(S, R, C, CLK_COOPERATIVE_MATRIX_##USE)));
M(half, A, 16, 16, A) M(half, B, 16, 16, B) M(float, F, 16, 16, ACCUMULATOR)
M(char, A8, 8, 32, A) M(char, B8, 32, 16, B) M(int, I, 8, 16, ACCUMULATOR)
M(uchar, U8, 8, 32, A) M(uint, U, 8, 16, ACCUMULATOR)
M(float, FA, 16, 16, A) M(half, B32, 16, 32, B) M(half, H, 16, 16, ACCUMULATOR)
"""


def told(source: str, *variants: str, device: str = "", matrices: str = "native") -> list[Diagnostic]:
    options = CompileOptions(variants=variants, device=device, matrices=matrices, no_warnings=True)
    try:
        compile(HEAD + source, options)
    except CompileError as error:
        return error.diagnostics
    return []


def codes(source: str, *variants: str) -> list[tuple[str, int]]:
    """With the lines, counted from the first one of `source`."""
    first = HEAD.count("\n")
    return [(item.code.removeprefix("coop-mat-target-"), item.span.line - first) for item in told(source, *variants)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("A a; B b; F c; c = coop_mat_mulAdd(a, b, c);", []),
        ("A8 a; B8 b; I c; c = coop_mat_mulAdd(a, b, c);", []),
        # Of integers the type has no sign, the multiply-add has.
        ("U8 a; U c;", []),
        ("A8 a; B8 b; U c;\nc = coop_mat_mulAdd(a, b, c);", [("mul-add", 2)]),
        ("U8 a; B8 b; I c;\nc = coop_mat_mulAdd(a, b, c);", [("mul-add", 2)]),
        ("U8 a; B8 b; I c;\nc = coop_mat_mulAdd(a, b, c, 15);", []),
        ("A8 a; B8 b; I c;\nc = coop_mat_mulAdd(a, b, c, 31);", [("mul-add", 2)]),
        ("A8 a; B8 b; I c;\nc = coop_mat_mulAdd(a, b, c);\nc = coop_mat_mulAdd(a, b, c, 31);", [("mul-add", 3)]),
        # Each is told of once, where it is first met.
        ("A a;\nFA b;\nFA c;", [("type", 2)]),
        ("A a;\nB32 b[2];\nstruct { FA m; } s;", [("type", 2), ("type", 3)]),
        ("A a;\nuint n = coop_mat_length(FA);", [("type", 2)]),
        ("F c;\n(H)c;", [("type", 2)]),
        ("A8 a; B8 b; U c; c = coop_mat_mulAdd(a, b, c);\nc = coop_mat_mulAdd(a, b, c);", [("mul-add", 1)]),
        # What a type lacks is not told of again.
        ("A a; B b;\nH c;\nc = coop_mat_mulAdd(a, b, c);", [("type", 2)]),
    ],
)
def test_what_a_device_lacks(body: str, expected: list[tuple[str, int]]) -> None:
    assert codes("kernel void k(void) { " + body + " }", F16, S8) == expected


def test_functions_count_where_a_kernel_calls_them() -> None:
    functions = "void f(FA a) { }\nvoid g(void) { FA a; }\nFA h(void) { return (FA)coop_mat_init(0.0f); }\n"
    assert codes(functions + "kernel void k(void) { }", F16) == []
    assert codes(functions + "kernel void k(void) { g(); }", F16) == [("type", 2)]
    assert codes(functions + "kernel void k(void) { h(); }", F16) == [("type", 3)]
    assert codes(functions, F16) == [("type", 1)]


def test_the_nearest_are_listed() -> None:
    others = ["32x32x8.f16xf16_f32_f32", "8x8x8.f16xf16_f16_f16", "16x16x16.bf16xbf16_f32_f32", S8]
    (error,) = told("kernel void k(void) { B32 b; }", F16, *others, device="0:0 D")
    assert error.message == "0:0 D does not support the matrix type 16x32.B.f16"
    nearest, way = (note.message for note in error.notes)
    assert nearest == "the nearest supported types: 16x16.B.f16, 8x32.B.f16, 16x16.B.bf16, 8x8.B.f16"
    assert "--matrices one" in way


def test_the_nearest_multiply_adds_are_listed_with_what_they_share() -> None:
    source = "kernel void k(void) { A8 a; B8 b; I c; c = coop_mat_mulAdd(a, b, c, 31); }"
    (error,) = told(source, F16, UNSIGNED, S8, "4x16x32.s8xs8_s32_s32.sat")
    assert error.message == f"the device does not support the multiply-add {SATURATING}"
    assert [note.message for note in error.notes[:3]] == [
        f"it supports {S8}, which is equal in 7 of 8 parameters",
        "it supports 4x16x32.s8xs8_s32_s32.sat, which is equal in 7 of 8 parameters",
        f"it supports {UNSIGNED}.nosat, which is equal in 6 of 8 parameters",
    ]
    assert F16 in error.notes[3].message


def test_a_device_without_matrices() -> None:
    (error,) = told("kernel void k(void) { A a; }")
    assert error.notes[0].message == "the device supports no cooperative matrices at all"


def test_only_the_native_route_asks_for_it() -> None:
    source = "kernel void k(void) { FA a; }"
    assert told(source, F16, matrices="one") == told(source, F16, matrices="lanes") == []
    assert len(told(source, F16, matrices="auto")) == 1
    assert compile(HEAD + source, ["-w"]).diagnostics == []


def test_options() -> None:
    source = HEAD + "kernel void k(void) { A a; }"
    assert compile(source, ["-w", "--matrix-variants", f"{F16} {S8}"]).diagnostics == []
    with pytest.raises(CompileError):
        compile(source, ["-w", "--matrix-variants", S8])
    for wrong in ("16x16", "16x16x16.f16xf17_f32_f32", "0x16x16.f16xf16_f32_f32", "16x16x16.f16xs8_f32_f32"):
        with pytest.raises(UsageError, match="--matrix-variants"):
            compile(source, ["-w", "--matrix-variants", wrong])


def test_nothing_is_told_twice_of_records_that_lead_back() -> None:
    source = "struct S { struct S *next; FA m; };\nkernel void k(void) { struct S s; s.next = &s; }"
    assert [code for code, _ in codes(source, F16)] == ["type"]
