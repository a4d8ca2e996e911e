"""A rewrite that hides the number of a matrix's components from a device's compiler, which certain numbers crash.

A lowered matrix is stored as an array of vectors. Intel's CPU runtime (2026.2) crashes while it vectorizes an innermost
loop over the components that calls a builtin. It crashes with 80, 96, 112 or 160 components, not with powers of two. If
the number is unknown, the runtime vectorizes the loop and adds another for the remainder.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..spirv.module import OP, Instruction
from .loops import ControlFlow
from .opaque_zeros import Globals, OpaqueZeros

_BUILTIN, _LENGTH = OP["OpExtInst"], OP["OpCooperativeMatrixLengthKHR"]


class LoopCounts:
    """A rewrite of loops over a matrix's components, with an opaque bound, before the matrices are lowered."""

    def __init__(self, scope: Globals) -> None:
        self._globals = scope

    def hide(self, code: list[Instruction], zeros: OpaqueZeros) -> list[Instruction]:
        """Return the function `code` with instructions that compute opaque copies of lengths before the comparisons.

        The comparisons are changed in place.
        """
        lengths = {item.result for item in code if item.opcode == _LENGTH and item.result}
        if not lengths:
            return code
        ends = set(self._ends(ControlFlow(code)))
        out: list[Instruction] = []
        for item in code:
            if item.result in ends:
                zeros.hide(item, lengths, out)
            out.append(item)
        return out

    @staticmethod
    def _ends(flow: ControlFlow) -> Iterator[int]:
        """Yield the exit conditions of innermost loops that call builtins."""
        for header, inside in flow.loops.items():
            if any(other != header and other in inside for other in flow.loops):
                continue
            if any(item.opcode == _BUILTIN for label in inside for item in flow.blocks[label]):
                yield from (condition for condition, _ in flow.exits_of(inside))
