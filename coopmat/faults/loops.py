"""The loops of a function and their exit conditions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ..spirv.module import OP, Instruction
from .opaque_zeros import LABEL

_END, _BRANCH_CONDITIONAL = OP["OpFunctionEnd"], OP["OpBranchConditional"]
_BRANCHES = frozenset({OP["OpBranch"], _BRANCH_CONDITIONAL, OP["OpSwitch"]})


class ControlFlow:
    """The control flow graph of the function `code`; `blocks` maps labels to instructions."""

    def __init__(self, code: list[Instruction]) -> None:
        self.blocks: dict[int, list[Instruction]] = {}
        for item in code:
            if item.opcode == LABEL:
                assert item.result is not None
                block = self.blocks[item.result] = []
            elif self.blocks and item.opcode != _END:
                block.append(item)

    def exits(self) -> Iterator[tuple[int, bool]]:
        """Yield the exit conditions of all loops, each with the value for which the loop continues."""
        for inside in self.loops.values():
            yield from self.exits_of(inside)

    @cached_property
    def loops(self) -> dict[int, set[int]]:
        """The header of each loop -> the labels of its blocks."""
        loops_by_header: dict[int, set[int]] = {}
        for latch, header in self._back_edges():
            loops_by_header.setdefault(header, set()).update(self._loop(header, latch))
        return loops_by_header

    @cached_property
    def after(self) -> dict[int, list[int]]:
        """Label -> labels of the successors."""
        return {
            label: list(dict.fromkeys(word for word in block[-1].operands if word in self.blocks))
            if block and block[-1].opcode in _BRANCHES
            else []
            for label, block in self.blocks.items()
        }

    @cached_property
    def _before(self) -> dict[int, list[int]]:
        """Label -> labels of the predecessors."""
        result: dict[int, list[int]] = {label: [] for label in self.blocks}
        for label, targets in self.after.items():
            for target in targets:
                result[target].append(label)
        return result

    def _back_edges(self) -> Iterator[tuple[int, int]]:
        """Yield the back edges, as pairs (latch, header)."""
        entry = next(iter(self.blocks), None)
        visited: set[int] = set()
        path: dict[int, Iterator[int]] = {}
        while entry is not None:
            visited.add(entry)
            path[entry] = iter(self.after[entry])
            entry = None
            while path and entry is None:
                label = next(reversed(path))
                for target in path[label]:
                    if target in path:
                        yield label, target
                    elif target not in visited:
                        entry = target
                        break
                else:
                    del path[label]

    def _loop(self, header: int, latch: int) -> set[int]:
        """Return the labels of a loop: the header, and the blocks that reach the latch without passing through it."""
        inside, work = {header}, [latch]
        while work:
            label = work.pop()
            if label not in inside:
                inside.add(label)
                work += self._before[label]
        return inside

    def exits_of(self, inside: set[int]) -> Iterator[tuple[int, bool]]:
        """Yield the exit conditions of the loop of the blocks `inside`, each with the value that continues the loop."""
        for label in inside:
            end = self.blocks[label][-1]
            if end.opcode == _BRANCH_CONDITIONAL:
                condition, then, otherwise = end.operands[:3]
                if (then in inside) != (otherwise in inside):
                    yield condition, then in inside
