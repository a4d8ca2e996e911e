"""Analysis of sources to typed ASTs, and checks of diagnostics at marks in the source."""

from __future__ import annotations

from coopmat.diagnostics import Diagnostics, render_text
from coopmat.features import Features
from coopmat.frontend import typed
from coopmat.frontend.parse import parse
from coopmat.frontend.preprocess import PreprocessOptions, preprocess
from coopmat.frontend.sema.functions import analyse
from coopmat.frontend.typed_dump import dump

MARK = "§"
# Warnings about useless code are off: the tests' fragments are useless on purpose.
WARNINGS = (
    *("no-unused", "no-most", "no-parentheses", "no-conversion", "no-empty-body", "no-division-by-zero"),
    *("no-int-to-pointer-cast", "no-pointer-to-int-cast"),
    *("unknown-pragmas", "shift-count-overflow", "shift-count-negative"),
)

MATRICES = """\
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(r, c, use) __attribute__((coop_mat(SUBGROUP, r, c, CLK_COOPERATIVE_MATRIX_##use)))
typedef half A MATRIX(16, 8, A);
typedef half B MATRIX(8, 32, B);
typedef float C MATRIX(16, 32, ACCUMULATOR);
"""


def analysed(source: str, *, matrices: bool = True) -> tuple[typed.Unit, Diagnostics]:
    diagnostics = Diagnostics(error_limit=0, warnings=WARNINGS)
    tree = parse(preprocess(source, "m.cl", PreprocessOptions(), diagnostics), diagnostics)
    features = Features.of(extensions={"cl_khr_cooperative_matrix": matrices})
    return analyse(tree, diagnostics, features), diagnostics


def good(source: str) -> typed.Unit:
    unit, diagnostics = analysed(source)
    assert not diagnostics.items, render_text(diagnostics.items, diagnostics.sources)
    return unit


def expression(text: str, parameters: str = "void", before: str = "") -> typed.Expr:
    """Return the typed form of an expression statement's expression; an lvalue is converted to its value."""
    body = good(f"{before}\nvoid f({parameters}) {{ {text}; }}").functions[-1].body
    assert body is not None
    statement = body.items[-1]
    assert isinstance(statement, typed.ExprStmt)
    return statement.expr


def dumped(text: str, parameters: str = "void", before: str = "") -> str:
    """Return the dump of a function that evaluates an expression."""
    return dump(good(f"{before}\nvoid f({parameters}) {{ {text}; }}"))


def type_of(text: str, parameters: str = "void", before: str = "") -> str:
    return str(expression(text, parameters, before).type)


def constant(text: str, parameters: str = "void", before: str = "") -> int | float:
    e = expression(text, parameters, before)
    assert isinstance(e, (typed.IntConst, typed.FloatConst)), dumped(text, parameters, before)
    return e.value


def findings(source: str, *, matrices: bool = True) -> list[tuple[int, int, str]]:
    items = analysed(source, matrices=matrices)[1].items
    return [(i.span.line, i.span.column, i.code) for i in items if i.span is not None]


def expect(marked: str, *codes: str, before: str = "", matrices: bool = True) -> None:
    """Check that the diagnostics of `before` + `marked` are exactly `codes`, in order, each at its mark."""
    places = []
    lines = before.split("\n")[:-1]
    for line in marked.split("\n"):
        parts = line.split(MARK)
        column = 1
        for part in parts[:-1]:
            column += len(part)
            places.append((len(lines) + 1, column))
        lines.append("".join(parts))
    found = findings("\n".join(lines), matrices=matrices)
    assert found == [(*place, code) for place, code in zip(places, codes, strict=True)]
