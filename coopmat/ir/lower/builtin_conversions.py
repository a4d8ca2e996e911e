"""The builtins `convert_T[_sat][_rounding]` (OpenCL C 3.0, section 6.4.3).

LLVM's backend and device compilers have faults in these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir
from llvmlite.ir.values import FormattedConstant

from ...diagnostics import InternalError
from ...frontend.builtins import conversions
from ...frontend.typed import BuiltinCall
from ...frontend.types import ScalarType, Type, element_count
from .builtin_calls import BuiltinContext, Lowering, call_named, integers, scalar
from .initializers import float_text


def _convert(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    conversion = conversions.parse_conversion(call.name)
    if conversion is None:
        raise InternalError(f"'{call.name}' is not the name of a conversion")
    (value,) = arguments
    source, target = scalar(call.parameters[0]), scalar(call.type)
    if source == target:
        return value
    if source.is_integer and target.is_integer:
        # Rounding modes do not apply. The backend's saturating conversion treats signed sources as unsigned.
        return _integer_to_integer(ctx, value, source, call.type, conversion.saturate)
    if target.is_integer and conversion.saturate:
        return _saturated(ctx, call, value, conversion.rounding)
    if target.is_integer and conversion.rounding not in (None, "rtz"):
        return call_named(ctx, call.name, call, call.parameters, arguments)
    widens = source.is_float and target.is_float and target.bits > source.bits
    if target.is_float and conversion.rounding is not None and not widens:
        # The backend knows convert_float_<rounding>, but not convert_half_ and convert_double_<rounding>.
        operation = "FConvert" if source.is_float else "ConvertSToF" if source.signed else "ConvertUToF"
        name = f"__spirv_{operation}_R{call.type}_{conversion.rounding}"
        return call_named(ctx, name, call, call.parameters, arguments)
    return _cast(ctx, value, source, target, ctx.types.of(call.type))


_ROUNDED = {"rte": "rint", "rtp": "ceil", "rtn": "floor"}


def _saturated(ctx: BuiltinContext, call: BuiltinCall, value: ir.Value, rounding: str | None) -> ir.Value:
    """Convert floating point to integer with saturation: round, then clamp to the target's range; NaN gives 0.

    Emit plain instructions, because device compilers lack saturating conversions for some vector and subgroup sizes.
    """
    builder, t, llvm = ctx.builder, call.parameters[0], ctx.types.of(call.type)
    source, target = scalar(t), scalar(call.type)
    if rounding in _ROUNDED:
        value = call_named(ctx, _ROUNDED[rounding], replace(call, type=t), (t,), (value,))
    least, most = limits(target)
    # Compare with the first numbers outside the target's range; a limit beyond the source's range is infinity.
    high = _floats(ctx, t, float(most + 1) if most + 1 <= _MOST[source.name] else math.inf)
    if -least <= _MOST[source.name]:
        too_low = builder.fcmp_ordered("<", value, _floats(ctx, t, float(least)))
    else:
        too_low = builder.fcmp_ordered("==", value, _floats(ctx, t, -math.inf))
    too_high = builder.fcmp_ordered(">=", value, high)
    unfit = builder.or_(builder.or_(too_low, too_high), builder.fcmp_unordered("uno", value, value))
    inside = builder.select(unfit, _floats(ctx, t, 0.0), value)
    result = builder.fptosi(inside, llvm) if target.signed else builder.fptoui(inside, llvm)
    result = builder.select(too_high, integers(llvm, most), result)
    return builder.select(too_low, integers(llvm, least), result)


_MOST = {"half": 65504.0, "float": 3.4e38, "double": 1.7e308}


def _floats(ctx: BuiltinContext, t: Type, value: float) -> ir.Constant:
    """Return the constant of scalar or vector type `t` whose every component is `value`."""
    part = FormattedConstant(ctx.types.of(scalar(t)), float_text(value))
    return part if element_count(t) == 1 else ir.Constant(ctx.types.of(t), [part] * element_count(t))


def _integer_to_integer(
    ctx: BuiltinContext, value: ir.Value, source: ScalarType, target_type: Type, saturate: bool
) -> ir.Value:
    target, llvm = scalar(target_type), ctx.types.of(target_type)
    if saturate:
        (low, high), (least, most) = limits(target), limits(source)
        order = ctx.builder.icmp_signed if source.signed else ctx.builder.icmp_unsigned
        for limit, comparison, needed in ((low, "<", least < low), (high, ">", most > high)):
            if needed:
                bound = integers(value.type, limit)
                value = ctx.builder.select(order(comparison, value, bound), bound, value)
    if source.bits == target.bits:
        return value
    if target.bits < source.bits:
        return ctx.builder.trunc(value, llvm)
    # For an unsigned target, a saturated value is nonnegative, so sign extension is correct, too.
    return ctx.builder.sext(value, llvm) if source.signed else ctx.builder.zext(value, llvm)


def limits(t: ScalarType) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type."""
    return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)


def _cast(ctx: BuiltinContext, value: ir.Value, source: ScalarType, target: ScalarType, llvm: ir.Type) -> ir.Value:
    builder = ctx.builder
    if source.is_float and target.is_float:
        return builder.fpext(value, llvm) if target.bits > source.bits else builder.fptrunc(value, llvm)
    if source.is_float:
        return builder.fptosi(value, llvm) if target.signed else builder.fptoui(value, llvm)
    return builder.sitofp(value, llvm) if source.signed else builder.uitofp(value, llvm)


LOWERINGS: dict[str, Lowering] = {"convert": _convert}
