"""Notes and fix-its: where a name is declared, and which text should replace another."""

from __future__ import annotations

import re

from ...diagnostics import FixIt, Note, Span
from .. import typed
from ..typed import Expr
from ..types import Type
from .context import Context, Typedef

# Expressions whose operator binds less tightly than a cast.
_LOOSE = (
    *(typed.Assign, typed.Binary, typed.Comma, typed.CompoundAssign, typed.Conditional, typed.Logical),
    *(
        typed.MatrixBinary,
        typed.MatrixElementwise,
        typed.MatrixProduct,
        typed.MatrixScale,
        typed.PointerAdd,
        typed.PointerDifference,
        typed.VectorSelect,
    ),
)


def declared_here(e: Expr) -> list[Note]:
    """Return a note at the declaration of the variable that `e` reads, or no note."""
    while isinstance(e, (typed.Convert, typed.Load, typed.PointerAdd)):
        e = e.pointer if isinstance(e, typed.PointerAdd) else e.operand
    if isinstance(e, typed.VarRef) and e.decl.name:
        return [Note(f"'{e.decl.name}' is declared here", e.decl.span)]
    return []


def cast_to(c: Context, e: Expr, name: str) -> list[FixIt]:
    """Return the fix-its that insert a cast to the type `name` before an expression, with parentheses if needed."""
    span = e.span
    while isinstance(e, typed.Convert):
        e = e.operand
    before = Span(span.file, span.line, span.column, span.line, span.column)
    folded = isinstance(e, (typed.IntConst, typed.FloatConst)) and not re.fullmatch(r"[\w.]+", spelled(c, span) or "")
    if not isinstance(e, _LOOSE) and not folded:
        return [FixIt(before, f"({name})")]
    after = Span(span.file, span.end_line, span.end_column, span.end_line, span.end_column)
    return [FixIt(before, f"({name})("), FixIt(after, ")")]


def name_of(c: Context, t: Type) -> str | None:
    """Return a typedef in scope that names exactly this type, or None."""
    for name in c.scope.visible():
        entity = c.scope.find(name)
        if isinstance(entity, Typedef) and entity.type == t:
            return name
    return None


def spelled(c: Context, span: Span) -> str | None:
    """Return the source text of a place, or None if the place spans several lines or is unknown."""
    line = c.diagnostics.sources.line(span.file, span.line)
    if line is None or span.end_line != span.line:
        return None
    return line[span.column - 1 : span.end_column - 1]
