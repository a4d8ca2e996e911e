"""Calls of builtin functions.

Most builtins are called by their Itanium-mangled OpenCL names, which LLVM's SPIR-V backend turns into instructions. The
other lowerings work around two kinds of faults. For some names the backend (LLVM 22.1) emits wrong, invalid or
unresolved code: barriers and fences, `any` and `all`, `ldexp` with one exponent, `convert_*`, and the aligned half
loads and stores of three components. Device compilers (the Intel CPU runtime, 2026) get `mad_sat`, the geometric
functions of scalars and shuffles of half wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend.typed import BuiltinCall
from ...frontend.types import (
    BOOL,
    FLOAT,
    HALF,
    USHORT,
    VectorType,
    element_count,
    with_count,
)
from ..type_map import I1, I32, I64
from . import (
    address_spaces,
    async_copies,
    atomics,
    bit_builtins,
    builtin_conversions,
    images,
    printf,
    subgroup_builtins,
    synchronization,
    vector_memory,
)
from .builtin_calls import BuiltinContext, Lowering, call_named, integers, mangle, scalar, splat
from .builtin_conversions import limits


def lower_builtin(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower a call of a builtin, whose `arguments` have the types of `call.parameters`; return None for void."""
    lowering = _LOWERINGS.get(call.lowering)
    if lowering is None:
        raise InternalError(f"no lowering '{call.lowering}' for the builtin '{call.name}'")
    return lowering(ctx, call, arguments)


def _call(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    return call_named(ctx, call.name, call, call.parameters, arguments)


# --- relational, math, half loads and stores -----------------------------------------------------


def _any_all(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower `any` or `all`: int 1 if any (or every) component has its most significant bit set, else 0."""
    argument, count = arguments[0], element_count(call.parameters[0])
    result = ctx.builder.icmp_signed("<", argument, ir.Constant(argument.type, None))
    if count > 1:
        name = mangle(f"__spirv_{call.name.capitalize()}", [VectorType(BOOL, count)])
        result = ctx.call(name, I1, [result], ("nounwind", "readnone"))
    return ctx.builder.zext(result, I32)


def _ldexp(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    value, exponent = arguments
    wide = with_count(scalar(call.parameters[1]), element_count(call.parameters[0]))
    if wide != call.parameters[1]:
        exponent = splat(ctx, exponent, element_count(wide))
    return call_named(ctx, call.name, call, (call.parameters[0], wide), (value, exponent))


def _geometry(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower `length`, `distance` and `normalize`; compute those of halves in float.

    A device compiler gets negative scalars and short vectors of half wrong.
    """
    if scalar(call.type) != HALF:
        return _call(ctx, call, arguments)
    wide = tuple(with_count(FLOAT, element_count(t)) for t in call.parameters)
    result = with_count(FLOAT, element_count(call.type))
    operands = [ctx.builder.fpext(v, ctx.types.of(t)) for v, t in zip(arguments, wide, strict=True)]
    value = call_named(ctx, call.name, replace(call, type=result), wide, operands)
    return ctx.builder.fptrunc(value, ctx.types.of(call.type))


def _mad_sat(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower `mad_sat` to a double-width a * b + c that is then saturated.

    A device compiler's mad_sat saturates too late. The result fits its low word if the high word equals the sign
    extension (unsigned: zero) of the low word.
    """
    builder, (a, b, c), t = ctx.builder, arguments, call.type
    llvm, element = ctx.types.of(t), scalar(t)
    least, most = (integers(llvm, limit) for limit in limits(element))
    product = builder.mul(a, b)
    high = call_named(ctx, "mul_hi", call, (t, t), (a, b))
    low = builder.add(product, c)
    high = builder.add(high, builder.zext(builder.icmp_unsigned("<", low, product), llvm))
    if not element.signed:
        return builder.select(builder.icmp_unsigned("==", high, least), low, most)
    top = integers(llvm, element.bits - 1)
    high = builder.add(high, builder.ashr(c, top))
    fits = builder.icmp_signed("==", high, builder.ashr(low, top))
    negative = builder.icmp_signed("<", high, integers(llvm, 0))
    return builder.select(fits, low, builder.select(negative, least, most))


def _shuffle(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower `shuffle` and `shuffle2`; halves are shuffled as integers, because a device compiler lacks half shuffles.

    Only the low bits of the mask are significant (6.15.13). They are masked explicitly, because a device compiler
    ignores that rule in functions with barriers.
    """
    *vectors, mask = arguments
    components = sum(element_count(t) for t in call.parameters[:-1])
    mask = ctx.builder.and_(mask, integers(mask.type, components - 1))
    if scalar(call.type) != HALF:
        return _call(ctx, call, [*vectors, mask])
    bits = [with_count(USHORT, element_count(t)) for t in (*call.parameters[:-1], call.type)]
    operands = [ctx.builder.bitcast(v, ctx.types.of(t)) for v, t in zip(vectors, bits[:-1], strict=True)]
    parameters = (*bits[:-1], call.parameters[-1])
    value = call_named(ctx, call.name, replace(call, type=bits[-1]), parameters, [*operands, mask])
    return ctx.builder.bitcast(value, ctx.types.of(call.type))


def _aligned_half3(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower half vectors of three components, 4 halves apart, to the unaligned function at the element's address."""
    *data, offset, pointer = arguments
    index = ctx.builder.shl(offset, ir.Constant(I64, 2))
    address = ctx.builder.gep(pointer, [index], source_etype=ir.HalfType())
    name = call.name.replace("a_half", "_half")
    return call_named(ctx, name, call, call.parameters, [*data, ir.Constant(I64, 0), address])


_LOWERINGS: dict[str, Lowering] = {
    **address_spaces.LOWERINGS,
    **async_copies.LOWERINGS,
    **atomics.LOWERINGS,
    **bit_builtins.LOWERINGS,
    **builtin_conversions.LOWERINGS,
    **images.LOWERINGS,
    **printf.LOWERINGS,
    **subgroup_builtins.LOWERINGS,
    **synchronization.LOWERINGS,
    **vector_memory.LOWERINGS,
    "call": _call,
    "any_all": _any_all,
    "ldexp": _ldexp,
    "mad_sat": _mad_sat,
    "geometry": _geometry,
    "shuffle": _shuffle,
    "aligned_half3": _aligned_half3,
}
