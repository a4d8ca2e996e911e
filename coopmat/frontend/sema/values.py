"""Values: of lvalues, after arithmetic conversions, and of operators on constants (OpenCL C 3.0, section 6.2).

Constants are folded when a typed node is made, exactly as the device would compute them. So an integer constant
expression is simply an IntConst. An operation with an undefined result is not folded.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ...diagnostics import Span
from .. import syntax
from ..matrix_terms import COMPONENTS
from ..typed import (
    Binary,
    Convert,
    ConvertKind,
    Expr,
    FloatConst,
    IntConst,
    Load,
    LValue,
    Unary,
    VarRef,
    VectorLiteral,
    Zero,
)
from ..types import (
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    PLAIN,
    AddressSpace,
    ArrayType,
    AtomicType,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    element_type,
    integer_type,
    is_bits,
)
from .context import Context


def rvalue(e: Expr) -> Expr:
    """Return the value of an lvalue (arrays decay to pointers), or any other expression unchanged."""
    if not isinstance(e, LValue):
        return e
    if isinstance(e.type, ArrayType):
        pointer = PointerType(e.type.element, Qualifiers(e.place.space, e.place.const, e.place.volatile))
        return Convert(e.span, pointer, ConvertKind.DECAY, e)
    return _constant_object(e) or Load(e.span, e.type, e)


def _constant_object(e: LValue) -> Expr | None:
    """Return the value of a non-volatile constant scalar variable with a constant initializer, else None."""
    if not isinstance(e, VarRef):
        return None
    constant = e.place.const or e.place.space is AddressSpace.CONSTANT
    if not constant or e.place.volatile or isinstance(e.type, AtomicType):
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
    """Return the kind of a conversion between two arithmetic types of equal shape, or None if they are equal."""
    a, b = element_type(source), element_type(target)
    if a is b:
        return None
    assert isinstance(a, ScalarType) and isinstance(b, ScalarType)
    return scalar_kind(a, b)


def convert_arithmetic(e: Expr, target: ScalarType | VectorType, span: Span | None = None) -> Expr:
    """Convert scalar to scalar, scalar to vector (splat), or vector to vector of the same count."""
    if e.type is target or e.type == target:
        return e
    span = span or e.span
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
    """Promote integer scalars to int and small floats, such as bfloat16, to float; vectors are unchanged."""
    if is_bits(e.type):
        return convert_arithmetic(e, FLOAT)
    if isinstance(e.type, ScalarType) and e.type.is_integer and e.type.rank < INT.rank:
        return convert_arithmetic(e, INT)
    return e


def common_scalar(a: ScalarType, b: ScalarType) -> ScalarType:
    """Return the common type of the usual arithmetic conversions (C11 6.3.1.8); small floats count as float."""
    if a is b and a.rank >= INT.rank and not a.is_bits:
        return a
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
    """Return whether scalar `e` may be splat to a vector of `element`: its rank must not be greater (6.4.6)."""
    t = e.type
    if not isinstance(t, ScalarType):
        return False
    if t.is_integer and element.is_float:
        return True
    if t.is_float and element.is_integer:
        return False
    return t.rank <= element.rank


def make_binary(span: Span, op: str, left: Expr, right: Expr) -> Expr:
    """Return an arithmetic or comparison node on operands of equal types, folded if both are constants."""
    compare = op in ("eq", "ne", "lt", "le", "gt", "ge", "land", "lor")
    result = comparison_type(left.type) if compare else left.type
    folded = fold_binary(span, op, left, right, result)
    return folded if folded is not None else Binary(span, result, op, left, right)


def comparison_type(t: Type) -> Type:
    """Return the type of a comparison: int; for vectors, the signed integer vector of the same width."""
    if isinstance(t, VectorType):
        return VectorType(integer_type(t.element.bits, True), t.count)
    return INT


def integer_constant(c: Context, e: syntax.Expression, what: str) -> int:
    """Return the value of an integer constant expression; for any other expression, report an error about `what`."""
    value = rvalue(c.analyse(e))
    if not isinstance(value, IntConst):
        c.fail("not-constant", f"{what} must be an integer constant expression", e.span)
    return value.value


# --- constants -------------------------------------------------------------------------------------


def wrap(value: int, t: ScalarType) -> int:
    """Return `value` modulo 2^bits, in the range of `t`; for bool, whether it is not zero."""
    if t is BOOL:
        return int(value != 0)
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.signed and value >> (t.bits - 1) else value


def round_to(value: float, t: ScalarType) -> float:
    """Return `value` rounded to nearest even in the format of `t`; beyond its range, an infinity or NaN."""
    row = COMPONENTS[t.name]
    if row.is_integer:
        return 0.0 if math.isnan(value) else float(math.trunc(min(max(value, row.least), row.largest)))
    if not row.nans and not math.isfinite(value):
        return -0.0 if math.isnan(value) else math.copysign(row.largest, value)
    if math.isinf(value) and not row.infinities:
        return math.copysign(math.nan, value)
    if t is DOUBLE or math.isnan(value) or math.isinf(value):
        return value
    if t.is_bits:
        return math.copysign(round_ratio(*value.as_integer_ratio(), t), value)
    code = "<f" if t is FLOAT else "<e"
    try:
        return float(struct.unpack(code, struct.pack(code, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def round_ratio(numerator: int, denominator: int, t: ScalarType) -> float:
    """Return a ratio rounded once, to nearest even, to the format of `t`, which is not double."""
    row = COMPONENTS[t.name]
    if numerator == 0 or row.is_integer:
        return round_to(numerator / denominator, t) if numerator else 0.0
    magnitude = abs(numerator)
    exponent = magnitude.bit_length() - denominator.bit_length()
    if magnitude << max(-exponent, 0) < denominator << max(exponent, 0):
        exponent -= 1
    unit = max(exponent, 1 - row.bias) - row.mantissa
    divisor = denominator << max(unit, 0)
    steps, rest = divmod(magnitude << max(-unit, 0), divisor)
    steps += 2 * rest > divisor or (2 * rest == divisor and steps & 1)
    # This is exact: a double has room for the digits and exponents of all other formats.
    value = math.ldexp(steps, unit) if exponent < 1000 else math.inf
    if value > row.largest:
        value = math.inf if row.infinities else math.nan if row.nans else row.largest
    return math.copysign(value, -1 if numerator < 0 else 1)


def integer(span: Span, t: ScalarType, value: int) -> IntConst:
    return IntConst(span, t, wrap(value, t))


def floating(span: Span, t: ScalarType, value: float) -> FloatConst:
    return FloatConst(span, t, round_to(value, t))


def constant_value(e: Expr) -> int | float | None:
    """Return the value of a scalar constant, or None for any other expression."""
    if isinstance(e, (IntConst, FloatConst)):
        return e.value
    return 0 if isinstance(e, Zero) and isinstance(e.type, ScalarType) else None


_GENERIC = Qualifiers(AddressSpace.GENERIC)


def is_null_pointer(e: Expr) -> bool:
    """Return whether an expression is a null pointer constant: an integer 0, or that cast to `void *` (C11 6.3.2.3)."""
    if isinstance(e, Zero) and isinstance(e.type, PointerType):
        return isinstance(e.type.pointee, VoidType) and e.type.qualifiers in (PLAIN, _GENERIC)
    return isinstance(e, IntConst) and e.value == 0


def fold_convert(span: Span, e: Expr, to: ScalarType) -> Expr | None:
    value = constant_value(e)
    if value is None or not (to.signed or to.is_integer):
        return None
    if to.is_float:
        if isinstance(value, int) and to is not DOUBLE:
            return FloatConst(span, to, round_ratio(value, 1, to))
        return floating(span, to, float(value))
    if to is BOOL:
        return integer(span, to, int(value != 0))
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        whole = math.trunc(value)
        return integer(span, to, whole) if wrap(whole, to) == whole else None
    return integer(span, to, value)


_FLOAT_CODES = {HALF: "e", FLOAT: "f", DOUBLE: "d"}
_QUIET_NAN = {HALF: 0x7E00, FLOAT: 0x7FC00000, DOUBLE: 0x7FF8000000000000}


def fold_bits(span: Span, e: Expr, to: ScalarType) -> Expr | None:
    """Return the constant with the bits of `e`, a scalar of the same size, or None if `e` is not constant.

    A FloatConst can represent only the quiet NaN without payload; for any other NaN, return None.
    """
    value, t = constant_value(e), e.type
    if value is None or not isinstance(t, ScalarType) or t.is_bits or to.is_bits or BOOL in (t, to):
        return None
    if isinstance(value, float):
        packed = struct.pack("<" + _FLOAT_CODES[t], value)
        bits = _QUIET_NAN[t] if math.isnan(value) else int.from_bytes(packed, "little")
    else:
        bits = value & ((1 << t.bits) - 1)
    if to.is_integer:
        return integer(span, to, bits)
    code = "<" + _FLOAT_CODES[to]
    result = float(struct.unpack(code, bits.to_bytes(to.bits // 8, "little"))[0])
    return None if math.isnan(result) and bits != _QUIET_NAN[to] else FloatConst(span, to, result)


def fold_unary(span: Span, op: str, e: Expr) -> Expr | None:
    value = constant_value(e)
    t = e.type
    if value is None or not isinstance(t, ScalarType):
        return None
    if op == "lnot":
        return integer(span, INT, int(value == 0))
    if isinstance(value, float):
        return floating(span, t, -value) if op == "neg" else None
    return integer(span, t, -value if op == "neg" else ~value)


_FLOAT: dict[str, Callable[[Any, Any], Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_INTEGER = {**_FLOAT, "and": operator.and_, "or": operator.or_, "xor": operator.xor}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


def fold_logical(span: Span, op: str, left: Expr, right: Expr) -> Expr | None:
    """Fold `land` and `lor` of scalars; if the left operand decides, the right one need not be constant."""
    a, b = constant_value(left), constant_value(right)
    if a is None:
        return None
    if bool(a) is (op == "lor"):
        return integer(span, INT, int(op == "lor"))
    return None if b is None else integer(span, INT, int(b != 0))


def fold_binary(span: Span, op: str, left: Expr, right: Expr, result: Type) -> Expr | None:
    a, b = constant_value(left), constant_value(right)
    t = left.type
    if a is None or b is None or not isinstance(t, ScalarType) or not isinstance(result, ScalarType):
        return None
    if op in _COMPARE:
        return integer(span, INT, int(_COMPARE[op](a, b)))
    if isinstance(a, float) or isinstance(b, float):
        return _fold_float(span, op, float(a), float(b), result)
    return _fold_integer(span, op, a, b, result)


def vector_components(e: Expr) -> list[Expr] | None:
    """Return the scalar constants of a vector expression, or None if it is not constant."""
    if not isinstance(e.type, VectorType):
        return [e] if constant_value(e) is not None else None
    if isinstance(e, Zero):
        return [Zero(e.span, e.type.element)] * e.type.count
    if isinstance(e, VectorLiteral):
        parts = [vector_components(item) for item in e.items]
        return None if None in parts else [x for part in parts for x in part or ()]
    operands = _OPERANDS_OF_VECTORS.get(type(e), lambda _: None)(e)
    if operands is None:
        return None
    constants = [vector_components(operand) for operand in operands]
    if None in constants:
        return None
    columns = [column or [] for column in constants]
    results = [_fold_component(e, list(row)) for row in _rows(columns, e.type.count)]
    return None if None in results else [x for x in results if x is not None]


def _operands_of_convert(e: Expr) -> list[Expr] | None:
    assert isinstance(e, Convert)
    kinds = (ConvertKind.SPLAT, ConvertKind.INT_TO_INT, ConvertKind.INT_TO_FLOAT, ConvertKind.FLOAT_TO_INT)
    return [e.operand] if e.kind in (*kinds, ConvertKind.FLOAT_TO_FLOAT) else None


_OPERANDS_OF_VECTORS: dict[type, Callable[[Any], list[Expr] | None]] = {
    Convert: _operands_of_convert,
    Unary: lambda e: [e.operand],
    Binary: lambda e: [e.left, e.right],
}


def _rows(columns: list[list[Expr]], count: int) -> Iterator[tuple[Expr, ...]]:
    """Yield the operands of each component; a scalar operand is the same for all."""
    return zip(*[column * count if len(column) == 1 else column for column in columns], strict=True)


def _fold_component(e: Expr, operands: list[Expr]) -> Expr | None:
    """Fold one component of a vector operation, or return None; vector comparisons yield 0 or -1 (section 6.4.5)."""
    assert isinstance(e.type, VectorType)
    element = e.type.element
    if isinstance(e, Unary):
        folded = fold_unary(e.span, e.op, operands[0])
        compares = e.op == "lnot"
    elif isinstance(e, Binary) and e.op in ("land", "lor"):
        folded, compares = fold_logical(e.span, e.op, *operands), True
    elif isinstance(e, Binary):
        left, right = operands
        folded = fold_binary(e.span, e.op, left, right, INT if e.op in _COMPARE else element)
        compares = e.op in _COMPARE
    else:
        return fold_convert(e.span, operands[0], element)
    if compares and isinstance(folded, IntConst):
        return integer(e.span, element, -folded.value)
    return folded


def _fold_float(span: Span, op: str, a: float, b: float, t: ScalarType) -> Expr | None:
    # Rounding a double result to half or float is exact: this double rounding is innocuous.
    if op == "div":
        return floating(span, t, _divide(a, b))
    return floating(span, t, _FLOAT[op](a, b)) if op in _FLOAT else None


def _divide(a: float, b: float) -> float:
    """Return the IEEE quotient, also for a division by zero."""
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def _fold_integer(span: Span, op: str, a: int, b: int, t: ScalarType) -> Expr | None:
    if op in ("div", "rem"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        if wrap(quotient, t) != quotient:
            return None
        return integer(span, t, quotient if op == "div" else a - quotient * b)
    if op in ("shl", "shr"):
        # OpenCL C takes the shift count modulo the width (section 6.3.10 j).
        count = b & (t.bits - 1)
        return integer(span, t, a << count if op == "shl" else a >> count)
    return integer(span, t, _INTEGER[op](a, b)) if op in _INTEGER else None
