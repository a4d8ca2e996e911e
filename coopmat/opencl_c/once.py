"""Places and values that the text names several times, and that are evaluated as if once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..frontend import typed
from .text import Binds

if TYPE_CHECKING:
    from .context import Context


def simplified(c: Context, target: typed.LValue) -> tuple[str, typed.LValue]:
    """What is written twice must be evaluated as if once: the same place, and what has to come before it."""
    if isinstance(target, typed.Deref):
        before, pointer = _once(c, target.pointer)
        return before, replace(target, pointer=pointer)
    if isinstance(target, (typed.Member, typed.Swizzle)):
        before, base = simplified(c, target.base)
        return before, replace(target, base=base)
    if isinstance(target, typed.Index):
        before, base = simplified(c, target.base)
        more, index = _once(c, target.index)
        return before + more, replace(target, base=base, index=index)
    if isinstance(target, typed.MatrixSubscript):
        before, matrix = simplified(c, target.matrix)
        (more, row), (rest, column) = _once(c, target.row), _once(c, target.column)
        return before + more + rest, replace(target, matrix=matrix, row=row, column=column)
    if isinstance(target, typed.MatrixElement):
        before, matrix = simplified(c, target.matrix)
        more, index = _once(c, target.index)
        return before + more, replace(target, matrix=matrix, index=index)
    return "", target


def _once(c: Context, e: typed.Expr) -> tuple[str, typed.Expr]:
    """A value that may be written several times, and what has to come before."""
    if _is_simple(e):
        return "", e
    variable = c.temporary(e.type, e.span)
    before = f"{c.place(variable).text} = {c.assigned(e).at(Binds.ASSIGN)}, "
    return before, typed.Load(e.span, e.type, variable)


# Expressions without side effects, by their operands.
_SIMPLE: dict[type, tuple[str, ...]] = {
    typed.VarRef: (),
    typed.IntConst: (),
    typed.Load: ("operand",),
    typed.Member: ("base",),
    typed.Swizzle: ("base",),
    typed.Index: ("base", "index"),
    typed.Deref: ("pointer",),
    typed.MatrixSubscript: ("matrix", "row", "column"),
    typed.AddressOf: ("operand",),
    typed.Convert: ("operand",),
    typed.Unary: ("operand",),
    typed.Binary: ("left", "right"),
    typed.PointerAdd: ("pointer", "index"),
}


def _is_simple(e: typed.Expr) -> bool:
    """Whether evaluating it twice is like doing so once."""
    operands = _SIMPLE.get(type(e))
    if operands is None or (isinstance(e, typed.LValue) and e.place.volatile):
        return False
    return all(_is_simple(getattr(e, name)) for name in operands)
