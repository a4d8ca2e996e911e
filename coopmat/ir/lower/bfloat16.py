"""Conversions from and to scalar bfloat16, on bits: few devices have the type, and all have integers.

A bfloat16 is the upper half of a float. What becomes one is first brought to a float that rounds to nearest even as
the number itself does: exactly, or towards an odd last bit, which keeps it off the ties.
"""

from __future__ import annotations

from llvmlite import ir

from ...frontend.types import BFLOAT16, DOUBLE, FLOAT, Type, element_type, size_of
from ..type_map import I32, I64
from .context import FunctionContext
from .operators import is_signed

_I16 = ir.IntType(16)


def to_float(ctx: FunctionContext, value: ir.Value) -> ir.Value:
    """Exactly."""
    _need_type(ctx)
    bits = ctx.builder.zext(ctx.builder.bitcast(value, _I16), I32)
    return ctx.builder.bitcast(ctx.builder.binary("shl", bits, _int(16)), ctx.types.of(FLOAT))


def from_number(ctx: FunctionContext, value: ir.Value, source: Type) -> ir.Value:
    """From any scalar type but bool, rounded once to nearest even."""
    _need_type(ctx)
    if element_type(source) == DOUBLE:
        value = _odd_float(ctx, value)
    elif not getattr(source, "is_float", False):
        value = _from_integer(ctx, value, source)
    elif size_of(source) < 4:
        value = ctx.builder.fpext(value, ctx.types.of(FLOAT))
    return ctx.builder.bitcast(_upper_half(ctx, value), ctx.types.of(BFLOAT16))


def _need_type(ctx: FunctionContext) -> None:
    """Where a bfloat16 is one in SPIR-V, too."""
    if ctx.types.of(BFLOAT16) != _I16:
        ctx.module.extensions.add("SPV_KHR_bfloat16")


def _int(value: int, typ: ir.Type = I32) -> ir.Constant:
    return ir.Constant(typ, value)


def _upper_half(ctx: FunctionContext, value: ir.Value) -> ir.Value:
    """A float's upper 16 bits, rounded; NaNs stay NaNs, whichever bits are cut off."""
    b = ctx.builder
    bits = b.bitcast(value, I32)
    odd = b.binary("and", b.binary("lshr", bits, _int(16)), _int(1))
    rounded = b.binary("add", bits, b.binary("add", odd, _int(0x7FFF)))
    quiet = b.binary("or", bits, _int(0x400000))
    nan = b.compare("icmp", "ugt", b.binary("and", bits, _int(0x7FFFFFFF)), _int(0x7F800000))
    return b.trunc(b.binary("lshr", b.select(nan, quiet, rounded), _int(16)), _I16)


def _odd_float(ctx: FunctionContext, value: ir.Value) -> ir.Value:
    """A double as a float: towards zero, with an odd last bit where it is not exact."""
    b = ctx.builder
    bits = b.bitcast(b.fptrunc(value, ctx.types.of(FLOAT)), I32)
    sign_less = b.binary("and", b.bitcast(value, I64), _int((1 << 63) - 1, I64))
    wide = b.fpext(b.bitcast(bits, ctx.types.of(FLOAT)), ctx.types.of(DOUBLE))
    wide_less = b.binary("and", b.bitcast(wide, I64), _int((1 << 63) - 1, I64))
    # Of numbers without a sign the bits are in the numbers' order.
    above = b.zext(b.compare("icmp", "ugt", wide_less, sign_less), I32)
    odd = b.binary("or", b.binary("sub", bits, above), _int(1))
    # Infinities are exact, and a NaN is no number to be rounded.
    exact = b.compare("icmp", "eq", wide_less, sign_less)
    nan = b.compare("icmp", "ugt", sign_less, _int(0x7FF0 << 48, I64))
    return b.bitcast(b.select(b.binary("or", exact, nan), bits, odd), ctx.types.of(FLOAT))


def _from_integer(ctx: FunctionContext, value: ir.Value, source: Type) -> ir.Value:
    b = ctx.builder
    make = b.sitofp if is_signed(source) else b.uitofp
    bits = size_of(source) * 8
    if bits <= 16:
        return make(value, ctx.types.of(FLOAT))
    # What the significand of `through` has no room for becomes one sticky bit; small numbers lose nothing anyway.
    through, lost = (FLOAT, 9) if bits == 32 else (DOUBLE, 12)
    typ = value.type
    low = b.binary("and", value, _int((1 << lost) - 1, typ))
    some = b.zext(b.compare("icmp", "ne", low, _int(0, typ)), typ)
    high = b.binary("and", value, _int(-1 << lost, typ))
    sticky = b.binary("or", high, b.binary("shl", some, _int(lost - 1, typ)))
    # Whether the bits above those of the significand are all like the sign.
    room = 23 if bits == 32 else 52
    top = b.binary("ashr" if is_signed(source) else "lshr", value, _int(room, typ))
    small = b.compare("icmp", "ult", b.binary("add", top, _int(1, typ)), _int(2, typ))
    number = make(b.select(small, value, sticky), ctx.types.of(through))
    return number if bits == 32 else _odd_float(ctx, number)
