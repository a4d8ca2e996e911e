"""Hides narrow counters from the ends of loops that a device's compiler counts in a wider type.

Intel's CPU runtime (2026.2) vectorises `uchar k = 3; do { ... } while (++k != n);` as if the counter went on behind
255, where it goes round to meet the bound: for some 2 ** 30 times in place of 255. Its own compiler does the same from
OpenCL C. The counter behind an exclusive or is right; a loop of another comparison, or of ints, stays as it is.
"""

from __future__ import annotations

from .loops import ControlFlow
from .module import OP, Instruction
from .opaque_zeros import Globals, OpaqueZeros

_EQUALITIES = frozenset({OP["OpIEqual"], OP["OpINotEqual"]})
_WIDENINGS = frozenset({OP["OpUConvert"], OP["OpSConvert"]})
# What a counter is: of this or of the next time around, or what a variable holds.
_COUNTERS = frozenset({OP["OpPhi"], OP["OpIAdd"], OP["OpISub"], OP["OpLoad"]})
_NARROW = 16


class LoopEnds:
    """Changes the equalities of widened counters that end loops in a module's functions."""

    def __init__(self, known: Globals) -> None:
        self._globals = known

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """The function `code` with what hides the counters before the comparisons, which are changed in place."""
        if not any(map(self._is_narrow_equality, code)):
            return code
        ends = {condition for condition, _ in ControlFlow(code).exits()}
        out: list[Instruction] = []
        for item in code:
            if item.result in ends and self._is_narrow_equality(item):
                zeros.hide(item, set(filter(self._is_widened, item.operands)), out)
            out.append(item)
        return out

    def _is_narrow_equality(self, item: Instruction) -> bool:
        return item.opcode in _EQUALITIES and any(map(self._is_widened, item.operands))

    def _is_widened(self, value: int) -> bool:
        item = self._globals.definitions.get(value)
        source = self._globals.definitions.get(item.operands[0]) if item and item.opcode in _WIDENINGS else None
        if item is None or source is None or source.opcode not in _COUNTERS:
            return False
        return (self._globals.width(item.operands[0]) or _NARROW + 1) <= _NARROW
