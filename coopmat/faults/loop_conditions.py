"""A rewrite that makes loop-invariant conditions appear to change in the loop, because a device compiles them wrongly.

Intel's CPU runtime (2026.2) splits `if (a[l] < n) for (k = 0; k < n; k++) if (m < l) s += 1;` into two loops, with the
inner condition and without it. It then takes the same loop for all work-items of a vector, sometimes even without the
outer condition. Intel's compiler does the same from OpenCL C. A condition that is combined with an opaque zero,
recomputed in every iteration, stays in the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..spirv.module import ENUM, OP, Instruction
from .divergence import Sources, divergent_values
from .loops import ControlFlow
from .opaque_zeros import Globals, OpaqueZeros

_LOAD, _STORE, _PHI, _CALL = OP["OpLoad"], OP["OpStore"], OP["OpPhi"], OP["OpFunctionCall"]
_SWITCH, _XOR = OP["OpSwitch"], OP["OpBitwiseXor"]
_CONDITIONS = frozenset({OP["OpBranchConditional"], OP["OpSelect"], _SWITCH})
_UNEQUAL, _BOOLS_UNEQUAL, _TYPE_BOOL = OP["OpINotEqual"], OP["OpLogicalNotEqual"], OP["OpTypeBool"]
_VOLATILE = ENUM["MemoryAccess.Volatile"]


class LoopConditions:
    """A rewrite that hides from the compiler that conditions of branches and selections are loop-invariant."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code`, in which loop-invariant conditions are combined with an opaque zero.

        Only conditions that may differ between work-items are combined; their values remain the same. The branches and
        selections are changed in place.
        """
        flow = ControlFlow(code)
        identities = set(map(id, self._invariant(code, flow)))
        if not identities:
            return code
        out: list[Instruction] = []
        for item in code:
            if id(item) in identities:
                item.operands = (self._turned(item.operands[0], zeros, out), *item.operands[1:])
            out.append(item)
        return out

    def _turned(self, condition: int, zeros: OpaqueZeros, out: list[Instruction]) -> int:
        """Append to `out` a condition that equals `condition` and depends on an opaque zero; return its id."""
        scope, type_id = self._globals, self._globals.type_of(condition)
        if scope.definitions[type_id].opcode != _TYPE_BOOL:
            out.append(scope.new_instruction(_XOR, type_id, condition, zeros.loop_variant_zero(type_id, out)))
        else:
            integer = scope.integer()
            zero = zeros.loop_variant_zero(integer, out)
            is_set = scope.new_instruction(_UNEQUAL, type_id, zero, scope.null(integer))
            out += (is_set, scope.new_instruction(_BOOLS_UNEQUAL, type_id, condition, is_set.result or 0))
        return out[-1].result or 0

    def _invariant(self, code: list[Instruction], flow: ControlFlow) -> Iterator[Instruction]:
        """Yield the instructions in loops whose condition is loop-invariant and may differ between work-items."""
        labels = set().union(*flow.loops.values())
        at = {label: [item for item in flow.blocks[label] if self._is_condition(item)] for label in labels}
        sources = Sources.of(self._globals, code, {item.operands[0] for items in at.values() for item in items})
        if not sources.values:
            return
        divergent = divergent_values(sources, flow)
        for inside in flow.loops.values():
            variant = _changed(sources, [item for label in inside for item in flow.blocks[label]])
            for label in inside:
                yield from (item for item in at[label] if item.operands[0] in divergent - variant)

    def _is_condition(self, item: Instruction) -> bool:
        """Return whether an instruction is a branch, a switch or a select by a scalar, bool or integer."""
        return item.opcode in _CONDITIONS and self._is_scalar(item.operands[0])

    def _is_scalar(self, value: int) -> bool:
        """Return whether a value is a bool or an integer."""
        type_id = self._globals.type_of(value)
        return self._globals.definitions[type_id].opcode in (_TYPE_BOOL, OP["OpTypeInt"])


def _changed(sources: Sources, code: list[Instruction]) -> set[int]:
    """Return the values of a loop that may differ in the next iteration; `code` has the instructions of the loop."""
    stored = {item.operands[0] for item in code if item.opcode == _STORE}
    items = [item for item in code if item.result in sources.values]
    variant = {item.result for item in items if item.result is not None and _changes(item, stored)}
    before = -1
    while len(variant) > before:
        before = len(variant)
        variant |= {i.result for i in items if i.result and not variant.isdisjoint(sources.operands[i.result])}
    return variant


def _changes(item: Instruction, stored: set[int]) -> bool:
    """Return whether a value may differ in the next iteration even if its operands do not."""
    if item.opcode == _LOAD:
        return item.operands[0] in stored or any(word & _VOLATILE for word in item.operands[1:2])
    return item.opcode in (_PHI, _CALL) or item.name.startswith("OpAtomic")
