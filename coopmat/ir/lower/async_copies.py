"""Async copies as SPIR-V's group instructions.

The backend gives calls of the OpenCL names a 32-bit stride, which is invalid, and calls of SPIR-V's names pointers of
the wrong type. Therefore `spirv.legalize` replaces a placeholder call by the instruction. The placeholder has an
additional argument of the element type.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ...frontend.types import EVENT, INT, UCHAR, UINT, AddressSpace, PointerType, Qualifiers
from ...matrices.placeholders import ASYNC_COPY
from ..type_map import I8, I32, I64, OPAQUE_TYPES, POINTERS, VOID_TYPE
from . import address_spaces
from .builtin_calls import BuiltinContext, Lowering, mangle
from .synchronization import WORKGROUP

_ATTRIBUTES = ("convergent", "nounwind")
_EVENT = OPAQUE_TYPES[EVENT]


def _group_copy(
    ctx: BuiltinContext,
    target: tuple[PointerType, ir.Value],
    source: tuple[PointerType, ir.Value],
    count: ir.Value,
    stride: ir.Value,
    event: ir.Value,
) -> ir.Value:
    """Emit a copy of `count` elements, which are `stride` elements apart in global memory."""
    element = ir.Constant(ctx.types.of(target[0].pointee), None)
    arguments = [ir.Constant(I32, WORKGROUP), target[1], source[1], count, stride, event, element]
    return ctx.call(ASYNC_COPY + mangle("", [target[0], source[0]]), _EVENT, arguments, _ATTRIBUTES)


def _copy(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    target, source, count, *stride, event = arguments
    to, of = call.parameters[:2]
    assert isinstance(to, PointerType) and isinstance(of, PointerType)
    return _group_copy(ctx, (to, target), (of, source), count, stride[0] if stride else ir.Constant(I64, 1), event)


def _wait(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> None:
    count, events = arguments
    events = address_spaces.known_pointer(events)
    if events.type.addrspace != AddressSpace.PRIVATE:
        # The events are in private memory: OpenCL C permits events nowhere else.
        events = ctx.builder.addrspacecast(events, POINTERS[AddressSpace.PRIVATE])
    name = mangle("__spirv_GroupWaitEvents", [UINT, INT, PointerType(EVENT)])
    ctx.call(name, VOID_TYPE, [ir.Constant(I32, WORKGROUP), count, events], _ATTRIBUTES)


def _block_copy(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower a two- or three-dimensional copy to a loop over lines, which are copied as bytes under one event.

    Offsets, lengths and pitches are in elements of `size` bytes.
    """
    builder = ctx.builder
    target, target_offset, source, source_offset, size, length, lines, *pitches, event = arguments
    planes = ir.Constant(I64, 1)
    if len(pitches) > 2:
        planes, *pitches = pitches
    half = len(pitches) // 2
    source_pitches, target_pitches = pitches[:half], pitches[half:]
    spaces = (t.qualifiers.space for t in call.parameters[0:3:2] if isinstance(t, PointerType))
    to, of = (PointerType(UCHAR, Qualifiers(space)) for space in spaces)

    before = builder.block
    loop, body, end = (builder.append_basic_block(f"copy.{name}") for name in ("loop", "line", "end"))
    count = builder.mul(lines, planes)
    builder.branch(loop)
    builder.position_at_end(loop)
    number, so_far = builder.phi(I64), builder.phi(_EVENT)
    builder.cbranch(builder.icmp_unsigned("<", number, count), body, end)
    builder.position_at_end(body)
    at = builder.urem(number, lines), builder.udiv(number, lines)

    def line(pointer: ir.Value, offset: ir.Value, pitch: Sequence[ir.Value]) -> ir.Value:
        for index, distance in zip(at, pitch, strict=False):
            offset = builder.add(offset, builder.mul(index, distance))
        return builder.gep(pointer, [builder.mul(offset, size)], source_etype=I8)

    to_line = line(target, target_offset, target_pitches)
    of_line = line(source, source_offset, source_pitches)
    width, one = builder.mul(length, size), ir.Constant(I64, 1)
    copied = _group_copy(ctx, (to, to_line), (of, of_line), width, one, so_far)
    following = builder.add(number, one)
    builder.branch(loop)
    number.add_incoming(ir.Constant(I64, 0), before)
    number.add_incoming(following, body)
    so_far.add_incoming(event, before)
    so_far.add_incoming(copied, body)
    builder.position_at_end(end)
    return so_far


LOWERINGS: dict[str, Lowering] = {"async_copy": _copy, "wait_events": _wait, "async_block_copy": _block_copy}
