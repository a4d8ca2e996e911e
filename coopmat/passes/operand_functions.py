"""Functions of the program's as operands of library functions: they take the places of the library's stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..frontend import typed
from ..frontend.nodes import walk
from ..frontend.typed import ConvertKind
from ..frontend.types import Type
from .functions import FunctionRewriter, copied, unfinished
from .storage import load, variable

#: Names of functions in the library's text, where so many arguments are the library's own, and others are passed on.
Names = dict[tuple[typed.FunctionDecl, int], str]


def operand_name(names: Names, function: typed.FunctionDecl, own: int) -> str:
    """Return the name in the library's text of a function, which `names` has from now on."""
    return names.setdefault((function, own), f"cm_operand_{len(names)}_{function.name}")


def with_operands(functions: Sequence[typed.FunctionDecl], names: Names) -> list[typed.FunctionDecl]:
    """Return the library's functions with the program's in place of those of these names. A function that calls one has
    its further parameters, too, behind its own."""
    if not names:
        return list(functions)
    operands = {name: function for (function, _), name in names.items()}
    return [_with_operand(f, operands) for f in functions if f.name not in operands]


def _with_operand(f: typed.FunctionDecl, operands: Mapping[str, typed.FunctionDecl]) -> typed.FunctionDecl:
    calls = (node for node in walk(f.body) if isinstance(node, typed.Call)) if f.body is not None else ()
    name = next((node.function.name for node in calls if node.function.name in operands), None)
    if name is None:
        return f
    new = unfinished(f)
    caller = _Caller(new, name, operands[name])
    caller.rewrite()
    new.parameters = [*new.parameters, *caller.further]
    new.type = replace(f.type, parameters=tuple(p.type for p in new.parameters))
    return new


class _Caller(FunctionRewriter):
    """A function of the library that calls the operand `own` by `name`; `further` are its new parameters."""

    def __init__(self, decl: typed.FunctionDecl, name: str, own: typed.FunctionDecl) -> None:
        super().__init__(decl, lambda t: t)
        self.name, self.own = name, own
        count = next(
            len(node.arguments)
            for node in walk(decl.body)
            if isinstance(node, typed.Call) and node.function.name == name
        )
        self.further = [copied(p, initializer=None) for p in own.parameters[count:]]

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return {typed.Call: _Caller.call}

    def call(self, e: typed.Call, new: typed.Call) -> typed.Expr:
        if e.function.name != self.name:
            return new
        kind = self.own.type
        leading = [_as(a, t) for a, t in zip(new.arguments, kind.parameters, strict=False)]
        arguments = [*leading, *(load(variable(p)) for p in self.further)]
        return _as(typed.Call(e.span, kind.result, self.own, arguments), e.type)


def _as(e: typed.Expr, t: Type) -> typed.Expr:
    """A component as one of the other's type: the library has the bits of small floats."""
    return e if e.type == t else typed.Convert(e.span, t, ConvertKind.BITCAST, e)
