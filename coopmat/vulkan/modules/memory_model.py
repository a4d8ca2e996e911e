"""The Vulkan memory model: operands of accesses, and the semantics of barriers and atomics.

An access to memory that several work-items share is NonPrivatePointer, so that barriers order it. An address needs its
alignment. Values of structs and arrays are copied between the type with layout in memory and the one without.
"""

from __future__ import annotations

from ...spirv.checks import STRIDE_AT
from ...spirv.module import ENUM, OP, Instruction, numbers
from .code import Code, Rule, rewrite
from .context import Context
from .layout import PSB

_POINTER = OP["OpTypePointer"]
_WORKGROUP = ENUM["StorageClass.Workgroup"]
_VOLATILE, _ALIGNED, _NONTEMPORAL, _NON_PRIVATE = numbers(
    "MemoryAccess.*", "Volatile Aligned Nontemporal NonPrivatePointer"
)
_ACQUIRE, _RELEASE, _BOTH, _STRICT, _UNIFORM, _LOCAL, _GLOBAL, _IMAGE, _AVAILABLE, _VISIBLE = numbers(
    "MemorySemantics.*",
    "Acquire Release AcquireRelease SequentiallyConsistent UniformMemory WorkgroupMemory CrossWorkgroupMemory "
    "ImageMemory MakeAvailable MakeVisible",
)
_ORDERS = _ACQUIRE | _RELEASE | _BOTH | _STRICT
# The scope of all invocations of the device; OpenCL's scope of all devices and the host has no equivalent.
_CROSS_DEVICE, _DEVICE, _INVOCATION = numbers("Scope.*", "CrossDevice Device Invocation")
_ATOMIC_SEMANTICS = {
    **{number: (2,) for name, number in OP.items() if name.startswith("OpAtomic")},
    **dict.fromkeys(numbers("OpAtomic*", "CompareExchange CompareExchangeWeak"), (2, 3)),
}


def memory_model(context: Context) -> None:
    """Rewrite accesses, barriers and atomics for the Vulkan memory model."""
    model = _MemoryModel(context)
    rules: dict[int, Rule] = {
        OP["OpLoad"]: model.load,
        OP["OpStore"]: model.store,
        OP["OpControlBarrier"]: model.barrier,
        OP["OpMemoryBarrier"]: model.barrier,
        **dict.fromkeys(STRIDE_AT, model.matrix),
        **dict.fromkeys(_ATOMIC_SEMANTICS, model.atomic),
    }
    rewrite(context.parts, rules)


class _MemoryModel:
    def __init__(self, context: Context) -> None:
        self.context, self.parts, self.layout = context, context.parts, context.layout

    def access(self, pointer: int, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Return the memory operands of an access through `pointer` that had `operands`."""
        space = self.parts.types.storage_class(pointer)
        mask = operands[0] if operands else 0
        new = mask & (_VOLATILE | _NONTEMPORAL)
        words: tuple[int, ...] = ()
        if space == PSB:
            pointee = self.parts.types.pointee(pointer)
            scalar = self.layout.scalar_alignment(pointee)
            words = (operands[1] if mask & _ALIGNED else scalar,)
            if words[0] < scalar:
                raise self.context.refused(
                    f"an access to {scalar} bytes at an address that is a multiple of {words[0]}"
                )
            new |= _ALIGNED
        if space in (PSB, _WORKGROUP):
            new |= _NON_PRIVATE
        return (new, *words) if new else ()

    def load(self, code: Code, item: Instruction) -> None:
        pointer, *operands = item.operands
        access = self.access(pointer, tuple(operands))
        pointee = self.parts.types.pointee(pointer)
        if pointee == item.result_type:
            code.finish(item, "OpLoad", pointer, *access)
        else:
            value = code.add("OpLoad", pointee, pointer, *access)
            code.finish(item, "OpCopyLogical", value)

    def store(self, code: Code, item: Instruction) -> None:
        pointer, value, *operands = item.operands
        pointee = self.parts.types.pointee(pointer)
        if pointee != code.type_of(value):
            value = code.add("OpCopyLogical", pointee, value)
        code.add("OpStore", None, pointer, value, *self.access(pointer, tuple(operands)))

    def matrix(self, code: Code, item: Instruction) -> None:
        """Rewrite a load or store of a matrix; its memory operands follow the stride."""
        end = STRIDE_AT[item.opcode] + 1
        access = self.access(item.operands[0], item.operands[end:])
        code.keep(Instruction(item.opcode, (*item.operands[:end], *access), item.result_type, item.result))

    # --- barriers and atomics

    def barrier(self, code: Code, item: Instruction) -> None:
        *scopes, semantics = item.operands
        scopes = [self.scope(scope) for scope in scopes]
        value = self.value(semantics)
        is_own = self.parts.types.constants.value(scopes[-1]) == _INVOCATION
        found = 0 if is_own else _semantics(value, value & _ORDERS, self.classes(value))
        # An invocation's own accesses to a place have an order; Vulkan has no fence for them.
        if found or item.opcode == OP["OpControlBarrier"]:
            code.add(item.name, None, *scopes, code.u32(found))

    def value(self, semantics: int) -> int:
        """Return the value of semantics; the strongest one if it is computed at run time."""
        is_constant = self.parts.definitions[semantics].opcode in (OP["OpConstant"], OP["OpConstantNull"])
        return self.parts.types.constants.value(semantics) if is_constant else _STRICT | _GLOBAL | _LOCAL | _IMAGE

    def classes(self, value: int) -> int:
        """Return the bits of the memory that OpenCL's semantics name."""
        return (_UNIFORM if value & (_GLOBAL | _UNIFORM) else 0) | value & (_LOCAL | _IMAGE)

    def atomic(self, code: Code, item: Instruction) -> None:
        operands = list(item.operands)
        operands[1] = self.scope(operands[1])
        space = self.parts.types.storage_class(operands[0])
        own = _LOCAL if space == _WORKGROUP else _UNIFORM
        for at in _ATOMIC_SEMANTICS[item.opcode]:
            value = self.value(operands[at])
            order = value & _ORDERS
            if item.opcode == OP["OpAtomicLoad"] or at == 3:
                order = _ACQUIRE if order & (_ACQUIRE | _BOTH | _STRICT) else 0
            elif item.opcode == OP["OpAtomicStore"]:
                order = _RELEASE if order & (_RELEASE | _BOTH | _STRICT) else 0
            operands[at] = code.u32(_semantics(value, order, self.classes(value) | own))
        code.keep(Instruction(item.opcode, tuple(operands), item.result_type, item.result))

    def scope(self, scope: int) -> int:
        is_widest = self.parts.types.constants.value(scope) == _CROSS_DEVICE
        return self.parts.globals.number(_DEVICE) if is_widest else scope


def _semantics(value: int, order: int, classes: int) -> int:
    """Return the semantics of Vulkan for an order and classes of memory.

    The memory model has no sequential consistency; the strongest order is AcquireRelease.
    """
    if order & _STRICT:
        order = _BOTH
    if not order or not classes:
        return 0
    available = _AVAILABLE if order & (_RELEASE | _BOTH) else 0
    visible = _VISIBLE if order & (_ACQUIRE | _BOTH) else 0
    return order | classes | available | visible
