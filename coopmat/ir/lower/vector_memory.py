"""`vloadn` and `vstoren` (OpenCL C 3.0, section 6.15.7).

Private memory is accessed by LLVM loads and stores with the alignment of an element: calls would prevent LLVM from
promoting the memory to registers. Vectors of three are accessed by element, because SPIR-V's vector of three occupies
four elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ...frontend.types import AddressSpace, element_count
from ..type_map import I32, I64
from .builtin_calls import BuiltinContext, Lowering, call_named, scalar


def _load(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    offset, pointer = arguments
    if pointer.type.addrspace != AddressSpace.PRIVATE:
        return call_named(ctx, call.name, call, call.parameters, arguments)
    builder, vector, element = ctx.builder, ctx.types.of(call.type), ctx.types.of(scalar(call.type))
    count, align = element_count(call.type), scalar(call.type).bits // 8
    if count != 3:
        return builder.load(_address(ctx, pointer, offset, element, count), align=align, typ=vector)
    value = ir.Constant(vector, ir.Undefined)
    for lane in range(count):
        address = _address(ctx, pointer, offset, element, count, lane)
        value = builder.insert_element(value, builder.load(address, align=align, typ=element), ir.Constant(I32, lane))
    return value


def _store(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    value, offset, pointer = arguments
    if pointer.type.addrspace != AddressSpace.PRIVATE:
        return call_named(ctx, call.name, call, call.parameters, arguments)
    of, builder = call.parameters[0], ctx.builder
    element, count, align = ctx.types.of(scalar(of)), element_count(of), scalar(of).bits // 8
    if count != 3:
        builder.store(value, _address(ctx, pointer, offset, element, count), align=align)
        return None
    for lane in range(count):
        address = _address(ctx, pointer, offset, element, count, lane)
        builder.store(builder.extract_element(value, ir.Constant(I32, lane)), address, align=align)
    return None


def _address(
    ctx: BuiltinContext, pointer: ir.Value, offset: ir.Value, element: ir.Type, count: int, lane: int = 0
) -> ir.Value:
    if isinstance(offset, ir.Constant):
        place: ir.Value = ir.Constant(I64, offset.constant * count + lane)
    else:
        place = ctx.builder.mul(offset, ir.Constant(I64, count))
        place = ctx.builder.add(place, ir.Constant(I64, lane)) if lane else place
    return ctx.builder.gep(pointer, [place], source_etype=element)


LOWERINGS: dict[str, Lowering] = {"vector_load": _load, "vector_store": _store}
