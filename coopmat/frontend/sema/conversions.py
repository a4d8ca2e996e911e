"""Conversions: lvalues to values, the usual arithmetic conversions, assignment, casts (OpenCL C 3.0, section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from ...analysis import check_conversion, check_operands, check_pointer_cast, check_tested_pointer
from ...diagnostics import FixIt, Label, Note, Span
from ..storage_types import STORAGE_TYPES
from ..typed import Convert, ConvertKind, Expr, IntConst, MatrixConvert, Unary, Zero
from ..types import (
    BOOL,
    EVENT,
    INT,
    LONG,
    SAMPLER,
    UINT,
    ULONG,
    AddressSpace,
    ConstantMatrixType,
    CoopMatrixType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    contains_matrix,
    element_type,
    in_space,
    is_bits,
)
from . import restricted_types
from .context import Context
from .hints import cast_to, declared_here, name_of
from .values import can_splat, common_scalar, convert_arithmetic, is_null_pointer, promote, rvalue


def for_storage(t: Type) -> bool:
    """Return whether the type, or a vector's, is a storage format: values are only stored, and converted explicitly."""
    return element_type(t) in STORAGE_TYPES


def usual_conversions(c: Context, op: str, span: Span, left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Convert both operands of an arithmetic operator to their common type.

    If there is none, the error names the operator and both types.
    """
    a, b = left.type, right.type
    if a is b and isinstance(a, ScalarType) and a.rank >= INT.rank and not a.is_bits:
        return left, right
    if for_storage(a) or for_storage(b):
        e = left if for_storage(a) else right
        how = f"convert it by 'convert_float{e.type.count}'" if isinstance(e.type, VectorType) else "cast it"
        fixits = [] if isinstance(e.type, VectorType) else cast_to(c, e, "float")
        bad_operands(c, op, span, left, right, [(Note(f"'{e.type}' is a storage type; {how}"), fixits)])
    if isinstance(a, ScalarType) and isinstance(b, ScalarType):
        common = common_scalar(a, b)
        if a is not b:
            check_operands(c, op, left, right, common)
        return convert_arithmetic(left, common), convert_arithmetic(right, common)
    if isinstance(a, VectorType) and isinstance(b, ScalarType) and can_splat(right, a.element):
        check_conversion(c, right, a)
        return left, convert_arithmetic(right, a)
    if isinstance(b, VectorType) and isinstance(a, ScalarType) and can_splat(left, b.element):
        check_conversion(c, left, b)
        return convert_arithmetic(left, b), right
    if isinstance(a, VectorType) and a == b:
        return left, right
    # Suggest no cast of the left-hand side of an assignment operator, which must be an lvalue.
    before = None if op.endswith("=") and op not in ("==", "!=", "<=", ">=") else _narrowing(c, left, b)
    bad_operands(c, op, span, left, right, [hint for hint in (before, _narrowing(c, right, a)) if hint])


def _narrowing(c: Context, e: Expr, vector: Type) -> tuple[Note, list[FixIt]] | None:
    """Return a note and fix-its if the rank of scalar `e` exceeds that of the other operand's components, else None."""
    if not isinstance(e.type, ScalarType) or not isinstance(vector, VectorType):
        return None
    t = vector.element
    return Note(f"the rank of '{e.type}' is greater than that of '{t}'; a cast helps"), cast_to(c, e, str(t))


def bad_operands(
    c: Context, op: str, span: Span, left: Expr, right: Expr, hints: Sequence[tuple[Note, list[FixIt]]] = ()
) -> NoReturn:
    matrix = isinstance(left.type, CoopMatrixType) or isinstance(right.type, CoopMatrixType)
    c.fail(
        "coop-mat-operator" if matrix else "invalid-operands",
        f"invalid operands to '{op}': '{left.type}' and '{right.type}'",
        span,
        labels=[Label(left.span), Label(right.span)],
        notes=[note for note, _ in hints],
        fixits=[fixit for _, fixits in hints for fixit in fixits],
    )


def assign_convert(c: Context, e: Expr, target: Type, span: Span, what: str, notes: list[Note] | None = None) -> Expr:
    """Convert implicitly, as in assignment, initialisation, argument passing and return (`what` names which)."""
    e = rvalue(e)
    source = e.type
    if source == target:
        return e
    if target == EVENT and is_null_pointer(e):
        return Zero(e.span, target)
    if target == SAMPLER and isinstance(source, ScalarType):
        return restricted_types.converted(c, e, span, what)
    if for_storage(source) or for_storage(target):
        _incompatible(c, e, target, span, what, notes or [])
    if isinstance(target, ScalarType):
        if isinstance(source, ScalarType):
            check_conversion(c, e, target)
            return convert_arithmetic(e, target)
        if target is BOOL and isinstance(source, PointerType):
            return Convert(e.span, BOOL, ConvertKind.TO_BOOL, e)
    if isinstance(target, VectorType) and isinstance(source, ScalarType):
        check_conversion(c, e, target)
        return convert_arithmetic(e, target)
    if isinstance(target, PointerType):
        converted = _assign_pointer(c, e, target, span, what)
        if converted is not None:
            return converted
    _incompatible(c, e, target, span, what, notes or [])


def _incompatible(c: Context, e: Expr, target: Type, span: Span, what: str, notes: list[Note]) -> NoReturn:
    """Report incompatible types; for matrices, with a hint at the explicit conversion between them."""
    from ...matrix_types.sema.casts import converts

    source, hint, by_cast, fixits = e.type, "", False, list[FixIt]()
    matrix = isinstance(source, ConstantMatrixType) or isinstance(target, ConstantMatrixType)
    cooperative = isinstance(source, CoopMatrixType) or isinstance(target, CoopMatrixType)
    if matrix and converts(source, target):
        by_cast, hint = True, "only a cast converts from and to matrices"
    elif cooperative and _same_but_components(source, target):
        by_cast, hint = True, "a cast converts the components"
    elif isinstance(source, ScalarType) and isinstance(target, ScalarType):
        by_cast, hint = True, "only a cast converts from and to types for storage"
    elif not matrix and cooperative and isinstance(source, ScalarType):
        hint = "use 'coop_mat_init' to fill a matrix with a scalar"
    if matrix or cooperative or by_cast:
        notes = [*([Note(hint)] if hint else []), *declared_here(e), *notes]
    if by_cast:
        name = str(target) if isinstance(target, (ScalarType, VectorType)) else name_of(c, target)
        fixits = cast_to(c, e, name) if name is not None else []
    c.fail(
        "matrix-type-mismatch" if matrix else "coop-mat-mismatch" if cooperative else "incompatible-types",
        f"{what}: '{source}' does not convert to '{target}'",
        span,
        labels=[Label(e.span)] if e.span != span else [],
        notes=notes,
        fixits=fixits,
    )


def _same_but_components(a: Type, b: Type) -> bool:
    return isinstance(a, CoopMatrixType) and isinstance(b, CoopMatrixType) and a.converts_to(b)


def _assign_pointer(c: Context, e: Expr, target: PointerType, span: Span, what: str) -> Expr | None:
    if is_null_pointer(e):
        return Zero(e.span, target)
    source = e.type
    if not isinstance(source, PointerType):
        return None
    if not in_space(source.qualifiers.space, target.qualifiers.space):
        c.fail(
            "address-space",
            f"{what}: a pointer to the {source.qualifiers.space} address space does not convert to '{target}'",
            span,
        )
    keep_matrices(c, source, target, span, what)
    if _changes_nested_space(source.pointee, target.pointee):
        message = f"{what}: '{source}' to '{target}' changes the address space of a nested pointer"
        c.fail("address-space", message, span)
    void = isinstance(source.pointee, VoidType) or isinstance(target.pointee, VoidType)
    if source.pointee != target.pointee and not void:
        sign = _same_but_sign(source.pointee, target.pointee)
        code = "pointer-sign" if sign else "incompatible-pointer-types"
        how = "differ in signedness" if sign else "point to different types"
        c.warn(code, f"{what}: '{source}' and '{target}' {how}", span)
    lost = [
        word
        for word in ("const", "volatile")
        # An object in constant memory is read-only with or without the qualifier.
        if (word, target.qualifiers.space) != ("const", AddressSpace.CONSTANT)
        and getattr(source.qualifiers, word)
        and not getattr(target.qualifiers, word)
    ]
    if lost:
        code = "incompatible-pointer-types-discards-qualifiers"
        c.warn(code, f"{what}: '{source}' to '{target}' discards {' and '.join(lost)}", span)
    return retype_pointer(e, target)


def _changes_nested_space(source: Type, target: Type) -> bool:
    """Return whether two pointees are pointers, at the same depth, to different address spaces."""
    while isinstance(source, PointerType) and isinstance(target, PointerType):
        if source.qualifiers.space != target.qualifiers.space:
            return True
        source, target = source.pointee, target.pointee
    return False


def keep_matrices(c: Context, source: Type, target: PointerType, span: Span, what: str) -> None:
    """Report a pointer conversion between a matrix and another type: a matrix is opaque."""
    pointee = source.pointee if isinstance(source, PointerType) else None
    if pointee != target.pointee and (contains_matrix(target.pointee) or (pointee and contains_matrix(pointee))):
        message = f"{what}: a pointer to a cooperative matrix cannot change its type: '{source}' to '{target}'"
        c.fail("coop-mat-pointer", message, span)


def _same_but_sign(a: Type, b: Type) -> bool:
    x, y = element_type(a), element_type(b)
    if not (isinstance(x, ScalarType) and isinstance(y, ScalarType)) or type(a) is not type(b):
        return False
    same_count = not isinstance(a, VectorType) or a.count == b.count  # type: ignore[attr-defined]
    return same_count and x.is_integer and y.is_integer and x.bits == y.bits and BOOL not in (x, y)


def retype_pointer(e: Expr, target: PointerType) -> Expr:
    """Convert a pointer to another pointer type, with a conversion of its address space if necessary."""
    source = e.type
    assert isinstance(source, PointerType)
    if source.qualifiers.space is not target.qualifiers.space:
        if isinstance(e, Zero):
            return Zero(e.span, target)
        moved = PointerType(source.pointee, replace(source.qualifiers, space=target.qualifiers.space))
        e = Convert(e.span, moved, ConvertKind.ADDRESS_SPACE, e)
    return e if e.type == target else Convert(e.span, target, ConvertKind.POINTER, e)


def cast(c: Context, e: Expr, target: Type, span: Span) -> Expr:
    """Analyse an explicit cast (OpenCL C 3.0, sections 6.2.2 and 6.5.4); the result is an rvalue."""
    e = rvalue(e)
    source = e.type
    restricted_types.refuse(c, target, "cast", span)
    if source == target:
        return replace(e, span=span)
    if target == EVENT and is_null_pointer(e):
        return Zero(span, target)
    if isinstance(target, CoopMatrixType) or isinstance(source, CoopMatrixType):
        return _cast_matrix(c, e, target, span)
    if isinstance(target, ConstantMatrixType) or isinstance(source, ConstantMatrixType):
        from ...matrix_types.sema.casts import cast as cast_constant

        return cast_constant(c, e, target, span)
    if isinstance(target, ScalarType) and isinstance(source, ScalarType):
        return convert_arithmetic(e, target, span)
    if isinstance(target, VectorType) and isinstance(source, ScalarType):
        if source is BOOL and target.element.is_integer:
            # true becomes all ones in an integer vector (6.2.2).
            e = convert_arithmetic(e, INT)
            e = convert_arithmetic(Unary(span, INT, "neg", e), target.element)
        return convert_arithmetic(e, target, span)
    if isinstance(target, PointerType) or isinstance(source, PointerType):
        check_pointer_cast(c, e, target, span)
    if isinstance(target, PointerType):
        return _cast_to_pointer(c, e, target, span)
    if isinstance(source, PointerType) and isinstance(target, ScalarType):
        if target is BOOL:
            return Convert(span, BOOL, ConvertKind.TO_BOOL, e)
        if target.is_integer:
            wide = Convert(span, ULONG, ConvertKind.POINTER_TO_INT, e)
            return convert_arithmetic(wide, target, span)
    if isinstance(source, VectorType) and isinstance(target, VectorType):
        c.fail(
            "invalid-cast",
            f"a cast does not convert between vector types: '{source}' to '{target}'",
            span,
            notes=[Note(f"use convert_{target}() for the values or as_{target}() for the bits")],
        )
    c.fail("invalid-cast", f"'{source}' does not cast to '{target}'", span)


def _cast_to_pointer(c: Context, e: Expr, target: PointerType, span: Span) -> Expr:
    source = e.type
    if is_null_pointer(e):
        return Zero(span, target)
    if isinstance(source, PointerType):
        keep_matrices(c, source, target, span, "cast")
        have, want = source.qualifiers.space, target.qualifiers.space
        if not in_space(have, want) and not in_space(want, have):
            c.fail("address-space", f"a pointer to the {have} address space does not cast to '{target}'", span)
        return replace(retype_pointer(e, target), span=span)
    if isinstance(source, ScalarType) and source.is_integer:
        keep_matrices(c, source, target, span, "cast")
        wide = convert_arithmetic(e, ULONG)
        return Convert(span, target, ConvertKind.INT_TO_POINTER, wide)
    c.fail("invalid-cast", f"'{source}' does not cast to '{target}'", span)


def _cast_matrix(c: Context, e: Expr, target: Type, span: Span) -> Expr:
    if isinstance(e.type, CoopMatrixType) and isinstance(target, CoopMatrixType):
        check_matrix_conversion(c, e, target, span)
        return MatrixConvert(span, target, e)
    notes = declared_here(e)
    if isinstance(target, CoopMatrixType) and isinstance(e.type, ScalarType):
        notes.append(Note("use 'coop_mat_init' to fill a matrix with a scalar"))
    c.fail("coop-mat-conversion", f"'{e.type}' does not cast to '{target}'", span, notes=notes)


def check_matrix_conversion(c: Context, e: Expr, target: CoopMatrixType, span: Span) -> None:
    """Check that a conversion changes only the components and the use: scope and shape must be equal."""
    assert isinstance(e.type, CoopMatrixType)
    if not e.type.converts_to(target):
        message = f"a conversion cannot change scope or shape: '{e.type}' to '{target}'"
        c.fail("coop-mat-conversion", message, span, notes=declared_here(e))


def condition(c: Context, e: Expr, what: str) -> Expr:
    """Return the value of a condition (`what` names which), with small floats promoted.

    Report an error if the value is neither a scalar nor a pointer.
    """
    e = rvalue(e)
    if isinstance(e.type, CoopMatrixType):
        c.fail("coop-mat-condition", f"{what} cannot be a cooperative matrix ('{e.type}')", e.span)
    if isinstance(e.type, ConstantMatrixType):
        c.fail("matrix-type-condition", f"{what} cannot be a matrix ('{e.type}')", e.span)
    if not isinstance(e.type, (ScalarType, PointerType)) or for_storage(e.type):
        c.fail("invalid-condition", f"{what} must be a scalar or a pointer, not '{e.type}'", e.span)
    if isinstance(e.type, PointerType):
        check_tested_pointer(c, e)
    return promote(e) if is_bits(e.type) else e


def index_value(c: Context, e: Expr) -> Expr:
    """Convert an array or pointer index, which may be any integer, to long or ulong."""
    e = rvalue(e)
    if not isinstance(e.type, ScalarType) or not e.type.is_integer:
        c.fail("invalid-index", f"an index must be an integer, not '{e.type}'", e.span)
    return convert_arithmetic(e, LONG if e.type.signed or e.type is BOOL else ULONG)


def matrix_index(c: Context, e: Expr, matrix: CoopMatrixType) -> Expr:
    """Convert the index of a matrix component, which may be any integer, to uint; check a constant's range."""
    e = rvalue(e)
    if not isinstance(e.type, ScalarType) or not e.type.is_integer:
        c.fail("coop-mat-index", f"the index of a component of '{matrix}' must be an integer, not '{e.type}'", e.span)
    if isinstance(e, IntConst) and e.value < 0:
        c.fail("coop-mat-index", f"a component index cannot be negative ({e.value})", e.span)
    if isinstance(e, IntConst) and e.value >= matrix.rows * matrix.columns:
        count = matrix.rows * matrix.columns
        c.fail("coop-mat-index", f"index {e.value} is outside of '{matrix}': {count} components", e.span)
    return convert_arithmetic(e, UINT)
