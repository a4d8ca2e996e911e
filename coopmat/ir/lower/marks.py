"""Marks of values with the places of their expressions, which LLVM's passes and the SPIR-V backend keep."""

from __future__ import annotations

import re

from ...diagnostics import Span
from ...frontend.reserved import is_library

_VALUE = re.compile(r'^  %":(\d+)\.[^"]*" = .*$', re.MULTILINE)
# The decoration UserSemantic of SPIR-V, whose operand is a string.
_USER_SEMANTIC = 5635
# The numbers of metadata nodes from here on are free.
_FIRST = 1_000_000


class Marks:
    """The marks of one module: a number for each place."""

    def __init__(self) -> None:
        self.numbers: dict[Span, int] = {}

    def name(self, span: Span | None) -> str:
        """Return a name for a value of the expression at `span`; an empty string in library functions."""
        if span is None or is_library(span.file):
            return ""
        return f":{self.numbers.setdefault(span, len(self.numbers))}."

    def decorate(self, text: str) -> str:
        """Return LLVM IR in which the values with such names have the decoration UserSemantic with the number."""
        marked = _VALUE.sub(lambda match: f"{match[0]}, !spirv.Decorations !{_FIRST + 2 * int(match[1])}", text)
        rows = (
            f"!{_FIRST + 2 * n} = !{{ !{_FIRST + 2 * n + 1} }}\n"
            f'!{_FIRST + 2 * n + 1} = !{{ i32 {_USER_SEMANTIC}, !"{n}" }}\n'
            for n in self.numbers.values()
        )
        return "".join([marked, "\n", *rows])
