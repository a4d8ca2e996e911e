"""Warnings about uninitialized variables, and other warnings that need a function's control flow.

For each block and watched variable, two bits say whether some path to the block's end has stored to the variable
(`stored`), and whether some path has not (`bare`). A set of variables is an integer with one bit per variable.

- `uninitialized`: at the read, only `bare` is set.
- `sometimes-uninitialized`: both are set, and a branch with only `bare` leads inevitably to the read, without a store
  in between. The search follows such blocks backwards from the read.
- `conditional-uninitialized`: both are set, and no such branch exists; conditions may be correlated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..diagnostics import Note, Span
from ..frontend import typed
from ..frontend.sema.context import UNKNOWN, Context, FunctionState
from ..frontend.types import (
    ArrayType,
    ConstantMatrixType,
    PointerType,
    RecordType,
    ScalarType,
    VectorType,
    VoidType,
    contains_matrix,
)
from .flow import DECLARED, READ, STORED, Block, Graph, build

UNINITIALIZED = ("uninitialized", "sometimes-uninitialized", "conditional-uninitialized")
# The warning for cooperative matrices, in place of the first two of these.
OF_MATRICES = "coop-mat-uninitialized"
UNINITIALIZED_CODES = (*UNINITIALIZED, OF_MATRICES, "return-type", "implicit-fallthrough", "unreachable-code")
# The number of blocks, per function, that the search for branches visits; then findings stay conditional.
_PATIENCE = 100_000
# The largest number of branches reported for one read.
_MOST_FAULTS = 8


def check_uninitialized(c: Context, state: FunctionState) -> None:
    """Issue all warnings that need the control flow of a function, whose body must be free of errors."""
    wants, body, result = c.diagnostics.wants, state.decl.body, state.decl.type.result
    assert body is not None
    variables: list[typed.VarDecl] = []
    parts: list[typed.VarDecl] = []
    if wants(*UNINITIALIZED, OF_MATRICES):
        variables = [d for d in state.bare if contains_matrix(d.type)]
    if wants(*UNINITIALIZED):
        values = (ScalarType, VectorType, PointerType, ConstantMatrixType)
        variables += [d for d in state.bare if isinstance(d.type, values) and d not in state.by_element]
        parts = [d for d in state.bare if isinstance(d.type, (ArrayType, RecordType)) or d in state.by_element]
    last = body.items[-1] if body.items else None
    ends = wants("return-type") and not isinstance(result, VoidType) and not isinstance(last, typed.Return)
    falls = state.switched and wants("implicit-fallthrough")
    if not (variables or parts or ends or falls or wants("unreachable-code")):
        return
    graph = build(body, variables, parts, state.deliberate, state.complete)
    reachable = graph.reached()
    if ends and graph.end in reachable:
        _open_end(c, state.decl, body.span, graph.returns)
    within = graph.reached(cases=True) if falls and graph.falls else reachable
    for block, span in graph.falls:
        if block in within:
            notes = [Note("insert 'break;', or '__attribute__((fallthrough));' if this is intended")]
            c.warn("implicit-fallthrough", "the previous case falls through to this label", span, notes=notes)
    if wants("unreachable-code"):
        _unreachable(c, graph, reachable)
    for decl in parts:
        count, first = graph.reads[decl]
        if count and count == c.references.get(decl):
            c.warn("uninitialized", f"'{decl.name}' is read, but nothing is ever stored to it", first)
    if variables:
        _Uninitialized(c, graph, variables).run()


def _open_end(c: Context, decl: typed.FunctionDecl, body: Span, returns: bool) -> None:
    if decl.type.result is UNKNOWN:
        return
    column = max(body.end_column - 1, 1)
    brace = Span(body.file, body.end_line, column, body.end_line, body.end_column)
    where = " on every path" if returns else ""
    message = f"function '{decl.name}' of result type '{decl.type.result}' does not return a value{where}"
    c.warn("return-type", message, brace)


def _unreachable(c: Context, graph: Graph, reachable: set[Block]) -> None:
    """Warn at the first statement of each unreachable region."""
    warned_blocks: set[Block] = set()
    for block in graph.blocks:
        if block in reachable or block in warned_blocks or block.first is None:
            continue
        c.warn("unreachable-code", "this code is unreachable", block.first)
        work = [block]
        while work:
            for after in work.pop().ways:
                if after not in warned_blocks and after not in reachable:
                    warned_blocks.add(after)
                    work.append(after)


@dataclass(slots=True)
class _Finding:
    """A warning about a variable; of several, the one with the smallest `order` is issued.

    rank: 0: certain; 1: certain after some branch; 2: possible.
    code: the warning's name.
    read: the location of the read.
    messages: (message, location).
    """

    rank: int
    code: str
    read: Span
    messages: list[tuple[str, Span]]

    @property
    def order(self) -> tuple[int, int, int]:
        return self.rank, self.read.line, self.read.column


class _Uninitialized:
    def __init__(self, c: Context, graph: Graph, variables: Sequence[typed.VarDecl]) -> None:
        self.c, self.graph, self.variables = c, graph, variables
        count = len(graph.blocks)
        # number of a block -> variables that some path to its end has stored to, and that some path has not.
        self.stored, self.bare = [0] * count, [0] * count
        self.patience = _PATIENCE

    def run(self) -> None:
        order = self.order()
        self.solve(order)
        findings: dict[int, _Finding] = {}
        for block in order:
            self.reads(block, findings)
        for finding in findings.values():
            for message, span in finding.messages:
                notes = [Note("it is read here", finding.read)] if finding.read != span else []
                self.c.warn(finding.code, message, span, notes=notes)

    def order(self) -> list[Block]:
        """Return the reachable blocks in reverse postorder: predecessors first, except for back edges."""
        result: list[Block] = []
        visits = {self.graph.entry}
        work = [(self.graph.entry, iter(self.graph.entry.ways))]
        while work:
            block, ways = work[-1]
            following = next((way for way in ways if way not in visits), None)
            if following is None:
                result.append(block)
                work.pop()
            else:
                visits.add(following)
                work.append((following, iter(following.ways)))
        return result[::-1]

    def entering(self, block: Block) -> tuple[int, int]:
        stored = bare = 0
        for source in block.sources:
            stored |= self.stored[source.number]
            bare |= self.bare[source.number]
        return stored, bare

    def solve(self, order: list[Block]) -> None:
        effects = []
        for block in order:
            stored = bare = 0
            for kind, number, _ in block.events:
                stored, bare = _after(kind, 1 << number, stored, bare)
            effects.append((block, stored, bare, ~(stored | bare)))
        changed = True
        while changed:
            changed = False
            for block, stored, bare, mask in effects:
                before = self.entering(block)
                after = (before[0] & mask | stored, before[1] & mask | bare)
                number = block.number
                if after != (self.stored[number], self.bare[number]):
                    self.stored[number], self.bare[number] = after
                    changed = True

    def reads(self, block: Block, findings: dict[int, _Finding]) -> None:
        if not block.events:
            return
        stored, bare = self.entering(block)
        for kind, number, span in block.events:
            bit = 1 << number
            stored, bare = _after(kind, bit, stored, bare)
            if kind == READ and bare & bit:
                previous = findings.get(number)
                certain = not stored & bit
                if previous is None or previous.rank or certain:
                    finding = self.judge(block, number, span, certain=certain)
                    if previous is None or finding.order < previous.order:
                        findings[number] = finding

    def judge(self, block: Block, number: int, read: Span, *, certain: bool) -> _Finding:
        decl = self.variables[number]
        of_matrices = OF_MATRICES if contains_matrix(decl.type) else None
        if certain:
            message = f"'{decl.name}' is read before anything is stored to it"
            return _Finding(0, of_matrices or "uninitialized", read, [(message, read)])
        faults = self.faults(block, number, decl)
        if faults:
            messages = [(f"'{decl.name}' is read without a value {way}", span) for span, way in faults]
            return _Finding(1, of_matrices or "sometimes-uninitialized", read, messages)
        message = f"'{decl.name}' may be read before anything is stored to it"
        return _Finding(2, "conditional-uninitialized", read, [(message, read)])

    def faults(self, block: Block, number: int, decl: typed.VarDecl) -> list[tuple[Span, str]]:
        """Return (span, phrase) of each branch after which a read without a value is inevitable.

        If the declaration always leads there, return that instead.
        """
        bit = 1 << number
        # block -> number of its successors that lead to the read. If all do, the search visits its predecessors.
        ways = {block: len(block.ways)}
        work = [block]
        declared = False
        while work:
            at = work.pop()
            self.patience -= 1
            if self.patience < 0:
                return []
            declared = declared or at is self.graph.entry
            bare_only = self.bare[at.number] & bit and not self.stored[at.number] & bit
            for source in at.sources:
                if not self.bare[source.number] & bit and self.stored[source.number] & bit:
                    continue
                if self.stored[source.number] & bit and bare_only:
                    declared = True  # the variable is declared in this block, which is in a loop
                    continue
                ways[source] = ways.get(source, 0) + 1
                if ways[source] == len(source.ways):
                    work.append(source)
        if declared:
            return [(decl.span, "whenever this declaration is reached")]
        result: list[tuple[Span, str]] = []
        for candidate, count in sorted(ways.items(), key=lambda item: item[0].number):
            index = candidate.number
            bare_only = self.bare[index] & bit and not self.stored[index] & bit
            if candidate.branch is None or count >= len(candidate.ways) or not bare_only:
                continue
            for i, way in enumerate(candidate.ways):
                if ways.get(way, 0) < max(len(way.ways), 1):
                    continue
                if not candidate.switch:
                    result.append((candidate.branch, f"whenever this is {('true', 'false')[i]}"))
                elif way.label is not None:
                    result.append((way.label, "whenever this case is taken"))
        return result[:_MOST_FAULTS]


def _after(kind: str, bit: int, stored: int, bare: int) -> tuple[int, int]:
    """Return the updated (stored, bare) sets after an event that concerns the variable `bit`."""
    if kind == STORED:
        return stored | bit, bare & ~bit
    return (stored & ~bit, bare | bit) if kind == DECLARED else (stored, bare)
