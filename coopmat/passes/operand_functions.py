"""Program functions as operands of library functions: they replace the functions that the library's text declares."""

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

#: (function, number of arguments that the library passes) -> its name in the library's text. Further arguments of the
#: function are passed on from the library function's caller.
Names = dict[tuple[typed.FunctionDecl, int], str]


def operand_name(names: Names, function: typed.FunctionDecl, own: int) -> str:
    """Return the name of `function` in the library's text; add a new name to `names` if there is none yet."""
    return names.setdefault((function, own), f"cm_operand_{len(names)}_{function.name.replace('.', '_')}")


def with_operands(functions: Sequence[typed.FunctionDecl], names: Names) -> list[typed.FunctionDecl]:
    """Return the library's functions with calls of the operands' declared names redirected to the program's functions.

    A library function that calls such an operand gets the operand's further parameters after its own parameters.
    """
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
    # All operands that `f` calls have the same further parameters: those of a map's function. A reduction calls
    # functions of several widths, which have no further parameters.
    name, count = next(iter(counts.items()))
    passed_on = operands[name].parameters[count:]
    further = [copied(p, name=f"further.{n}", initializer=None) for n, p in enumerate(passed_on)]
    _Caller(new, operands, further).rewrite()
    new.parameters = [*new.parameters, *further]
    new.type = replace(f.type, parameters=tuple(p.type for p in new.parameters))
    return new


class _Caller(FunctionRewriter):
    """A rewriter of a library function that calls operands; it passes on `further`, the function's new parameters."""

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
    """Bitcast a component to type `t` if the types differ: the library uses bit patterns of small floats."""
    return e if e.type == t else typed.Convert(e.span, t, ConvertKind.BITCAST, e)
