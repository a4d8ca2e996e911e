"""Clang's matrix types: what warnings say of them, what fix-its make of a source, and what depends on a work-item."""

from __future__ import annotations

from pathlib import Path

import pytest
from sema_support import MARK, analysed

from coopmat.compiler import compile
from coopmat.diagnostics import Diagnostic, render_text

TYPES = """\
typedef float M __attribute__((matrix_type(2, 2)));
typedef int I __attribute__((matrix_type(2, 2)));
"""
HEAD = TYPES + "float f(int n, M m, I i, double d, global M *p) {\n"
END = "\nreturn m[0][0] + n + i[0][0] + (float)d + p[0][0][0];\n}"


def _found(source: str, *options: str) -> list[Diagnostic]:
    return compile(source.replace(MARK, ""), ["--no-validate", *options]).diagnostics


def _places(source: str) -> list[tuple[int, int]]:
    result = []
    for number, line in enumerate(source.split("\n"), 1):
        parts = line.split(MARK)
        result += [(number, len("".join(parts[: i + 1])) + 1) for i in range(len(parts) - 1)]
    return result


@pytest.mark.parametrize(
    ("name", "positive", "negative"),
    [
        ("unused-variable", "M §a;", "M a = m; m = a;"),
        ("unused-but-set-variable", "M §a; a = m; a += 1;", "M a; a[0][0] = 1; m = a;"),
        ("unused-local-typedef", "typedef int §T __attribute__((matrix_type(1, 1)));", "typedef M T; m += (T)1;"),
        ("unused-value", "§m + m; §m * m; §(M)1; §(I)m; §m[0][1]; §m;", "m += m; (void)(m + m); m[0][0] = 1;"),
        ("unused-value", "§m * 2;", "__builtin_matrix_transpose(m);"),
        ("uninitialized", "M a; m = §a;", "M a; a = m; m = a;"),
        ("uninitialized", "M a; §a += m;", "M a = m; a += m;"),
        ("uninitialized", "M a; n = §a[0][0];", "M a; for (int k = 0; k < 2; ++k) a[k][n] = 1; m = a;"),
        ("uninitialized", "M a; a = §a * m;", "M a, *q = &a; m = *q;"),
        ("uninitialized", "M a[2]; m = §a[1];", "M a[2]; a[0] = a[1] = m; m = a[n];"),
        ("sometimes-uninitialized", "M a; if (§n) a = m; m = a;", "M a; if (n) a = m; else a = p[n]; m = a;"),
        ("literal-conversion", "i = i + §2.5f;", "i = i + (int)2.5f; m = m * 2.5;"),
        ("implicit-float-conversion", "m *= §d;", "m *= (float)d;"),
        (
            "literal-conversion",
            "m = __builtin_matrix_column_major_load((global float *)p, 2, 2, §3.5f);"
            "__builtin_matrix_column_major_store(m, (global float *)p, §3.5);",
            "m = __builtin_matrix_column_major_load((global float *)p, 2, 2, (int)3.5f);",
        ),
        ("constant-conversion", "i += §5000000000;", "i += (int)5000000000;"),
    ],
)
def test_warnings(name: str, positive: str, negative: str) -> None:
    source = f"{HEAD}{positive}{END}"
    marked = [(d.span.line, d.span.column) for d in _found(source, f"-W{name}") if d.code == name and d.span]
    assert marked == _places(source)
    assert [d for d in _found(f"{HEAD}{negative}{END}", "-Weverything") if d.code == name] == []


def test_what_the_fixits_of_the_golden_messages_come_to() -> None:
    """Each mends its place: only what has none is told again."""
    path = Path(__file__).parents[1] / "golden/in/diagnostics/matrix_type_fixits.cl"
    source = path.read_text(encoding="utf-8")
    items = [item for item in analysed(source)[1].items if item.severity.is_error]
    places = [fixit for item in items for fixit in item.fixits]
    assert len(places) >= 12
    lines = source.split("\n")
    for fixit in sorted(places, key=lambda fixit: (fixit.span.line, fixit.span.column), reverse=True):
        text, span = lines[fixit.span.line - 1], fixit.span
        lines[span.line - 1] = text[: span.column - 1] + fixit.replacement + text[span.end_column - 1 :]
    left = analysed("\n".join(lines))[1]
    codes = [item.code for item in items if not item.fixits]
    assert [item.code for item in left.items if item.severity.is_error] == codes, render_text(left.items, left.sources)


COOPERATIVE = """
typedef float C __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("M m = (M)(float)get_local_id(0);", True),
        ("M m = (M)1; m[0][n] = get_local_id(0);", True),
        ("M m = (M)1; m[get_local_id(0) & 1][n] = 2;", True),
        ("M m = (M)1; m += q[get_local_id(0)];", True),
        ("M m = (M)1; m *= m * (float)get_local_id(0);", True),
        ("M m = __builtin_matrix_transpose(q[get_local_id(0)]);", True),
        ("M m = __builtin_matrix_column_major_load(p + get_local_id(0), 2, 2);", True),
        ("M m = __builtin_matrix_insert_row(q[0], get_local_id(0), __builtin_matrix_row(q[1], n));", True),
        ("M m = (M)(float)n; m[n][1] = 4; m += q[n]; m *= __builtin_matrix_transpose(m);", False),
    ],
)
def test_what_depends_on_the_work_item(body: str, told: bool) -> None:
    """An element that differs between work-items may not decide about an operation on cooperative matrices."""
    source = f"{TYPES}{COOPERATIVE}kernel void k(global float *p, global M *q, int n) {{\n{body}\n"
    source += "if (m[0][0] > 1) { C c = coop_mat_init(0); coop_mat_store(p, c, 0, 16ul); }\n}"
    codes = {item.code for item in _found(source, "-Wno-everything", "-Wcoop-mat-nonuniform")}
    assert codes == ({"coop-mat-nonuniform"} if told else set())
