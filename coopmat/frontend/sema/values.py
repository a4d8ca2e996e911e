"""Values: of lvalues, by the arithmetic conversions, and of operators on constants (OpenCL C 3.0, section 6.2)."""

from __future__ import annotations

from dataclasses import replace

from ...diagnostics import Span
from .. import syntax
from ..typed import Binary, Convert, ConvertKind, Expr, FloatConst, IntConst, Load, LValue, VarRef
from ..types import (
    BOOL,
    FLOAT,
    INT,
    AddressSpace,
    ArrayType,
    AtomicType,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    VectorType,
    element_type,
    integer_type,
    is_bits,
)
from .constants import fold_binary, fold_convert
from .context import Context


def rvalue(e: Expr) -> Expr:
    """The value of an lvalue (arrays decay to pointers); any other expression as it is."""
    if not isinstance(e, LValue):
        return e
    if isinstance(e.type, ArrayType):
        pointer = PointerType(e.type.element, Qualifiers(e.place.space, e.place.const, e.place.volatile))
        return Convert(e.span, pointer, ConvertKind.DECAY, e)
    return _constant_object(e) or Load(e.span, e.type, e)


def _constant_object(e: LValue) -> Expr | None:
    """The value of a const scalar variable that has a constant one: the variable cannot have any other."""
    constant = e.place.const or e.place.space is AddressSpace.CONSTANT
    if not isinstance(e, VarRef) or not constant or e.place.volatile or isinstance(e.type, AtomicType):
        return None
    value = e.decl.initializer
    return replace(value, span=e.span) if isinstance(value, (IntConst, FloatConst)) else None


def scalar_kind(source: ScalarType, target: ScalarType) -> ConvertKind:
    if target is BOOL:
        return ConvertKind.TO_BOOL
    if source.is_integer:
        return ConvertKind.INT_TO_INT if target.is_integer else ConvertKind.INT_TO_FLOAT
    return ConvertKind.FLOAT_TO_INT if target.is_integer else ConvertKind.FLOAT_TO_FLOAT


def kind_between(source: Type, target: Type) -> ConvertKind | None:
    """The kind that converts between two arithmetic types of equal shape; None where they are equal."""
    a, b = element_type(source), element_type(target)
    if a == b:
        return None
    assert isinstance(a, ScalarType) and isinstance(b, ScalarType)
    return scalar_kind(a, b)


def convert_arithmetic(e: Expr, target: ScalarType | VectorType, span: Span | None = None) -> Expr:
    """Scalar to scalar, scalar to vector (splat), vector to vector of the same count."""
    span = span or e.span
    if e.type == target:
        return e
    if target is BOOL and is_bits(e.type):
        e = convert_arithmetic(e, FLOAT, span)
    if isinstance(target, VectorType) and not isinstance(e.type, VectorType):
        return Convert(span, target, ConvertKind.SPLAT, convert_arithmetic(e, target.element, span))
    kind = kind_between(e.type, target)
    assert kind is not None
    if isinstance(target, ScalarType):
        folded = fold_convert(span, e, target)
        if folded is not None:
            return folded
    return Convert(span, target, kind, e)


def promote(e: Expr) -> Expr:
    """Integer promotion of scalars, and what is a format of storage, as bfloat16, as a float; vectors never change."""
    if is_bits(e.type):
        return convert_arithmetic(e, FLOAT)
    if isinstance(e.type, ScalarType) and e.type.is_integer and e.type.rank < INT.rank:
        return convert_arithmetic(e, INT)
    return e


def common_scalar(a: ScalarType, b: ScalarType) -> ScalarType:
    """The usual arithmetic conversions (C11 6.3.1.8); a format of storage counts as a float."""
    a, b = (FLOAT if t.is_bits else t for t in (a, b))
    if a.is_float or b.is_float:
        if a.is_float and b.is_float:
            return a if a.rank >= b.rank else b
        return a if a.is_float else b
    a = INT if a.rank < INT.rank else a
    b = INT if b.rank < INT.rank else b
    if a.rank != b.rank:
        return a if a.rank > b.rank else b
    return a if not a.signed else b


def can_splat(e: Expr, element: ScalarType) -> bool:
    """Whether scalar `e` may be widened to a vector of `element`: an error where its rank is greater (6.4.6)."""
    t = e.type
    if not isinstance(t, ScalarType):
        return False
    if t.is_integer and element.is_float:
        return True
    if t.is_float and element.is_integer:
        return False
    return t.rank <= element.rank


def make_binary(span: Span, op: str, left: Expr, right: Expr) -> Expr:
    """An arithmetic or comparison node on operands of equal types, folded where both are constants."""
    compare = op in ("eq", "ne", "lt", "le", "gt", "ge", "land", "lor")
    result = comparison_type(left.type) if compare else left.type
    folded = fold_binary(span, op, left, right, result)
    return folded if folded is not None else Binary(span, result, op, left, right)


def comparison_type(t: Type) -> Type:
    """int for scalars; for vectors the signed integer vector of the same width."""
    if isinstance(t, VectorType):
        return VectorType(integer_type(t.element.bits, True), t.count)
    return INT


def integer_constant(c: Context, e: syntax.Expression, what: str) -> int:
    """The value of an expression that must be one; `what` begins the message where it is not."""
    value = rvalue(c.analyse(e))
    if not isinstance(value, IntConst):
        c.fail("not-constant", f"{what} must be an integer constant expression", e.span)
    return value.value
