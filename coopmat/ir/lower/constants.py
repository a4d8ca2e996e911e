"""Constant initialisers of objects with static storage."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, NoReturn

from llvmlite import ir
from llvmlite.ir.values import FormattedConstant

from ...diagnostics import CompileError, Diagnostic, Severity, Span
from ...frontend import typed
from ...frontend.matrix_terms import COMPONENTS
from ...frontend.sema.values import wrap
from ...frontend.typed import ConvertKind
from ...frontend.types import (
    ArrayType,
    ConstantMatrixType,
    PointerType,
    RecordType,
    Type,
    VectorType,
    contains_matrix,
    integer_type,
    size_of,
)
from ..type_map import I8

if TYPE_CHECKING:
    from .program import Program


def is_constant(e: typed.Expr) -> bool:
    """Whether the value is made of arithmetic constants only."""
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
    """Decimals where they are short and exact in every format, else the bits of the double, as LLVM reads them."""
    if value.is_integer() and abs(value) <= 2048:
        return repr(value)
    if math.isnan(value):
        # Which NaN is not told: a payload may not fit the narrower formats.
        value = math.nan
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def constant(program: Program, e: typed.Expr) -> ir.Constant | None:
    """The constant that `e` denotes; None where it is not one that a static object can start with.

    A union's constant has a type of its own: that of the member it holds, padded to the union's size. So does what
    contains one. The layout is always that of `e.type`. Raises CompileError for addresses in or of parts of aggregates,
    of which LLVM's SPIR-V backend makes wrong or invalid constants.
    """
    if isinstance(e, (typed.IntConst, typed.FloatConst)):
        return scalar(program, e)
    if isinstance(e, typed.Zero):
        return ir.Constant(program.module.types.of(e.type), None)
    if isinstance(e, typed.Aggregate):
        return _aggregate(program, e)
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


def _aggregate(program: Program, e: typed.Aggregate) -> ir.Constant | None:
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
    """Every field at its offset, padding between them."""
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
            # Of a void pointer bytes are counted.
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
        # LLVM's SPIR-V backend (22.1) counts the bytes as elements.
        _not_supported("addresses behind the start of an object in initialisers are", span)
    return FormattedConstant(variable.type, variable.get_reference())


def _not_supported(what: str, span: Span) -> NoReturn:
    raise CompileError([Diagnostic(Severity.ERROR, "not-supported", f"{what} not supported yet", span)])
