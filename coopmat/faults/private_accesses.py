"""The private variables of a function, and the instructions that read and write them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..spirv.module import OP, Instruction, id_positions, numbers
from .opaque_zeros import Globals

BITCAST = OP["OpBitcast"]
CHAINS = frozenset(numbers("Op*", "AccessChain InBoundsAccessChain PtrAccessChain InBoundsPtrAccessChain"))
# opcode -> index where its memory operands begin: of copies, then of all writes
COPIES = {OP["OpCopyMemory"]: 2, OP["OpCopyMemorySized"]: 3}
WRITES = {OP["OpStore"]: 2, **COPIES}
_VARIABLE, _LOAD = OP["OpVariable"], OP["OpLoad"]
_IGNORED = frozenset({OP["OpLifetimeStart"], OP["OpLifetimeStop"], OP["OpName"]})


@dataclass
class Memory:
    """A private variable and the accesses to it."""

    variable: int
    reads: list[Instruction] = field(default_factory=list)
    writes: list[Instruction] = field(default_factory=list)
    is_known: bool = True
    """Whether `reads` and `writes` are all accesses to the variable."""
    addresses: dict[int, bool] = field(default_factory=dict)
    """Pointer into the variable -> whether its offset is calculated."""


def memories(scope: Globals, code: list[Instruction]) -> list[Memory]:
    """Return the private variables of a function all of whose accesses are known."""
    found: list[Memory] = []
    by_pointer: dict[int, Memory] = {}
    for item in code:
        if item.opcode == _VARIABLE and item.result:
            found.append(Memory(item.result, is_known=len(item.operands) == 1, addresses={item.result: False}))
            by_pointer[item.result] = found[-1]
        elif item.opcode not in _IGNORED and not by_pointer.keys().isdisjoint(item.operands):
            _use(scope, item, by_pointer)
    return [memory for memory in found if memory.is_known]


def _use(scope: Globals, item: Instruction, by_pointer: dict[int, Memory]) -> None:
    """Record an instruction that may use pointers to private variables, and its result if that is such a pointer."""
    first, *others = (item.operands[at] for at in id_positions(item, scope.definitions))
    for other in by_pointer.keys() & set(others):
        # A copy's source, or a pointer that is stored or passed on: its further accesses are unknown.
        by_pointer[other].is_known = False
    memory = by_pointer.get(first)
    if memory is None:
        return
    if item.opcode in CHAINS or item.opcode == BITCAST:
        assert item.result is not None
        memory.addresses[item.result] = memory.addresses[first] or not all(is_constant(scope, i) for i in others)
        by_pointer[item.result] = memory
    elif item.opcode == _LOAD:
        memory.reads.append(item)
    elif item.opcode in WRITES:
        memory.writes.append(item)
    else:
        memory.is_known = False


def is_constant(scope: Globals, value: int) -> bool:
    """Return whether a value is a constant of any kind, or undefined."""
    item = scope.definitions.get(value)
    return item is not None and (item.name.startswith("OpConstant") or item.name == "OpUndef")
