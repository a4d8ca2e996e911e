"""Warnings about unused declarations and values, and about style.

The style warnings concern missing parentheses, stray semicolons and ambiguous elses.
"""

from __future__ import annotations

import re

from ..diagnostics import Note, Span
from ..frontend import builtins, syntax, typed
from ..frontend.sema.context import Context, FunctionState
from ..frontend.typed import Binary, Convert, Expr, FloatConst, IntConst, Load
from ..frontend.types import PointerType, VoidType
from .implicit import text_of

UNUSED_CODES = (
    *("unused-variable", "unused-but-set-variable", "unused-parameter", "unused-but-set-parameter"),
    *("unused-label", "unused-local-typedef"),
)
_VALUE_CODES = ("unused-value", "unused-comparison")


def has_unused_attribute(items: list[syntax.Attribute]) -> bool:
    return any(item.name.strip("_") in ("unused", "maybe_unused") for item in items)


def check_unused_in_function(c: Context, state: FunctionState) -> None:
    """Warn about unused declarations of a function, at the end of its definition."""
    references, only_set = c.references, c.only_set
    for decl in state.locals:
        count = references.get(decl, 0)
        if count == 0:
            c.warn("unused-variable", f"variable '{decl.name}' is never used", decl.span)
        elif only_set.get(decl) == count and decl.storage == "automatic":
            c.warn("unused-but-set-variable", f"variable '{decl.name}' is set, but its value is never used", decl.span)
    for decl in state.decl.parameters:
        if not decl.name or decl.name in state.excused:
            continue
        count = references.get(decl, 0)
        if count == 0:
            c.warn("unused-parameter", f"parameter '{decl.name}' is never used", decl.span)
        elif only_set.get(decl) == count:
            c.warn("unused-but-set-parameter", f"parameter '{decl.name}' is set, but never used", decl.span)
    labels = {label for label, _ in state.gotos}
    for label, span in state.labels.items():
        if label not in labels:
            c.warn("unused-label", f"no goto names label '{label}'", span)
    for entity in state.typedefs:
        if entity not in c.named_types:
            c.warn("unused-local-typedef", f"typedef '{entity.name}' is never used", entity.span)


def check_unused_functions(c: Context) -> None:
    """Warn about static functions without callers, at the end of the unit."""
    callees = {function for calls in c.calls.values() for function in calls}
    for decl in c.unit.functions:
        if decl.internal and not decl.is_kernel and decl not in callees and decl not in c.excused:
            c.warn("unused-function", f"nothing calls the static function '{decl.name}'", decl.span)


# --- values --------------------------------------------------------------------------------------


def check_discarded(c: Context, e: Expr) -> None:
    """Warn about an expression whose value is discarded, as a statement or as a comma's left operand.

    An assignment to a variable is counted in `only_set`.
    """
    if isinstance(e, (typed.Assign, typed.CompoundAssign, typed.IncDec)):
        if isinstance(e.target, typed.VarRef):
            c.only_set[e.target.decl] = c.only_set.get(e.target.decl, 0) + 1
        return
    if not c.diagnostics.wants(*_VALUE_CODES):
        return
    while isinstance(e, (typed.Comma, typed.StatementExpression)) and not isinstance(e.type, VoidType):
        e = e.right if isinstance(e, typed.Comma) else e.value
    if not _computes(e) or _from_macro(c, e):
        return
    name = _callee(c, e)
    if name is not None:
        c.warn("unused-value", f"the result of '{name}' is dropped", e.span)
        return
    if isinstance(e, Binary) and e.op in ("eq", "ne", "lt", "le", "gt", "ge"):
        c.warn("unused-comparison", "the result of a comparison is dropped", e.span)
    else:
        c.warn("unused-value", "a value is computed and dropped", e.span)


