"""The multiply-add: uses, shapes and component types of its operands, and the operand mask."""

from __future__ import annotations

from ....diagnostics import FixIt, Label, Note
from ....matrices.variants import may_multiply
from ... import syntax, typed
from ...builtins.matrix import MatrixBuiltin
from ...matrix_terms import matrix_type
from ...typed import Expr
from ...types import CoopMatrixType, MatrixUse, ScalarType, Type
from ..context import Context
from ..hints import declared_here, spelled
from .arguments import matrix_argument
from .types import enumerator

_A_SIGNED, _B_SIGNED, _C_SIGNED, _RESULT_SIGNED, _SATURATING = 1, 2, 4, 8, 16
_SIGNS = {_A_SIGNED: "MATRIX_A", _B_SIGNED: "MATRIX_B", _C_SIGNED: "MATRIX_C", _RESULT_SIGNED: "MATRIX_RESULT"}
_MASK = 31


def multiply_add(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    # The accumulator is of the result's type.
    operands = zip(node.arguments[:3], (None, None, expected), strict=True)
    values = a, b, acc = c.each(operands, lambda operand: matrix_argument(c, *operand))
    ta, tb, tc = (_matrix(value) for value in values)
    _check_uses(c, values)
    _check_shapes(c, a, b, acc)
    components = (ta.component, tb.component, tc.component)
    if not may_multiply(*(matrix_type(t).component for t in (ta, tb, tc))):
        given = "', '".join(map(str, components[:2])) + f"' and '{components[2]}"
        message = f"components must be all integers or all floating point, not '{given}'"
        notes = [note for value in values for note in declared_here(value)]
        labels = [Label(value.span) for value in values]
        c.fail("coop-mat-component-class", message, node.span, labels=labels, notes=notes)
    mask = _derived(*components)
    if len(node.arguments) == 4:
        mask = _given(c, node.arguments[3], mask, tc.component)
    return typed.MatrixMulAdd(node.span, acc.type, a, b, acc, mask)


def _matrix(e: Expr) -> CoopMatrixType:
    assert isinstance(e.type, CoopMatrixType)
    return e.type


def _check_uses(c: Context, values: list[Expr]) -> None:
    wrong = [(value, use) for value, use in zip(values, MatrixUse, strict=True) if _matrix(value).use is not use]
    for value, use in wrong:
        words = f"operand {use.value + 1} must have use {use.name.lower()}"
        fixits = _exchanged(c, values) if use is MatrixUse.A and len(wrong) == 2 else []
        message = f"{words}, but its type is '{value.type}'"
        c.error("coop-mat-wrong-use", message, value.span, notes=declared_here(value), fixits=fixits)
    if wrong:
        c.abandon()


def _exchanged(c: Context, values: list[Expr]) -> list[FixIt]:
    """A and B the other way round, where they stand in each other's place."""
    a, b = values[:2]
    texts = spelled(c, a.span), spelled(c, b.span)
    if (_matrix(a).use, _matrix(b).use) != (MatrixUse.B, MatrixUse.A) or texts[0] is None or texts[1] is None:
        return []
    return [FixIt(a.span, texts[1]), FixIt(b.span, texts[0])]


def _check_shapes(c: Context, a: Expr, b: Expr, acc: Expr) -> None:
    ta, tb, tc = _matrix(a), _matrix(b), _matrix(acc)
    checks = (
        (ta.columns == tb.rows, "columns of A", ta.columns, "rows of B", tb.rows, a, b),
        (ta.rows == tc.rows, "rows of A", ta.rows, "rows of the accumulator", tc.rows, a, acc),
        (tb.columns == tc.columns, "columns of B", tb.columns, "columns of the accumulator", tc.columns, b, acc),
    )
    for fits, first, m, second, n, left, right in checks:
        if not fits:
            message = f"shapes do not fit: {m} {first}, {n} {second}"
            notes = [Note("A is M x K, B is K x N, the accumulator M x N"), *declared_here(left), *declared_here(right)]
            labels = [Label(left.span, f"this is '{left.type}'")]
            c.fail("coop-mat-shapes", message, right.span, labels=labels, notes=notes)


def _derived(a: ScalarType, b: ScalarType, acc: ScalarType) -> int:
    """The signed bits as the component types have it; none on floating point."""
    if a.is_float:
        return 0
    signs = ((a, _A_SIGNED), (b, _B_SIGNED), (acc, _C_SIGNED | _RESULT_SIGNED))
    return sum(bits for t, bits in signs if t.signed)


def _given(c: Context, e: syntax.Expression, derived: int, component: ScalarType) -> int:
    """The mask as it is written: as given, with a warning where the component types say something else."""
    value = enumerator(c, e)
    if value is None or not 0 <= value <= _MASK:
        c.fail(
            "coop-mat-operands",
            "the operands must be an integer constant expression made of the operand enumerators",
            e.span,
            notes=[Note("join enumerators CLK_COOPERATIVE_MATRIX_OPERAND_... by |")],
        )
    if component.is_float:
        if value & _SATURATING:
            c.warn("coop-mat-operands-sign", "floating-point components do not saturate", e.span)
        elif value:
            c.warn("coop-mat-operands-sign", "the operand bits say nothing about floating-point components", e.span)
        return value
    if (value & ~_SATURATING) != derived:
        message = f"the operand bits contradict the component types, which say {_names(derived)}"
        c.warn("coop-mat-operands-sign", message, e.span)
    return value


def _names(mask: int) -> str:
    return " | ".join(f"{name}_SIGNED" for bit, name in _SIGNS.items() if mask & bit) or "none"
