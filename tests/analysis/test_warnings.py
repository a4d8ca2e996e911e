"""Every warning by what earns it and what does not; and what -W options make of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from pages.warnings import document
from warning_cases import CASES, Case

import coopmat
from coopmat import warning_options
from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.warning_options.table import WARNINGS

ROOT = Path(coopmat.__file__).resolve().parent
MARK = "§"


def found(source: str, *options: str) -> list[Diagnostic]:
    return coopmat.compile(source.replace(MARK, ""), ["--no-validate", *options]).diagnostics


def places(source: str) -> list[tuple[int, int]]:
    result = []
    for number, line in enumerate(source.split("\n"), 1):
        parts = line.split(MARK)
        result += [(number, len("".join(parts[: i + 1])) + 1) for i in range(len(parts) - 1)]
    return result


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_earns_a_warning(case: Case) -> None:
    source = case.source(positive=True)
    marked = [(d.span.line, d.span.column) for d in found(source, f"-W{case.name}") if d.code == case.name and d.span]
    assert marked == places(source)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_does_not(case: Case) -> None:
    assert [d for d in found(case.source(positive=False), "-Weverything") if d.code == case.name] == []


def test_every_row_has_a_test() -> None:
    """Those of options, matrices and places where the cases cannot be are tested where the things themselves are."""
    tests = Path(__file__).resolve().parent.parent
    text = "".join(path.read_text(encoding="utf-8") for path in tests.rglob("test_*.py"))
    tested = {case.name for case in CASES} | {
        row.name for row in WARNINGS if f'"{row.name}"' in text or f"[{row.name}]" in text
    }
    assert warning_options.ROWS.keys() == tested


def _codes_in_the_sources() -> set[str]:
    """Every constant that stands where a warning's name does in a call of `warn` or `warning`; not what is logged."""
    codes: set[str] = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                first = node.args[0]
                logged = isinstance(node.func.value, ast.Name) and node.func.value.id == "logger"
                if node.func.attr in ("warn", "warning") and isinstance(first, ast.Constant) and not logged:
                    codes.add(str(first.value))
    return codes


def test_every_warning_that_is_told_has_a_row() -> None:
    codes = _codes_in_the_sources()
    assert len(codes) > 30 and codes <= warning_options.ROWS.keys()


def test_the_page_in_docs_is_up_to_date() -> None:
    page = ROOT.parent / "docs" / "warnings.md"
    assert page.read_text(encoding="utf-8") == document(), "tools/pages warnings"


# --- options ---

SOURCE = "int h(int a, int b) { int n; return a; }"
BOTH = ["unused-parameter", "unused-variable"]


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ([], []),
        (["-Wall"], ["unused-variable"]),
        (["-Wextra"], ["unused-parameter"]),
        (["-Wall", "-Wextra"], BOTH),
        (["-Weverything"], ["missing-prototypes", *BOTH]),
        (["-Weverything", "-Wno-missing-prototypes"], BOTH),
        (["-Wno-missing-prototypes", "-Weverything"], ["missing-prototypes", *BOTH]),
        (["-Wunused"], ["unused-variable"]),
        (["-Wall", "-Wno-unused"], []),
        (["-Wall", "-Wno-unused-variable"], []),
        (["-Wno-unused-variable", "-Wall"], ["unused-variable"]),
        (["-Wall", "-w"], []),
        (["-Weverything", "-Wno-everything", "-Wunused-parameter"], ["unused-parameter"]),
        (["-Wno-error=unused-variable"], []),
        (["-Werror"], []),
        (["-Wnosuch"], ["unknown-warning-option"]),
        (["-Wno-nosuch"], ["unknown-warning-option"]),
        (["-Werror=nosuch"], ["unknown-warning-option"]),
        (["-Wnosuch", "-Wno-unknown-warning-option"], []),
        (["-g"], ["unused-command-line-argument"]),
    ],
)
def test_options_turn_warnings_on_and_off(options: list[str], codes: list[str]) -> None:
    assert sorted(item.code for item in found(SOURCE, *options)) == codes


@pytest.mark.parametrize(
    ("options", "errors"),
    [
        (["-Wall", "-Wextra", "-Werror"], BOTH),
        (["-Werror", "-Wall", "-Wextra"], BOTH),
        (["-Wall", "-Wextra", "-Werror=unused-variable"], ["unused-variable"]),
        (["-Werror=unused-variable"], ["unused-variable"]),
        (["-Werror=unused"], ["unused-variable"]),
        (["-Wall", "-Wextra", "-Werror", "-Wno-error=unused-variable"], ["unused-parameter"]),
        (["-Wall", "-Wextra", "-Wno-error=unused-variable", "-Werror"], ["unused-parameter"]),
        (["-Wall", "-Werror", "-Wno-error=unused-variable", "-Werror=unused-variable"], ["unused-variable"]),
        (["-Wnosuch", "-Werror"], ["unknown-warning-option"]),
        (["-Wnosuch", "-Werror", "-ferror-limit=1"], ["error-limit", "unknown-warning-option"]),
    ],
)
def test_options_make_errors_of_warnings(options: list[str], errors: list[str]) -> None:
    with pytest.raises(CompileError) as caught:
        found(SOURCE, *options)
    assert sorted(item.code for item in caught.value.diagnostics if item.severity.is_error) == errors


