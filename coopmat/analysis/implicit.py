"""Warnings about values that change without an explicit request: implicit conversions, comparisons, constant operands.

An integer's *range* is (bits, whether it is never negative); the bits include a sign bit if it may be negative. An
expression's range follows from its operators, so that `c = i & 15` is known to be harmless.
"""

from __future__ import annotations

import math
import re

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.sema.context import Context
from ..frontend.sema.hints import spelled
from ..frontend.sema.values import constant_value, fold_convert, is_null_pointer, round_to, wrap
from ..frontend.typed import Binary, Convert, ConvertKind, Expr, FloatConst, IntConst, Load
from ..frontend.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    AddressSpace,
    PointerType,
    ScalarType,
    Type,
    element_type,
)

Range = tuple[int, bool]

COMPARISON_CODES = (
    *("sign-compare", "float-equal", "tautological-compare", "tautological-unsigned-zero-compare"),
    "tautological-constant-out-of-range-compare",
)
_EQUALITY = ("eq", "ne")
_BOOLEAN = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "land", "lor", "lnot"})
# type -> bits of the significand, including the leading bit.
_DIGITS = {HALF: 11, FLOAT: 24, DOUBLE: 53}
# Matches a floating literal, but no integer literal and no expression.
_LITERAL = re.compile(r"[-+]?\s*(?=[\w.]*[.eEpPfFhH])(0[xX][\da-fA-F.]+|\d+\.?\d*|\.\d+)([eEpP][-+]?\d+)?[fFhHlL]?\Z")
# An expression nested deeper than this has the range of its type.
_DEEPEST = 24


def text_of(c: Context, span: Span) -> str:
    """Return the source text of a span within one line, or "".

    For a token of a macro's expansion, that is the text of the macro's use.
    """
    return spelled(c, span) or ""


# --- ranges --------------------------------------------------------------------------------------


def type_range(t: Type) -> Range:
    element = element_type(t)
    if not isinstance(element, ScalarType) or not element.is_integer:
        return 64, False
    return (1, True) if element is BOOL else (element.bits, not element.signed)


def _join(a: Range, b: Range) -> Range:
    """Return the smallest range that contains the values of both ranges."""
    never = a[1] and b[1]
    return max(a[0] - (not a[1]), b[0] - (not b[1])) + (not never), never


def value_range(e: Expr, depth: int = 0) -> Range:
    """Return the range of an integer expression.

    An arithmetic operation is assumed not to leave the smallest range that contains both operands.
    """
    if isinstance(e, IntConst):
        return (e.value.bit_length(), True) if e.value >= 0 else ((~e.value).bit_length() + 1, False)
    whole = type_range(e.type)
    if depth > _DEEPEST:
        return whole
    if isinstance(e, Convert) and e.kind is ConvertKind.INT_TO_INT:
        # A cast to a wider type is a request to treat the value as one of that type.
        operand_range = value_range(e.operand, depth + 1) if e.span == e.operand.span else whole
        return whole if operand_range[0] >= whole[0] else (operand_range[0], operand_range[1] or whole[1])
    if isinstance(e, Convert) and e.kind is ConvertKind.TO_BOOL:
        return 1, True
    if isinstance(e, typed.Logical) or (isinstance(e, (Binary, typed.Unary)) and e.op in _BOOLEAN):
        return (1, True) if isinstance(e.type, ScalarType) else whole
    if isinstance(e, typed.Unary) and not whole[1]:
        bits, never = value_range(e.operand, depth + 1)
        return min(bits + never, whole[0]), False
    if isinstance(e, typed.Conditional):
        return _join(value_range(e.then, depth + 1), value_range(e.otherwise, depth + 1))
    if isinstance(e, typed.Comma):
        return value_range(e.right, depth + 1)
    if isinstance(e, typed.Assign):
        return value_range(e.value, depth + 1)
    if isinstance(e, Binary):
        return _binary_range(e, whole, depth + 1)
    return whole


