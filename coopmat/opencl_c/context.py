"""The state while a text is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.nodes import walk
from ..frontend.types import HALF, PLAIN, USHORT, ScalarType, Type, held_as
from .names import Names
from .needs import Needs
from .output import Output

if TYPE_CHECKING:
    from .text import Text


@dataclass(frozen=True)
class Writers:
    """The functions that write expressions and declarations. They are passed in, so that those whom they call need not
    import them."""

    value: Callable[[Context, typed.Expr], Text]
    assigned: Callable[[Context, typed.Expr], Text]
    place: Callable[[Context, typed.LValue], Text]
    declared: Callable[[Program, Type, str], str]


@dataclass
class Program:
    """A unit and the one text that it becomes. `statics` are the functions' variables in local memory, which C has at
    the beginning of a function. `half_bits`: values of half are their bits."""

    unit: typed.Unit
    names: Names
    needs: Needs
    writers: Writers
    half_bits: bool = False
    statics: dict[typed.FunctionDecl, list[typed.VarDecl]] = field(default_factory=dict)

    def held(self, t: Type) -> Type:
        """Return the type in which the text has values of `t`."""
        return USHORT if self.half_bits and t is HALF else held_as(t)

    @cached_property
    def has_barriers(self) -> bool:
        """Return whether work-items may wait for others."""
        calls = (n for f in self.unit.functions if f.body for n in walk(f.body) if isinstance(n, typed.BuiltinCall))
        names = {call.name for call in calls}
        return any("barrier" in name or ("_group_" in name and not name.startswith("get_")) for name in names)


class Context:
    """The state of one function's text, or of the text outside functions."""

    def __init__(self, program: Program, decl: typed.FunctionDecl | None, out: Output) -> None:
        self.program, self.decl, self.output = program, decl, out
        self.temporaries: list[str] = []
        self._opaque: dict[str, str] = {}

    def temporary(self, t: Type, span: Span) -> typed.VarRef:
        """A new object of the function's."""
        decl = typed.VarDecl(span, f"c.{len(self.temporaries)}", t, PLAIN, "automatic")
        name = self.program.names.variable(decl)
        self.temporaries.append(self.program.writers.declared(self.program, t, name))
        return typed.VarRef(span, t, PLAIN, decl)

    @property
    def hides_negations(self) -> bool:
        """Return whether negations of floats are hidden from the device's compiler (`faults.negations` says why)."""
        return self.decl is not None and self.program.has_barriers

    def opaque(self, t: ScalarType, constant: str) -> str:
        """Return the name of an object of the function's, whose value the device's compiler does not know."""
        if constant not in self._opaque:
            number = len(self._opaque)
            hidden, name = (self.program.names.own(f"{word}{number}") for word in ("hidden", "opaque"))
            self.temporaries += (f"volatile {t} {hidden} = {constant}", f"{t} {name} = {hidden}")
            self._opaque[constant] = name
        return self._opaque[constant]

    def value(self, e: typed.Expr) -> Text:
        return self.program.writers.value(self, e)

    def assigned(self, e: typed.Expr) -> Text:
        return self.program.writers.assigned(self, e)

    def place(self, e: typed.LValue) -> Text:
        return self.program.writers.place(self, e)