@pytest.mark.parametrize(
    "options", [["-Wall", "-Werror", "-Wno-error"], ["-Werror=unused", "-Wno-error=unused-variable"]]
)
def test_options_take_errors_back(options: list[str]) -> None:
    assert [item.severity.value for item in found(SOURCE, *options)] == ["warning"]


# --- places and limits ---


def test_a_warning_in_a_macro_stands_at_its_use() -> None:
    source = "#define TEST(a, b) ((a) < (b))\nint h(int a, uint b) { return TEST(a, b); }"
    items = found(source, "-Wextra")
    assert [(item.code, str(item.span)) for item in items] == [("sign-compare", "<source>:2:31")]


def test_what_a_macro_comes_to_is_not_told() -> None:
    source = """
#define ASSERT(x)
#define CHECK(x) ((x) == 0)
#define SWAP(a, b) do { int t = a; a = b; b = t; } while (0)
void h(int a, int b) { if (a) ASSERT(b); SWAP(a, b); if ((CHECK(b))) a = b; CHECK(a); }
"""
    assert found(source) == []


def test_faulty_bodies_are_not_judged() -> None:
    with pytest.raises(CompileError) as caught:
        found("int h(int a) { int n; if (a) return nosuch; }", "-Weverything")
    assert [i.code for i in caught.value.diagnostics if i.code != "missing-prototypes"] == ["undeclared-identifier"]


def test_long_chains_do_not_nest() -> None:
    many = 4000
    tests, terms = " &&\n".join(["a"] * many), " +\n".join(["a"] * many)
    source = (
        f"int h(int a) {{ int n, m;\nif ({tests}) n = 1;\nm = {terms} + n;\n"
        + "\n else ".join(f"if (a == {i}) m = {i};" for i in range(200))
        + "\nswitch (a) {"
        + "\n".join(f"case {i}:" for i in range(200))
        + "m = 2; }\nreturn m; }\n"
    )
    # Each `a` that is false leads to the read; the first ones are told.
    codes = [item.code for item in found(source, "-Wall", "-Wconditional-uninitialized")]
    assert codes == ["sometimes-uninitialized"] * 8


def test_the_matrix_library_is_silent() -> None:
    source = (ROOT.parent / "kernels" / "gemm_f16.cl").read_text(encoding="utf-8")
    module = coopmat.compile(source, ["-Weverything", "-Wno-stride-type", "--matrices", "lanes", "-DN=96", "-DK=64"])
    assert module.llvm_ir and module.diagnostics == []


# --- pragmas ---


def test_pragmas_turn_warnings_on_and_off() -> None:
    source = """#pragma clang diagnostic push
#pragma clang diagnostic warning "-Wunused-variable"
void a(void) { int n; }
#pragma clang diagnostic ignored "-Wunused"
void b(void) { int n; }
#pragma clang diagnostic pop
void c(void) { int n; }
_Pragma("clang diagnostic warning \\"-Wunused-variable\\"") void d(void) { int n; }
"""
    assert [(i.code, i.span.line) for i in found(source) if i.span] == [("unused-variable", 3), ("unused-variable", 8)]
    assert found(source, "-w") == []


def test_pragmas_make_errors() -> None:
    source = '#pragma clang diagnostic error "-Wunused-variable"\nvoid a(void) { int n; }'
    with pytest.raises(CompileError) as caught:
        found(source)
    assert [item.code for item in caught.value.diagnostics] == ["unused-variable"]


@pytest.mark.parametrize(
    ("pragma", "code"),
    [
        ('ignored "-Wnosuch"', "unknown-warning-option"),
        ("pop", "unknown-pragmas"),
        ("ignored", "unknown-pragmas"),
        ('ignored "unused"', "unknown-pragmas"),
        ('nosuch "-Wunused"', "unknown-pragmas"),
    ],
)
def test_pragmas_that_are_wrong(pragma: str, code: str) -> None:
    items = found(f"#pragma clang diagnostic {pragma}\nkernel void k(void) {{}}", "-Wall")
    assert [(item.code, item.span.line) for item in items if item.span] == [(code, 1)]