def _binary_range(e: Binary, whole: Range, depth: int) -> Range:
    if e.op == "shl":
        return (whole[0], True) if isinstance(e.left, IntConst) and e.left.value == 1 else whole
    left = value_range(e.left, depth)
    if e.op == "shr":
        count = e.right.value if isinstance(e.right, IntConst) else 0
        return max(left[0] - count, 0 if left[1] else 1), left[1]
    right = value_range(e.right, depth)
    if e.op == "and":
        never = [r[0] for r in (left, right) if r[1]]
        return min(never, default=max(left[0], right[0])), bool(never)
    if e.op == "rem":
        return (min(left[0], right[0]) if left[1] and right[1] else left[0]), left[1]
    if e.op == "div":
        less = e.right.value.bit_length() - 1 if isinstance(e.right, IntConst) and e.right.value > 0 else 0
        return max(left[0] - less, 1), left[1] and right[1]
    joined = _join(left, right)
    return min(joined[0], whole[0]), joined[1] or whole[1]


# --- conversions ---------------------------------------------------------------------------------


def check_conversion(c: Context, e: Expr, target: Type) -> None:
    """Warn about the implicit conversion of `e` to `target` by an assignment or an operator.

    If `target` is a vector type, the conversion to its element type is checked.
    """
    if isinstance(e, typed.Conditional):
        # Check each side in the type that it had before the conversion to the common type.
        check_conversion(c, _as_written(e.then), target)
        check_conversion(c, _as_written(e.otherwise), target)
        return
    source, goal = e.type, element_type(target)
    if source is BOOL or goal is BOOL or source is goal:
        return
    if not isinstance(source, ScalarType) or not isinstance(goal, ScalarType):
        return
    if source.is_integer:
        (_integer if goal.is_integer else _to_float)(c, e, source, goal)
    elif goal.is_integer:
        _from_float(c, e, source, goal)
    elif goal.rank < source.rank:
        if not _same_in(e, goal):
            c.warn("implicit-float-conversion", f"'{source}' to '{goal}' may lose precision", e.span)
    else:
        c.warn("double-promotion", f"'{source}' is widened to '{goal}'", e.span)


def _as_written(e: Expr) -> Expr:
    """Strip the implicit conversions of integers, which have the same span as their operands."""
    while isinstance(e, Convert) and e.kind is ConvertKind.INT_TO_INT and e.span == e.operand.span:
        e = e.operand
    return e


def _same_in(e: Expr, t: ScalarType) -> bool:
    return isinstance(e, FloatConst) and (round_to(e.value, t) == e.value or math.isnan(e.value))


def _integer(c: Context, e: Expr, source: ScalarType, target: ScalarType) -> None:
    bits, never = value_range(e)
    wide, unsigned = type_range(target)
    if bits > wide:
        if isinstance(e, IntConst):
            _changed_constant(c, e, target)
        elif source.bits == 64 and target.bits == 32:
            c.warn("shorten-64-to-32", f"'{source}' to '{target}' may lose the upper half", e.span)
        else:
            c.warn("implicit-int-conversion", f"'{source}' to '{target}' may lose bits", e.span)
    elif bits == wide and never and not unsigned:
        if isinstance(e, IntConst) and source.signed:
            _changed_constant(c, e, target)
        else:
            c.warn("sign-conversion", f"'{source}' to '{target}' may become negative", e.span)
    elif unsigned and not never:
        c.warn("sign-conversion", f"'{source}' to '{target}': negative values become large positive ones", e.span)


def _changed_constant(c: Context, e: IntConst, target: ScalarType) -> None:
    message = f"the constant {e.value} becomes {wrap(e.value, target)} as '{target}'"
    c.warn("constant-conversion", message, e.span)


def _to_float(c: Context, e: Expr, source: ScalarType, target: ScalarType) -> None:
    if value_range(e)[0] <= _DIGITS.get(target, 8):
        return
    if not isinstance(e, IntConst):
        c.warn("implicit-int-float-conversion", f"'{source}' to '{target}' may lose precision", e.span)
        return
    folded = fold_convert(e.span, e, target)
    value = constant_value(folded) if folded is not None else None
    if value is not None and value != e.value:
        c.warn("implicit-const-int-float-conversion", f"the constant {e.value} becomes {value!r} as '{target}'", e.span)


