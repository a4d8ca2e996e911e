"""The state while a text is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.types import HALF, PLAIN, USHORT, Type, held_as
from .names import Names
from .needs import Needs
from .output import Output

if TYPE_CHECKING:
    from .text import Text


@dataclass
class Program:
    """A unit and the one text that it becomes. `statics` are the functions' variables in local memory, which C has at
    the beginning of a function. `half_bits`: values of half are their bits."""

    unit: typed.Unit
    names: Names
    needs: Needs
    half_bits: bool = False
    statics: dict[typed.FunctionDecl, list[typed.VarDecl]] = field(default_factory=dict)

    def held(self, t: Type) -> Type:
        """Return the type in which the text has values of `t`."""
        return USHORT if self.half_bits and t is HALF else held_as(t)


class Context:
    """The state of one function's text, or of the text outside functions."""

    def __init__(self, program: Program, decl: typed.FunctionDecl | None, out: Output) -> None:
        self.program, self.decl, self.output = program, decl, out
        self.temporaries: list[str] = []

    def temporary(self, t: Type, span: Span) -> typed.VarRef:
        """A new object of the function's."""
        from .declarations import declared

        decl = typed.VarDecl(span, f"c.{len(self.temporaries)}", t, PLAIN, "automatic")
        self.temporaries.append(declared(self.program, t, self.program.names.variable(decl)))
        return typed.VarRef(span, t, PLAIN, decl)

    def value(self, e: typed.Expr) -> Text:
        from .expressions import value

        return value(self, e)

    def assigned(self, e: typed.Expr) -> Text:
        from .expressions import assigned

        return assigned(self, e)

    def place(self, e: typed.LValue) -> Text:
        from .expressions import place

        return place(self, e)
