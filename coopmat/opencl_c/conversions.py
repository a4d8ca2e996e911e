"""Conversions, and which of them C makes by itself, so that they need not be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..frontend import typed
from ..frontend.sema.values import common_scalar
from ..frontend.typed import ConvertKind
from ..frontend.types import (
    BOOL,
    INT,
    ScalarType,
    Type,
    VectorType,
    integer_type,
    is_bits,
    with_count,
)
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
# A constant sampler's bits, by OpenCL's names: what the bits themselves are is the device's business.
_COORDINATES = ("CLK_NORMALIZED_COORDS_FALSE", "CLK_NORMALIZED_COORDS_TRUE")
_ADDRESSING = {0: "NONE", 2: "CLAMP_TO_EDGE", 4: "CLAMP", 6: "REPEAT", 8: "MIRRORED_REPEAT"}


def convert(c: Context, e: typed.Convert) -> Text:
    """A conversion written out."""
    return _KINDS[e.kind](c, e)


def bare(e: typed.Expr) -> typed.Expr:
    """The scalar before a conversion that an operator or an assignment might make by itself."""
    if isinstance(e, typed.Convert) and e.kind in _NUMERIC:
        inner = e.operand
        if isinstance(inner.type, ScalarType) and not is_bits(inner.type) and not is_bits(e.type):
            return inner
    return bare_constant(e)


def bare_constant(e: typed.Expr) -> typed.Expr:
    """A constant as an int, where that can hold it; any other expression as it is."""
    if isinstance(e, typed.IntConst) and 0 <= e.value < 1 << 31 and e.type is not BOOL:
        return typed.IntConst(e.span, INT, e.value)
    return e


def operands(left: typed.Expr, right: typed.Expr) -> tuple[typed.Expr, typed.Expr]:
    """Return both sides of an operator whose operands have one type, without the conversions that C applies
    implicitly."""
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
    """The operand of a unary operator or the left one of a shift, without the integer promotion."""
    inner = bare(e)
    return inner if isinstance(inner.type, ScalarType) and _common(inner.type, INT) == e.type else e


def amount(e: typed.Expr) -> typed.Expr:
    """The right operand of a shift: only its low bits count, so that its type does not matter."""
    if isinstance(e.type, VectorType):
        return _splat(e) or e
    inner = bare(e)
    return inner if isinstance(inner.type, ScalarType) and inner.type.is_integer else e


def _splat(e: typed.Expr) -> typed.Expr | None:
    """The scalar that becomes a vector, which C does beside another vector, too."""
    return e.operand if isinstance(e, typed.Convert) and e.kind is ConvertKind.SPLAT else None


def assigned(e: typed.Expr) -> typed.Expr:
    """A value without the last conversion, where it goes to an object of its type."""
    return bare(e) if isinstance(e.type, ScalarType) and not e.type.is_bits else e


# --- kinds -----------------------------------------------------------------------------------------


def _numeric(c: Context, e: typed.Convert) -> Text:
    target = e.type
    if isinstance(target, VectorType):
        return _vector(c, e.operand, target)
    if isinstance(target, ScalarType) and target is not BOOL:
        inner = bare(e.operand)
        # (char)(int)x of a short x, say: the low bits are the same.
        if _keeps_low_bits(inner.type, e.operand.type, target):
            return cast(type_name(c.program, target), c.value(inner))
    return cast(type_name(c.program, target), c.value(e.operand))


def _keeps_low_bits(inner: Type, middle: Type, target: Type) -> bool:
    if not (isinstance(inner, ScalarType) and isinstance(middle, ScalarType) and isinstance(target, ScalarType)):
        return False
    integers = all(t.is_integer and t is not BOOL for t in (inner, middle, target))
    return integers and target.bits <= middle.bits and inner != middle and target.bits <= inner.bits


def _vector(c: Context, operand: typed.Expr, target: VectorType) -> Text:
    """Convert a vector, between integers of different signs in two steps, since convert_uintN of negative numbers is
    implementation-defined."""
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
    """Reinterpret the bits of a value; the value itself where its type is represented by its bits."""
    source, target = map(c.program.held, (e.operand.type, e.type))
    value = c.value(e.operand)
    type_name(c.program, target)
    return value if source == target else call(f"as_{target}", value)


def _decay(c: Context, e: typed.Convert) -> Text:
    assert isinstance(e.operand, typed.LValue)
    return c.place(e.operand)


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
        # A product with it becomes a negation.
        return Text(c.opaque(e.type, text))
    return constant(text)
