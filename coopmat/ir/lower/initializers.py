"""Initialization of objects in memory, and constant initializers of static objects."""

from __future__ import annotations

import math
import struct
from typing import NoReturn

from llvmlite import ir
from llvmlite.ir.values import FormattedConstant

from ...diagnostics import CompileError, Diagnostic, InternalError, Severity, Span
from ...frontend import typed
from ...frontend.matrix_terms import COMPONENTS
from ...frontend.sema.values import wrap
from ...frontend.typed import ConvertKind
from ...frontend.types import (
    EVENT,
    ArrayType,
    ConstantMatrixType,
    CoopMatrixType,
    PointerType,
    RecordType,
    Type,
    VectorType,
    contains_matrix,
    integer_type,
    size_of,
)
from ..type_map import I8, I64
from . import lvalues, native_matrices
from .context import FunctionContext, Program
from .operators import choose, zero

# An initializer with more scalars than this is copied from a constant object instead of stored by scalar.
_MAX_STORES = 32
_LARGEST_SCALAR = 8  # in bytes


def initialize(ctx: FunctionContext, place: lvalues.MemoryPlace, e: typed.Expr) -> None:
    """Initialize the object with the value of `e`, which has the object's type."""
    if not ctx.types.in_memory(e.type):
        place.write(ctx, ctx.operand(e))
    elif isinstance(e, typed.Zero):
        _zero(ctx, place)
    elif isinstance(e, typed.Aggregate):
        _aggregate(ctx, place, e)
    elif isinstance(e, typed.StringConst) or (isinstance(e, typed.Load) and isinstance(e.operand, typed.StringConst)):
        _from_constant(ctx, place, _constant(ctx, e))
    elif isinstance(e, typed.Conditional):
        _conditional(ctx, place, e)
    else:
        place.write(ctx, ctx.operand(e))


def _zero(ctx: FunctionContext, place: lvalues.MemoryPlace) -> None:
    t = place.type
    if isinstance(t, CoopMatrixType):
        # SROA and the backend do not support a null constant of a matrix type; emit a fill.
        place.write(ctx, native_matrices.fill(ctx, t, zero(ctx, t.component)))
    elif contains_matrix(t) or (isinstance(t, ArrayType) and t.element == EVENT):
        for part in _parts(ctx, place):
            _zero(ctx, part)
    elif _scalars(place.type) <= _MAX_STORES:
        ctx.builder.store(zero(ctx, place.type), place.pointer, align=place.align, volatile=place.volatile)
    else:
        _from_constant(ctx, place, zero(ctx, place.type))


def _parts(ctx: FunctionContext, place: lvalues.MemoryPlace) -> list[lvalues.MemoryPlace]:
    """Return the members of a record or the elements of an array."""
    if isinstance(place.type, RecordType):
        return [place.member(ctx, index, False) for index in range(len(place.type.fields or ()))]
    assert isinstance(place.type, ArrayType)
    return [place.element(ctx, ir.Constant(I64, index)) for index in range(place.type.size or 0)]


def _scalars(t: Type) -> int:
    """Return the number of scalars in an object of type `t`.

    For a union, an empty record, or a record larger than a few scalars, return the size in bytes instead: counting
    deeply nested records would take too long.
    """
    if isinstance(t, ArrayType):
        return (t.size or 0) * _scalars(t.element)
    if isinstance(t, RecordType):
        if t.kind == "union" or (not t.holds_matrix and not 0 < size_of(t) <= _MAX_STORES * _LARGEST_SCALAR):
            return size_of(t)
        return sum(_scalars(item.type) for item in t.fields or ())
    if isinstance(t, ConstantMatrixType):
        return t.storage_elements
    return t.count if isinstance(t, VectorType) else 1


def _aggregate(ctx: FunctionContext, place: lvalues.MemoryPlace, e: typed.Aggregate) -> None:
    if _scalars(e.type) > _MAX_STORES and is_constant(e):
        _from_constant(ctx, place, _constant(ctx, e))
        return
    initialized = {index for index, _ in e.items}
    if isinstance(e.type, RecordType):
        whole = len(e.type.fields or ()) == len(initialized) and e.type.kind == "struct"
    else:
        whole = isinstance(e.type, ArrayType) and e.type.size == len(initialized)
    if not whole:
        _zero(ctx, place)
    for index, value in e.items:
        if isinstance(e.type, RecordType):
            part = place.member(ctx, index, False)
        else:
            part = place.element(ctx, ir.Constant(I64, index))
        initialize(ctx, part, value)


