"""The control-flow graph of a SPIR-V function: its blocks, dominators and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...graphs import immediate_dominators, postorder, reaching
from ...spirv.module import OP, Instruction, numbers
from ...spirv.refusal import Refused

LABEL, PHI, SWITCH = numbers("Op*", "Label Phi Switch")
BRANCH, BRANCH_CONDITIONAL = numbers("Op*", "Branch BranchConditional")
SELECTION_MERGE, LOOP_MERGE = numbers("Op*", "SelectionMerge LoopMerge")
TERMINATORS = frozenset(
    numbers("Op*", "Branch BranchConditional Switch Return ReturnValue Unreachable Kill TerminateInvocation")
)


@dataclass(slots=True)
class Block:
    """A basic block.

    code: the instructions between the label and `end`, without merge instructions.
    end: the terminator.
    loop_control: the operands of the block's OpLoopMerge after its two labels; empty if there is none.
    """

    label: int
    code: list[Instruction] = field(default_factory=list)
    end: Instruction = field(default_factory=lambda: Instruction(OP["OpUnreachable"], ()))
    loop_control: tuple[int, ...] = ()


def blocks_of(body: Iterable[Instruction]) -> list[Block]:
    """Return the blocks of a function's instructions."""
    blocks: list[Block] = []
    for item in body:
        if item.opcode == LABEL:
            blocks.append(Block(item.result or 0))
        elif not blocks:
            continue  # OpFunction and its parameters
        elif item.opcode in TERMINATORS:
            blocks[-1].end = item
        elif item.opcode == LOOP_MERGE:
            blocks[-1].loop_control = item.operands[2:]
        elif item.opcode not in (SELECTION_MERGE, OP["OpFunctionEnd"]):
            blocks[-1].code.append(item)
    return blocks


def target_positions(end: Instruction, selector_words: int = 1) -> Sequence[int]:
    """Return the indices of the labels among a terminator's operands, those of an OpSwitch's default first.

    selector_words: the number of words of a literal of an OpSwitch.
    """
    if end.opcode == BRANCH:
        return (0,)
    if end.opcode == BRANCH_CONDITIONAL:
        return (1, 2)
    if end.opcode == SWITCH:
        return (1, *range(2 + selector_words, len(end.operands), selector_words + 1))
    return ()


class Flow:
    """The graph of a function's blocks.

    blocks: label -> block, in reverse postorder; unreachable blocks are left out.
    index: label -> the block's place in this order.
    predecessors: label -> the labels of the blocks that branch to the block, each once.
    dominator: label -> the label of the immediate dominator.
    loops: label of a loop's header -> the labels of the blocks of the loop.

    Raises Refused if the graph is irreducible: a loop with two entries, which a goto can make.
    """

    def __init__(self, blocks: Sequence[Block], selector_words: dict[int, int]) -> None:
        by_label = {block.label: block for block in blocks}
        self._selector_words = selector_words
        order = [*reversed(postorder([blocks[0].label], lambda label: self.targets(by_label[label].end)))]
        self.blocks = {label: by_label[label] for label in order}
        self.index = {label: n for n, label in enumerate(order)}
        self.predecessors: dict[int, list[int]] = {label: [] for label in order}
        for label in order:
            for target in dict.fromkeys(self.targets(by_label[label].end)):
                self.predecessors[target].append(label)
        self.dominator = immediate_dominators(order, self.predecessors)
        self.loops = self._loops()
        self._headers = self._headers_by_label()

    def targets(self, end: Instruction) -> list[int]:
        """Return the labels to which a terminator branches."""
        return [end.operands[n] for n in self.target_positions(end)]

    def target_positions(self, end: Instruction) -> Sequence[int]:
        """Return the indices of the labels among a terminator's operands."""
        words = self._selector_words.get(end.operands[0], 1) if end.opcode == SWITCH else 1
        return target_positions(end, words)

    def dominates(self, first: int, second: int) -> bool:
        """Return whether block `first` dominates block `second`; a block dominates itself."""
        while self.index[second] > self.index[first]:
            second = self.dominator[second]
        return first == second

    def is_back_edge(self, source: int, target: int) -> bool:
        return self.index[target] <= self.index[source]

    def headers(self, label: int) -> Sequence[int]:
        """Return the headers of the loops that contain a block, from the outermost loop to the innermost."""
        return self._headers[label]

    def _loops(self) -> dict[int, set[int]]:
        loops: dict[int, set[int]] = {}
        for label, sources in self.predecessors.items():
            back = [source for source in sources if self.is_back_edge(source, label)]
            if not back:
                continue
            if not all(self.dominates(label, source) for source in back):
                raise Refused("not-supported", "a goto into a loop, or between loops: write one loop", ids=(label,))
            edges = {block: list(self._inner(label, block)) for block in self.blocks}
            loops[label] = {*reaching(back, edges), label}
        return loops

    def _inner(self, header: int, block: int) -> Iterator[int]:
        """Yield the targets of a block, but the header: paths to it end a loop's iteration."""
        return (target for target in self.targets(self.blocks[block].end) if target != header)

    def _headers_by_label(self) -> dict[int, list[int]]:
        by_size = sorted(self.loops, key=lambda header: len(self.loops[header]), reverse=True)
        return {label: [header for header in by_size if label in self.loops[header]] for label in self.blocks}
