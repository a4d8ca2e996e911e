"""Hides narrow counters from the ends of loops that a device's compiler counts in a wider type.

Intel's CPU runtime (2026.2) vectorises `uchar k = 3; do { ... } while (++k != n);` as if the counter went on behind
255, where it goes round to meet the bound: for some 2 ** 30 times in place of 255. Its own compiler does the same from
OpenCL C. A loop to a bound that belongs to it, `short k = n; k >= 0`, may never end. The counter behind an exclusive or
is right; loops of ints, and to bounds that do not belong to them, stay as they are.
"""

from __future__ import annotations

from ..spirv.module import OP, Instruction
from .loops import ControlFlow
from .opaque_zeros import Globals, OpaqueZeros

_WIDENINGS = frozenset({OP["OpUConvert"], OP["OpSConvert"]})
# What a counter is: of this or of the next time around, or what a variable holds; what was added in a wider type.
_COUNTERS = frozenset(OP[f"Op{name}"] for name in ("Phi", "IAdd", "ISub", "Load", "UConvert"))
# Comparisons, each with the value of it for which the loop goes on, that hold for an equal counter or for all but it.
_MISTAKEN = frozenset(
    (OP[f"Op{name}"], goes_on)
    for goes_on, names in {
        True: ("IEqual", "INotEqual", "ULessThanEqual", "UGreaterThanEqual", "SLessThanEqual", "SGreaterThanEqual"),
        False: ("IEqual", "INotEqual", "ULessThan", "UGreaterThan", "SLessThan", "SGreaterThan"),
    }.items()
    for name in names
)
_COMPARISONS = frozenset(opcode for opcode, _ in _MISTAKEN)
_NARROW = 16


class LoopEnds:
    """Changes the comparisons of widened counters that end loops in a module's functions."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """The function `code` with what hides the counters before the comparisons, which are changed in place."""
        compared = {item.result: item for item in code if self._is_of_counter(item)}
        if not compared:
            return code
        ends = {
            end for end, goes_on in ControlFlow(code).exits()
            if end in compared and (compared[end].opcode, goes_on) in _MISTAKEN
        }  # fmt: skip
        out: list[Instruction] = []
        for item in code:
            if item.result in ends:
                zeros.hide(item, set(filter(self._is_counter, item.operands)), out)
            out.append(item)
        return out

    def _is_of_counter(self, item: Instruction) -> bool:
        """Return whether an instruction compares a narrow counter."""
        return item.opcode in _COMPARISONS and any(map(self._is_counter, item.operands))

    def _is_counter(self, value: int) -> bool:
        """Return whether a value is a narrow counter that was widened."""
        item = self._globals.definitions.get(value)
        if item is None or item.opcode not in _WIDENINGS:
            return False
        source = self._globals.definitions.get(item.operands[0])
        narrow = (self._globals.width(item.operands[0]) or _NARROW + 1) <= _NARROW
        return source is not None and source.opcode in _COUNTERS and narrow
