"""Output of conversions; those that C applies implicitly are omitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..frontend import typed
from ..frontend.nodes import copied
from ..frontend.sema.values import common_scalar
from ..frontend.typed import ConvertKind
from ..frontend.types import (
    BOOL,
    INT,
    ArrayType,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    contained,
    integer_type,
    is_bits,
    with_count,
)
from ..passes.storage import address_of
from . import literals
from .declarations import type_name
from .text import Binds, Text, call, cast, constant

if TYPE_CHECKING:
    from .context import Context

_NUMERIC = (
    ConvertKind.INT_TO_INT,
    ConvertKind.INT_TO_FLOAT,
    ConvertKind.FLOAT_TO_INT,
    ConvertKind.FLOAT_TO_FLOAT,
)
# The flags of a constant sampler as OpenCL's names: devices define the values themselves.
_COORDINATES = ("CLK_NORMALIZED_COORDS_FALSE", "CLK_NORMALIZED_COORDS_TRUE")
_ADDRESSING = {0: "NONE", 2: "CLAMP_TO_EDGE", 4: "CLAMP", 6: "REPEAT", 8: "MIRRORED_REPEAT"}


def convert(c: Context, e: typed.Convert) -> Text:
    """Write a conversion explicitly."""
    return _KINDS[e.kind](c, e)


def bare(e: typed.Expr) -> typed.Expr:
    """Strip a numeric conversion between scalars, which an operator or assignment may apply implicitly.

    A constant becomes an int constant, as in `bare_constant`.
    """
    if isinstance(e, typed.Convert) and e.kind in _NUMERIC:
        inner = e.operand
        if isinstance(inner.type, ScalarType) and not is_bits(inner.type) and not is_bits(e.type):
            return inner
    return bare_constant(e)


def bare_constant(e: typed.Expr) -> typed.Expr:
    """Return a nonnegative integer constant as an int constant if int can represent it; else `e` itself."""
    if isinstance(e, typed.IntConst) and 0 <= e.value < 1 << 31 and e.type is not BOOL:
        return typed.IntConst(e.span, INT, e.value)
    return e


def operands(left: typed.Expr, right: typed.Expr) -> tuple[typed.Expr, typed.Expr]:
    """Return the operands of an operator without the conversions that C applies implicitly.

    `left` and `right` have the same type.
    """
    t = left.type
    if isinstance(t, VectorType):
        if isinstance(left, typed.Convert) and isinstance(right, typed.Convert) and _splat(left) and _splat(right):
            return left, right
        return _splat(left) or left, _splat(right) or right
    if not isinstance(t, ScalarType):
        return left, right
    for a, b in ((bare(left), bare(right)), (bare(left), right), (left, bare(right))):
        if isinstance(a.type, ScalarType) and isinstance(b.type, ScalarType) and _common(a.type, b.type) == t:
            return a, b
    return left, right


def _common(a: ScalarType, b: ScalarType) -> ScalarType | None:
    return None if a.is_bits or b.is_bits else common_scalar(a, b)


def promoted(e: typed.Expr) -> typed.Expr:
    """Return the operand of a unary operator or the left operand of a shift without the integer promotion."""
    inner = bare(e)
    return inner if isinstance(inner.type, ScalarType) and _common(inner.type, INT) == e.type else e


def amount(e: typed.Expr) -> typed.Expr:
    """Return the right operand of a shift without conversions: only its low bits are significant."""
    if isinstance(e.type, VectorType):
        return _splat(e) or e
    inner = bare(e)
    return inner if isinstance(inner.type, ScalarType) and inner.type.is_integer else e


def _splat(e: typed.Expr) -> typed.Expr | None:
    """Return the scalar operand of a splat, which C converts implicitly beside another vector; None otherwise."""
    return e.operand if isinstance(e, typed.Convert) and e.kind is ConvertKind.SPLAT else None


def assigned(e: typed.Expr) -> typed.Expr:
    """Return a value to assign without its last conversion, which the assignment applies implicitly."""
    return bare(e) if isinstance(e.type, ScalarType) and not e.type.is_bits else e


def with_object(c: Context, e: typed.LValue) -> typed.LValue:
    """Return an lvalue whose address is taken, with a temporary instead of the compound literal that it is a part of.

    Clang does not know the address space of a compound literal, and a value of a call has none. Temporaries cannot
    replace arrays and records with const members, which are not assignable.
    """
    if isinstance(e, (typed.Member, typed.Index)):
        base = with_object(c, e.base)
        return e if base is e.base else copied(e, base=base)
    if c.decl is None or not isinstance(e, typed.CompoundLiteral) or not _is_assignable(e.type):
        return e
    temporary = c.temporary(e.type, e.span)
    stored = typed.Assign(e.span, e.type, temporary, e.initializer)
    pointer = address_of(temporary)
    return typed.Deref(e.span, e.type, e.place, typed.Comma(e.span, pointer.type, stored, pointer))


def _is_assignable(t: Type) -> bool:
    """Return whether an object of type `t` that is not const is assignable."""
    fields = [f for part in contained(t) if isinstance(part, RecordType) for f in part.fields or ()]
    return not isinstance(t, ArrayType) and not any(f.qualifiers.const for f in fields)


# --- kinds -----------------------------------------------------------------------------------------


def _numeric(c: Context, e: typed.Convert) -> Text:
    target = e.type
    if isinstance(target, VectorType):
        return _vector(c, e.operand, target)
    if isinstance(target, ScalarType) and target is not BOOL:
        inner = bare(e.operand)
        # For example, (char)(int)x of a short x is (char)x: the low bits are the same.
        if _keeps_low_bits(inner.type, e.operand.type, target):
            return cast(type_name(c.program, target), c.value(inner))
    return cast(type_name(c.program, target), c.value(e.operand))


def _keeps_low_bits(inner: Type, middle: Type, target: Type) -> bool:
    if not (isinstance(inner, ScalarType) and isinstance(middle, ScalarType) and isinstance(target, ScalarType)):
        return False
    integers = all(t.is_integer and t is not BOOL for t in (inner, middle, target))
    return integers and target.bits <= middle.bits and inner != middle and target.bits <= inner.bits


def _vector(c: Context, operand: typed.Expr, target: VectorType) -> Text:
    """Convert a vector; between integers of different signedness, in two steps.

    convert_uintN of negative numbers is implementation-defined.
    """
    source = operand.type
    value = c.value(operand)
    assert isinstance(source, VectorType)
    a, b = source.element, target.element
    if a.is_integer and b.is_integer and a.signed != b.signed:
        middle = with_count(integer_type(b.bits, a.signed), target.count)
        if a.bits != b.bits:
            value = call(f"convert_{middle}", value)
        return call(f"as_{target}", value)
    type_name(c.program, target)
    return call(f"convert_{target}", value)


def _to_bool(c: Context, e: typed.Convert) -> Text:
    return cast("bool", c.value(e.operand))


def _splatted(c: Context, e: typed.Convert) -> Text:
    return Text(f"({type_name(c.program, e.type)})({c.value(e.operand).text})", Binds.PREFIX)


def _bits(c: Context, e: typed.Convert) -> Text:
    """Reinterpret the bits of a value; if both types have the same representation, write the value only."""
    source, target = map(c.program.held, (e.operand.type, e.type))
    value = c.value(e.operand)
    type_name(c.program, target)
    return value if source == target else call(f"as_{target}", value)


def _decay(c: Context, e: typed.Convert) -> Text:
    assert isinstance(e.operand, typed.LValue)
    return c.place(with_object(c, e.operand))


def _cast(c: Context, e: typed.Convert) -> Text:
    return cast(type_name(c.program, e.type), c.value(e.operand))


def _sampler(c: Context, e: typed.Convert) -> Text:
    assert isinstance(e.operand, typed.IntConst)
    bits = e.operand.value
    words = [_COORDINATES[bits & 1], f"CLK_ADDRESS_{_ADDRESSING[bits & 0x0E]}"]
    words.append("CLK_FILTER_LINEAR" if bits & 0x20 else "CLK_FILTER_NEAREST")
    return Text(" | ".join(words), Binds.OR)


_KINDS: dict[ConvertKind, Callable[[Context, typed.Convert], Text]] = {
    **dict.fromkeys(_NUMERIC, _numeric),
    ConvertKind.TO_BOOL: _to_bool,
    ConvertKind.SPLAT: _splatted,
    ConvertKind.BITCAST: _bits,
    ConvertKind.DECAY: _decay,
    **dict.fromkeys(
        (ConvertKind.POINTER, ConvertKind.ADDRESS_SPACE, ConvertKind.POINTER_TO_INT, ConvertKind.INT_TO_POINTER), _cast
    ),
    ConvertKind.SAMPLER: _sampler,
}


def integer(c: Context, e: typed.IntConst) -> Text:
    assert isinstance(e.type, ScalarType)
    return constant(literals.integer(e.value, e.type))


def floating(c: Context, e: typed.FloatConst) -> Text:
    assert isinstance(e.type, ScalarType)
    type_name(c.program, e.type)
    text = literals.floating(e.value, e.type, c.program.held(e.type))
    if c.hides_negations and c.program.held(e.type) == e.type and (e.value == -1 or str(e.value) == "-0.0"):
        # The compiler would turn a product with this constant into a negation.
        return Text(c.opaque(e.type, text))
    return constant(text)
