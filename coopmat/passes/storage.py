"""The types of units in which records replace matrices, and helpers for lvalues and pointers of the typed AST.

A record holds a matrix's components (per work-item) or elements in an array. The helpers recover the address space and
qualifiers of the memory that a pointer refers to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.matrix_terms import matrix_type
from ..frontend.reserved import LIBRARY_NAME
from ..frontend.typed import ConvertKind
from ..frontend.typed.construct import load as load, variable as variable
from ..frontend.types import (
    HALF,
    PLAIN,
    USHORT,
    AddressSpace,
    ArrayType,
    CoopMatrixType,
    Field,
    FunctionType,
    PointerType,
    Qualifiers,
    RecordType,
    ScalarType,
    Type,
    contained,
    held_as,
    with_count,
)
from ..matrices import lowering
from ..matrices.routes import LoweredRoute, Target

#: The location of nodes that do not come from the source.
LIBRARY_SPAN = Span(LIBRARY_NAME, 1, 1, 1, 1)


class PlainTypes(ABC):
    """A mapping from types to types without the class `own`; `make` returns the record that replaces each."""

    own: type

    def __init__(self) -> None:
        # id of type -> (type, lowered type). An id as key is much cheaper than hashing; the stored type keeps it valid.
        self._types: dict[int, tuple[Type, Type]] = {}
        self._own_records: dict[Type, RecordType] = {}
        self._ids: set[int] = set()
        self._records: dict[RecordType, RecordType] = {}

    @abstractmethod
    def make(self, t: Type) -> RecordType:
        """Return the record that replaces `t`, an instance of `own`."""

    @property
    def own_records(self) -> list[RecordType]:
        """The records that replace instances of `own`."""
        return list(self._own_records.values())

    def is_own_record(self, t: Type) -> bool:
        return id(t) in self._ids

    def type(self, t: Type) -> Type:
        """Return the lowered type of `t`; a type that names no instance of `own` is returned unchanged."""
        entry = self._types.get(id(t))
        if entry is None:
            entry = self._types[id(t)] = (t, self._replaced(t) if names(t, self.own) else t)
        return entry[1]

    def record_type(self, t: RecordType) -> RecordType:
        """Return the lowered type of the record type `t`, as `type` does."""
        result = self.type(t)
        assert isinstance(result, RecordType)
        return result

    def _replaced(self, t: Type) -> Type:
        if isinstance(t, self.own):
            return self._of_own(t)
        if isinstance(t, ArrayType):
            return replace(t, element=self.type(t.element))
        if isinstance(t, PointerType):
            return replace(t, pointee=self.type(t.pointee))
        if isinstance(t, FunctionType):
            return FunctionType(self.type(t.result), tuple(map(self.type, t.parameters)), t.variadic)
        return self._record(t) if isinstance(t, RecordType) else t

    def _of_own(self, t: Type) -> RecordType:
        record = self._own_records.get(t)
        if record is None:
            record = self._own_records[t] = self.make(t)
            self._ids.add(id(record))
        return record

    def _record(self, t: RecordType) -> RecordType:
        record = self._records.get(t)
        if record is None:
            # A record with a cooperative matrix is not packed: the matrix's storage must be aligned.
            packed = t.packed and not t.holds_matrix
            record = self._records[t] = RecordType(t.kind, t.name, t.span, packed=packed, alignment=t.alignment)
            if t.fields is not None:
                items = [replace(f, type=self.type(f.type), packed=f.packed and not t.holds_matrix) for f in t.fields]
                record.complete(items)
        return record


class Storage(PlainTypes):
    """The types of a unit with cooperative matrices stored in private objects.

    sub_group_size: the smallest size of the kernels' subgroups in lanes; a matrix's record has room for its share of
    components in such a subgroup.
    work_items: the same for matrices of work-groups: the size of the smallest work-group.
    half_bits: store components of type half as ushort bit patterns.
    """

    own = CoopMatrixType

    def __init__(self, route: LoweredRoute, sub_group_size: int, half_bits: bool = False, work_items: int = 1) -> None:
        super().__init__()
        self._target = Target(route, sub_group_size, work_items)
        self._half_bits = half_bits

    def make(self, t: Type) -> RecordType:
        assert isinstance(t, CoopMatrixType)
        m = matrix_type(t)
        target = self._target.of_work_group() if m.of_work_group else self._target
        route, size = target.route, target.sub_group_size
        count = lowering.storage_components(route, m, size)
        # An array of vectors aligns the object, and LLVM infers the width of accesses from the element type.
        width = route.width(m)
        held = USHORT if self._half_bits and t.component == HALF else held_as(t.component)
        assert isinstance(held, ScalarType)
        parts = ArrayType(with_count(held, width), count // width)
        name = f"cm_{t.component}_{t.rows}x{t.columns}_{t.use.name.lower()}" + "_workgroup" * m.of_work_group
        alignment = lowering.storage_alignment(route, m, size)
        natural = width * m.component.size
        result = RecordType("struct", name, LIBRARY_SPAN, alignment=alignment if alignment > natural else None)
        result.complete([Field("part", parts, PLAIN, LIBRARY_SPAN)])
        return result


def names_matrix(t: Type) -> bool:
    """Return whether `t` is a cooperative matrix, or an aggregate, pointer or function type that names a matrix."""
    return names(t, CoopMatrixType)


def names(t: Type, own: type) -> bool:
    """Return whether `t` is an instance of `own`, or an aggregate, pointer or function type that names an instance."""
    return any(isinstance(inner, own) for inner in contained(t, pointees=True))


# --- pointers --------------------------------------------------------------------------------------


def strip_generic_cast(e: typed.Expr) -> typed.Expr:
    """Strip conversions to the generic address space.

    If `e` is a pointer converted to generic, return the pointer of the named address space. Casts to another pointee
    are kept. Otherwise return `e`.
    """
    if not isinstance(e, typed.Convert) or not isinstance(e.type, PointerType):
        return e
    if e.type.qualifiers.space is not AddressSpace.GENERIC:
        return e
    if e.kind is ConvertKind.ADDRESS_SPACE:
        return e.operand
    if e.kind is ConvertKind.POINTER:
        inner = strip_generic_cast(e.operand)
        if inner is not e.operand and isinstance(inner.type, PointerType):
            qualifiers = replace(e.type.qualifiers, space=inner.type.qualifiers.space)
            return typed.Convert(e.span, PointerType(e.type.pointee, qualifiers), ConvertKind.POINTER, inner)
    return e


def decayed(array: typed.LValue) -> typed.Expr:
    """Return the array-to-pointer conversion of the lvalue `array`."""
    assert isinstance(array.type, ArrayType)
    place = array.place
    qualifiers = Qualifiers(place.space, place.const, place.volatile)
    return typed.Convert(array.span, PointerType(array.type.element, qualifiers), ConvertKind.DECAY, array)


def address_of(target: typed.LValue) -> typed.Expr:
    """Return the address of the lvalue `target`; for a dereference, return the dereferenced pointer."""
    if isinstance(target, typed.Deref):
        return target.pointer
    place = Qualifiers(target.place.space, target.place.const, target.place.volatile)
    return typed.AddressOf(target.span, PointerType(target.type, place), target)


def member(record: typed.LValue, index: int) -> typed.Member:
    """Return the lvalue for field number `index` of the record lvalue `record`."""
    t = record.type
    assert isinstance(t, RecordType) and t.fields is not None
    return typed.Member(record.span, t.fields[index].type, record.place, record, index)


# class of an expression without side effects -> the names of its operands.
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
    """Return whether the expression has no side effects and no volatile access, so that it may be evaluated twice."""
    operands = _SIMPLE.get(type(e))
    if operands is None or (isinstance(e, typed.LValue) and e.place.volatile):
        return False
    return all(is_simple(getattr(e, name)) for name in operands)
