"""Warnings about how a thing is written: parentheses that readers miss, stray semicolons, ambiguous else."""

from __future__ import annotations

from ...diagnostics import Note, Span
from .. import syntax
from .context import Context

_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
# Operator: of which operators as bare operands it makes readers think twice, by the warning's name.
_MIXED: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {
    "&": (("parentheses", _COMPARISONS),),
    "^": (("parentheses", _COMPARISONS), ("bitwise-op-parentheses", frozenset("&"))),
    "|": (("parentheses", _COMPARISONS), ("bitwise-op-parentheses", frozenset("&^"))),
    "||": (("logical-op-parentheses", frozenset({"&&"})),),
    "<<": (("shift-op-parentheses", frozenset("+-")),),
    ">>": (("shift-op-parentheses", frozenset("+-")),),
}
BINARY_CODES = ("logical-not-parentheses", *(code for rows in _MIXED.values() for code, _ in rows))
_NEGATED = _COMPARISONS | {"&", "^", "|"}


def binary(c: Context, node: syntax.Binary) -> None:
    """The operands of a binary operator."""
    op, left, right = node.op, node.left, node.right
    for code, inside in _MIXED.get(op, ()):
        for side in (left, right):
            if isinstance(side, syntax.Binary) and side.op in inside and side.span != node.span:
                message = f"'{side.op}' within '{op}' binds first; parentheses would say so"
                # The operator that readers take for the tighter one.
                at, other = (node, side) if code == "parentheses" else (side, node)
                c.warn(code, message, at.op_span, notes=[Note(f"the '{other.op}'", other.op_span)])
    if isinstance(left, syntax.Unary) and left.op == "!" and op in _NEGATED and not _truth(right):
        message = f"'!' applies to the left side of '{op}' only"
        c.warn("logical-not-parentheses", message, left.span, notes=[Note(f"the '{op}'", node.op_span)])


def _truth(node: syntax.Expression) -> bool:
    """Whether an expression is 0 or 1 by its operator, so that comparing it with another such is meant."""
    while isinstance(node, syntax.Paren):
        node = node.inner
    if isinstance(node, syntax.Unary):
        return node.op == "!"
    return isinstance(node, syntax.Binary) and (node.op in _COMPARISONS or node.op in ("&&", "||"))


def condition(c: Context, node: syntax.Expression) -> None:
    """What an if or a loop tests."""
    if isinstance(node, syntax.Assign) and node.op == "=":
        notes = [Note("'==' compares; another pair of parentheses says that '=' is meant")]
        c.warn("parentheses", "an assignment as a condition", node.op_span, notes=notes)
    elif isinstance(node, syntax.Paren) and isinstance(node.inner, syntax.Binary) and node.inner.op == "==":
        inner = node.inner
        name = isinstance(inner.left, (syntax.Identifier, syntax.Subscript, syntax.Member))
        # Out of a macro all of it has one place.
        if name and inner.left.span != inner.right.span and inner.span != node.span:
            notes = [Note("'=' would assign; drop a pair of parentheses")]
            c.warn("parentheses-equality", "a comparison in two pairs of parentheses", inner.op_span, notes=notes)


def if_statement(c: Context, node: syntax.If) -> None:
    """An if on its own, without what its else holds."""
    condition(c, node.condition)
    if node.otherwise is None:
        _empty_body(c, node.condition.span, node.then, "if")
        inner = _open_if(node.then)
        if inner is not None and inner.otherwise is not None:
            message = "this else belongs to the inner 'if'; braces would say so"
            c.warn("dangling-else", message, inner.otherwise.span, notes=[Note("the inner 'if'", inner.span)])


def _open_if(node: syntax.Statement) -> syntax.If | None:
    """The if at the end of a statement without braces."""
    while isinstance(node, (syntax.While, syntax.For, syntax.Label, syntax.Case)):
        node = node.body
    return node if isinstance(node, syntax.If) else None


def loop(c: Context, node: syntax.While | syntax.For, following: syntax.Node | None) -> None:
    """`for (...);` where what follows looks like the body; a `;` on a line of its own is meant."""
    if following is None or following.span.file != node.span.file:
        return
    if isinstance(following, syntax.Compound) or following.span.column > node.span.column:
        last = node.condition
        if isinstance(node, syntax.For):
            last = node.step or last
        if last is not None:
            _empty_body(c, last.span, node.body, "while" if isinstance(node, syntax.While) else "for")


def _empty_body(c: Context, head: Span, body: syntax.Statement, word: str) -> None:
    if not isinstance(body, syntax.ExpressionStatement) or body.expression is not None:
        return
    span = body.span
    if span.file != head.file or span.line != head.end_line:
        return
    line = c.diagnostics.sources.line(span.file, span.line) or ""
    # Where anything else stands before the `;`, it is a macro that expands to nothing.
    if line[: span.column - 1].rstrip().endswith(")") and line[span.column - 1 : span.column] == ";":
        between = line[head.end_column - 1 : span.column - 1]
        if not between.strip(") \t;"):
            notes = [Note("put the ';' on a line of its own if that is meant")]
            c.warn("empty-body", f"'{word}' controls nothing but this ';'", span, notes=notes)
