"""Calls of builtin functions.

Most builtins are called under their Itanium-mangled OpenCL name, which LLVM's SPIR-V backend turns into instructions.
The rest have rows here, because the backend (LLVM 22.1) gives their names wrong, invalid or unresolved code: barriers
and fences, `any` and `all`, `ldexp` with one exponent, `convert_*`, and the aligned half loads and stores of three.
`mad_sat`, the geometry of scalars and shuffles of half are here because of drivers (the Intel CPU runtime, 2026).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import builtins as table
from ...frontend.builtins import conversions
from ...frontend.typed import BuiltinCall
from ...frontend.types import (
    BOOL,
    FLOAT,
    HALF,
    UINT,
    USHORT,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    element_count,
    element_type,
    with_count,
)
from ..mangle import mangle
from ..type_map import I1, I32, I64, VOID_TYPE, TypeMap

# SPIR-V's memory semantics and scopes (specification, sections 3.25 and 3.27).
_ACQUIRE, _RELEASE, _ACQUIRE_RELEASE, _SEQUENTIALLY_CONSISTENT = 0x2, 0x4, 0x8, 0x10
_DEVICE, _WORKGROUP, _SUBGROUP = 1, 2, 3
# The bits of cl_mem_fence_flags (local 1, global 2, image 4) and SPIR-V's memory classes in the same order.
_MEMORY_CLASSES = ((1, 0x100), (2, 0x200), (4, 0x800))
# memory_scope (0 work_item ... 4 sub_group) to SPIR-V's scope.
_SCOPES = (4, _WORKGROUP, _DEVICE, 0, _SUBGROUP)


class BuiltinContext(Protocol):
    """What this module needs of the function under construction."""

    builder: Any
    types: TypeMap

    def call(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Value], attributes: Sequence[str] = ...
    ) -> ir.Value:
        """A call of the external spir_func of this name, declared after its arguments once per module."""


def lower_builtin(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """The value of the call; None for a void function. `arguments` have the types of `call.parameters`."""
    lowering = _LOWERINGS.get(call.lowering)
    if lowering is None:
        raise InternalError(f"no lowering '{call.lowering}' for the builtin '{call.name}'")
    return lowering(ctx, call, arguments)


def _call(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    return _call_named(ctx, call.name, call, call.parameters, arguments)


def _call_named(
    ctx: BuiltinContext, name: str, call: BuiltinCall, parameters: Sequence[Type], arguments: Sequence[ir.Value]
) -> ir.Value | None:
    """A call of `name` with the result and the attributes of `call`."""
    row = table.find(call.name)
    attributes = ["nounwind"]
    if row is not None:
        attributes += ["convergent"] * row.convergent + ["readnone"] * row.pure
    result = ctx.types.of(call.type)
    value = ctx.call(mangle(name, parameters), result, arguments, attributes)
    return None if result is VOID_TYPE else value


# --- synchronization -----------------------------------------------------------------------------


def _barrier(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> None:
    execution = _SUBGROUP if call.name == "sub_group_barrier" else _WORKGROUP
    scope = _scope(ctx, arguments[1]) if len(arguments) > 1 else ir.Constant(I32, execution)
    semantics = _semantics(ctx, arguments[0], _SEQUENTIALLY_CONSISTENT)
    _spirv_void(ctx, "__spirv_ControlBarrier", [ir.Constant(I32, execution), scope, semantics])


def _fence(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> None:
    order = {"read_mem_fence": _ACQUIRE, "write_mem_fence": _RELEASE}.get(call.name, _ACQUIRE_RELEASE)
    semantics = _semantics(ctx, arguments[0], order)
    _spirv_void(ctx, "__spirv_MemoryBarrier", [ir.Constant(I32, _WORKGROUP), semantics])


def _spirv_void(ctx: BuiltinContext, name: str, arguments: list[ir.Value]) -> None:
    ctx.call(mangle(name, [UINT] * len(arguments)), VOID_TYPE, arguments, ("convergent", "nounwind"))


def _semantics(ctx: BuiltinContext, flags: ir.Value, order: int) -> ir.Value:
    """cl_mem_fence_flags as SPIR-V memory semantics: a constant wherever the flags are one, as drivers want it."""
    known = constant_value(flags)
    if known is not None:
        return ir.Constant(I32, order | sum(there for here, there in _MEMORY_CLASSES if known & here))
    builder, result = ctx.builder, ir.Constant(I32, order)
    for here, there in _MEMORY_CLASSES:
        bit = builder.and_(flags, ir.Constant(I32, here))
        result = builder.or_(result, builder.mul(bit, ir.Constant(I32, there // here)))
    return result


def _scope(ctx: BuiltinContext, scope: ir.Value) -> ir.Value:
    known = constant_value(scope)
    if known is not None:
        return ir.Constant(I32, _SCOPES[known] if known < len(_SCOPES) else _DEVICE)
    builder, result = ctx.builder, ir.Constant(I32, _DEVICE)
    for ours, theirs in enumerate(_SCOPES):
        matches = builder.icmp_unsigned("==", scope, ir.Constant(I32, ours))
        result = builder.select(matches, ir.Constant(I32, theirs), result)
    return result


_FOLDS: dict[str, Callable[[int, int], int]] = {
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
}


def constant_value(value: ir.Value) -> int | None:
    """The 32-bit value of a constant, or of the usual operators on constants (`FLAG | FLAG`); None otherwise."""
    if isinstance(value, ir.Constant):
        number = value.constant
        return number & 0xFFFFFFFF if isinstance(number, int) else None
    if isinstance(value, ir.CastInstr) and value.opname in ("zext", "sext", "trunc", "bitcast"):
        return constant_value(value.operands[0])
    fold = _FOLDS.get(getattr(value, "opname", ""))
    if fold is None:
        return None
    left, right = map(constant_value, value.operands)
    return None if left is None or right is None else fold(left, right) & 0xFFFFFFFF


# --- relational, math, half loads and stores -----------------------------------------------------


def _any_all(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Whether any or all components have their most significant bit set; int 0 or 1."""
    argument, count = arguments[0], element_count(call.parameters[0])
    result = ctx.builder.icmp_signed("<", argument, ir.Constant(argument.type, None))
    if count > 1:
        name = mangle(f"__spirv_{call.name.capitalize()}", [VectorType(BOOL, count)])
        result = ctx.call(name, I1, [result], ("nounwind", "readnone"))
    return ctx.builder.zext(result, I32)


