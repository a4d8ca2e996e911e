"""Operators on values: their operand types and result types (OpenCL C 3.0, section 6.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...analysis import COMPARISON_CODES, check_comparison, check_divisor
from ...diagnostics import Label, Note, Span
from ...matrix_types import sema as matrix_types
from .. import typed
from ..typed import AddressOf, Binary, Deref, Expr, LValue, MatrixElement, MatrixSubscript, Swizzle, Unary, Zero
from ..types import (
    INT,
    LONG,
    PTRDIFF_T,
    AddressSpace,
    ArrayType,
    ConstantMatrixType,
    CoopMatrixType,
    PointerType,
    Qualifiers,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    contained,
    element_type,
    in_space,
    integer_type,
    is_bits,
    is_complete,
)
from . import matrices, restricted_types
from .context import Context
from .conversions import (
    assign_convert,
    bad_operands,
    condition,
    for_storage,
    index_value,
    keep_matrices,
    retype_pointer,
    usual_conversions,
)
from .values import (
    common_scalar,
    comparison_type,
    constant_value,
    convert_arithmetic,
    fold_binary,
    fold_logical,
    fold_unary,
    is_null_pointer,
    kind_between,
    make_binary,
    promote,
    rvalue,
)


@dataclass(frozen=True, slots=True)
class Operator:
    """A binary operator: its name in the typed AST and the class of its operand types.

    `operands` is arithmetic, integer, shift, compare (relational), equality or logical.
    """

    name: str
    operands: str


BINARY: dict[str, Operator] = {
    "*": Operator("mul", "arithmetic"),
    "/": Operator("div", "arithmetic"),
    "%": Operator("rem", "integer"),
    "+": Operator("add", "arithmetic"),
    "-": Operator("sub", "arithmetic"),
    "<<": Operator("shl", "shift"),
    ">>": Operator("shr", "shift"),
    "<": Operator("lt", "compare"),
    ">": Operator("gt", "compare"),
    "<=": Operator("le", "compare"),
    ">=": Operator("ge", "compare"),
    "==": Operator("eq", "equality"),
    "!=": Operator("ne", "equality"),
    "&": Operator("and", "integer"),
    "^": Operator("xor", "integer"),
    "|": Operator("or", "integer"),
    "&&": Operator("land", "logical"),
    "||": Operator("lor", "logical"),
}


# --- unary ---------------------------------------------------------------------------------------


def make_unary(span: Span, op: str, e: Expr) -> Expr:
    """Return `neg`, `not` or `lnot` of a converted value, folded if the value is constant."""
    folded = fold_unary(span, op, e)
    if folded is not None:
        return folded
    return Unary(span, comparison_type(e.type) if op == "lnot" else e.type, op, e)


def unary(c: Context, op: str, operand: Expr, span: Span) -> Expr:
    """Analyse a prefix `+ - ~ !`."""
    e = rvalue(operand)
    if isinstance(e.type, CoopMatrixType):
        return matrices.negate(c, op, e, span)
    if isinstance(e.type, ConstantMatrixType):
        matrix_types.refuse(c, op, e, span)
    element = element_type(e.type)
    if op == "!" and is_bits(e.type) and not for_storage(e.type):
        e = promote(e)
    if for_storage(e.type):
        pass
    elif op == "!":
        if isinstance(e.type, PointerType):
            null = Zero(span, e.type)
            return Binary(span, INT, "eq", e, null)
        if isinstance(element, ScalarType):
            return make_unary(span, "lnot", e)
    elif isinstance(element, ScalarType) and (op != "~" or element.is_integer):
        e = promote(e)
        if op == "-" and _wraps(c, "sub", e.type):
            return _wrapping(c, "sub", Zero(span, e.type), e, span)
        return e if op == "+" else make_unary(span, "neg" if op == "-" else "not", e)
    c.fail("invalid-operands", f"invalid operand to unary '{op}': '{e.type}'", span, labels=[Label(e.span)])


def increment(c: Context, op: str, target: Expr, span: Span, *, prefix: bool) -> Expr:
    place = modifiable(c, target, f"'{op}'", span)
    t = place.type
    if isinstance(t, PointerType):
        _check_pointee(c, t, span)
    elif isinstance(t, CoopMatrixType):
        c.fail("coop-mat-operator", f"invalid operand to '{op}': '{t}'", span)
    elif isinstance(t, ConstantMatrixType):
        matrix_types.refuse(c, op, place, span)
    elif not isinstance(element_type(t), ScalarType) or for_storage(t):
        c.fail("invalid-operands", f"invalid operand to '{op}': '{t}'", span)
    if _wraps(c, "add", t):
        return _wrapping_increment(c, op, place, span, prefix)
    return typed.IncDec(span, t, place, 1 if op == "++" else -1, prefix)


def address_of(c: Context, operand: Expr, span: Span) -> Expr:
    if isinstance(operand, MatrixElement):
        c.fail("coop-mat-element-address", "a component of a cooperative matrix has no address", span)
    if isinstance(operand, MatrixSubscript):
        matrix_types.refuse_address(c, span)
    if isinstance(operand, Swizzle):
        c.fail("invalid-operands", "a vector component has no address", span)
    if not isinstance(operand, LValue):
        c.fail("not-an-lvalue", f"cannot take the address of a value of type '{operand.type}'", span)
    if isinstance(operand, Deref):
        return replace(operand.pointer, span=span)
    restricted_types.refuse(c, operand.type, "pointer", span)
    if isinstance(operand.type, CoopMatrixType):
        c.warn("coop-mat-address", "the address of a cooperative matrix is an extension of this compiler", span)
    where = Qualifiers(operand.place.space, operand.place.const, operand.place.volatile)
    return AddressOf(span, PointerType(operand.type, where), operand)


def dereference(c: Context, operand: Expr, span: Span) -> Expr:
    e = rvalue(operand)
    if not isinstance(e.type, PointerType):
        c.fail("invalid-operands", f"'*' needs a pointer, not '{e.type}'", span, labels=[Label(e.span)])
    _check_pointee(c, e.type, span, void=False)
    return Deref(span, e.type.pointee, e.type.qualifiers, e)


def _check_pointee(c: Context, t: PointerType, span: Span, *, void: bool = True) -> None:
    """Check that the pointee has a size.

    If `void` is allowed, arithmetic on a `void *` counts bytes, as in GNU C and clang.
    """
    if not is_complete(t.pointee) and not (void and isinstance(t.pointee, VoidType)):
        c.fail("incomplete-type", f"'{t}' points to an incomplete type", span)


# --- binary --------------------------------------------------------------------------------------


# The types of most operands, which are tested first.
_NUMBERS = frozenset({ScalarType, VectorType})


def binary(c: Context, op: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    """Analyse any binary operator except assignment and comma."""
    left, right = rvalue(left), rvalue(right)
    row = BINARY[op]
    if type(left.type) in _NUMBERS and type(right.type) in _NUMBERS:
        return _OPERANDS[row.operands](c, op, row.name, left, right, span, op_span)
    if isinstance(left.type, CoopMatrixType) or isinstance(right.type, CoopMatrixType):
        return matrices.binary(c, op, row.name, left, right, span, op_span)
    if isinstance(left.type, ConstantMatrixType) or isinstance(right.type, ConstantMatrixType):
        return matrix_types.binary(c, op, row.name, left, right, span, op_span)
    if isinstance(left.type, PointerType) or isinstance(right.type, PointerType):
        return _pointer_binary(c, op, row, left, right, span, op_span)
    return _OPERANDS[row.operands](c, op, row.name, left, right, span, op_span)


def _arithmetic(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    a, b = usual_conversions(c, op, op_span, left, right)
    if name in ("div", "rem"):
        check_divisor(c, op, b, op_span)
    if _wraps(c, name, a.type):
        return _wrapping(c, name, a, b, span)
    return make_binary(span, name, a, b)


def _wraps(c: Context, name: str, t: Type) -> bool:
    """Return whether -fwrapv must define the operation's overflow: `add`, `sub`, `mul` of signed, promoted scalars."""
    exact = isinstance(t, ScalarType) and t.is_integer and t.signed and t.rank >= INT.rank
    return c.wrap and exact and name in ("add", "sub", "mul")


