"""Structured control flow, which Vulkan requires (SPIR-V specification, 2.11.2), from any reducible graph of blocks.

Selections and loops are rebuilt along the tree of dominators, after Ramsey, "Beyond Relooper" (2022). A block with
several predecessors follows the construct of its immediate dominator, and the loops that are left by branches to it. A
branch to such a block becomes a branch to the end of the innermost construct. If all branches to that end mean the same
block, it is next. Otherwise a variable holds the number of the block that was meant, and comparisons with this variable
choose among the blocks that follow the construct. So `a || b` and `goto` need no copies of code.

The phis of a function become variables, which every consumer promotes again; so do values whose definition no longer
dominates a use.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

from ...foreign.consumers import Parts
from ...spirv.module import OP, Instruction
from .flow import BRANCH, BRANCH_CONDITIONAL, LABEL, LOOP_MERGE, SELECTION_MERGE, SWITCH, Block, Flow, blocks_of
from .variables import Variables

_STORE, _LOAD, _EQUAL = OP["OpStore"], OP["OpLoad"], OP["OpIEqual"]
_UNREACHABLE = Instruction(OP["OpUnreachable"], ())
# Labels of blocks to which control must get from the current place.
Pending = frozenset[int]
_NOTHING: Pending = frozenset()
# A function that yields calls of such functions and receives their results: `_run` needs no stack for deep nesting.
_Steps = Generator[Any, Any, Any]


def structure(parts: Parts) -> None:
    """Give all functions structured control flow. Raises Refused for a loop with two entries."""
    for body in parts.functions:
        blocks = blocks_of(body)
        if not blocks:
            continue
        first = next(n for n, item in enumerate(body) if item.opcode == LABEL)
        selector_words = {
            item.operands[0]: (parts.definitions[parts.types.of(item.operands[0])].operands[0] + 31) // 32
            for item in body
            if item.opcode == SWITCH
        }
        labels = {block.label for block in blocks}
        variables = Variables(parts)
        flow = Flow(blocks, selector_words)
        variables.copy_accumulators(flow)
        variables.replace_phis(flow)
        blocks = _Structurer(parts, flow, variables).run()
        variables.repair(Flow(blocks, selector_words), blocks)
        parts.forget(labels - {block.label for block in blocks})
        body[first:] = [*(item for block in blocks for item in _written(block)), Instruction(OP["OpFunctionEnd"], ())]


def _written(block: Block) -> Iterable[Instruction]:
    return (Instruction(LABEL, (), None, block.label), *block.code, block.end)


@dataclass(slots=True)
class _Loop:
    """A loop that is being written.

    header: the label of its header in the function's graph.
    continue_target, merge: the labels to which `continue` and `break` lead.
    exits: the labels of the blocks that are meant by branches to `merge`.
    """

    header: int
    continue_target: int
    merge: int
    exits: set[int] = field(default_factory=set)


class _Structurer:
    """The construction of one function's structured blocks."""

    def __init__(self, parts: Parts, flow: Flow, variables: Variables) -> None:
        self.parts, self.flow, self.variables = parts, flow, variables
        self.out: list[Block] = []
        self.loops: list[_Loop] = []
        # Whether the last block of `out` still lacks its terminator.
        self.is_open = False
        # Stores of the number of a block: (block, index into its code, the label that is meant).
        self.stores: list[tuple[Block, Instruction, int]] = []
        # Labels that a comparison must tell from others.
        self.compared: set[int] = set()
        self.joins = {label for label in flow.blocks if self.is_join(label)}
        # Label -> the blocks that follow its code, or (loop's header, True) -> those that follow the loop.
        self.followers: dict[tuple[int, bool], list[int]] = {}
        for label in flow.blocks:
            if label in self.joins:
                self.followers.setdefault(self.place(label), []).append(label)
        self._target: int | None = None

    def run(self) -> list[Block]:
        first = next(iter(self.flow.blocks))
        self.begin(first)
        _run(self.sequence(first))
        self.remove_needless()
        return self.out

    # --- where blocks go

    def is_join(self, label: int) -> bool:
        """Return whether a block is placed behind a construct, instead of where its only predecessor branches to it."""
        sources = [p for p in self.flow.predecessors[label] if not self.flow.is_back_edge(p, label)]
        return len(sources) > 1 or any(self.left_loops(source, label) for source in sources)

    def left_loops(self, source: int, target: int) -> list[int]:
        """Return the headers of the loops, outermost first, that contain `source` and not `target`."""
        return [header for header in self.flow.headers(source) if target not in self.flow.loops[header]]

    def place(self, label: int) -> tuple[int, bool]:
        dominator = self.flow.dominator[label]
        left = self.left_loops(dominator, label)
        return (left[0], True) if left else (dominator, False)

    def is_jump(self, label: int) -> bool:
        """Return whether a branch to a block leads to the innermost loop's end or next iteration."""
        if not self.loops:
            return False
        header = self.loops[-1].header
        return label == header or label not in self.flow.loops[header]

    # --- code

    def begin(self, label: int) -> None:
        self.out.append(Block(label))
        self.is_open = True

    def add(self, item: Instruction) -> None:
        self.out[-1].code.append(item)

    def finish(self, end: Instruction) -> None:
        self.out[-1].end = end
        self.is_open = False

    def branch(self, label: int) -> None:
        self.finish(Instruction(BRANCH, (label,)))

    def fall(self, label: int) -> None:
        """End the block, if it is open, by a branch to a construct's end."""
        if self.is_open:
            self.branch(label)

    def new_label(self) -> int:
        return self.parts.module.new_id()

    def join(self, label: int, pending: Pending) -> None:
        """Begin the block at a construct's end, which is unreachable if nothing is pending there."""
        self.begin(label)
        if not pending:
            self.finish(_UNREACHABLE)

    def sequence(self, first: int, is_body: bool = False) -> _Steps:
        """Write a block and all blocks that its place in the tree holds; return what is pending at the end.

        is_body: whether the block is a loop's header whose loop has been opened.
        """
        queue, pending = [first], frozenset((first,))
        while queue:
            label = queue.pop(0)
            if len(pending) > 1:
                inside, end = self.new_label(), self.new_label()
                self.compare(label, pending)
                self.select(end, inside, end)
                self.begin(inside)
                after = yield self.sequence(label)
                self.fall(end)
                pending = pending - {label} | after
                self.join(end, pending)
                continue
            assert pending == {label}, "control does not get to this block"
            is_loop = label in self.flow.loops and not is_body
            is_body = False
            pending = yield self.loop(label) if is_loop else self.block(label)
            front = [target for target in pending if target not in self.joins]
            queue[:0] = [*front, *self.followers.get((label, is_loop), ())]
        return pending

    def block(self, label: int) -> _Steps:
        """Write one block; a pending block that is no join must be written next."""
        block = self.flow.blocks[label]
        self.out[-1].code += block.code
        targets = list(dict.fromkeys(self.flow.targets(block.end)))
        if not targets:
            self.finish(block.end)
            return _NOTHING
        if len(targets) == 1:
            return self.leave(targets[0])
        if block.end.opcode == SWITCH:
            return (yield self.switch(block.end, targets))
        return (yield self.choose(block.end, targets))

    def leave(self, target: int) -> Pending:
        """Write a branch to a block: a jump, or a fall to the end of the construct."""
        is_next_iteration = bool(self.loops) and target == self.loops[-1].header
        if (target in self.joins or self.is_jump(target)) and not is_next_iteration:
            self.store(target)
        if self.is_jump(target):
            self.jump(target)
            return _NOTHING
        return frozenset((target,))

    def jump(self, target: int) -> None:
        self.branch(self.destination(target))

    def destination(self, target: int) -> int:
        """Return the label of the innermost loop to which a jump to `target` branches, and note the loop's exit."""
        loop = self.loops[-1]
        if target == loop.header:
            return loop.continue_target
        loop.exits.add(target)
        return loop.merge

    def select(self, end: int, then: int, otherwise: int, condition: int | None = None) -> None:
        """End the block by a selection; without a condition, by the comparison that was just added."""
        condition = self.out[-1].code[-1].result if condition is None else condition
        self.add(Instruction(SELECTION_MERGE, (end, 0)))
        self.finish(Instruction(BRANCH_CONDITIONAL, (condition or 0, then, otherwise)))

    def choose(self, end: Instruction, targets: list[int]) -> _Steps:
        """Write a conditional branch.

        If one side never comes to the selection's end, the other side continues there.
        """
        condition, then, otherwise = end.operands[:3]
        labels = {target: self.new_label() for target in targets}
        merge = self.new_label()
        header = self.out[-1]
        self.select(merge, labels[then], labels[otherwise], condition)
        pending: Pending = _NOTHING
        sides = sorted(targets, key=lambda target: not self.is_short(target))
        for target, other in zip(sides, reversed(sides), strict=True):
            self.begin(labels[target])
            arrived = yield self.side(target)
            if not arrived and not pending and target == sides[0]:
                header.code[-1] = Instruction(SELECTION_MERGE, (labels[other], 0))
                self.begin(labels[other])
                return self.leave(other)
            self.fall(merge)
            pending |= arrived
        self.join(merge, pending)
        return pending

    def is_short(self, target: int) -> bool:
        """Return whether a branch to a block clearly does not come to a selection's end."""
        if self.is_jump(target):
            return True
        return target not in self.joins and not self.flow.targets(self.flow.blocks[target].end)

    def side(self, target: int) -> _Steps:
        """Write one side of a selection, from a label that has begun; return what is pending at its end."""
        if target in self.joins or self.is_jump(target):
            return self.leave(target)
        return (yield self.sequence(target))

    def switch(self, end: Instruction, targets: list[int]) -> _Steps:
        labels = {target: self.new_label() for target in targets}
        merge = self.new_label()
        places = self.flow.target_positions(end)
        operands = (labels[word] if n in places else word for n, word in enumerate(end.operands))
        self.add(Instruction(SELECTION_MERGE, (merge, 0)))
        self.finish(Instruction(SWITCH, tuple(operands)))
        pending: Pending = _NOTHING
        for target in targets:
            self.begin(labels[target])
            pending |= yield self.side(target)
            self.fall(merge)
        self.join(merge, pending)
        return pending

    def loop(self, label: int) -> _Steps:
        """Write a loop; return the blocks that its exits mean, and that the surrounding loop does not jump to."""
        loop = _Loop(label, self.new_label(), self.new_label())
        header, body = self.new_label(), self.new_label()
        self.branch(header)
        self.begin(header)
        control = self.flow.blocks[label].loop_control or (0,)
        self.add(Instruction(LOOP_MERGE, (loop.merge, loop.continue_target, *control)))
        self.branch(body)
        self.begin(body)
        self.loops.append(loop)
        pending = yield self.sequence(label, is_body=True)
        assert not pending, "control leaves a loop's body at its end"
        self.loops.pop()
        self.begin(loop.continue_target)
        self.branch(header)
        self.join(loop.merge, frozenset(loop.exits))
        return self.jump_on(loop.exits)

    def jump_on(self, exits: set[int]) -> Pending:
        """Write the jumps of the surrounding loop that an inner loop's exits mean; return the other exits."""
        pending = frozenset(exits)
        for target in sorted(exits, key=lambda label: self.flow.index[label]):
            if not self.is_jump(target):
                continue
            if len(pending) == 1:
                self.jump(target)
                return _NOTHING
            following = self.new_label()
            self.compare(target, pending)
            self.select(following, self.destination(target), following)
            self.begin(following)
            pending -= {target}
        return pending

    # --- the variable that tells blocks apart

    def store(self, target: int) -> None:
        item = Instruction(_STORE, (self.target, self.number(target)))
        self.add(item)
        self.stores.append((self.out[-1], item, target))

    def compare(self, label: int, pending: Pending) -> None:
        """Add the comparison that says whether control means block `label`, one of those pending."""
        self.compared |= pending
        integer, boolean = self.parts.globals.integer(32), self.parts.globals.intern("OpTypeBool")
        loaded = Instruction(_LOAD, (self.target,), integer, self.parts.module.new_id())
        equal = (loaded.result or 0, self.number(label))
        self.add(loaded)
        self.add(Instruction(_EQUAL, equal, boolean, self.parts.module.new_id()))

    @property
    def target(self) -> int:
        """The id of the variable."""
        if self._target is None:
            self._target = self.variables.new(self.parts.globals.integer(32))
        return self._target

    def number(self, label: int) -> int:
        return self.parts.globals.number(self.flow.index[label])

    def remove_needless(self) -> None:
        """Remove the stores of numbers that no comparison reads, and the blocks of selections that are empty then."""
        for block, item, label in self.stores:
            if label not in self.compared:
                block.code = [other for other in block.code if other is not item]
        merges = {item.operands[n] for block in self.out for item in block.code for n in _MERGES.get(item.opcode, ())}
        empty = {b.label: b.end.operands[0] for b in self.out if b.end.opcode == BRANCH and not b.code}
        removed = set()
        for block in self.out:
            if block.end.opcode != BRANCH_CONDITIONAL:
                continue
            for n in (1, 2):
                operands = list(block.end.operands)
                label = operands[n]
                operands[n] = empty.get(label, 0)
                if label in empty and label not in merges and operands[1] != operands[2]:
                    block.end = Instruction(BRANCH_CONDITIONAL, tuple(operands))
                    removed.add(label)
        self.out = [block for block in self.out if block.label not in removed]


_MERGES = {SELECTION_MERGE: (0,), LOOP_MERGE: (0, 1)}


def _run(steps: _Steps) -> Any:
    """Run a function that yields calls of such functions, and return its result."""
    stack, value = [steps], None
    while stack:
        try:
            stack.append(stack[-1].send(value))
            value = None
        except StopIteration as stop:
            stack.pop()
            value = stop.value
    return value
