"""The dependences between a function's values, and which values may differ between the work-items of a work-group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..spirv.module import OP, Instruction, id_positions
from .loops import ControlFlow
from .opaque_zeros import Globals

_LOAD, _STORE, _PHI = OP["OpLoad"], OP["OpStore"], OP["OpPhi"]
_PARAMETER, _CALL, _VARIABLE = OP["OpFunctionParameter"], OP["OpFunctionCall"], OP["OpVariable"]


@dataclass
class Sources:
    """The values on which some values of the function `code` depend.

    These are their operands, transitively, and the values that are stored in private variables.
    """

    scope: Globals
    code: list[Instruction]
    values: set[int] = field(default_factory=set)
    operands: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Value -> ids of the operands of its instruction."""

    @classmethod
    def of(cls, scope: Globals, code: list[Instruction], results: Iterable[int]) -> Sources:
        """Return the values on which `results` depend, in the function `code`."""
        sources = cls(scope, code)
        stored: dict[int, list[int]] = {}
        for item in code:
            if item.opcode == _STORE:
                stored.setdefault(item.operands[0], []).append(item.operands[1])
        work = list(results)
        while work:
            value = work.pop()
            if value not in sources.values:
                sources.values.add(value)
                sources.operands[value] = sources._operands(value)
                work += sources.operands[value]
                work += stored.get(value, ())
        return sources

    def _operands(self, value: int) -> tuple[int, ...]:
        """Return the ids of the operands of the instruction that defines a value."""
        item = self.scope.definitions.get(value)
        if item is None or item.result_type is None:
            return ()
        return tuple(item.operands[at] for at in id_positions(item, self.scope.definitions))

    def instructions(self, code: Iterable[Instruction]) -> list[Instruction]:
        """Return the instructions of `code` that compute these values, or store to variables from which they load."""
        return [i for i in code if i.result in self.values or (i.opcode == _STORE and i.operands[0] in self.values)]


def divergent_values(sources: Sources, flow: ControlFlow) -> set[int]:
    """Return the ids of the values and private variables that may differ between work-items."""
    scope, headers = sources.scope, set(flow.loops)
    labels = {item.result: label for label in headers for item in flow.blocks[label]}
    in_kernel = scope.is_kernel(sources.code)
    code = sources.instructions(sources.code)
    divergent = {word for item in sources.code if item.opcode == _CALL for word in item.operands}
    stores = [item.operands[0] for item in code if item.opcode == _STORE]
    # The value of a variable with several stores depends on the control flow before.
    divergent |= {pointer for pointer in stores if stores.count(pointer) > 1}
    divergent |= {i.result for i in code if i.result is not None and _differs(scope, i, in_kernel, i.result in labels)}
    before = -1
    while len(divergent) > before:
        before = len(divergent)
        for item in code:
            if item.opcode == _STORE and item.operands[1] in divergent:
                divergent.add(item.operands[0])
            elif item.result is not None and not divergent.isdisjoint(sources.operands[item.result]):
                divergent.add(item.result)
    return divergent


def _differs(scope: Globals, item: Instruction, in_kernel: bool, in_header: bool) -> bool:
    """Return whether a value may differ between work-items even if its operands do not."""
    if item.opcode == _PARAMETER:
        return not in_kernel
    if item.opcode == _LOAD:
        return scope.is_id_variable(item.operands[0])
    return item.opcode == _CALL or item.name.startswith("OpAtomic") or (item.opcode == _PHI and not in_header)
