"""What values of a function come from, and which of them may differ between the work-items of a work-group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .loops import ControlFlow
from .module import OP, Instruction, id_positions
from .opaque_zeros import Globals

_LOAD, _STORE, _PHI = OP["OpLoad"], OP["OpStore"], OP["OpPhi"]
_PARAMETER, _CALL, _VARIABLE = OP["OpFunctionParameter"], OP["OpFunctionCall"], OP["OpVariable"]


@dataclass
class Sources:
    """What some values of the function `code` come from: other values, and what is stored in private variables."""

    known: Globals
    code: list[Instruction]
    values: set[int] = field(default_factory=set)
    operands: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By value: the ids that it is calculated from."""

    @classmethod
    def of(cls, known: Globals, code: list[Instruction], results: Iterable[int]) -> Sources:
        found = cls(known, code)
        stored: dict[int, list[int]] = {}
        for item in code:
            if item.opcode == _STORE:
                stored.setdefault(item.operands[0], []).append(item.operands[1])
        work = list(results)
        while work:
            value = work.pop()
            if value not in found.values:
                found.values.add(value)
                found.operands[value] = found._operands(value)
                work += found.operands[value]
                work += stored.get(value, ())
        return found

    def _operands(self, value: int) -> tuple[int, ...]:
        item = self.known.definitions.get(value)
        if item is None or item.result_type is None:
            return ()
        return tuple(item.operands[at] for at in id_positions(item, self.known.definitions))

    def instructions(self, code: Iterable[Instruction]) -> list[Instruction]:
        """Those of `code` that give the values, or store what they are loaded from."""
        return [i for i in code if i.result in self.values or (i.opcode == _STORE and i.operands[0] in self.values)]


def divergent_values(sources: Sources, flow: ControlFlow) -> set[int]:
    """The ids of the values and private variables that are not the same in all work-items for certain."""
    known, headers = sources.known, set(flow.loops)
    labels = {item.result: label for label in headers for item in flow.blocks[label]}
    in_kernel = known.is_kernel(sources.code)
    code = sources.instructions(sources.code)
    found = {word for item in sources.code if item.opcode == _CALL for word in item.operands}
    stores = [item.operands[0] for item in code if item.opcode == _STORE]
    # What is stored in two places is what the way there makes it.
    found |= {pointer for pointer in stores if stores.count(pointer) > 1}
    found |= {i.result for i in code if i.result is not None and _differs(known, i, in_kernel, i.result in labels)}
    before = -1
    while len(found) > before:
        before = len(found)
        for item in code:
            if item.opcode == _STORE and item.operands[1] in found:
                found.add(item.operands[0])
            elif item.result is not None and not found.isdisjoint(sources.operands[item.result]):
                found.add(item.result)
    return found


def _differs(known: Globals, item: Instruction, in_kernel: bool, in_header: bool) -> bool:
    """Whether a value may differ, whatever it is calculated from."""
    if item.opcode == _PARAMETER:
        return not in_kernel
    if item.opcode == _LOAD:
        return known.is_id_variable(item.operands[0])
    return item.opcode == _CALL or item.name.startswith("OpAtomic") or (item.opcode == _PHI and not in_header)
