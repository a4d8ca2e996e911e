"""Lowering of conversions, with a function for each `typed.ConvertKind`."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from ...frontend.typed import ConvertKind
from ...frontend.types import BOOL, ScalarType, Type, VectorType, element_count, element_type
from ..type_map import I32, BFloatType, undefined
from .context import FunctionContext
from .operators import from_truth, is_signed, is_true

Conversion = Callable[[FunctionContext, ir.Value, Type, Type], ir.Value]


def convert(ctx: FunctionContext, kind: ConvertKind, value: ir.Value, source: Type, target: Type) -> ir.Value:
    """Convert `value` from `source` to `target`; `kind` is neither DECAY, MATRIX nor a TO_BOOL of a condition."""
    return _CONVERSIONS[kind](ctx, value, source, target)


def _bits(t: Type) -> int:
    element = element_type(t)
    return element.bits if isinstance(element, ScalarType) else 64


def _int_to_int(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    have, want = _bits(source), _bits(target)
    if have == want:
        return value
    if isinstance(value, ir.Constant) and isinstance(value.constant, int):
        return ir.Constant(ctx.types.of(target), _wrap(value.constant, have, is_signed(source), want))
    if have > want:
        return ctx.builder.trunc(value, ctx.types.of(target))
    extend = ctx.builder.sext if is_signed(source) else ctx.builder.zext
    return extend(value, ctx.types.of(target))


def _wrap(value: int, have: int, signed: bool, want: int) -> int:
    value &= (1 << have) - 1
    if signed and value >> (have - 1):
        value -= 1 << have
    return value & ((1 << want) - 1)


def _int_to_float(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    make = ctx.builder.sitofp if is_signed(source) else ctx.builder.uitofp
    return make(value, ctx.types.of(target))


def _float_to_int(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    make = ctx.builder.fptosi if is_signed(target) else ctx.builder.fptoui
    return make(value, ctx.types.of(target))


def _float_to_float(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    if element_type(source) == element_type(target):
        return value
    have, want = _bits(source), _bits(target)
    make = ctx.builder.fptrunc if have > want else ctx.builder.fpext
    return make(value, ctx.types.of(target))


def _to_bool(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    return from_truth(ctx, BOOL, is_true(ctx, source, value))


def _splat(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    typ = ctx.types.of(target)
    if isinstance(value, ir.Constant):
        return ir.Constant(typ, [value] * element_count(target))
    first = ctx.builder.insert_element(undefined(typ), value, ir.Constant(I32, 0))
    return shuffle(ctx, first, [0] * element_count(target))


def shuffle(ctx: FunctionContext, vector: ir.Value, indices: list[int]) -> ir.Value:
    """Return a vector of the components `indices` of one vector."""
    mask = ir.Constant(ir.VectorType(I32, len(indices)), indices)
    return ctx.builder.shuffle_vector(vector, undefined(vector.type), mask)


def swizzle(ctx: FunctionContext, vector: ir.Value, indices: tuple[int, ...]) -> ir.Value:
    """Return components of a vector; for one index, a scalar."""
    if len(indices) == 1:
        return ctx.builder.extract_element(vector, ir.Constant(I32, indices[0]))
    return shuffle(ctx, vector, list(indices))


def _bitcast(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    """Reinterpret bits; a vector of three is padded to four components, of which the last one is undefined."""
    if source == target:
        return value
    if any(isinstance(ctx.types.of(t), BFloatType) for t in (source, target)):
        ctx.module.extensions.add(BFloatType.extension)
    have, want = element_count(source), element_count(target)
    if have == want:
        return ctx.builder.bitcast(value, ctx.types.of(target))
    if have == 3:
        value = shuffle(ctx, value, [0, 1, 2, 2])
    if want == 3:
        assert isinstance(target, VectorType)
        four = ctx.builder.bitcast(value, ir.VectorType(ctx.types.of(target.element), 4))
        return shuffle(ctx, four, [0, 1, 2])
    return ctx.builder.bitcast(value, ctx.types.of(target))


def _same(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    return value


def _address_space(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    return ctx.builder.addrspacecast(value, ctx.types.of(target))


def _pointer_to_int(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    return ctx.builder.ptrtoint(value, ctx.types.of(target))


def _int_to_pointer(ctx: FunctionContext, value: ir.Value, source: Type, target: Type) -> ir.Value:
    return ctx.builder.inttoptr(value, ctx.types.of(target))


_CONVERSIONS: dict[ConvertKind, Conversion] = {
    ConvertKind.INT_TO_INT: _int_to_int,
    ConvertKind.INT_TO_FLOAT: _int_to_float,
    ConvertKind.FLOAT_TO_INT: _float_to_int,
    ConvertKind.FLOAT_TO_FLOAT: _float_to_float,
    ConvertKind.TO_BOOL: _to_bool,
    ConvertKind.SPLAT: _splat,
    ConvertKind.BITCAST: _bitcast,
    ConvertKind.POINTER: _same,
    ConvertKind.ADDRESS_SPACE: _address_space,
    ConvertKind.POINTER_TO_INT: _pointer_to_int,
    ConvertKind.INT_TO_POINTER: _int_to_pointer,
}