def _from_float(c: Context, e: Expr, source: ScalarType, target: ScalarType) -> None:
    if not isinstance(e, FloatConst):
        c.warn("float-conversion", f"'{source}' to '{target}' drops the fraction", e.span)
        return
    exact = math.isfinite(e.value) and wrap(int(e.value), target) == e.value
    literal = _LITERAL.match(text_of(c, e.span)) is not None
    if literal and not exact:
        whole = int(e.value) if math.isfinite(e.value) else None
        result = f"becomes {whole}" if whole is not None and wrap(whole, target) == whole else "does not fit"
        c.warn("literal-conversion", f"the constant {e.value!r} {result} as '{target}'", e.span)
    elif not literal:
        c.warn("float-conversion", f"'{source}' to '{target}' drops the fraction", e.span)


def check_operands(c: Context, op: str, left: Expr, right: Expr, common: Type) -> None:
    """Check the conversions of an operator's operands to the `common` type; `op` is the operator's spelling."""
    if op.endswith("=") and op not in ("==", "!=", "<=", ">="):
        _compound(c, left, right, common)
        return
    compared = op in ("==", "!=", "<", ">", "<=", ">=")
    for e in (left, right):
        integers = [t.is_integer for t in (e.type, element_type(common)) if isinstance(t, ScalarType)]
        # `check_comparison` warns about integer operands of a comparison.
        if not (compared and all(integers)):
            check_conversion(c, e, common)


def _compound(c: Context, target: Expr, value: Expr, common: Type) -> None:
    """Check `target op= value`, where `value` is converted to `common`, and the result to the target's type."""
    check_conversion(c, value, common)
    a, b = element_type(target.type), element_type(common)
    if not isinstance(a, ScalarType) or not isinstance(b, ScalarType) or not b.is_float:
        return
    if a.is_integer and a is not BOOL:
        c.warn(
            "float-conversion", f"the result of type '{b}' is converted to '{a}' and loses its fraction", target.span
        )
    elif a.is_float and a.rank < b.rank:
        c.warn(
            "implicit-float-conversion",
            f"the result of type '{b}' is converted to '{a}' and may lose precision",
            target.span,
        )


# --- comparisons ---------------------------------------------------------------------------------


def check_comparison(c: Context, name: str, left: Expr, right: Expr, op_span: Span) -> None:
    """Check the operands of comparison `name` ("eq", "lt"...), before the usual arithmetic conversions."""
    a, b = left.type, right.type
    if _same_object(c, left, right):
        always = "true" if name in ("eq", "le", "ge") else "false"
        c.warn("tautological-compare", f"a value compared with itself: always {always}", op_span)
        return
    if not isinstance(a, ScalarType) or not isinstance(b, ScalarType):
        return
    if a.is_float or b.is_float:
        if name in _EQUALITY and not (_plain(left) or _plain(right)):
            c.warn("float-equal", "floating values are rarely equal", op_span)
        return
    if isinstance(left, IntConst) and isinstance(right, IntConst):
        return
    if isinstance(left, IntConst) or isinstance(right, IntConst):
        mirror = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
        other, constant, op = (
            (right, left, mirror.get(name, name)) if isinstance(left, IntConst) else (left, right, name)
        )
        assert isinstance(constant, IntConst)
        if _against_constant(c, op, other, constant, op_span):
            return
    _signs(c, name, left, right, op_span)


def _plain(e: Expr) -> bool:
    """Return whether `e` is a constant with few fractional bits (at most 12), which arithmetic may produce exactly."""
    return isinstance(e, FloatConst) and (e.value * 4096).is_integer()