def _wrapping(c: Context, name: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Return the operation on unsigned integers, converted back; if both operands are constants, fold it."""
    t = left.type
    plain = fold_binary(span, name, left, right, t)
    if plain is not None:
        return plain
    assert isinstance(t, ScalarType)
    unsigned = integer_type(t.bits, False)
    result = make_binary(span, name, convert_arithmetic(left, unsigned), convert_arithmetic(right, unsigned))
    return convert_arithmetic(result, t)


def _wrapping_increment(c: Context, op: str, place: LValue, span: Span, prefix: bool) -> Expr:
    one = typed.IntConst(span, INT, 1)
    changed = compound_assign(c, f"{op[0]}=", place, one, span, span)
    return changed if prefix else _wrapping(c, "sub" if op == "++" else "add", changed, one, span)


def _compare(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    a, b = usual_conversions(c, op, op_span, left, right)
    if c.diagnostics.wants(*COMPARISON_CODES):
        check_comparison(c, name, left, right, op_span)
    return make_binary(span, name, a, b)


def _integer(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    _need_integers(c, op, left, right, op_span)
    return _arithmetic(c, op, name, left, right, span, op_span)


def _need_integers(c: Context, op: str, left: Expr, right: Expr, op_span: Span) -> None:
    for t in (left.type, right.type):
        element = t.element if isinstance(t, VectorType) else t
        if not isinstance(element, ScalarType) or not element.is_integer:
            bad_operands(c, op, op_span, left, right)


def shift_operands(c: Context, op: str, left: Expr, right: Expr, op_span: Span) -> tuple[Expr, Expr]:
    """Return the promoted left operand, and the right one converted to its type.

    The shift count is taken modulo the width.
    """
    _need_integers(c, op, left, right, op_span)
    if isinstance(left.type, VectorType):
        if isinstance(right.type, VectorType) and right.type.count != left.type.count:
            bad_operands(c, op, op_span, left, right)
    elif isinstance(right.type, VectorType):
        bad_operands(c, op, op_span, left, right)
    left = promote(left)
    assert isinstance(left.type, (ScalarType, VectorType))
    if isinstance(right.type, ScalarType) and right.type.rank > 0:
        element = element_type(left.type)
        assert isinstance(element, ScalarType)
        if isinstance(right, typed.IntConst) and not 0 <= right.value < element.bits:
            code = "shift-count-negative" if right.value < 0 else "shift-count-overflow"
            c.warn(code, f"shift count is outside of 0 to {element.bits - 1}", right.span)
    return left, convert_arithmetic(right, left.type)


def _shift(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    a, b = shift_operands(c, op, left, right, op_span)
    return make_binary(span, name, a, b)


def _logical(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    if isinstance(left.type, VectorType) or isinstance(right.type, VectorType):
        a, b = usual_conversions(c, op, op_span, left, right)
        return make_binary(span, name, a, b)
    a, b = condition(c, left, f"an operand of '{op}'"), condition(c, right, f"an operand of '{op}'")
    folded = fold_logical(span, name, a, b)
    if folded is not None:
        return folded
    return typed.Logical(span, INT, name, a, b)


_OPERANDS = {
    "arithmetic": _arithmetic,
    "integer": _integer,
    "shift": _shift,
    "compare": _compare,
    "equality": _compare,
    "logical": _logical,
}


def _pointer_binary(c: Context, op: str, row: Operator, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    if row.operands == "logical":
        return _logical(c, op, row.name, left, right, span, op_span)
    if row.operands in ("compare", "equality"):
        return _pointer_compare(c, op, row, left, right, span, op_span)
    if row.name == "add" and isinstance(right.type, PointerType):
        left, right = right, left
    if row.name in ("add", "sub") and isinstance(left.type, PointerType):
        if isinstance(right.type, ScalarType) and right.type.is_integer:
            _check_pointee(c, left.type, span)
            index = index_value(c, right)
            if row.name == "sub":
                index = make_unary(index.span, "neg", convert_arithmetic(index, LONG))
            return typed.PointerAdd(span, left.type, left, index)
        if row.name == "sub" and isinstance(right.type, PointerType) and _comparable(left.type, right.type):
            _check_pointee(c, left.type, span)
            _check_pointee(c, right.type, span)
            return typed.PointerDifference(span, PTRDIFF_T, *_in_one_space(left, right))
    bad_operands(c, op, op_span, left, right)


def _comparable(a: PointerType, b: PointerType) -> bool:
    void = isinstance(a.pointee, VoidType) or isinstance(b.pointee, VoidType)
    spaces = a.qualifiers.space, b.qualifiers.space
    return (in_space(*spaces) or in_space(*spaces[::-1])) and (void or a.pointee == b.pointee)


def _in_one_space(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Return two comparable pointers, both generic if one of them is."""
    for e in (left, right):
        assert isinstance(e.type, PointerType)
        if e.type.qualifiers.space is AddressSpace.GENERIC:
            return _as_generic(left), _as_generic(right)
    return left, right


def _as_generic(e: Expr) -> Expr:
    assert isinstance(e.type, PointerType)
    return retype_pointer(e, replace(e.type, qualifiers=replace(e.type.qualifiers, space=AddressSpace.GENERIC)))


def _pointer_compare(c: Context, op: str, row: Operator, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    if isinstance(left.type, PointerType) and is_null_pointer(right):
        right = Zero(right.span, left.type)
    elif isinstance(right.type, PointerType) and is_null_pointer(left):
        left = Zero(left.span, right.type)
    a, b = left.type, right.type
    if isinstance(a, PointerType) and isinstance(b, PointerType) and _comparable(a, b):
        left, right = _in_one_space(left, right)
        assert isinstance(left.type, PointerType)
        return Binary(span, INT, row.name, left, retype_pointer(right, left.type))
    bad_operands(c, op, op_span, left, right)


# --- assignment ----------------------------------------------------------------------------------


def modifiable(c: Context, e: Expr, what: str, span: Span) -> LValue:
    """Return an expression as an lvalue; report an error if it is not a modifiable object."""
    if not isinstance(e, LValue):
        c.fail("not-an-lvalue", f"{what} needs an object, not a value of type '{e.type}'", span, labels=[Label(e.span)])
    if isinstance(e.type, ArrayType) or not is_complete(e.type):
        c.fail("not-assignable", f"{what}: an object of type '{e.type}' cannot be changed", span)
    restricted_types.refuse(c, e.type, "assignment", span)
    if e.place.const or e.place.space is AddressSpace.CONSTANT or _has_const(e.type):
        c.fail("read-only", f"{what}: this object is read-only", e.span)
    if isinstance(e, Swizzle) and len(set(e.indices)) != len(e.indices):
        c.fail("duplicate-swizzle", f"{what}: a component occurs twice on the left side", e.span)
    return e


def _has_const(t: Type) -> bool:
    """Return whether a member is const, so that the whole object is read-only (C11 6.3.2.1)."""
    if not isinstance(t, (ArrayType, RecordType)):
        return False
    records = (part for part in contained(t) if isinstance(part, RecordType))
    return any(item.qualifiers.const for record in records for item in record.fields or ())


def assign(c: Context, target: Expr, value: Expr, span: Span, op_span: Span) -> Expr:
    place = modifiable(c, target, "'='", op_span)
    return typed.Assign(span, place.type, place, assign_convert(c, value, place.type, op_span, "assignment"))


def compound_assign(c: Context, op: str, target: Expr, value: Expr, span: Span, op_span: Span) -> Expr:
    """Analyse a compound assignment; `op` includes the `=`."""
    place = modifiable(c, target, f"'{op}'", op_span)
    value = rvalue(value)
    row = BINARY[op[:-1]]
    if isinstance(place.type, CoopMatrixType) or isinstance(value.type, CoopMatrixType):
        return matrices.compound_assign(c, op, row.name, place, value, span, op_span)
    if isinstance(place.type, ConstantMatrixType) or isinstance(value.type, ConstantMatrixType):
        return matrix_types.compound_assign(c, op, row.name, place, value, span, op_span)
    if isinstance(place.type, PointerType):
        if row.name in ("add", "sub"):
            _check_pointee(c, place.type, span)
            index = convert_arithmetic(index_value(c, value), LONG)
            return typed.CompoundAssign(span, place.type, row.name, place, index, place.type, None, None)
        bad_operands(c, op, op_span, place, value)
    current: Expr = typed.Load(place.span, place.type, place)
    if row.operands == "shift":
        current, value = shift_operands(c, op, current, value, op_span)
    else:
        if row.operands == "integer":
            _need_integers(c, op, current, value, op_span)
        if isinstance(value.type, VectorType) and not isinstance(place.type, VectorType):
            bad_operands(c, op, op_span, place, value)
        current, value = usual_conversions(c, op, op_span, current, value)
        if row.name in ("div", "rem"):
            check_divisor(c, op, value, op_span)
    if _wraps(c, row.name, current.type):
        assert isinstance(current.type, ScalarType)
        unsigned = integer_type(current.type.bits, False)
        current, value = convert_arithmetic(current, unsigned), convert_arithmetic(value, unsigned)
    widen = kind_between(place.type, current.type)
    narrow = kind_between(current.type, place.type)
    return typed.CompoundAssign(span, place.type, row.name, place, value, current.type, widen, narrow)


# --- conditional ---------------------------------------------------------------------------------


def conditional(c: Context, test: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr:
    test, then, otherwise = rvalue(test), rvalue(then), rvalue(otherwise)
    if isinstance(test.type, VectorType):
        return _vector_select(c, test, then, otherwise, span)
    test = condition(c, test, "the condition of '?:'")
    if isinstance(test.type, ScalarType) and test.type.is_float:
        notes = [Note("compare it with 0")]
        c.fail("invalid-condition", f"the condition of '?:' cannot be a '{test.type}'", test.span, notes=notes)
    if isinstance(then.type, VoidType) and isinstance(otherwise.type, VoidType):
        return typed.Conditional(span, then.type, test, then, otherwise)
    then, otherwise = _unify(c, then, otherwise, span)
    truth = constant_value(test)
    if truth is not None:
        side = then if truth else otherwise
        if isinstance(side, (typed.IntConst, typed.FloatConst)):
            return side
    return typed.Conditional(span, then.type, test, then, otherwise)


def _unify(c: Context, then: Expr, otherwise: Expr, span: Span) -> tuple[Expr, Expr]:
    """Convert the two sides of a conditional to one type (C11 6.5.15)."""
    a, b = then.type, otherwise.type
    restricted_types.refuse(c, a, "operand", span)
    if a == b:
        if isinstance(a, ScalarType) and a.is_integer:
            common = common_scalar(a, a)
            return convert_arithmetic(then, common), convert_arithmetic(otherwise, common)
        return then, otherwise
    if isinstance(a, PointerType) and is_null_pointer(otherwise):
        return then, Zero(otherwise.span, a)
    if isinstance(b, PointerType) and is_null_pointer(then):
        return Zero(then.span, b), otherwise
    if isinstance(a, PointerType) and isinstance(b, PointerType) and _comparable(a, b):
        keep_matrices(c, a, b, span, "the sides of '?:'")
        qualifiers = Qualifiers(
            a.qualifiers.space if in_space(b.qualifiers.space, a.qualifiers.space) else b.qualifiers.space,
            a.qualifiers.const or b.qualifiers.const,
            a.qualifiers.volatile or b.qualifiers.volatile,
        )
        both = PointerType(b.pointee if isinstance(b.pointee, VoidType) else a.pointee, qualifiers)
        return retype_pointer(then, both), retype_pointer(otherwise, both)
    if isinstance(a, CoopMatrixType) or isinstance(b, CoopMatrixType):
        c.fail("coop-mat-operand-types", f"the sides of '?:' differ: '{a}' and '{b}'", span)
    if isinstance(a, ConstantMatrixType) or isinstance(b, ConstantMatrixType):
        c.fail("matrix-type-operand-types", f"the sides of '?:' differ: '{a}' and '{b}'", span)
    return usual_conversions(c, "?:", span, then, otherwise)


def _vector_select(c: Context, test: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr:
    assert isinstance(test.type, VectorType)
    if not test.type.element.is_integer:
        c.fail("invalid-condition", f"a vector condition must hold integers, not '{test.type}'", test.span)
    if isinstance(then.type, CoopMatrixType) or isinstance(otherwise.type, CoopMatrixType):
        c.fail("coop-mat-operator", f"a '{test.type}' cannot select between cooperative matrices", test.span)
    if isinstance(then.type, ConstantMatrixType) or isinstance(otherwise.type, ConstantMatrixType):
        c.fail("matrix-type-operator", f"a '{test.type}' cannot select between matrices", test.span)
    if isinstance(then.type, ScalarType) and isinstance(otherwise.type, ScalarType):
        common = common_scalar(then.type, otherwise.type)
        target = VectorType(common, test.type.count)
        then, otherwise = convert_arithmetic(then, target), convert_arithmetic(otherwise, target)
    else:
        then, otherwise = usual_conversions(c, "?:", span, then, otherwise)
    t = then.type
    if not isinstance(t, VectorType) or (t.count, t.element.bits) != (test.type.count, test.type.element.bits):
        c.fail(
            "invalid-operands",
            f"a condition of type '{test.type}' selects between vectors of the same count and width, not '{t}'",
            span,
        )
    return typed.VectorSelect(span, t, test, then, otherwise)
