"""A rewrite that initialises private memory that some lanes leave unwritten, in kernels with subgroup operations.

Consider a kernel that writes an array in some lanes, `if (l < 5)`. After a broadcast or shuffle, all lanes read the
array in a loop. Intel's CPU runtime (2026.2) generates code for a single lane: the kernel stores the value of lane 0,
or crashes, even if the other lanes' values are never used. Memory that is initialised with zeros is read correctly in
all lanes.
"""

from __future__ import annotations

from functools import cached_property

from ..spirv.module import OP, Instruction, instruction, numbers
from .loops import ControlFlow
from .opaque_zeros import LABEL, Globals, OpaqueZeros
from .private_accesses import Memory, memories

_VARIABLE, _ARRAY = OP["OpVariable"], OP["OpTypeArray"]
_AGGREGATES = frozenset({_ARRAY, OP["OpTypeStruct"]})
_NUMBERS = frozenset(numbers("OpType*", "Int Float Vector"))


class PartlyWritten:
    """A rewrite that inserts stores in the functions of a module that uses group or subgroup instructions."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code` that begins with stores of zeros to memory that some lanes leave unwritten."""
        if not self._has_exchanges:
            return code
        flow = ControlFlow(code)
        found = [m for m in memories(self._globals, code) if m.writes and m.reads and self._is_aggregate(m)]
        stores = [self._store(memory) for memory in found if self._is_read_unwritten(flow, memory)]
        if not stores:
            return code
        entry = next(at for at, item in enumerate(code) if item.opcode == LABEL) + 1
        body = max((at for at, item in enumerate(code) if item.opcode == _VARIABLE), default=entry - 1) + 1
        return [*code[:body], *stores, *code[body:]]

    @cached_property
    def _has_exchanges(self) -> bool:
        """Whether the module has instructions of groups or subgroups."""
        return any(item.name.startswith(("OpGroup", "OpSubgroup")) for item in self._globals.module.instructions)

    def _pointee(self, memory: Memory) -> int:
        """Return the id of a variable's type."""
        return self._globals.definitions[self._globals.type_of(memory.variable)].operands[1]

    def _store(self, memory: Memory) -> Instruction:
        """Return a store of zeros to a variable."""
        return instruction("OpStore", memory.variable, self._globals.null(self._pointee(memory)))

    def _is_aggregate(self, memory: Memory) -> bool:
        """Return whether a variable is an array or structure that contains only numbers."""
        kinds = [self._globals.definitions[self._pointee(memory)]]
        if kinds[0].opcode not in _AGGREGATES:
            return False
        while kinds:
            kind = kinds.pop()
            if kind.opcode in _AGGREGATES:
                parts = kind.operands[:1] if kind.opcode == _ARRAY else kind.operands
                kinds += (self._globals.definitions[part] for part in parts)
            elif kind.opcode not in _NUMBERS:
                return False
        return True

    @staticmethod
    def _is_read_unwritten(flow: ControlFlow, memory: Memory) -> bool:
        """Return whether a path from the entry reaches a read of the variable without a write to it before."""
        reads, writes = ({id(item) for item in items} for items in (memory.reads, memory.writes))
        work = [next(iter(flow.blocks))]
        seen = set(work)
        while work:
            label = work.pop()
            first = next((i for i in flow.blocks[label] if id(i) in reads or id(i) in writes), None)
            if first is not None and id(first) in reads:
                return True
            if first is None:
                work += [after for after in flow.after[label] if after not in seen]
                seen.update(work)
        return False