def _same_object(c: Context, left: Expr, right: Expr) -> bool:
    if not (isinstance(left, Load) and isinstance(right, Load)):
        return False
    a, b = left.operand, right.operand
    if not (isinstance(a, typed.VarRef) and isinstance(b, typed.VarRef)) or a.decl is not b.decl:
        return False
    element = element_type(a.type)
    floating = isinstance(element, ScalarType) and element.is_float  # x != x is a test for NaN
    name = a.decl.name
    from_source = text_of(c, a.span) == name == text_of(c, b.span)  # neither operand comes from a macro
    return from_source and not floating and not a.place.volatile


def _against_constant(c: Context, op: str, other: Expr, constant: IntConst, span: Span) -> bool:
    """Warn about a comparison with a constant that is always true or false; return whether a warning was issued.

    `op` is the comparison with the constant on the right-hand side.
    """
    t = other.type
    assert isinstance(t, ScalarType) and isinstance(constant.type, ScalarType)
    if constant.value == 0 and not t.signed and t is not BOOL and op in ("lt", "ge"):
        always = "false" if op == "lt" else "true"
        c.warn("tautological-unsigned-zero-compare", f"a '{t}' is never below 0: always {always}", span)
        return True
    if t.signed and not constant.type.signed:
        return False  # the comparison is unsigned: the constant may be the conversion of a negative value
    truth = isinstance(other, typed.Logical) or (isinstance(other, (Binary, typed.Unary)) and other.op in _BOOLEAN)
    bits, never = (1, True) if truth else type_range(t)
    least, most = (0, (1 << bits) - 1) if never else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if least <= constant.value <= most or (constant.value < 0 and not t.signed and t.bits >= constant.type.bits):
        return False
    above = constant.value > most
    holds = {"eq": False, "ne": True, "lt": above, "le": above, "gt": not above, "ge": not above}[op]
    always = str(holds).lower()
    message = f"the constant {constant.value} is out of the range of the other operand ('{t}'): always {always}"
    c.warn("tautological-constant-out-of-range-compare", message, span)
    return True


def _signs(c: Context, name: str, left: Expr, right: Expr, span: Span) -> None:
    a, b = left.type, right.type
    assert isinstance(a, ScalarType) and isinstance(b, ScalarType)
    signed, unsigned = (left, right) if a.signed else (right, left)
    s, u = signed.type, unsigned.type
    assert isinstance(s, ScalarType) and isinstance(u, ScalarType)
    if not s.signed or u.signed or u.bits < 32 or u.bits < s.bits or value_range(signed)[1]:
        return
    if name in _EQUALITY and value_range(unsigned)[0] < u.bits:
        return  # a negative value converted to unsigned is larger than the range of the other operand
    c.warn("sign-compare", f"'{a}' and '{b}' are compared as '{u}'", span)


# --- constants and pointers ----------------------------------------------------------------------


def check_divisor(c: Context, op: str, right: Expr, span: Span) -> None:
    if isinstance(right, IntConst) and right.value == 0:
        c.warn("division-by-zero", f"'{op}' by 0 has no defined result", span)


def check_pointer_cast(c: Context, e: Expr, target: Type, span: Span) -> None:
    """Check an explicit cast from or to a pointer."""
    source = e.type
    if is_null_pointer(e):
        return
    if isinstance(target, PointerType) and isinstance(source, PointerType):
        have, want = source.qualifiers.space, target.qualifiers.space
        if have is AddressSpace.GENERIC and want is not have:
            message = f"this cast does not check that the pointer points to {want} memory; to_{want}() does"
            c.warn("address-space-conversion", message, span)
    elif isinstance(target, PointerType) and isinstance(source, ScalarType) and source.bits < 64:
        c.warn("int-to-pointer-cast", f"'{source}' is narrower than '{target}'", span)
    elif isinstance(target, ScalarType) and target is not BOOL and target.bits < 64:
        c.warn("pointer-to-int-cast", f"'{target}' is narrower than '{source}'", span)


def check_tested_pointer(c: Context, e: Expr) -> None:
    """Warn about a pointer condition that is the address of an object."""
    if isinstance(e, typed.AddressOf) or (isinstance(e, Convert) and e.kind is ConvertKind.DECAY):
        c.warn("pointer-bool-conversion", "the address of an object is never null", e.span)
