"""Which values of a function may differ between the work-items of a work-group."""

from __future__ import annotations

from collections import Counter

from .loops import ControlFlow
from .module import OP, Instruction, id_positions
from .opaque_zeros import Globals

_LOAD, _STORE, _PHI = OP["OpLoad"], OP["OpStore"], OP["OpPhi"]
_PARAMETER, _CALL, _VARIABLE = OP["OpFunctionParameter"], OP["OpFunctionCall"], OP["OpVariable"]


def divergent_values(known: Globals, code: list[Instruction], flow: ControlFlow) -> set[int]:
    """The ids of the function's values and private variables that are not the same in all work-items for certain."""
    headers = set(flow.loops())
    stores = Counter(item.operands[0] for item in code if item.opcode == _STORE)
    # What is stored in two places is what the way there makes it.
    found = {item.operands[0] for item in code if item.opcode == _STORE and stores[item.operands[0]] > 1}
    found |= {word for item in code if item.opcode == _CALL for word in item.operands}
    label, before = 0, -1
    while len(found) > before:
        before = len(found)
        for item in code:
            if item.opcode == OP["OpLabel"]:
                label = item.result or 0
            elif item.opcode == _STORE:
                if item.operands[1] in found:
                    found.add(item.operands[0])
            elif item.result is not None and _may_differ(known, item, found, label in headers, known.is_kernel(code)):
                found.add(item.result)
    return found


def _may_differ(known: Globals, item: Instruction, found: set[int], in_header: bool, in_kernel: bool) -> bool:
    if item.opcode == _VARIABLE:
        return False
    if item.opcode == _PARAMETER:
        return not in_kernel
    if item.opcode == _LOAD and known.is_id_variable(item.operands[0]):
        return True
    if item.opcode == _CALL or item.name.startswith("OpAtomic") or (item.opcode == _PHI and not in_header):
        return True
    return any(item.operands[at] in found for at in id_positions(item, known.definitions))