def _ldexp(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    value, exponent = arguments
    wide = with_count(_scalar(call.parameters[1]), element_count(call.parameters[0]))
    if wide != call.parameters[1]:
        exponent = _splat(ctx, exponent, element_count(wide))
    return _call_named(ctx, call.name, call, (call.parameters[0], wide), (value, exponent))


def _geometry(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """`length`, `distance` and `normalize`: those of halves are computed in float, because a driver gets scalars below
    zero and short vectors wrong."""
    if _scalar(call.type) != HALF:
        return _call(ctx, call, arguments)
    wide = tuple(with_count(FLOAT, element_count(t)) for t in call.parameters)
    result = with_count(FLOAT, element_count(call.type))
    carried = [ctx.builder.fpext(v, ctx.types.of(t)) for v, t in zip(arguments, wide, strict=True)]
    value = _call_named(ctx, call.name, replace(call, type=result), wide, carried)
    return ctx.builder.fptrunc(value, ctx.types.of(call.type))


def _mad_sat(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """a b + c in two words, then saturated: a driver's own mad_sat saturates too late.

    The result fits its low word if the high word is nothing but that word's sign (unsigned: zero).
    """
    builder, (a, b, c), t = ctx.builder, arguments, call.type
    llvm, element = ctx.types.of(t), _scalar(t)
    least, most = (_integers(llvm, limit) for limit in _limits(element))
    product = builder.mul(a, b)
    high = _call_named(ctx, "mul_hi", call, (t, t), (a, b))
    low = builder.add(product, c)
    high = builder.add(high, builder.zext(builder.icmp_unsigned("<", low, product), llvm))
    if not element.signed:
        return builder.select(builder.icmp_unsigned("==", high, least), low, most)
    top = _integers(llvm, element.bits - 1)
    high = builder.add(high, builder.ashr(c, top))
    fits = builder.icmp_signed("==", high, builder.ashr(low, top))
    negative = builder.icmp_signed("<", high, _integers(llvm, 0))
    return builder.select(fits, low, builder.select(negative, least, most))


def _shuffle(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """`shuffle` and `shuffle2`; halves travel as their bits, since a driver has no such function for them."""
    if _scalar(call.type) != HALF:
        return _call(ctx, call, arguments)
    *vectors, mask = arguments
    bits = [with_count(USHORT, element_count(t)) for t in (*call.parameters[:-1], call.type)]
    carried = [ctx.builder.bitcast(v, ctx.types.of(t)) for v, t in zip(vectors, bits[:-1], strict=True)]
    parameters = (*bits[:-1], call.parameters[-1])
    value = _call_named(ctx, call.name, replace(call, type=bits[-1]), parameters, [*carried, mask])
    return ctx.builder.bitcast(value, ctx.types.of(call.type))


def _aligned_half3(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Vectors of three that lie four apart: the unaligned function on the address of the element."""
    *data, offset, pointer = arguments
    index = ctx.builder.shl(offset, ir.Constant(I64, 2))
    address = ctx.builder.gep(pointer, [index], source_etype=ir.HalfType())
    name = call.name.replace("a_half", "_half")
    return _call_named(ctx, name, call, call.parameters, [*data, ir.Constant(I64, 0), address])


def _splat(ctx: BuiltinContext, value: ir.Value, count: int) -> ir.Value:
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = ctx.builder.insert_element(undefined, value, ir.Constant(I32, 0))
    return ctx.builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(I32, count), None))


# --- conversions ---------------------------------------------------------------------------------


def _convert(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    conversion = conversions.parse_conversion(call.name)
    if conversion is None:
        raise InternalError(f"'{call.name}' is not the name of a conversion")
    (value,) = arguments
    source, target = _scalar(call.parameters[0]), _scalar(call.type)
    if source == target:
        return value
    if source.is_integer and target.is_integer:
        # Rounding modes mean nothing here, and saturation in the backend mistakes signed sources for unsigned ones.
        return _integer_to_integer(ctx, value, source, call.type, conversion.saturate)
    if target.is_integer and (conversion.saturate or conversion.rounding not in (None, "rtz")):
        return _call(ctx, call, arguments)
    widens = source.is_float and target.is_float and target.bits > source.bits
    if target.is_float and conversion.rounding is not None and not widens:
        # The backend knows convert_float_<rounding>, but not half and double.
        operation = "FConvert" if source.is_float else "ConvertSToF" if source.signed else "ConvertUToF"
        name = f"__spirv_{operation}_R{call.type}_{conversion.rounding}"
        return _call_named(ctx, name, call, call.parameters, arguments)
    return _cast(ctx, value, source, target, ctx.types.of(call.type))


def _integer_to_integer(
    ctx: BuiltinContext, value: ir.Value, source: ScalarType, target_type: Type, saturate: bool
) -> ir.Value:
    target, llvm = _scalar(target_type), ctx.types.of(target_type)
    if saturate:
        (low, high), (least, most) = _limits(target), _limits(source)
        order = ctx.builder.icmp_signed if source.signed else ctx.builder.icmp_unsigned
        for limit, comparison, needed in ((low, "<", least < low), (high, ">", most > high)):
            if needed:
                bound = _integers(value.type, limit)
                value = ctx.builder.select(order(comparison, value, bound), bound, value)
    if source.bits == target.bits:
        return value
    if target.bits < source.bits:
        return ctx.builder.trunc(value, llvm)
    # A saturated value is not negative where the target is unsigned, so sign extension is right there too.
    return ctx.builder.sext(value, llvm) if source.signed else ctx.builder.zext(value, llvm)


def _limits(t: ScalarType) -> tuple[int, int]:
    return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)


def _integers(llvm: ir.Type, value: int) -> ir.Constant:
    """The constant whose every component is `value`."""
    return ir.Constant(llvm, [value] * llvm.count if isinstance(llvm, ir.VectorType) else value)


def _cast(ctx: BuiltinContext, value: ir.Value, source: ScalarType, target: ScalarType, llvm: ir.Type) -> ir.Value:
    builder = ctx.builder
    if source.is_float and target.is_float:
        return builder.fpext(value, llvm) if target.bits > source.bits else builder.fptrunc(value, llvm)
    if source.is_float:
        return builder.fptosi(value, llvm) if target.signed else builder.fptoui(value, llvm)
    return builder.sitofp(value, llvm) if source.signed else builder.uitofp(value, llvm)


def _scalar(t: Type) -> ScalarType:
    element = element_type(t)
    if not isinstance(element, ScalarType) or isinstance(t, PointerType):
        raise InternalError(f"'{t}' is not a scalar or vector")
    return element


_LOWERINGS: dict[str, Callable[[BuiltinContext, BuiltinCall, Sequence[ir.Value]], ir.Value | None]] = {
    "call": _call,
    "barrier": _barrier,
    "fence": _fence,
    "any_all": _any_all,
    "ldexp": _ldexp,
    "mad_sat": _mad_sat,
    "geometry": _geometry,
    "shuffle": _shuffle,
    "aligned_half3": _aligned_half3,
    "convert": _convert,
}