def _constant(ctx: FunctionContext, e: typed.Expr) -> ir.Constant:
    value = constant(ctx.program, e)
    if value is None:
        raise InternalError("an initial value was expected to be constant", str(e.span))
    return value


def _from_constant(ctx: FunctionContext, place: lvalues.MemoryPlace, value: ir.Constant) -> None:
    source = ctx.program.constant_object(f"{ctx.function.name}.init", value, place.align)
    lvalues.copy(ctx, place, lvalues.MemoryPlace(source, place.type, place.align))


def _conditional(ctx: FunctionContext, place: lvalues.MemoryPlace, e: typed.Conditional) -> None:
    choose(ctx, e, lambda side: initialize(ctx, place, side))


# --- constants -------------------------------------------------------------------------------------


def is_constant(e: typed.Expr) -> bool:
    """Return whether the value consists of arithmetic constants only, and contains no matrix."""
    work = [e]
    while work:
        node = work.pop()
        if isinstance(node, typed.Aggregate):
            work.extend(value for _, value in node.items)
        elif isinstance(node, typed.VectorLiteral):
            work.extend(node.items)
        elif isinstance(node, typed.Convert) and node.kind is ConvertKind.SPLAT:
            work.append(node.operand)
        elif not isinstance(node, (typed.IntConst, typed.FloatConst, typed.Zero)):
            return False
    return not contains_matrix(e.type)


def scalar(program: Program, e: typed.IntConst | typed.FloatConst) -> ir.Constant:
    typ = program.module.types.of(e.type)
    if isinstance(e, typed.IntConst):
        return ir.Constant(typ, e.value)
    if isinstance(typ, ir.IntType):
        return ir.Constant(typ, wrap(COMPONENTS[str(e.type)].pattern(e.value), integer_type(typ.width, signed=True)))
    return FormattedConstant(typ, float_text(e.value))


def float_text(value: float) -> str:
    """Return the literal of a floating constant: decimal if that is short and exact, otherwise a double's bits."""
    if value.is_integer() and abs(value) <= 2048:
        return repr(value)
    if math.isnan(value):
        # Drop the payload of a NaN, which may not fit narrower formats.
        value = math.nan
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def constant(program: Program, e: typed.Expr) -> ir.Constant | None:
    """Return the constant that `e` denotes, or None if `e` is not a constant initializer.

    The constant of a union has the type of the initialized member, padded to the union's size. Aggregates that contain
    such a constant have a matching literal type. The memory layout is always that of `e.type`. Raise CompileError for
    addresses in aggregates, or inside objects: LLVM's SPIR-V backend emits wrong or invalid constants for these.
    """
    if isinstance(e, (typed.IntConst, typed.FloatConst)):
        return scalar(program, e)
    if isinstance(e, typed.Zero):
        return ir.Constant(program.module.types.of(e.type), None)
    if isinstance(e, typed.Aggregate):
        return _constant_aggregate(program, e)
    if isinstance(e, (typed.VectorLiteral, typed.Convert)) and isinstance(e.type, VectorType):
        return _vector(program, e, e.type)
    if isinstance(e, typed.Load) and isinstance(e.operand, typed.StringConst):
        return _string(e.operand.value, e.type)
    if isinstance(e, typed.StringConst):
        return _string(e.value, e.type)
    return _address(program, e)


def _vector(program: Program, e: typed.VectorLiteral | typed.Convert, vector: VectorType) -> ir.Constant | None:
    if isinstance(e, typed.Convert):
        if e.kind is not ConvertKind.SPLAT:
            return None
        value = constant(program, e.operand)
        return None if value is None else ir.Constant(program.module.types.of(vector), [value] * vector.count)
    components: list[ir.Constant] = []
    for item in e.items:
        value = constant(program, item)
        if value is None:
            return None
        if isinstance(item.type, VectorType):
            zero = ir.Constant(program.module.types.of(vector.element), None)
            components += value.constant if value.constant is not None else [zero] * item.type.count
        else:
            components.append(value)
    return ir.Constant(program.module.types.of(vector), components)


def _string(value: bytes, t: Type) -> ir.Constant:
    size = size_of(t)
    return ir.Constant(ir.ArrayType(I8, size), bytearray((value + b"\0").ljust(size, b"\0")[:size]))


