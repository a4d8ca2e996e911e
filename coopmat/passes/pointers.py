"""What pointers in the typed AST say of the memory behind them."""

from __future__ import annotations

from dataclasses import replace

from ..frontend import typed
from ..frontend.typed import ConvertKind
from ..frontend.types import AddressSpace, ArrayType, PointerType, Qualifiers, RecordType


def named_space(e: typed.Expr) -> typed.Expr:
    """A pointer before it became one to the generic address space, where that shows; itself otherwise."""
    if not isinstance(e, typed.Convert) or not isinstance(e.type, PointerType):
        return e
    if e.type.qualifiers.space is not AddressSpace.GENERIC:
        return e
    if e.kind is ConvertKind.ADDRESS_SPACE:
        return e.operand
    if e.kind is ConvertKind.POINTER:
        inner = named_space(e.operand)
        if inner is not e.operand and isinstance(inner.type, PointerType):
            moved = replace(e.type.qualifiers, space=inner.type.qualifiers.space)
            return typed.Convert(e.span, PointerType(e.type.pointee, moved), ConvertKind.POINTER, inner)
    return e


def decayed(array: typed.LValue) -> typed.Expr:
    """The pointer to the first element of an array object."""
    assert isinstance(array.type, ArrayType)
    place = array.place
    kept = Qualifiers(place.space, place.const, place.volatile)
    return typed.Convert(array.span, PointerType(array.type.element, kept), ConvertKind.DECAY, array)


def address_of(target: typed.LValue) -> typed.Expr:
    """A pointer to an object."""
    if isinstance(target, typed.Deref):
        return target.pointer
    place = Qualifiers(target.place.space, target.place.const, target.place.volatile)
    return typed.AddressOf(target.span, PointerType(target.type, place), target)


def variable(decl: typed.VarDecl) -> typed.VarRef:
    return typed.VarRef(decl.span, decl.type, decl.qualifiers, decl)


def load(target: typed.LValue) -> typed.Load:
    return typed.Load(target.span, target.type, target)


def member(record: typed.LValue, index: int) -> typed.Member:
    """A member of a record object."""
    t = record.type
    assert isinstance(t, RecordType) and t.fields is not None
    return typed.Member(record.span, t.fields[index].type, record.place, record, index)


# Expressions without side effects, by their operands.
_SIMPLE: dict[type, tuple[str, ...]] = {
    typed.VarRef: (),
    typed.IntConst: (),
    typed.Load: ("operand",),
    typed.Member: ("base",),
    typed.Swizzle: ("base",),
    typed.Index: ("base", "index"),
    typed.Deref: ("pointer",),
    typed.MatrixSubscript: ("matrix", "row", "column"),
    typed.AddressOf: ("operand",),
    typed.Convert: ("operand",),
    typed.Unary: ("operand",),
    typed.Binary: ("left", "right"),
    typed.PointerAdd: ("pointer", "index"),
}


def is_simple(e: typed.Expr) -> bool:
    """Whether evaluating it twice is like doing so once."""
    operands = _SIMPLE.get(type(e))
    if operands is None or (isinstance(e, typed.LValue) and e.place.volatile):
        return False
    return all(is_simple(getattr(e, name)) for name in operands)
