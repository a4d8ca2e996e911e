"""Functions of the program's as operands of library functions: they take the places of the library's stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..frontend import typed
from ..frontend.nodes import walk
from ..frontend.typed import ConvertKind
from ..frontend.types import Type
from .functions import FunctionRewriter, copied
from .storage import load, variable

#: Names of functions in the library's text, where so many arguments are the library's own, and others are passed on.
Names = dict[tuple[typed.FunctionDecl, int], str]


def operand_name(names: Names, function: typed.FunctionDecl, own: int) -> str:
    """Return the name in the library's text of a function, which `names` has from now on."""
    return names.setdefault((function, own), f"cm_operand_{len(names)}_{function.name.replace('.', '_')}")


def with_operands(functions: Sequence[typed.FunctionDecl], names: Names) -> list[typed.FunctionDecl]:
    """Return the library's functions with the program's in place of those of these names. A function that calls one has
    its further parameters, too, behind its own."""
    if not names:
        return list(functions)
    operands = {name: function for (function, _), name in names.items()}
    return [_with_operand(f, operands) for f in functions if f.name not in operands]


def _with_operand(f: typed.FunctionDecl, operands: Mapping[str, typed.FunctionDecl]) -> typed.FunctionDecl:
    calls = [node for node in walk(f.body) if isinstance(node, typed.Call)] if f.body is not None else []
    counts = {call.function.name: len(call.arguments) for call in calls if call.function.name in operands}
    if not counts:
        return f
    new: typed.FunctionDecl = copied(f)
    # Those of a map; functions of several widths, as reductions have them, have none.
    name, count = next(iter(counts.items()))
    passed_on = operands[name].parameters[count:]
    further = [copied(p, name=f"further.{n}", initializer=None) for n, p in enumerate(passed_on)]
    _Caller(new, operands, further).rewrite()
    new.parameters = [*new.parameters, *further]
    new.type = replace(f.type, parameters=tuple(p.type for p in new.parameters))
    return new


class _Caller(FunctionRewriter):
    """A function of the library that calls operands; `further` are its new parameters, which it passes on."""

    def __init__(
        self,
        decl: typed.FunctionDecl,
        operands: Mapping[str, typed.FunctionDecl],
        further: Sequence[typed.VarDecl],
    ) -> None:
        super().__init__(decl, lambda t: t)
        self.operands, self.further = operands, further

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return {typed.Call: _Caller.call}

    def call(self, e: typed.Call, new: typed.Call) -> typed.Expr:
        own = self.operands.get(e.function.name)
        if own is None:
            return new
        leading = [_as(a, t) for a, t in zip(new.arguments, own.type.parameters, strict=False)]
        arguments = [*leading, *(load(variable(p)) for p in self.further)]
        return _as(typed.Call(e.span, own.type.result, own, arguments), e.type)


def _as(e: typed.Expr, t: Type) -> typed.Expr:
    """A component as one of the other's type: the library has the bits of small floats."""
    return e if e.type == t else typed.Convert(e.span, t, ConvertKind.BITCAST, e)
