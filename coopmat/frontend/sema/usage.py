"""Warnings about what is declared and never used, and about values that nothing takes."""

from __future__ import annotations

from .. import syntax, typed
from ..typed import Binary, Convert, Expr, FloatConst, IntConst, Load
from ..types import VoidType
from .context import Context, FunctionState
from .implicit import text_of

CODES = (
    *("unused-variable", "unused-but-set-variable", "unused-parameter", "unused-but-set-parameter"),
    *("unused-label", "unused-local-typedef"),
)
_VALUE_CODES = ("unused-value", "unused-comparison")


def has_unused(items: list[syntax.Attribute]) -> bool:
    return any(item.name.strip("_") in ("unused", "maybe_unused") for item in items)


def function(c: Context, state: FunctionState) -> None:
    """At the end of a definition: what it declares and does not use."""
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
    named = {label for label, _ in state.gotos}
    for label, span in state.labels.items():
        if label not in named:
            c.warn("unused-label", f"no goto names label '{label}'", span)
    for entity in state.typedefs:
        if entity not in c.named_types:
            c.warn("unused-local-typedef", f"typedef '{entity.name}' is never used", entity.span)
    for decl in (*state.locals, *state.decl.parameters):
        references.pop(decl, None)  # what is over need not stay in memory
        only_set.pop(decl, None)


def functions(c: Context) -> None:
    """At the end of the unit: static functions that nothing calls."""
    called = {function for calls in c.calls.values() for function in calls}
    for decl in c.unit.functions:
        if decl.internal and not decl.is_kernel and decl not in called and decl not in c.excused:
            c.warn("unused-function", f"nothing calls the static function '{decl.name}'", decl.span)


# --- values --------------------------------------------------------------------------------------


def discarded(c: Context, e: Expr) -> None:
    """An expression whose value its statement, or a comma, drops."""
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
    if isinstance(e, Binary) and e.op in ("eq", "ne", "lt", "le", "gt", "ge"):
        c.warn("unused-comparison", "the result of a comparison is dropped", e.span)
    else:
        c.warn("unused-value", "a value is computed and dropped", e.span)


def _computes(e: Expr) -> bool:
    """Whether an expression as a whole only computes; calls and stores within its operands do not count."""
    if isinstance(e.type, VoidType):
        return False
    if isinstance(e, Load):
        return not e.operand.place.volatile
    if isinstance(e, typed.Logical):
        return _computes(e.right)
    if isinstance(e, typed.Conditional):
        return _computes(e.then) and _computes(e.otherwise)
    return isinstance(e, _PURE)


_PURE = (
    *(IntConst, FloatConst, Convert, Binary, typed.Unary, typed.PointerAdd, typed.PointerDifference),
    *(typed.VectorLiteral, typed.ExtractSwizzle, typed.VectorSelect, typed.AddressOf, typed.MatrixLength),
    *(typed.MatrixElementwise, typed.MatrixProduct, typed.MatrixBroadcast, typed.MatrixCast),
    *(typed.MatrixOfVector, typed.VectorOfMatrix),
)


def _from_macro(c: Context, e: Expr) -> bool:
    """Whether the expression begins or ends in a macro's expansion: what macros come to is for their author to say."""
    return any(_leaf_from_macro(c, _outermost(e, names)) for names in (_FIRST, _LAST))


_FIRST = ("left", "operand", "pointer", "base", "condition")
_LAST = ("right", "operand", "index", "pointer", "base", "otherwise")


def _outermost(e: Expr, names: tuple[str, ...]) -> Expr:
    """The operand that stands first or last, down to one without operands."""
    while True:
        inner = next((value for value in (getattr(e, name, None) for name in names) if isinstance(value, Expr)), None)
        if inner is None:
            return e
        e = inner


def _leaf_from_macro(c: Context, e: Expr) -> bool:
    text = text_of(c, e.span)
    if isinstance(e, (IntConst, FloatConst)):
        return not (text[:1] == "'" or text.lstrip("(+-~!. ")[:1].isdigit())
    return isinstance(e, typed.VarRef) and text != e.decl.name