def _constant_aggregate(program: Program, e: typed.Aggregate) -> ir.Constant | None:
    values: dict[int, ir.Constant] = {}
    for index, item in e.items:
        value = constant(program, item)
        if value is None:
            return None
        if isinstance(item.type, PointerType) and value.constant is not None:
            _not_supported("addresses in the initialisers of arrays and records are", item.span)
        values[index] = value
    typ = program.module.types.of(e.type)
    if not values:
        return ir.Constant(typ, None)
    if isinstance(e.type, (ArrayType, ConstantMatrixType)):
        element = program.module.types.of(e.type.element)
        size = e.type.storage_elements if isinstance(e.type, ConstantMatrixType) else e.type.size or 0
        parts = [values.get(i, ir.Constant(element, None)) for i in range(size)]
        if all(part.type == element for part in parts):
            return ir.Constant(typ, parts)
        return ir.Constant.literal_struct(parts, packed=True)
    assert isinstance(e.type, RecordType)
    return _record(program, e.type, values)


def _record(program: Program, record: RecordType, values: dict[int, ir.Constant]) -> ir.Constant:
    """Return the constant of a record with each field at its offset and padding in between."""
    types = program.module.types
    parts: list[ir.Constant] = []
    end = 0
    for index, item in enumerate(record.fields or ()):
        if record.kind == "union" and index not in values:
            continue
        _pad(parts, item.offset - end)
        parts.append(values.get(index, ir.Constant(types.of(item.type), None)))
        end = item.offset + size_of(item.type)
    _pad(parts, record.size_bytes - end)
    struct = types.of(record)
    if record.kind == "struct":
        elements = [ir.Constant(element, None) for element in struct.elements]
        for index, value in values.items():
            elements[types.field_index(record, index)] = value
        if all(value.type == element for value, element in zip(elements, struct.elements, strict=True)):
            return ir.Constant(struct, elements)
    return ir.Constant.literal_struct(parts, packed=True)


def _pad(parts: list[ir.Constant], count: int) -> None:
    if count > 0:
        parts.append(ir.Constant(ir.ArrayType(I8, count), None))


# --- addresses -------------------------------------------------------------------------------------


def _address(program: Program, e: typed.Expr) -> ir.Constant | None:
    offset, span = 0, e.span
    while True:
        if isinstance(e, typed.Convert) and e.kind is ConvertKind.POINTER:
            e = e.operand
        elif isinstance(e, typed.Convert) and e.kind is ConvertKind.ADDRESS_SPACE:
            _not_supported("generic pointers in initialisers are", span)
        elif isinstance(e, typed.PointerAdd) and isinstance(e.index, typed.IntConst):
            # Arithmetic on void pointers is in bytes.
            offset += e.index.value * max(size_of(getattr(e.type, "pointee", e.type)), 1)
            e = e.pointer
        elif isinstance(e, typed.AddressOf) or (isinstance(e, typed.Convert) and e.kind is ConvertKind.DECAY):
            return _object_address(program, e.operand, offset, span)
        elif isinstance(e, typed.Zero) and offset == 0:
            return ir.Constant(program.module.types.of(e.type), None)
        else:
            return None


def _object_address(program: Program, e: typed.Expr, offset: int, span: Span) -> ir.Constant | None:
    while True:
        if isinstance(e, typed.Index) and isinstance(e.index, typed.IntConst):
            offset += e.index.value * size_of(e.type)
            e = e.base
        elif isinstance(e, typed.Member) and isinstance(e.base.type, RecordType) and e.base.type.fields is not None:
            offset += e.base.type.fields[e.index].offset
            e = e.base
        elif isinstance(e, typed.VarRef) and e.decl.storage == "static":
            return _at(program.static_object(e.decl, ""), offset, span)
        elif isinstance(e, typed.StringConst):
            return _at(program.module.string(e.value), offset, span)
        else:
            return None


def _at(variable: ir.GlobalVariable, offset: int, span: Span) -> ir.Constant:
    if offset:
        # LLVM's SPIR-V backend (22.1) takes a byte offset for an element index.
        _not_supported("addresses of elements or members other than the first in initialisers are", span)
    return FormattedConstant(variable.type, variable.get_reference())


def _not_supported(what: str, span: Span) -> NoReturn:
    raise CompileError([Diagnostic(Severity.ERROR, "not-supported", f"{what} not supported yet", span)])
