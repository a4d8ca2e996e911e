"""Subgroup and work-group builtins that LLVM's SPIR-V backend does not know, or that device compilers get wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ...frontend.types import (
    DOUBLE,
    HALF,
    INT,
    UINT,
    USHORT,
    ScalarType,
    Type,
    VectorType,
    element_count,
    integer_type,
    with_count,
)
from ..type_map import I32
from .builtin_calls import BuiltinContext, Lowering, call_named, mangle, scalar

_MASK = VectorType(UINT, 4)
_EXCLUSIVE, _INCLUSIVE = "_scan_exclusive_", "_scan_inclusive_"


def _intel_subgroup(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower a function of cl_intel_subgroups_short by its name in cl_khr_subgroup_extended_types."""
    return call_named(ctx, call.name.removeprefix("intel_"), call, call.parameters, arguments)


def _non_uniform_broadcast(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower `sub_group_non_uniform_broadcast`; for a lane that is not constant, use a shuffle.

    SPIR-V requires a constant lane before version 1.5. A device compiler lacks shuffles of half and double vectors, so
    these are shuffled as integers.
    """
    value, lane = arguments
    if isinstance(lane, ir.Constant):
        return call_named(ctx, call.name, call, call.parameters, arguments)
    element = scalar(call.type)
    if element not in (HALF, DOUBLE):
        return call_named(ctx, "sub_group_shuffle", call, call.parameters, arguments)
    bits = with_count(integer_type(element.bits, False), element_count(call.type))
    operand = ctx.builder.bitcast(value, ctx.types.of(bits))
    bits_of_lane = _call(ctx, "sub_group_shuffle", bits, (bits, UINT), [operand, lane])
    return ctx.builder.bitcast(bits_of_lane, value.type)


def _work_group_broadcast(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower `work_group_broadcast`; halves are passed as integers, because a device compiler crashes on halves."""
    value, *place = arguments
    if scalar(call.type) != HALF:
        return call_named(ctx, call.name, call, call.parameters, arguments)
    builder, bits = ctx.builder, ctx.types.of(USHORT)
    operand = builder.zext(builder.bitcast(value, bits), I32)
    wide_result = _call(ctx, call.name, UINT, (UINT, *call.parameters[1:]), [operand, *place])
    return builder.bitcast(builder.trunc(wide_result, bits), value.type)


def _logical(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower a logical reduction or scan as a bitwise one on 0 and 1.

    A device compiler's logical scans are wrong or missing.
    """
    predicate, *cluster = arguments
    builder, zero = ctx.builder, ir.Constant(I32, 0)
    truth = builder.zext(builder.icmp_unsigned("!=", predicate, zero), I32)
    bitwise = replace(call, name=call.name.replace("_logical_", "_"))
    if call.name.startswith("work_group_"):
        total = call_named(ctx, bitwise.name, bitwise, call.parameters, [truth])
    else:
        total = _arithmetic(ctx, bitwise, [truth, *cluster])
    return builder.zext(builder.icmp_unsigned("!=", total, zero), I32)


def _arithmetic(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower a reduction or scan; an exclusive scan is an inclusive scan shifted up to the next active lane.

    A device compiler's exclusive scan reads the previous lane even if that lane is inactive.
    """
    if _EXCLUSIVE not in call.name:
        return call_named(ctx, call.name, call, call.parameters, arguments)
    builder, t = ctx.builder, scalar(call.type)
    inclusive = _call(ctx, call.name.replace(_EXCLUSIVE, _INCLUSIVE), t, (t,), arguments)
    active = _call(ctx, "sub_group_ballot", _MASK, (INT,), [ir.Constant(I32, 1)])
    below = builder.and_(active, _call(ctx, "get_sub_group_lt_mask", _MASK, (), []))
    count = _call(ctx, "sub_group_ballot_bit_count", UINT, (_MASK,), [below])
    first = builder.icmp_unsigned("==", count, ir.Constant(I32, 0))
    # find_msb of an empty mask is undefined; the first lane may read from any active lane.
    lane = _call(ctx, "sub_group_ballot_find_msb", UINT, (_MASK,), [builder.select(first, active, below)])
    before = _call(ctx, "sub_group_shuffle", t, (t, UINT), [inclusive, lane])
    return builder.select(first, ir.Constant(before.type, _identity(call.name.rpartition("_")[2], t)), before)


def _call(
    ctx: BuiltinContext, name: str, result: Type, parameters: Sequence[Type], arguments: Sequence[ir.Value]
) -> ir.Value:
    return ctx.call(mangle(name, parameters), ctx.types.of(result), arguments, ("convergent", "nounwind"))


def _identity(operation: str, t: ScalarType) -> int | float:
    """Return the operation's identity element (cl_khr_subgroup_non_uniform_arithmetic)."""
    if t.is_float:
        least, most = -math.inf, math.inf
    else:
        least, most = (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)
    return {"add": 0, "or": 0, "xor": 0, "mul": 1, "and": -1, "min": most, "max": least}[operation]


LOWERINGS: dict[str, Lowering] = {
    "logical": _logical,
    "subgroup_arithmetic": _arithmetic,
    "intel_subgroup": _intel_subgroup,
    "work_group_broadcast": _work_group_broadcast,
    "non_uniform_broadcast": _non_uniform_broadcast,
}
