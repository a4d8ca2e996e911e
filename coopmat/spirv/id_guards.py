"""Hides differences with a work-item's id from a device's compiler that mistakes them in comparisons.

Intel's CPU runtime (2026.2) turns guards such as `if (get_global_id(0) < n)` into bounds of its loops over work-items.
Where an id is subtracted, `39 - l >= 16 * g`, it gets the sign wrong: of this kernel's, which then writes where it must
not, or of those behind it in the program; `l - 3 + 16 * g >= 20` becomes true where the bound is below 0, and
`(uint)(n - 16 * g) <= l` where that wraps; and of `G == 24`, or `l == 16 - 8 * g`, it makes work-items run that do not
exist. Its own compiler does the same from OpenCL C. What has gone through an exclusive or is no bound to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from .module import OP, Instruction, id_positions
from .opaque_zeros import Globals, OpaqueZeros

_LOAD, _VARIABLE, _PARAMETER = OP["OpLoad"], OP["OpVariable"], OP["OpFunctionParameter"]
_ENTRY_POINT, _DECORATE, _TYPE_INT = OP["OpEntryPoint"], OP["OpDecorate"], OP["OpTypeInt"]
_BUILT_IN, _STORAGE_FUNCTION = 11, 7
# Of a work-item: LocalInvocationId, GlobalInvocationId, LocalInvocationIndex, GlobalLinearId.
_IDS = frozenset({27, 28, 29, 34})
_ADD, _MULTIPLY = OP["OpIAdd"], OP["OpIMul"]
_SUBTRACTIONS = frozenset({OP["OpISub"], OP["OpSNegate"], OP["OpNot"], OP["OpBitwiseXor"]})
# What is not calculated from its operands alone.
_UNKNOWN = frozenset({OP["OpPhi"], OP["OpFunctionCall"]})
_UNSIGNED = frozenset(OP[f"OpU{name}{equal}"] for name in ("LessThan", "GreaterThan") for equal in ("", "Equal"))
_EQUALITIES = frozenset({OP["OpIEqual"], OP["OpINotEqual"]})
_COMPARISONS = (
    _EQUALITIES
    | _UNSIGNED
    | frozenset(OP[f"OpS{name}{equal}"] for name in ("LessThan", "GreaterThan") for equal in ("", "Equal"))
)


@dataclass
class _Values:
    """The values of a function that come from an id, and those that come from a difference."""

    ids: set[int] = field(default_factory=set)
    differences: set[int] = field(default_factory=set)


class IdGuards:
    """Changes the comparisons of ids in a module's functions that may be mistaken."""

    def __init__(self, known: Globals) -> None:
        self._globals = known

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """The function `code` with what hides the ids before the comparisons, which are changed in place."""
        values = self._values(code)
        out: list[Instruction] = []
        for item in code:
            if item.opcode in _COMPARISONS and self._may_be_mistaken(item, values):
                item.operands = tuple(
                    self._hidden(word, zeros, out) if word in values.ids else word for word in item.operands
                )
            out.append(item)
        return out

    def _may_be_mistaken(self, comparison: Instruction, values: _Values) -> bool:
        if values.ids.isdisjoint(comparison.operands):
            return False
        if comparison.opcode in _EQUALITIES:
            return True
        # A bound that does not come from an id may be negative; one without a sign is then taken for what it is not.
        from_ids = values.ids.intersection(comparison.operands)
        bounds = comparison.operands if comparison.opcode in _UNSIGNED else from_ids
        return not values.differences.isdisjoint(bounds)

    def _values(self, code: list[Instruction]) -> _Values:
        found = _Values()
        is_kernel = code[0].result in self._entry_points
        for item in code:
            if item.result is None or item.opcode in _UNKNOWN:
                continue
            if item.opcode == _PARAMETER:
                if not is_kernel:
                    found.ids.add(item.result)
            elif item.opcode == _LOAD:
                # What a private variable holds is not followed.
                if self._may_hold_id(item.operands[0]):
                    found.ids.add(item.result)
            else:
                if self._uses(item, found.ids):
                    found.ids.add(item.result)
                if self._subtracts(item) or self._uses(item, found.differences):
                    found.differences.add(item.result)
        return found

    @cached_property
    def _entry_points(self) -> frozenset[int]:
        code = self._globals.module.instructions
        return frozenset(item.operands[1] for item in code if item.opcode == _ENTRY_POINT)

    @cached_property
    def _id_variables(self) -> frozenset[int]:
        decorations = (i.operands for i in self._globals.module.instructions if i.opcode == _DECORATE)
        return frozenset(words[0] for words in decorations if words[1] == _BUILT_IN and words[2] in _IDS)

    def _may_hold_id(self, pointer: int) -> bool:
        if pointer in self._id_variables:
            return True
        item = self._globals.definitions.get(pointer)
        if item is None:
            return False
        if item.opcode == _VARIABLE:
            return item.operands[0] == _STORAGE_FUNCTION
        return any(word in self._id_variables for word in item.operands)

    def _uses(self, item: Instruction, values: set[int]) -> bool:
        if values.isdisjoint(item.operands):
            return False
        positions = id_positions(item, self._globals.definitions)
        return any(item.operands[at] in values for at in positions)

    def _subtracts(self, item: Instruction) -> bool:
        if item.opcode in (_ADD, _MULTIPLY):
            return any(map(self._is_far, item.operands))
        return item.opcode in _SUBTRACTIONS

    def _is_far(self, value: int) -> bool:
        """Whether it is a constant that may overflow with others: negative, or great, also as 32 of 64 bits."""
        item = self._globals.definitions.get(value)
        if item is None or item.opcode != OP["OpConstant"]:
            return False
        width = self._globals.definitions[item.result_type or 0].operands[0]
        return any(item.operands[1:]) or bool(item.operands[0] >> min(width - 2, 30))

    def _hidden(self, word: int, zeros: OpaqueZeros, out: list[Instruction]) -> int:
        """A value that equals `word`; itself where it is no integer."""
        kind = self._globals.definitions[word].result_type
        if kind is None or self._globals.definitions[kind].opcode != _TYPE_INT:
            return word
        result = self._globals.module.new_id()
        out.append(Instruction(OP["OpBitwiseXor"], (word, zeros.of(kind)), kind, result))
        return result
