"""A rewrite that hides strided elements in arguments of builtins from a device's compiler, which they crash.

Intel's CPU runtime (2026.2) crashes while it vectorizes `for (i = 0; i < n; i++) z[i] = fabs(x[2 * i]);`, if no other
access may alias the loads: it loads the elements of several iterations together, and the call does not find its
element. Intel's compiler crashes if the loop stores nothing, `s += fabs(x[2 * i])`. An exclusive or with an opaque zero
between the element and the call prevents both crashes; the loop is still vectorized. Kernels that read an id or require
subgroups are vectorized over their work-items instead of their loops. Elements that are vectors are not affected.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ..spirv.module import OP, Instruction, id_positions, numbers
from .loops import ControlFlow
from .opaque_zeros import Globals, OpaqueZeros

_LOAD, _STORE, _PHI, _PARAMETER = OP["OpLoad"], OP["OpStore"], OP["OpPhi"], OP["OpFunctionParameter"]
_BUILTIN, _DECORATE, _ADD = OP["OpExtInst"], OP["OpDecorate"], OP["OpIAdd"]
_CHAINS = frozenset({OP["OpPtrAccessChain"], OP["OpInBoundsPtrAccessChain"]})
_WIDENINGS = frozenset({OP["OpUConvert"], OP["OpSConvert"]})
# Instructions whose results may be a loaded value, immediately or after functions are inlined.
_NAMES = ("FunctionCall", "Bitcast", "CompositeExtract", "Select", "CopyObject")
_ELEMENTS = frozenset({_LOAD, _PHI, _PARAMETER, *(OP[f"Op{name}"] for name in _NAMES)})
# Decorations of conversions that the device's compiler turns into calls.
_CALLED = frozenset(numbers("Decoration.*", "SaturatedConversion FPRoundingMode"))


class StridedArguments:
    """A rewrite of arguments of builtins in loops, and in functions that loops may call, to opaque copies."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code` with opaque copies of loaded elements as arguments; calls are changed in place."""
        if self._globals.requires_subgroups or not any(map(self._is_call, code)) or self._asks_for_ids(code):
            return code
        elements = {item.result for item in code if item.opcode in _ELEMENTS and not self._is_consecutive(item)}
        calls = {id(item) for item in self._in_loops(code, elements) if self._is_call(item)}
        out: list[Instruction] = []
        for item in code:
            if id(item) in calls and not elements.isdisjoint(item.operands):
                operands = list(item.operands)
                for at in id_positions(item, self._globals.definitions):
                    if operands[at] in elements:
                        operands[at] = self._hidden(operands[at], zeros, out)
                item.operands = tuple(operands)
            out.append(item)
        return out

    def _is_call(self, item: Instruction) -> bool:
        """Return whether the device's compiler turns an instruction into a call."""
        return item.opcode == _BUILTIN or item.result in self._called

    @cached_property
    def _called(self) -> frozenset[int]:
        """The results of conversions that the device's compiler turns into calls."""
        code = self._globals.module.instructions
        return frozenset(i.operands[0] for i in code if i.opcode == _DECORATE and i.operands[1] in _CALLED)

    def _asks_for_ids(self, code: list[Instruction]) -> bool:
        """Return whether a function uses a work-item's id other than to store it in a variable."""
        ids = {i.result for i in code if i.opcode == _LOAD and self._globals.is_id_variable(i.operands[0])}
        return any(item.opcode != _STORE and not ids.isdisjoint(item.operands) for item in code)

    def _is_consecutive(self, item: Instruction) -> bool:
        """Return whether an instruction loads the next element in each iteration.

        Such loads are `x[i]` or `x[i + 1]` of a parameter x, with a counter i of step 1.
        """
        definitions = self._globals.definitions
        chain = definitions.get(item.operands[0]) if item.opcode == _LOAD else None
        if chain is None or chain.opcode not in _CHAINS or len(chain.operands) != 2:
            return False
        base, index = definitions.get(chain.operands[0]), definitions.get(chain.operands[1])
        while index is not None and index.opcode in _WIDENINGS:
            index = definitions.get(index.operands[0])
        if index is not None and index.opcode == _ADD:
            variable = [word for word in index.operands if not self._globals.is_constant(word)]
            index = definitions.get(variable[0]) if len(variable) == 1 else None
        if base is None or base.opcode != _PARAMETER or index is None or index.opcode != _PHI:
            return False
        return any(self._is_step(definitions.get(word), index.result) for word in index.operands[::2])

    def _is_step(self, item: Instruction | None, counter: int | None) -> bool:
        """Return whether an instruction adds 1 to a counter."""
        if item is None or item.opcode != _ADD or counter not in item.operands:
            return False
        steps = (self._globals.definitions[word].operands for word in item.operands if self._globals.is_constant(word))
        return any(sum(words[:1]) == 1 and not any(words[1:]) for words in steps)

    def _in_loops(self, code: list[Instruction], elements: set[int | None]) -> Iterator[Instruction]:
        """Yield a kernel's instructions in loops; of other functions, which callers may call in loops, yield all.

        Values that loops carry are removed from `elements`, because they are not loaded in the current iteration.
        """
        flow = ControlFlow(code)
        for header in flow.loops:
            elements.difference_update(item.result for item in flow.blocks[header] if item.opcode == _PHI)
        if not self._globals.is_kernel(code):
            yield from code
            return
        for label in set().union(*flow.loops.values()):
            yield from flow.blocks[label]

    def _hidden(self, value: int, zeros: OpaqueZeros, out: list[Instruction]) -> int:
        """Append to `out` an opaque copy of a scalar, and return its id; return other values unchanged."""
        shape = self._globals.shape(value)
        if shape is None or shape[2] > 1:
            return value
        out.append(zeros.flipped(value, shape, 0, out))
        return out[-1].result or 0
