"""The loops of a function, and the conditions of leaving them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ..spirv.module import OP, Instruction
from .opaque_zeros import LABEL

_END, _BRANCH_CONDITIONAL = OP["OpFunctionEnd"], OP["OpBranchConditional"]
_BRANCHES = frozenset({OP["OpBranch"], _BRANCH_CONDITIONAL, OP["OpSwitch"]})


class ControlFlow:
    """The control flow of the function `code`."""

    def __init__(self, code: list[Instruction]) -> None:
        self.blocks: dict[int, list[Instruction]] = {}
        for item in code:
            if item.opcode == LABEL:
                assert item.result is not None
                block = self.blocks[item.result] = []
            elif self.blocks and item.opcode != _END:
                block.append(item)

    def exits(self) -> Iterator[tuple[int, bool]]:
        """The conditions of leaving a loop, and with which value of them it goes on."""
        for inside in self.loops.values():
            yield from self.exits_of(inside)

    @cached_property
    def loops(self) -> dict[int, set[int]]:
        """The blocks of each loop, by its first one."""
        loops_by_header: dict[int, set[int]] = {}
        for latch, header in self._back_edges():
            loops_by_header.setdefault(header, set()).update(self._loop(header, latch))
        return loops_by_header

    @cached_property
    def after(self) -> dict[int, list[int]]:
        return {
            label: list(dict.fromkeys(word for word in block[-1].operands if word in self.blocks))
            if block and block[-1].opcode in _BRANCHES
            else []
            for label, block in self.blocks.items()
        }

    @cached_property
    def _before(self) -> dict[int, list[int]]:
        result: dict[int, list[int]] = {label: [] for label in self.blocks}
        for label, targets in self.after.items():
            for target in targets:
                result[target].append(label)
        return result

    def _back_edges(self) -> Iterator[tuple[int, int]]:
        """Branches to a block that control came through."""
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
        """The blocks of a loop: all that lead to its end, back to its head."""
        inside, work = {header}, [latch]
        while work:
            label = work.pop()
            if label not in inside:
                inside.add(label)
                work += self._before[label]
        return inside

    def exits_of(self, inside: set[int]) -> Iterator[tuple[int, bool]]:
        """The same of one loop's blocks."""
        for label in inside:
            end = self.blocks[label][-1]
            if end.opcode == _BRANCH_CONDITIONAL:
                condition, then, otherwise = end.operands[:3]
                if (then in inside) != (otherwise in inside):
                    yield condition, then in inside