def _computes(e: Expr) -> bool:
    """Return whether the outermost operation of `e` has no side effects; the operands' side effects are ignored."""
    if isinstance(e.type, VoidType):
        return False
    if isinstance(e, Load):
        return not e.operand.place.volatile
    if isinstance(e, typed.MatrixLoad):
        return not (isinstance(e.pointer.type, PointerType) and e.pointer.type.qualifiers.volatile)
    if isinstance(e, typed.BuiltinCall):
        row = builtins.find(e.name)
        return row is not None and (row.pure or row.name.startswith(_READS))
    if isinstance(e, typed.Logical):
        return _computes(e.right)
    if isinstance(e, typed.Conditional):
        return _computes(e.then) and _computes(e.otherwise)
    return isinstance(e, _PURE)


_READS = ("vload", "read_image", "get_image")
_MATRIX_CALLS = (
    *(typed.MatrixMulAdd, typed.MatrixLoad, typed.MatrixFill, typed.MatrixConvert, typed.MatrixCoordinates),
    *(typed.MatrixLength, typed.MatrixMap, typed.MatrixReduce, typed.MatrixComponentWise),
)
_PURE = (
    *_MATRIX_CALLS,
    *(typed.MatrixBinary, typed.MatrixScale, typed.MatrixNegate),
    *(IntConst, FloatConst, Convert, Binary, typed.Unary, typed.PointerAdd, typed.PointerDifference),
    *(typed.VectorLiteral, typed.ExtractSwizzle, typed.VectorSelect, typed.AddressOf),
    *(typed.MatrixElementwise, typed.MatrixProduct, typed.MatrixBroadcast, typed.MatrixCast),
    *(typed.MatrixOfVector, typed.VectorOfMatrix),
)


def _callee(c: Context, e: Expr) -> str | None:
    """Return the name of the builtin that `e` calls, or None if `e` is not written as a call."""
    if not isinstance(e, (typed.BuiltinCall, *_MATRIX_CALLS)):
        return None
    call = re.match(r"(\w+)\s*\(", text_of(c, e.span))
    return call[1] if call else None


def _from_macro(c: Context, e: Expr) -> bool:
    """Return whether `e` begins or ends in a macro's expansion; such an expression is not warned about."""
    if isinstance(e, (typed.BuiltinCall, typed.MatrixComponentWise)):
        return not text_of(c, e.span).startswith(e.name)
    if isinstance(e, _MATRIX_CALLS):
        return not text_of(c, e.span).startswith(("(", "coop_mat"))
    return any(_leaf_from_macro(c, _outermost(e, names)) for names in (_FIRST, _LAST))


_FIRST = ("left", "operand", "pointer", "base", "condition")
_LAST = ("right", "operand", "index", "pointer", "base", "otherwise")


def _outermost(e: Expr, names: tuple[str, ...]) -> Expr:
    """Return the leftmost or rightmost leaf of `e`; `names` are the fields of the operands to follow."""
    while True:
        operand = next((value for value in (getattr(e, name, None) for name in names) if isinstance(value, Expr)), None)
        if operand is None:
            return e
        e = operand


def _leaf_from_macro(c: Context, e: Expr) -> bool:
    text = text_of(c, e.span)
    if isinstance(e, (IntConst, FloatConst)):
        return not (text[:1] == "'" or text.lstrip("(+-~!. ")[:1].isdigit())
    return isinstance(e, typed.VarRef) and text != e.decl.name


# --- spelling --------------------------------------------------------------------------------------


_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
# operator -> (warning, operators that are ambiguous as operands without parentheses).
_MIXED: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {
    "&": (("parentheses", _COMPARISONS),),
    "^": (("parentheses", _COMPARISONS), ("bitwise-op-parentheses", frozenset("&"))),
    "|": (("parentheses", _COMPARISONS), ("bitwise-op-parentheses", frozenset("&^"))),
    "||": (("logical-op-parentheses", frozenset({"&&"})),),
    "<<": (("shift-op-parentheses", frozenset("+-")),),
    ">>": (("shift-op-parentheses", frozenset("+-")),),
}
PRECEDENCE_CODES = ("logical-not-parentheses", *(code for rows in _MIXED.values() for code, _ in rows))
_NEGATED = _COMPARISONS | {"&", "^", "|"}


