"""Barriers and fences, and the translation of OpenCL C's memory scopes and orders to SPIR-V's.

A SPIR-V memory-semantics operand combines the order with the storage classes that are ordered (specification, 3.25 and
3.27). If the program's operands are constants, so are the emitted ones: device compilers require that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from ...frontend.typed import BuiltinCall
from ...frontend.types import UINT
from ..type_map import I32, VOID_TYPE
from .builtin_calls import BuiltinContext, Lowering, mangle

RELAXED, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIALLY_CONSISTENT = 0, 0x2, 0x4, 0x8, 0x10
ALL_DEVICES, DEVICE, WORKGROUP, SUBGROUP, WORK_ITEM = range(5)
# (bit of cl_mem_fence_flags, SPIR-V memory semantics), for local, global and image memory.
_MEMORY_CLASSES = ((1, 0x100), (2, 0x200), (4, 0x800))
# The index in _SCOPES is a memory_scope (0 work_item ... 4 sub_group), the key in _ORDERS a memory_order (1 is unused).
_SCOPES = (WORK_ITEM, WORKGROUP, DEVICE, ALL_DEVICES, SUBGROUP)
_ORDERS = {0: RELAXED, 2: ACQUIRE, 3: RELEASE, 4: ACQUIRE_RELEASE, 5: SEQUENTIALLY_CONSISTENT}


def _barrier(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> None:
    execution = SUBGROUP if call.name == "sub_group_barrier" else WORKGROUP
    memory_scope = scope_of(arguments[1]) if len(arguments) > 1 else execution
    semantics = _semantics(ctx, arguments[0], SEQUENTIALLY_CONSISTENT)
    _spirv_void(ctx, "__spirv_ControlBarrier", [ir.Constant(I32, execution), ir.Constant(I32, memory_scope), semantics])


def _fence(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> None:
    if call.name == "atomic_work_item_fence":
        order, scope = order_of(arguments[1]), scope_of(arguments[2])
    else:
        order = {"read_mem_fence": ACQUIRE, "write_mem_fence": RELEASE}.get(call.name, ACQUIRE_RELEASE)
        scope = WORKGROUP
    if order == RELAXED:
        return  # a relaxed fence has no effect
    semantics = _semantics(ctx, arguments[0], order)
    _spirv_void(ctx, "__spirv_MemoryBarrier", [ir.Constant(I32, scope), semantics])


def _spirv_void(ctx: BuiltinContext, name: str, arguments: list[ir.Value]) -> None:
    ctx.call(mangle(name, [UINT] * len(arguments)), VOID_TYPE, arguments, ("convergent", "nounwind"))


def _semantics(ctx: BuiltinContext, flags: ir.Value, order: int) -> ir.Value:
    """Return the SPIR-V memory semantics for `order` and the cl_mem_fence_flags `flags`."""
    constant = constant_value(flags)
    if constant is not None:
        return ir.Constant(I32, order | sum(memory_class for flag, memory_class in _MEMORY_CLASSES if constant & flag))
    builder, result = ctx.builder, ir.Constant(I32, order)
    for flag, memory_class in _MEMORY_CLASSES:
        bit = builder.and_(flags, ir.Constant(I32, flag))
        result = builder.or_(result, builder.mul(bit, ir.Constant(I32, memory_class // flag)))
    return result


def scope_of(scope: ir.Value) -> int:
    """Return SPIR-V's scope for a memory_scope; if that is not constant, the widest scope, which is always correct."""
    number = constant_value(scope)
    return _SCOPES[number] if number is not None and number < len(_SCOPES) else ALL_DEVICES


def order_of(order: ir.Value) -> int:
    """Return SPIR-V's bit for a memory_order; if that is not constant, the strongest order, which is always correct."""
    number = constant_value(order)
    return SEQUENTIALLY_CONSISTENT if number is None else _ORDERS.get(number, SEQUENTIALLY_CONSISTENT)


_FOLDS: dict[str, Callable[[int, int], int]] = {
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
}


def constant_value(value: ir.Value) -> int | None:
    """Fold constants and the usual operators on constants (`FLAG | FLAG`) to a 32-bit value; return None otherwise."""
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


LOWERINGS: dict[str, Lowering] = {"barrier": _barrier, "fence": _fence}
