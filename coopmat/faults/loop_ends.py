"""A rewrite that hides narrow counters in exit conditions of loops from a compiler that counts in a wider type.

Intel's CPU runtime (2026.2) vectorizes `uchar k = 3; do { ... } while (++k != n);` as if the counter did not wrap after
255 to meet the bound: the loop runs some 2 ** 30 times instead of 255. Intel's compiler does the same from OpenCL C. A
loop to an inclusive bound, `short k = n; k >= 0`, may never end. A counter that has passed through an exclusive or is
compiled correctly. Loops of ints, and to exclusive bounds, are not changed.
"""

from __future__ import annotations

from ..spirv.module import OP, Instruction, numbers
from .loops import ControlFlow
from .opaque_zeros import Globals, OpaqueZeros

_WIDENINGS = frozenset({OP["OpUConvert"], OP["OpSConvert"]})
# Instructions that may define a counter: its value in this or the next iteration, a load of the variable that holds it,
# or a sum in a wider type.
_COUNTERS = frozenset(numbers("Op*", "Phi IAdd ISub Load UConvert"))
# (comparison, its result for which the loop continues): the loop continues if the counter equals the bound, or unless
# it does.
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
    """A rewrite of exit conditions of loops that compare a widened counter of at most 16 bits.

    If the comparison is for equality or with an inclusive bound, an opaque copy replaces the counter.
    """

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code` with instructions that compute opaque copies of counters before the comparisons.

        The comparisons are changed in place.
        """
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
        """Return whether an instruction compares a counter of at most 16 bits that was widened."""
        return item.opcode in _COMPARISONS and any(map(self._is_counter, item.operands))

    def _is_counter(self, value: int) -> bool:
        """Return whether a value is a counter of at most 16 bits that was widened."""
        item = self._globals.definitions.get(value)
        if item is None or item.opcode not in _WIDENINGS:
            return False
        source = self._globals.definitions.get(item.operands[0])
        narrow = (self._globals.width(item.operands[0]) or _NARROW + 1) <= _NARROW
        return source is not None and source.opcode in _COUNTERS and narrow