def check_precedence(c: Context, node: syntax.Binary) -> None:
    """Warn about unparenthesized operands of a binary operator whose precedence readers may misjudge."""
    op, left, right = node.op, node.left, node.right
    for code, inside in _MIXED.get(op, ()):
        for side in (left, right):
            if isinstance(side, syntax.Binary) and side.op in inside and side.span != node.span:
                message = f"'{side.op}' within '{op}' has higher precedence; parentheses would make that explicit"
                # Point at the operator that readers might expect to bind tighter.
                at, other = (node, side) if code == "parentheses" else (side, node)
                c.warn(code, message, at.op_span, notes=[Note(f"the '{other.op}'", other.op_span)])
    if isinstance(left, syntax.Unary) and left.op == "!" and op in _NEGATED and not _truth(right):
        message = f"'!' applies to the left side of '{op}' only"
        c.warn("logical-not-parentheses", message, left.span, notes=[Note(f"the '{op}'", node.op_span)])


def _truth(node: syntax.Expression) -> bool:
    """Return whether the operator of `node` yields 0 or 1, so that comparing it with a `!` expression is deliberate."""
    while isinstance(node, syntax.Paren):
        node = node.inner
    if isinstance(node, syntax.Unary):
        return node.op == "!"
    return isinstance(node, syntax.Binary) and (node.op in _COMPARISONS or node.op in ("&&", "||"))


def check_condition(c: Context, node: syntax.Expression) -> None:
    """Warn about a condition of an if or loop that is an assignment, or a comparison in two pairs of parentheses."""
    if isinstance(node, syntax.Assign) and node.op == "=":
        notes = [Note("use '==' to compare, or another pair of parentheses if the assignment is intended")]
        c.warn("parentheses", "an assignment as a condition", node.op_span, notes=notes)
    elif isinstance(node, syntax.Paren) and isinstance(node.inner, syntax.Binary) and node.inner.op == "==":
        comparison = node.inner
        name = isinstance(comparison.left, (syntax.Identifier, syntax.Subscript, syntax.Member))
        # In a macro's expansion all operands have the same span.
        if name and comparison.left.span != comparison.right.span and comparison.span != node.span:
            notes = [Note("use '=' to assign, or remove a pair of parentheses")]
            c.warn("parentheses-equality", "a comparison in two pairs of parentheses", comparison.op_span, notes=notes)


def check_if(c: Context, node: syntax.If) -> None:
    """Check one if, without the statements in its else."""
    check_condition(c, node.condition)
    if node.otherwise is None:
        _empty_body(c, node.condition.span, node.then, "if")
        nested_if = _open_if(node.then)
        if nested_if is not None and nested_if.otherwise is not None:
            message = "this else belongs to the inner 'if'; braces would make that explicit"
            c.warn("dangling-else", message, nested_if.otherwise.span, notes=[Note("the inner 'if'", nested_if.span)])


def _open_if(node: syntax.Statement) -> syntax.If | None:
    """Return the if at the end of an unbraced statement, or None."""
    while isinstance(node, (syntax.While, syntax.For, syntax.Label, syntax.Case)):
        node = node.body
    return node if isinstance(node, syntax.If) else None


def check_loop(c: Context, node: syntax.While | syntax.For, following: syntax.Node | None) -> None:
    """Warn about `for (...);` if the next statement looks like the body; a `;` on a separate line is deliberate."""
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
    # If anything else precedes the `;`, the body is a macro with an empty expansion.
    if line[: span.column - 1].rstrip().endswith(")") and line[span.column - 1 : span.column] == ";":
        between = line[head.end_column - 1 : span.column - 1]
        if not between.strip(") \t;"):
            notes = [Note("put the ';' on a separate line if an empty body is intended")]
            c.warn("empty-body", f"the body of this '{word}' is empty", span, notes=notes)
