"""What porting to cooperative matrices gets wrong in silence: rows that overlap, matrices without a value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coopmat.compiler import compile
from coopmat.diagnostics import CompileError, Diagnostic

MARK = "§"
HEAD = """
#define MATRIX(NAME, T, R, C, USE) typedef T NAME __attribute__((coop_mat(memory_scope_sub_group, R, C, USE)));
MATRIX(F, float, 16, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR) MATRIX(A, half, 16, 16, CLK_COOPERATIVE_MATRIX_A)
MATRIX(B, half, 16, 8, CLK_COOPERATIVE_MATRIX_B) MATRIX(ROW, float, 1, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)
#define BY_ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define BY_COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define PACKED CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED
#define NEW coop_mat_load(p, BY_ROWS, 8ul)
#define PUT(M) coop_mat_store(p, M, BY_ROWS, 8ul)
typedef struct { F m; float s; } S;
void put(global float *p, F m) { PUT(m); }
void make(F *m) { *m = coop_mat_init(1.0f); }
F twice(F m) { return m * 2; }
"""
KERNEL = "kernel void k(global float *p, global half *h, uint n) {{\n{}\n}}"


def found(body: str, code: str, *options: str) -> list[Diagnostic]:
    source = HEAD + KERNEL.format(body.replace(MARK, ""))
    return [item for item in compile(source, ["--no-validate", *options]).diagnostics if item.code == code]


def columns(body: str) -> list[int]:
    """Of the marks, in the text without them."""
    parts = body.split(MARK)
    return [len("".join(parts[: i + 1])) + 1 for i in range(len(parts) - 1)]


STRIDES = {
    "coop_mat_store(p, f, BY_ROWS, §7)": "a row of 'float coop_mat(16x8, accumulator)' has 8 components, and the "
    "stride is 7: the rows overlap",
    "coop_mat_store(p, f, BY_COLUMNS, §8ul)": "a column of 'float coop_mat(16x8, accumulator)' has 16 components, and "
    "the stride is 8: the columns overlap",
    "coop_mat_store(h, b, PACKED, §8)": "a row of 'half coop_mat(16x8, b)' has 16 components, and the stride is 8: "
    "the rows overlap",
    "coop_mat_store((global float4 *)p, f, BY_ROWS, §1)": None,
    "coop_mat_store((global float4 *)p, f, BY_COLUMNS, §sizeof(int) - 1)": None,
    "coop_mat_store((global float3 *)p, f, BY_ROWS, §1)": None,
    "coop_mat_store_checked(p, BY_ROWS, §5, 0, 0, n, 7)": None,
    "coop_mat_store_checked(p, BY_COLUMNS, §15, 0, 0, 16, n)": None,
    "coop_mat_store(p, f, BY_ROWS, 8)": None,
    "coop_mat_store(p, f, BY_COLUMNS, 16)": None,
    "coop_mat_store(p, f, BY_ROWS, n)": None,
    "coop_mat_store(h, b, PACKED, 16)": None,
    "coop_mat_store((global float4 *)p, f, BY_ROWS, 2)": None,
    "coop_mat_store((global float3 *)p, f, BY_ROWS, 2)": None,
    "coop_mat_store(p, row, BY_ROWS, 1)": None,
    "coop_mat_store_checked(p, BY_ROWS, 5, 0, 0, n, 5)": None,
    "coop_mat_store_checked(p, BY_ROWS, 5, 0, 0, n, n)": None,
    "f = coop_mat_load(p, BY_ROWS, 1)": None,
    "f = coop_mat_load(p, BY_COLUMNS, 0)": None,
}


@pytest.mark.parametrize("call", STRIDES)
def test_strides_of_stores_that_are_smaller_than_a_row(call: str) -> None:
    call_, message = call, STRIDES[call]
    if "checked" in call:
        call_ = call.replace("(p, ", "(p, f, ")
    body = f"F f = coop_mat_init(0); B b = coop_mat_init(0); ROW row = coop_mat_init(0); {call_};"
    items = found(body, "coop-mat-stride")
    assert [item.span.column for item in items if item.span] == columns(body)
    if message is not None:
        assert items[0].message == message
    assert not items or not found(body, "coop-mat-stride", "-Wno-coop-mat-stride")


UNINITIALIZED = {
    "store": ("F m; PUT(§m);", "'m' is read before anything is stored to it"),
    "argument": ("F m; put(p, §m);", None),
    "sum that starts nowhere": (
        "A a = coop_mat_init(1); B b = coop_mat_init(1); F m;\n"
        "for (uint i = 0; i < n; ++i) m = coop_mat_mulAdd(a, b, §m);\nPUT(m);",
        None,
    ),
    "product": ("F m; for (uint i = 0; i < n; ++i) §m *= 2; PUT(m);", None),
    "sum of several": ("F m; for (uint i = 0; i < n; ++i) m = -(§m + NEW) * 3; PUT(m);", None),
    "tiles": (
        "F m[2][2]; for (uint i = 0; i < 2; ++i) for (uint j = 0; j < 2; ++j) §m[i][j] += NEW; PUT(m[0][0]);",
        None,
    ),
    "another tile": ("F m[2]; m[1] = §m[0]; PUT(m[1]);", None),
    "record": ("S s; s.s = 1; PUT(§s.m);", None),
    "component": ("F m; p[0] = §m[0]; m = NEW; PUT(m);", None),
    "component of a tile": ("F m[2]; §m[1][n] *= 2; PUT(m[1]);", None),
    "itself": ("F m = §m; PUT(m);", None),
    "in one branch": ("F m; if (§n) m = NEW; PUT(m);", "'m' is read without a value whenever this is false"),
    "in one case": ("F m; switch (n) { case 1: m = NEW; break; §default: break; } PUT(m);", None),
    "declared in a loop": ("for (uint i = 0; i < n; ++i) { F m; PUT(§m); m = NEW; }", None),
    "matrix type of a function": ("F m; m = twice(§m); PUT(m);", None),
}
INITIALIZED = {
    "by a load": "F m; m = NEW; PUT(m);",
    "in each branch": "F m; if (n) m = NEW; else m = coop_mat_init(0); PUT(m);",
    "in the first turn": "F m; for (uint i = 0; i < n; ++i) { if (i == 0) m = NEW; else m = m + NEW; PUT(m); }",
    "in the first turn, by a condition": "F m; for (uint i = 0; i < n; ++i) m = i == 0 ? NEW : m + m; if (n) PUT(m);",
    "under the same condition": "F m; if (n) m = NEW; p[0] = 1; if (n) PUT(m);",
    "by a loop": "F m; for (uint i = 0; i < n; ++i) m = NEW; PUT(m);",
    "by components": "F m; for (uint i = 0; i < coop_mat_length(m); ++i) m[i] = i; PUT(m);",
    "by components and coordinates": "F m; for (uint i = 0; i < coop_mat_length(F); ++i)"
    " m[i] = coop_mat_coord(m, i).x; PUT(m);",
    "tile by tile": "F m[2][2]; for (uint i = 0; i < 2; ++i) for (uint j = 0; j < 2; ++j) m[i][j] = NEW; PUT(m[1][1]);",
    "each from the one before": "F m[4]; for (uint i = 0; i < 4; ++i) if (i == 0) m[i] = NEW; else m[i] = m[i - 1] * 2;"
    " PUT(m[3]);",
    "a double buffer": "F m[2]; m[0] = NEW; for (uint i = 0; i < n; ++i) { m[(i + 1) & 1] = NEW; PUT(m[i & 1]); }",
    "through a pointer": "F m; make(&m); PUT(m);",
    "a tile through a pointer": "F m[2]; make(&m[0]); make(m + 1); PUT(m[1]);",
    "a member": "S s; s.m = NEW; PUT(s.m);",
    "as a whole": "S s, t; t.m = NEW; t.s = 1; s = t; PUT(s.m);",
    "braces": "F m[2] = { NEW, NEW }; S s = { NEW, 1 }; PUT(m[0]); PUT(s.m);",
    "not used": "F m; (void)m; p[0] = coop_mat_length(m);",
    "behind a jump": "F m; goto start; again: PUT(m); return; start: m = NEW; goto again;",
    "never reached": "F m; return; PUT(m);",
    "a switch": "F m; switch (n) { case 1: m = NEW; break; default: m = coop_mat_init(0); } PUT(m);",
    "an end without a value": "F m; if (n) m = NEW; else return; PUT(m);",
}


@pytest.mark.parametrize("name", UNINITIALIZED)
def test_matrices_without_a_value(name: str) -> None:
    body, message = UNINITIALIZED[name]
    items = found(body, "coop-mat-uninitialized")
    line = next(text for text in body.split("\n") if MARK in text)
    assert [item.span.column for item in items if item.span] == columns(line)
    if message is not None:
        assert items[0].message == message
    assert not found(body, "coop-mat-uninitialized", "-Wno-uninitialized")
    with pytest.raises(CompileError):
        found(body, "coop-mat-uninitialized", "-Werror=coop-mat-uninitialized")


@pytest.mark.parametrize("name", INITIALIZED)
def test_matrices_with_a_value(name: str) -> None:
    assert found(INITIALIZED[name], "coop-mat-uninitialized") == []


def test_what_may_have_no_value_is_told_when_asked_for() -> None:
    body = "F m; for (uint i = 0; i < n; ++i) m = NEW; PUT(§m);"
    assert found(body, "conditional-uninitialized") == []
    items = found(body, "conditional-uninitialized", "-Wconditional-uninitialized", "-Wno-coop-mat-uninitialized")
    assert [item.span.column for item in items if item.span] == columns(body)
    numbers = found("S s; p[0] = s.s; F m = NEW; PUT(m);", "uninitialized", "-Wuninitialized")
    assert [item.message for item in numbers] == ["'s' is read, but nothing is ever stored to it"]


ROOT = Path(__file__).parents[2]
KERNELS = [
    path.relative_to(ROOT).as_posix() for path in sorted([*ROOT.glob("kernels/*.cl"), *ROOT.glob("tests/kernels/*.cl")])
]
CODES = {"coop-mat-stride", "coop-mat-uninitialized", "coop-mat-nonuniform"}


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_of_the_project_are_silent(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    options = list(dict.fromkeys(re.findall(r"-D\w+=\w+", text)))
    assert [item for item in compile(text, [*options]).diagnostics if item.code in CODES] == []


PEDANTIC = """
typedef char A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
typedef char B __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef int C __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
void g(C *c) { *c = coop_mat_init(0); }
C f(A a, B b, C c) { %s return c; }
"""
SIGNS = " | ".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{name}_SIGNED" for name in ("A", "B", "C", "RESULT"))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("g(&c);", "coop-mat-address"),
        ("c = coop_mat_mulAdd(a, b, c, 15);", "coop-mat-operands-type"),
        (f"c = coop_mat_mulAdd(a, b, c, {SIGNS});", None),
        ("c = coop_mat_mulAdd(a, b, c);", None),
    ],
)
def test_what_the_newest_text_refuses_is_told_by_pedantic(body: str, code: str | None) -> None:
    for options, expected in ((["-Wpedantic", "-Wno-coop-mat-pragma"], [code] if code else []), ([], [])):
        module = compile(PEDANTIC % body, options)
        assert module.llvm_ir and [d.code for d in module.diagnostics] == expected


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("coop_mat_mulAdd(a, b, f);", "coop_mat_mulAdd"),
        ("coop_mat_length(f);", "coop_mat_length"),
        ("sqrt(f);", "sqrt"),
        *(
            (f"{text};", None)
            for text in ("(A)coop_mat_load(h, BY_ROWS, 16)", "(F)coop_mat_convert(f)", "(F)f", "f + f", "-f", "f[0]")
        ),
    ],
)
def test_dropped_results(statement: str, name: str | None) -> None:
    declarations = "A a = coop_mat_init(0); B b = coop_mat_init(0); F f = coop_mat_init(0); "
    (item,) = found(declarations + statement, "unused-value")
    message = f"the result of '{name}' is dropped" if name else "a value is computed and dropped"
    assert item.message == message and item.span.column == len(declarations) + 1


def test_results_that_are_not_dropped() -> None:
    body = """A a = coop_mat_init(0); B b = coop_mat_init(0); F f = coop_mat_init(0); volatile global half *v = h;
#define ADD(x, y, z) coop_mat_mulAdd(x, y, z)
(void)coop_mat_mulAdd(a, b, f); (A)coop_mat_load(v, BY_ROWS, 16); PUT(f); ADD(a, b, f); f += f; twice(f);"""
    assert found(body, "unused-value") == []
