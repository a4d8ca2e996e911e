"""Output of statements, each on the line where the source has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..frontend import typed
from ..frontend.types import INT, AddressSpace, ScalarType, VoidType
from . import expressions, literals
from .conversions import integer
from .declarations import variable
from .text import Binds

if TYPE_CHECKING:
    from .context import Context


def body(c: Context, block: typed.Block) -> None:
    """Write the items of a function's body, after the function's static variables."""
    for decl in c.program.statics.get(c.decl, ()) if c.decl is not None else ():
        _line(c, decl, declaration(c, decl) + ";")
    for item in block.items:
        statement(c, item)


def statement(c: Context, s: typed.Stmt) -> None:
    c.program.needs.span = s.span
    _STATEMENTS[type(s)](c, s)


def _line(c: Context, s: typed.Stmt | typed.VarDecl, text: str) -> None:
    c.output.place(s.span)
    c.output.add(text)


def _block(c: Context, s: typed.Block) -> None:
    c.output.add("{")
    _inside(c, s.items)
    c.output.add("}")


def _inside(c: Context, items: list[typed.Stmt]) -> None:
    c.output.depth += 1
    for item in items:
        statement(c, item)
    c.output.depth -= 1


def _part(c: Context, head: str, s: typed.Stmt, tail: str = "") -> bool:
    """Write a head, such as `if (...)`, its controlled statement, and `tail`; return whether braces were written.

    All but simple statements are enclosed in braces, so that an `else` cannot attach to another `if`.
    """
    if isinstance(s, _SIMPLE) and not tail:
        if s.span.line == c.output.line:
            c.output.add(f"{head} {_simple(c, s)}")
        else:
            c.output.add(head)
            c.output.depth += 1
            statement(c, s)
            c.output.depth -= 1
        return False
    c.output.add(head + " {")
    _inside(c, s.items if isinstance(s, typed.Block) else [s])
    c.output.add("}" + tail)
    return True


_SIMPLE = (typed.ExprStmt, typed.Break, typed.Continue, typed.Goto)


def _simple(c: Context, s: typed.Stmt) -> str:
    if isinstance(s, typed.ExprStmt):
        return expressions.effect(c, s.expr).text + ";"
    if isinstance(s, typed.Goto):
        return f"goto {c.program.names.label(s.label)};"
    return "break;" if isinstance(s, typed.Break) else "continue;"


def _declaration(c: Context, s: typed.DeclStmt) -> None:
    _line(c, s, declaration(c, s.decl) + ";")


def declaration(c: Context, decl: typed.VarDecl) -> str:
    """Return the declaration of a variable with its initializer, without a semicolon."""
    text = variable(c.program, decl)
    spaces = (AddressSpace.GLOBAL, *([AddressSpace.CONSTANT] if c.program.unit.is_shared else []))
    is_static = decl.symbol is None and decl.storage == "static" and decl.qualifiers.space in spaces
    storage = "static " if is_static else "extern " if decl.imported else ""
    if decl.initializer is None:
        return storage + text
    return f"{storage}{text} = {expressions.initializer(c, decl.initializer)}"


def _if(c: Context, s: typed.If) -> None:
    c.output.place(s.span)
    braces = _part(c, f"if ({c.value(s.condition).text})", s.then)
    while s.otherwise is not None:
        rest = s.otherwise
        head = "else"
        if isinstance(rest, typed.If):
            # Iterate over else-ifs, because recursion could overflow the stack.
            c.program.needs.span = rest.span
            head, s = f"else if ({c.value(rest.condition).text})", rest
            rest = s.then
        else:
            s = typed.If(s.span, s.condition, s.then, None)
        if braces:
            c.output.join()
        braces = _part(c, head, rest)


def _unroll(factor: int | None) -> str:
    if factor is None:
        return ""
    return {0: '_Pragma("unroll") ', 1: '_Pragma("nounroll") '}.get(factor, f'_Pragma("unroll {factor}") ')


def _while(c: Context, s: typed.While) -> None:
    c.output.place(s.span)
    _part(c, f"{_unroll(s.unroll)}while ({c.value(s.condition).text})", s.body)


def _do_while(c: Context, s: typed.DoWhile) -> None:
    c.output.place(s.span)
    _part(c, _unroll(s.unroll) + "do", s.body, f" while ({c.value(s.condition).text});")


def _for(c: Context, s: typed.For) -> None:
    c.output.place(s.span)
    init = _init(c, s.init)
    if init is None:
        c.output.add("{")
        c.output.depth += 1
        for item in s.init:
            statement(c, item)
    condition = "" if s.condition is None else " " + c.value(s.condition).text
    step = "" if s.step is None else " " + expressions.effect(c, s.step).text
    _part(c, f"{_unroll(s.unroll)}for ({init or ''};{condition};{step})", s.body)
    if init is None:
        c.output.depth -= 1
        c.output.add("}")


def _init(c: Context, items: list[typed.Stmt]) -> str | None:
    """Return the init clause of a for loop, which consists of expressions or of one declaration.

    If the items cannot be written as either, return None.
    """
    if all(isinstance(item, typed.ExprStmt) for item in items):
        return ", ".join(
            expressions.effect(c, item.expr).at(Binds.ASSIGN) for item in items if isinstance(item, typed.ExprStmt)
        )
    decls = [item.decl for item in items if isinstance(item, typed.DeclStmt)]
    first = decls[0]
    if len(decls) != len(items):
        return None
    if len(decls) == 1:
        return declaration(c, first)
    alike = all(d.type == first.type and d.qualifiers == first.qualifiers and not d.alignment for d in decls)
    if not alike or not isinstance(first.type, ScalarType):
        return None
    others = [declaration(c, decl).removeprefix(variable(c.program, decl)) for decl in decls[1:]]
    names = [c.program.names.variable(decl) + rest for decl, rest in zip(decls[1:], others, strict=True)]
    return ", ".join([declaration(c, first), *names])


def _switch(c: Context, s: typed.Switch) -> None:
    c.output.place(s.span)
    _part(c, f"switch ({c.value(s.value).text})", s.body)


def _case(c: Context, s: typed.Case) -> None:
    # Consecutive case labels are nested.
    body: typed.Stmt = s
    while isinstance(body, typed.Case):
        label = "default:" if body.value is None else f"case {_constant(c, body)}:"
        _line(c, body, label)
        body = body.body
    _labelled(c, body)


def _constant(c: Context, s: typed.Case) -> str:
    """Return the constant of a case label; a value outside the range of int is a 64-bit literal."""
    assert s.value is not None
    if -(1 << 31) < s.value < 1 << 31:
        return integer(c, typed.IntConst(s.span, INT, s.value)).text
    return literals.wide(s.value)


def _labelled(c: Context, s: typed.Stmt) -> None:
    """Write the statement after a label; before a declaration, which C does not allow there, an empty statement."""
    if isinstance(s, typed.DeclStmt):
        c.output.add(";")
    statement(c, s)


def _label(c: Context, s: typed.Label) -> None:
    _line(c, s, f"{c.program.names.label(s.name)}:;")
    statement(c, s.body)


def _return(c: Context, s: typed.Return) -> None:
    if s.value is None:
        return _line(c, s, "return;")
    if isinstance(s.value.type, VoidType):
        _line(c, s, expressions.effect(c, s.value).text + ";")
        return c.output.add("return;")
    _line(c, s, f"return {c.assigned(s.value).text};")


_STATEMENTS: dict[type, Callable[[Any, Any], None]] = {
    typed.Block: _block,
    typed.DeclStmt: _declaration,
    **dict.fromkeys(_SIMPLE, lambda c, s: _line(c, s, _simple(c, s))),
    typed.If: _if,
    typed.While: _while,
    typed.DoWhile: _do_while,
    typed.For: _for,
    typed.Switch: _switch,
    typed.Case: _case,
    typed.Label: _label,
    typed.Return: _return,
}
