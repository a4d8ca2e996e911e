"""Generic pointers: the address space qualifier functions (OpenCL C 3.0, section 6.15.10), and a helper for builtins.

The helper gives other builtins a pointer to a named address space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ...frontend.types import INT, VOID, AddressSpace, PointerType, Qualifiers
from ..type_map import I32, POINTERS
from .builtin_calls import BuiltinContext, Lowering, mangle

# address space -> (SPIR-V's storage class (specification, 3.7), its name in the backend's cast functions).
_CLASSES = {AddressSpace.PRIVATE: (7, "Private"), AddressSpace.GLOBAL: (5, "Global"), AddressSpace.LOCAL: (4, "Local")}
_LOCAL_FENCE, _GLOBAL_FENCE = 1, 2
_GENERIC_POINTER = PointerType(VOID, Qualifiers(AddressSpace.GENERIC))


def known_pointer(pointer: ir.Value) -> ir.Value:
    """Strip casts to the generic address space; return the pointer of a named address space, if visible."""
    while isinstance(pointer, ir.CastInstr) and pointer.opname == "addrspacecast":
        if pointer.type.addrspace != AddressSpace.GENERIC:
            break
        pointer = pointer.operands[0]
    return pointer


def pointer_in(ctx: BuiltinContext, pointer: ir.Value, space: AddressSpace) -> ir.Value:
    """Cast a generic pointer to address space `space`; the result is null if it points elsewhere.

    On a device whose address spaces overlap (a CPU), the cast may succeed for several spaces.
    """
    number, word = _CLASSES[space]
    name = mangle(f"__spirv_GenericCastToPtrExplicit_To{word}", [_GENERIC_POINTER, INT])
    return ctx.call(name, POINTERS[space], [pointer, ir.Constant(I32, number)], ("nounwind", "readnone"))


def in_known_space(
    ctx: BuiltinContext, pointer: ir.Value, act: Callable[[ir.Value, AddressSpace], ir.Value | None]
) -> ir.Value | None:
    """Return the result of `act(pointer, space)`, called for each possible named address space of the pointer.

    Some device compilers lack atomics on generic pointers (the Intel CPU runtime, 2026). If the address space is not
    known, emit a test whether the pointer is global; otherwise it is taken to be local. Global is tested first: where
    spaces overlap, an operation that is correct for global memory is correct for local memory, too.
    """
    pointer = known_pointer(pointer)
    space = AddressSpace(pointer.type.addrspace)
    if space is not AddressSpace.GENERIC:
        return act(pointer, space)
    builder = ctx.builder
    shared = pointer_in(ctx, pointer, AddressSpace.GLOBAL)
    is_global = builder.icmp_unsigned("!=", shared, ir.Constant(shared.type, None))
    blocks = [builder.append_basic_block(f"space.{name}") for name in ("global", "local", "end")]
    builder.cbranch(is_global, blocks[0], blocks[1])
    arms: list[tuple[ir.Value | None, ir.Block]] = []
    for block, target in zip(blocks, (AddressSpace.GLOBAL, AddressSpace.LOCAL), strict=False):
        builder.position_at_end(block)
        operand = shared if target is AddressSpace.GLOBAL else builder.addrspacecast(pointer, POINTERS[target])
        arms.append((act(operand, target), builder.block))
        builder.branch(blocks[2])
    builder.position_at_end(blocks[2])
    if arms[0][0] is None:
        return None
    result = builder.phi(arms[0][0].type)
    for value, block in arms:
        result.add_incoming(value, block)
    return result


def _to_space(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower `to_global`, `to_local` and `to_private`."""
    assert isinstance(call.type, PointerType)
    space = call.type.qualifiers.space
    pointer = known_pointer(arguments[0])
    have = AddressSpace(pointer.type.addrspace)
    if have is AddressSpace.GENERIC:
        return pointer_in(ctx, pointer, space)
    return pointer if have is space else ir.Constant(POINTERS[space], None)


def _get_fence(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower `get_fence`: return the fence flags for the memory that the pointer points to."""

    def flags(pointer: ir.Value, space: AddressSpace) -> ir.Value:
        return ir.Constant(I32, _LOCAL_FENCE if space is AddressSpace.LOCAL else _GLOBAL_FENCE)

    result = in_known_space(ctx, arguments[0], flags)
    assert result is not None
    return result


LOWERINGS: dict[str, Lowering] = {"to_space": _to_space, "get_fence": _get_fence}
