"""Parts of objects and values: subscripts, members, components of vectors (OpenCL C 3.0, section 6.3.7)."""

from __future__ import annotations

from typing import NoReturn

from ...diagnostics import Label, Note, Span
from ...matrix_types import sema as matrix_types
from .. import syntax, typed
from ..typed import Expr, LValue
from ..types import (
    ArrayType,
    ConstantMatrixType,
    CoopMatrixType,
    PointerType,
    Qualifiers,
    RecordType,
    Type,
    VectorType,
    contains_matrix,
    is_complete,
    with_count,
)
from . import operators
from .context import Context
from .conversions import index_value, matrix_index, retype_pointer
from .values import rvalue


def subscript(c: Context, node: syntax.Subscript, expected: Type | None) -> Expr:
    # An element of a matrix type has two subscripts, so the whole chain of subscripts is analysed at once.
    if not isinstance(node.base, syntax.Subscript):
        base, index = c.analyse_each(node.base, node.index)
        if isinstance(base.type, ConstantMatrixType):
            return matrix_types.subscripted(c, base, [(node, index)], base.type)
        return _subscripted(c, base, index, node)
    chain = [node]
    while isinstance(chain[-1].base, syntax.Subscript):
        chain.append(chain[-1].base)
    chain.reverse()
    base, *indices = c.analyse_each(chain[0].base, *(link.index for link in chain))
    links = list(zip(chain, indices, strict=True))
    while links:
        if isinstance(base.type, ConstantMatrixType):
            base = matrix_types.subscripted(c, base, links[:2], base.type)
            del links[:2]
        else:
            link, index = links.pop(0)
            base = _subscripted(c, base, index, link)
    return base


def _subscripted(c: Context, base: Expr, index: Expr, node: syntax.Subscript) -> Expr:
    if isinstance(base.type, CoopMatrixType):
        number = matrix_index(c, index, base.type)
        if isinstance(base, LValue):
            return typed.MatrixElement(node.span, base.type.component, base.place, base, number)
        temporary = typed.CompoundLiteral(base.span, base.type, Qualifiers(const=True), base)
        return rvalue(typed.MatrixElement(node.span, base.type.component, temporary.place, temporary, number))
    if isinstance(base.type, ArrayType) and isinstance(base, LValue):
        number = index_value(c, index)
        size = base.type.size
        if isinstance(number, typed.IntConst) and size is not None and not 0 <= number.value < size:
            message = f"index {number.value} is outside of '{base.type}'"
            if contains_matrix(base.type):
                # An error, as an array of native matrices is not memory in which such an index finds anything.
                c.fail("array-bounds", message, node.index.span)
            c.warn("array-bounds", message, node.index.span)
        return typed.Index(node.span, base.type.element, base.place, base, number)
    if isinstance(base.type, VectorType):
        return _component(c, base, base.type, index, node)
    left, right = rvalue(base), rvalue(index)
    if isinstance(right.type, PointerType) and not isinstance(left.type, PointerType):
        left, right = right, left
    if isinstance(left.type, ArrayType):
        c.unsupported("subscripting an array that is no object is", node.span)
    if not isinstance(left.type, PointerType):
        _not_subscriptable(c, base, left.type, node)
    if not is_complete(left.type.pointee):
        c.fail("incomplete-type", f"'{left.type}' points to an incomplete type", node.span)
    pointer = typed.PointerAdd(node.span, left.type, left, index_value(c, right))
    return typed.Deref(node.span, left.type.pointee, left.type.qualifiers, pointer)


def _not_subscriptable(c: Context, base: Expr, t: Type, node: syntax.Subscript) -> NoReturn:
    message, notes = f"'{t}' cannot be subscripted", []
    while isinstance(base, (typed.Convert, typed.Load)):
        base = base.operand
    if isinstance(base, typed.MatrixElement):
        message = "a cooperative matrix has one subscript: the number of a component that the work-item holds"
        notes = [Note("'coop_mat_coord(m, i)' is the row and the column of component i")]
    c.fail("not-subscriptable", message, node.span, labels=[Label(node.base.span)], notes=notes)


def _component(c: Context, base: Expr, t: VectorType, index: Expr, node: syntax.Subscript) -> Expr:
    """Analyse `v[i]` of a vector, as in clang.

    A constant index selects a component; any other index goes through memory.
    """
    number = index_value(c, index)
    if isinstance(number, typed.IntConst):
        if not 0 <= number.value < t.count:
            c.fail("vector-subscript", f"index {number.value} is outside of '{t}'", node.index.span)
        return _swizzled(base, (number.value,), node.span)
    if t.element.is_nibble:
        message = f"the index of a component of '{t}' must be constant, because two components share a byte"
        c.fail("vector-subscript", message, node.index.span)
    if not isinstance(base, LValue) or isinstance(base, typed.Swizzle):
        base = typed.CompoundLiteral(base.span, t, Qualifiers(const=True), rvalue(base))
    place = Qualifiers(base.place.space, base.place.const, base.place.volatile)
    address = typed.AddressOf(node.span, PointerType(t, place), base)
    pointer = retype_pointer(address, PointerType(t.element, place))
    return typed.Deref(node.span, t.element, place, typed.PointerAdd(node.span, pointer.type, pointer, number))


