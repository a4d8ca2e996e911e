"""Output of statement expressions; devices' compilers support this extension, because they are based on clang."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.types import VoidType
from .output import Output
from .text import Text

if TYPE_CHECKING:
    from .context import Context


class _Inline(Output):
    """An output that is joined to one line, regardless of source lines."""

    def place(self, span: Span) -> None:
        pass

    @property
    def text(self) -> str:
        return " ".join(line.strip() for line in self.lines if line.strip())


def statement_expression(c: Context, e: typed.StatementExpression) -> Text:
    from .statements import statement

    outside, c.output = c.output, _Inline()
    try:
        for item in e.body.items:
            statement(c, item)
        if not isinstance(e.type, VoidType):
            c.output.add(c.value(e.value).text + ";")
        elif not e.body.items:
            c.output.add(";")
        return Text(f"({{ {c.output.text} }})")
    finally:
        c.output = outside
