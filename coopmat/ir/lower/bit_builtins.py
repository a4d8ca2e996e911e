"""cl_khr_extended_bit_ops and cl_khr_integer_dot_product, in plain instructions.

SPIR-V's instructions need extensions that few device compilers have. The plain instructions are exact everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ..type_map import I8, I32
from .builtin_calls import BuiltinContext, Lowering, call_named, integers, mangle, scalar, splat

_FOUR_BYTES, _FOUR_WORDS = ir.VectorType(I8, 4), ir.VectorType(I32, 4)


def _bit_reverse(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower `bit_reverse`: swap the halves of the value, then the halves of each half, and so on."""
    (value,), builder, bits = arguments, ctx.builder, scalar(call.type).bits
    everything, width = (1 << bits) - 1, bits // 2
    while width:
        # A mask of the lower half of each group of 2 * width bits.
        low = integers(value.type, everything // ((1 << width) + 1))
        amount = integers(value.type, width)
        down = builder.and_(builder.lshr(value, amount), low)
        value = builder.or_(down, builder.shl(builder.and_(value, low), amount))
        width //= 2
    return value


def _amounts(
    ctx: BuiltinContext, value: ir.Value, bits: int, arguments: Sequence[ir.Value]
) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Return (shift by the offset, number of bits above a field that starts at 0, whether the field is not empty).

    Shift amounts are modulo the width, because an empty field may start at the width.
    """
    builder, modulus = ctx.builder, ir.Constant(I32, bits - 1)
    offset, count = arguments
    above = builder.and_(builder.sub(ir.Constant(I32, bits), count), modulus)
    present = builder.icmp_unsigned("!=", count, ir.Constant(I32, 0))
    wide = [_resized(ctx, amount, value.type) for amount in (builder.and_(offset, modulus), above)]
    if isinstance(value.type, ir.VectorType):
        present = splat(ctx, present, value.type.count)
    return wide[0], wide[1], present


def _resized(ctx: BuiltinContext, amount: ir.Value, llvm: ir.Type) -> ir.Value:
    element = llvm.element if isinstance(llvm, ir.VectorType) else llvm
    if element.width < amount.type.width:
        amount = ctx.builder.trunc(amount, element)
    elif element.width > amount.type.width:
        amount = ctx.builder.zext(amount, element)
    return splat(ctx, amount, llvm.count) if isinstance(llvm, ir.VectorType) else amount


def _bitfield_insert(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    base, insert, *field = arguments
    builder = ctx.builder
    offset, above, present = _amounts(ctx, base, scalar(call.type).bits, field)
    mask = builder.shl(builder.lshr(integers(base.type, -1), above), offset)
    preserved_bits = builder.and_(base, builder.xor(mask, integers(base.type, -1)))
    mixed = builder.or_(preserved_bits, builder.and_(builder.shl(insert, offset), mask))
    return builder.select(present, mixed, base)


def _bitfield_extract(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower `bitfield_extract_*`: shift the field to the top, and down again with sign or zero extension."""
    value, *field = arguments
    builder, element = ctx.builder, scalar(call.type)
    offset, above, present = _amounts(ctx, value, element.bits, field)
    top = builder.and_(builder.sub(above, offset), integers(value.type, element.bits - 1))
    shift = builder.ashr if element.signed else builder.lshr
    return builder.select(present, shift(builder.shl(value, top), above), integers(value.type, 0))


def _dot(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower a dot product of four bytes, as vectors or packed in words; a sum with an accumulator saturates."""
    if scalar(call.parameters[0]).is_float:
        return call_named(ctx, call.name, call, call.parameters, arguments)
    builder = ctx.builder
    signs = [scalar(t).signed for t in call.parameters[:2]]
    if "_4x8packed_" in call.name:
        signs = [letter == "s" for letter in call.name.rpartition("_4x8packed_")[2][:2]]
    words = [
        (builder.sext if signed else builder.zext)(
            value if isinstance(value.type, ir.VectorType) else builder.bitcast(value, _FOUR_BYTES), _FOUR_WORDS
        )
        for value, signed in zip(arguments[:2], signs, strict=True)
    ]
    products = builder.mul(*words)
    total = builder.extract_element(products, ir.Constant(I32, 0))
    for i in range(1, 4):
        total = builder.add(total, builder.extract_element(products, ir.Constant(I32, i)))
    if len(arguments) < 3:
        return total
    name = mangle("add_sat", (call.type, call.type))
    return ctx.call(name, total.type, (total, arguments[2]), ("nounwind", "readnone"))


LOWERINGS: dict[str, Lowering] = {
    "bit_reverse": _bit_reverse,
    "bitfield_insert": _bitfield_insert,
    "bitfield_extract": _bitfield_extract,
    "dot": _dot,
}
