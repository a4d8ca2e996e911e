"""A rewrite that keeps a device's compiler from removing stores to private memory that holds only constants.

Intel's CPU runtime (2026.2) vectorizes a kernel with private memory that is filled with constants and then read at
calculated addresses, `m[i]`. If the declared element type of the memory is not the type of the reads, the later
elimination of dead stores misses these reads. They then return earlier contents. A single store of another value to the
variable is enough to keep all stores. A variable that is only copied once from constant memory is replaced by that
memory. Volatile stores are kept.
"""

from __future__ import annotations

from ..spirv.module import ENUM, OP, Instruction
from .opaque_zeros import Globals, OpaqueZeros
from .private_accesses import BITCAST, CHAINS, COPIES, WRITES, Memory, is_constant, memories

_VARIABLE = OP["OpVariable"]
_UNIFORM_CONSTANT, _VOLATILE = ENUM["StorageClass.UniformConstant"], ENUM["MemoryAccess.Volatile"]


class PrivateFills:
    """A rewrite that makes stores to private memory volatile if the compiler may remove them wrongly."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code`, in which stores that the compiler may remove are made volatile in place."""
        for memory in memories(self._globals, code):
            for item in memory.writes if self._is_endangered(memory) else ():
                at = WRITES[item.opcode]
                mask, *rest = item.operands[at:] or (0,)
                item.operands = (*item.operands[:at], mask | _VOLATILE, *rest)
        return code

    def _is_endangered(self, memory: Memory) -> bool:
        """Return whether all stores to a variable are constants, and it is read at a calculated address."""
        if len(memory.writes) == 1 and memory.writes[0].opcode in COPIES:
            return False
        is_read_anywhere = any(memory.addresses[item.operands[0]] for item in memory.reads)
        return is_read_anywhere and all(self._is_constant(item.operands[1]) for item in memory.writes)

    def _is_constant(self, value: int) -> bool:
        """Return whether a value is a constant, or a pointer to constant memory."""
        item = self._globals.definitions.get(value)
        while item is not None and item.opcode in (BITCAST, *CHAINS):
            item = self._globals.definitions.get(item.operands[0])
        is_memory = item is not None and item.opcode == _VARIABLE and item.operands[0] == _UNIFORM_CONSTANT
        return is_memory or is_constant(self._globals, value)
