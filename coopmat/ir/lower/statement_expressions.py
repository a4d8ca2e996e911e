"""Statement expressions: their statements where control is, and then their value."""

from __future__ import annotations

from ...frontend import typed
from . import places
from .context import FunctionContext


def statement_expression(ctx: FunctionContext, e: typed.StatementExpression) -> places.Operand:
    from .expressions import operand
    from .statements import nested

    nested(ctx, e.body)
    return operand(ctx, e.value)
