"""The text of an expression together with its precedence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Binds(IntEnum):
    """C's levels of precedence, lowest first."""

    COMMA = 0
    ASSIGN = 1
    CONDITION = 2
    LOGICAL_OR = 3
    LOGICAL_AND = 4
    OR = 5
    XOR = 6
    AND = 7
    EQUAL = 8
    ORDER = 9
    SHIFT = 10
    SUM = 11
    PRODUCT = 12
    PREFIX = 13
    POSTFIX = 14


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    binds: Binds = Binds.POSTFIX

    def at(self, level: Binds) -> str:
        """Return the text, parenthesized if its precedence is lower than `level`."""
        return self.text if self.binds >= level else f"({self.text})"

    @property
    def argument(self) -> str:
        return self.at(Binds.ASSIGN)

    @property
    def prefix(self) -> str:
        return self.at(Binds.PREFIX)

    @property
    def postfix(self) -> str:
        return self.at(Binds.POSTFIX)


def constant(text: str) -> Text:
    """Return the text of a literal, which may begin with a sign or a cast."""
    signed = text.startswith("-") or (text.startswith("(") and not text.endswith(")"))
    return Text(text, Binds.PREFIX if signed else Binds.POSTFIX)


def call(name: str, *arguments: Text | str) -> Text:
    return Text(f"{name}({', '.join(a if isinstance(a, str) else _passed(a) for a in arguments)})")


def _passed(argument: Text) -> str:
    """Return the text of an argument; one with braces is parenthesized.

    The callee may be a macro, and commas within braces would separate macro arguments.
    """
    return f"({argument.text})" if "{" in argument.text else argument.argument


def cast(type_name: str, operand: Text) -> Text:
    return Text(f"({type_name}){operand.prefix}", Binds.PREFIX)