def member(c: Context, node: syntax.Member, expected: Type | None) -> Expr:
    base = c.analyse(node.base)
    if node.arrow:
        base = operators.dereference(c, base, node.base.span)
    elif isinstance(base.type, PointerType):
        c.fail("member-of-pointer", f"'{base.type}' is a pointer; write '->' instead of '.'", node.name_span)
    if isinstance(base.type, VectorType):
        return _swizzle(c, base, node)
    if not isinstance(base.type, RecordType):
        c.fail("no-member", f"'{base.type}' has no members", node.name_span, labels=[Label(node.base.span)])
    record = base.type
    if record.fields is None:
        c.fail("incomplete-type", f"'{record}' is incomplete", node.name_span)
    path = record.path_of(node.name)
    if path is None:
        if record in c.broken:
            c.abandon()
        notes = c.suggestion(node.name, record.names())
        c.fail("no-member", f"'{record}' has no member '{node.name}'", node.name_span, notes=notes)
    for index in path:
        base = _field(base, index, node)
    return base


def _field(base: Expr, index: int, node: syntax.Member) -> Expr:
    """Return field `index` of a record.

    If an array is a field of an rvalue, the record is put in a temporary object, so that the array can be subscripted.
    """
    assert isinstance(base.type, RecordType) and base.type.fields is not None
    field = base.type.fields[index]
    if not isinstance(base, LValue):
        if not isinstance(field.type, ArrayType):
            return typed.ExtractMember(node.span, field.type, base, index)
        base = typed.CompoundLiteral(base.span, base.type, Qualifiers(const=True), base)
    place = Qualifiers(
        base.place.space,
        base.place.const or field.qualifiers.const,
        base.place.volatile or field.qualifiers.volatile,
    )
    return typed.Member(node.span, field.type, place, base, index)


_XYZW = {name: i for i, name in enumerate("xyzw")} | {name: i for i, name in enumerate("rgba")}


def swizzle_indices(name: str, count: int) -> tuple[int, ...] | None:
    """Return the component indices of a swizzle of a vector of `count`, or None for an invalid name (6.1.7).

    For a vector of 3, `.hi` and `.odd` name an undefined fourth component, index 3 here.
    """
    whole = 4 if count == 3 else count
    halves = {
        "lo": range(whole // 2),
        "hi": range(whole // 2, whole),
        "even": range(0, whole, 2),
        "odd": range(1, whole, 2),
    }
    if name in halves:
        return tuple(halves[name])
    if name[0] in "sS" and len(name) > 1 and all(digit in "0123456789abcdefABCDEF" for digit in name[1:]):
        indices = tuple(int(digit, 16) for digit in name[1:])
    elif set(name) <= set("xyzw") or set(name) <= set("rgba"):
        indices = tuple(_XYZW[letter] for letter in name)
    else:
        return None
    return indices if all(i < count for i in indices) and len(indices) in (1, 2, 3, 4, 8, 16) else None


def _swizzle(c: Context, base: Expr, node: syntax.Member) -> Expr:
    assert isinstance(base.type, VectorType)
    indices = swizzle_indices(node.name, base.type.count)
    if indices is None or (len(indices) == 3 and base.type.element.is_bits):
        c.fail("swizzle", f"'{base.type}' has no components '.{node.name}'", node.name_span)
    return _swizzled(base, indices, node.span)


def _swizzled(base: Expr, indices: tuple[int, ...], span: Span) -> Expr:
    """Return these components of a vector, as an object if the vector is an object.

    In an rvalue, the undefined component of a vector of 3 has the value of the last component.
    """
    assert isinstance(base.type, VectorType)
    last = base.type.count - 1
    t = with_count(base.type.element, len(indices))
    if isinstance(base, typed.Swizzle) and base.names_undefined:
        base = rvalue(base)
    if isinstance(base, LValue):
        if isinstance(base, typed.Swizzle):
            indices = tuple(base.indices[i] for i in indices)
            base = base.base
        return typed.Swizzle(span, t, base.place, base, indices)
    return typed.ExtractSwizzle(span, t, base, tuple(min(i, last) for i in indices))
