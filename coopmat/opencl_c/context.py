"""The state of the output of a program and of a function."""

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
    """The functions that write expressions and declarations.

    They are passed in as values, because the modules that call them cannot import them without a cycle.
    """

    value: Callable[[Context, typed.Expr], Text]
    assigned: Callable[[Context, typed.Expr], Text]
    place: Callable[[Context, typed.LValue], Text]
    declared: Callable[[Program, Type, str], str]


@dataclass
class Program:
    """A unit and the text that is written for it.

    half_bits: values of half are written as ushort bit patterns.
    statics: function -> its variables in local memory, which C declares at the beginning of the function.
    """

    unit: typed.Unit
    names: Names
    needs: Needs
    writers: Writers
    half_bits: bool = False
    statics: dict[typed.FunctionDecl, list[typed.VarDecl]] = field(default_factory=dict)

    def held(self, t: Type) -> Type:
        """Return the type that represents values of `t` in the text."""
        return USHORT if self.half_bits and t is HALF else held_as(t)

    @cached_property
    def has_barriers(self) -> bool:
        """Whether the unit calls builtins in which work-items wait for others."""
        calls = (n for f in self.unit.functions if f.body for n in walk(f.body) if isinstance(n, typed.BuiltinCall))
        names = {call.name for call in calls}
        return any("barrier" in name or ("_group_" in name and not name.startswith("get_")) for name in names)


class Context:
    """The state of the text of one function, or of program scope (`decl` is None)."""

    def __init__(self, program: Program, decl: typed.FunctionDecl | None, out: Output) -> None:
        self.program, self.decl, self.output = program, decl, out
        self.temporaries: list[str] = []
        self._opaque: dict[str, str] = {}

    def temporary(self, t: Type, span: Span) -> typed.VarRef:
        """Declare a temporary at the beginning of the function, and return a reference to it."""
        decl = typed.VarDecl(span, f"c.{len(self.temporaries)}", t, PLAIN, "automatic")
        name = self.program.names.variable(decl)
        self.temporaries.append(self.program.writers.declared(self.program, t, name))
        return typed.VarRef(span, t, PLAIN, decl)

    @property
    def hides_negations(self) -> bool:
        """Whether negations of floats are hidden from the device's compiler (`faults.negations` says why)."""
        return self.decl is not None and self.program.has_barriers

    def opaque(self, t: ScalarType, constant: str) -> str:
        """Return the name of a variable with the value `constant`, which the device's compiler cannot know.

        The variable is initialized from a volatile object.
        """
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
