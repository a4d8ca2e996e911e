"""The control-flow graph of a function.

An edge that a constant condition excludes is omitted. If there are variables to watch, each block lists their
declarations, stores and reads in order, for `uninitialized`. Otherwise, expressions are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.nodes import children
from ..frontend.sema.values import constant_value
from ..frontend.typed import Expr, Load, LValue, VarDecl, VarRef
from ..frontend.types import CoopMatrixType, VoidType, contains_matrix

DECLARED, STORED, READ = "declared", "stored", "read"


@dataclass(eq=False, slots=True)
class Block:
    """A basic block.

    number: the index in `Graph.blocks`.
    ways, sources: successors and predecessors; the successors of a condition are (true, false).
    events: (DECLARED, STORED or READ, number of the variable, location).
    branch: the condition (of a switch: the value) at the end of the block, if any.
    switch: the block ends in a switch.
    label, first: the case label before the block, and its first statement.
    """

    number: int
    ways: list[Block] = field(default_factory=list)
    sources: list[Block] = field(default_factory=list)
    events: list[tuple[str, int, Span]] = field(default_factory=list)
    branch: Span | None = None
    switch: bool = False
    label: Span | None = None
    first: Span | None = None


@dataclass(slots=True)
class Graph:
    """The control-flow graph of a function.

    end, exit: the block at the closing brace, and the block after all returns.
    returns: the function has a return statement.
    falls: (the block that falls through, the case label that it runs into).
    reads: watched array or record -> (number of reads of its elements, location of the first).
    """

    blocks: list[Block]
    entry: Block
    end: Block
    exit: Block
    returns: bool
    falls: list[tuple[Block, Span]]
    reads: dict[VarDecl, tuple[int, Span]]

    def reached(self, *, cases: bool = False) -> set[Block]:
        """Return the blocks reachable from the entry; with `cases`, also from every case label."""
        blocks = {self.entry, *(block for block in self.blocks if cases and block.label is not None)}
        work = list(blocks)
        while work:
            for block in work.pop().ways:
                if block not in blocks:
                    blocks.add(block)
                    work.append(block)
        return blocks


class _Builder:
    def __init__(
        self, variables: Sequence[VarDecl], parts: Sequence[VarDecl], deliberate: set[Span], complete: set[Span]
    ) -> None:
        self.blocks: list[Block] = []
        self.numbers = {decl: i for i, decl in enumerate(variables)}
        self.reads: dict[VarDecl, tuple[int, Span]] = {decl: (0, decl.span) for decl in parts}
        self.follow = bool(variables or parts)
        self.deliberate, self.complete = deliberate, complete
        self.labels: dict[str, Block] = {}
        self.breaks: list[Block] = []
        self.continues: list[Block] = []
        self.switches: list[Block] = []
        self.falls: list[tuple[Block, Span]] = []
        self.entry, self.exit = self.new(), self.new()
        self.current: Block | None = None
        # Statements since the last case label may fall through into the next label without an attribute.
        self.running = False
        self.returns = False

    def build(self, body: typed.Block) -> Graph:
        self.current = self.new()
        self.link(self.entry, self.current)
        self.statement(body)
        end = self.open_block()
        self.jump(self.exit)
        return Graph(self.blocks, self.entry, end, self.exit, self.returns, self.falls, self.reads)

    # --- blocks

    def new(self) -> Block:
        block = Block(len(self.blocks))
        self.blocks.append(block)
        return block

    def open_block(self) -> Block:
        if self.current is None:
            self.current = self.new()
        return self.current

    @staticmethod
    def link(source: Block, target: Block) -> None:
        source.ways.append(target)
        target.sources.append(source)

    def jump(self, target: Block) -> None:
        """End the current block, if any, with an edge to `target`."""
        if self.current is not None:
            self.link(self.current, target)
            self.current = None

    def label(self, name: str) -> Block:
        if name not in self.labels:
            self.labels[name] = self.new()
        return self.labels[name]

    # --- statements

    def statement(self, node: typed.Stmt) -> None:
        if isinstance(node, typed.Block):
            if not node.items and node.span in self.deliberate:
                self.running = False
            for item in node.items:
                self.statement(item)
            return
        if not isinstance(node, (typed.Case, typed.Label)):
            block = self.open_block()
            block.first = block.first or node.span
            self.running = True
        _STATEMENTS[type(node)](self, node)

    def declaration(self, node: typed.DeclStmt) -> None:
        if not self.follow:
            return
        decl = node.decl
        number = self.numbers.get(decl)
        if number is not None:
            self.open_block().events.append((DECLARED, number, decl.span))
        if decl.initializer is not None:
            self.expression(decl.initializer)
            if number is not None:
                self.open_block().events.append((STORED, number, decl.span))

    def plain(self, node: typed.ExprStmt) -> None:
        self.expression(node.expr)

    def if_(self, node: typed.If) -> None:
        after = self.new()
        while True:
            then, otherwise = self.new(), self.new()
            self.test(node.condition, then, otherwise)
            self.current = then
            self.statement(node.then)
            self.jump(after)
            self.current = otherwise
            if not isinstance(node.otherwise, typed.If):
                break
            node = node.otherwise  # iterate over a chain of else-ifs, which may be deeper than Python's stack
        if node.otherwise is not None:
            self.statement(node.otherwise)
        self.jump(after)
        self.current = after

    def body(self, node: typed.Stmt, break_block: Block, continue_block: Block) -> None:
        self.breaks.append(break_block)
        self.continues.append(continue_block)
        self.statement(node)
        self.breaks.pop()
        self.continues.pop()
        self.jump(continue_block)

    def while_(self, node: typed.While) -> None:
        head, inside, end = self.new(), self.new(), self.new()
        self.jump(head)
        self.current = head
        self.test(node.condition, inside, end)
        self.current = inside
        self.body(node.body, end, head)
        self.current = end

    def do_while(self, node: typed.DoWhile) -> None:
        inside, tail, end = self.new(), self.new(), self.new()
        self.jump(inside)
        self.current = inside
        self.body(node.body, end, tail)
        self.current = tail
        self.test(node.condition, inside, end)
        self.current = end

    def for_(self, node: typed.For) -> None:
        for item in node.init:
            self.statement(item)
        head, inside, step, end = self.new(), self.new(), self.new(), self.new()
        self.jump(head)
        self.current = head
        if node.condition is None:
            self.jump(inside)
        else:
            self.test(node.condition, inside, end)
        self.current = inside
        self.body(node.body, end, step)
        self.current = step
        if node.step is not None:
            self.expression(node.step)
        self.jump(head)
        self.current = end

    def switch(self, node: typed.Switch) -> None:
        self.expression(node.value)
        block, end = self.open_block(), self.new()
        block.branch, block.switch = node.value.span, True
        self.switches.append(block)
        self.breaks.append(end)
        self.current = None
        running, self.running = self.running, False
        self.statement(node.body)
        self.running = running
        self.breaks.pop()
        self.switches.pop()
        self.jump(end)
        if not node.has_default and node.span not in self.complete:
            self.link(block, end)
        self.current = end

    def case(self, node: typed.Case) -> None:
        if not self.switches:
            self.statement(node.body)
            return
        block = self.new()
        block.label = node.span
        if self.current is not None:
            if self.running:
                self.falls.append((self.current, node.span))
            self.jump(block)
        self.link(self.switches[-1], block)
        self.current = block
        labelled_node: typed.Stmt = node
        while isinstance(labelled_node, typed.Case):  # adjacent case labels
            labelled_node = labelled_node.body
        self.running = False
        self.statement(labelled_node)

    def labelled(self, node: typed.Label) -> None:
        statement: typed.Stmt = node
        while isinstance(statement, typed.Label):
            target = self.label(statement.name)
            self.jump(target)
            self.current = target
            statement = statement.body
        self.statement(statement)

    def goto(self, node: typed.Goto) -> None:
        self.jump(self.label(node.label))

    def break_(self, node: typed.Break) -> None:
        if self.breaks:
            self.jump(self.breaks[-1])

    def continue_(self, node: typed.Continue) -> None:
        if self.continues:
            self.jump(self.continues[-1])

    def return_(self, node: typed.Return) -> None:
        if node.value is not None:
            self.expression(node.value)
        self.returns = True
        self.jump(self.exit)

    # --- expressions

    def test(self, e: Expr, yes: Block, no: Block) -> None:
        """End the current block with a condition; `&&`, `||` and `!` become separate branches."""
        pending: list[tuple[Block, Expr, Block, Block]] = []
        while True:
            if isinstance(e, typed.Logical):
                middle = self.new()
                pending.append((middle, e.right, yes, no))
                yes, no = (middle, no) if e.op == "land" else (yes, middle)
                e = e.left
            elif isinstance(e, typed.Unary) and e.op == "lnot":
                yes, no, e = no, yes, e.operand
            else:
                break
        self.decide(e, yes, no)
        for middle, right, yes, no in reversed(pending):
            self.current = middle
            self.test(right, yes, no)

    def decide(self, e: Expr, yes: Block, no: Block) -> None:
        value = constant_value(e)
        if value is not None:
            self.jump(yes if value else no)
            return
        self.expression(e)
        block = self.open_block()
        block.branch = e.span
        self.link(block, yes)
        self.jump(no)

    def expression(self, root: Expr) -> None:
        """Record the events of an expression in evaluation order, if variables are watched."""
        if not self.follow:
            return
        work: list[Any] = [root]
        while work:
            item = work.pop()
            if isinstance(item, tuple):
                self.open_block().events.append(item)
                continue
            visit = _EXPRESSIONS.get(type(item))
            if visit is not None:
                visit(self, item, work)
            else:
                work.extend(reversed(_operands(item)))

    def load(self, e: Load, work: list[Any]) -> None:
        number, operands = self.object(e.operand)
        if number is not None:
            work.append((READ, number, e.span))
        elif self.reads:
            self.part_read(e)
        work.extend(reversed(operands))

    def part_read(self, e: Load) -> None:
        root: LValue = e.operand
        while isinstance(root, (typed.Index, typed.Member, typed.Swizzle, typed.MatrixSubscript)):
            root = root.matrix if isinstance(root, typed.MatrixSubscript) else root.base
        if isinstance(root, VarRef) and root.decl in self.reads:
            count, first = self.reads[root.decl]
            self.reads[root.decl] = (count + 1, first if count else e.span)

    def object(self, e: LValue) -> tuple[int | None, list[Expr]]:
        """Return (number of the watched variable that `e` is a part of, or None; operands that select the part).

        Watched variables are the `variables` of `build`. All matrices in a variable, with all their components, count
        as one object: the analysis does not know the value of an index, such as a loop's counter.
        """
        matrix = contains_matrix(e.type)
        root: LValue = e
        indices: list[Expr] = []
        while isinstance(root, (typed.Swizzle, typed.Index, typed.Member, typed.MatrixElement)):
            matrix = matrix or isinstance(root, typed.MatrixElement)
            if isinstance(root, (typed.Index, typed.MatrixElement)):
                indices.insert(0, root.index)
            root = root.matrix if isinstance(root, typed.MatrixElement) else root.base
        number = self.numbers.get(root.decl) if isinstance(root, VarRef) else None
        if number is None:
            return None, [] if isinstance(e, VarRef) else _operands(e)
        assert isinstance(root, VarRef)
        return (number if matrix or not contains_matrix(root.decl.type) else None), indices

    def carries(self, e: Expr, number: int) -> bool:
        """Return whether matrix `e` is computed from the variable: then `e` is uninitialized if the variable is."""
        work = [e]
        while work:
            e = work.pop()
            if isinstance(e, Load) and self.object(e.operand)[0] == number:
                return True
            if isinstance(e, _CALCULATED):
                work.extend(item for item in _operands(e) if isinstance(item.type, CoopMatrixType))
        return False

    def assign(self, e: typed.Assign, work: list[Any]) -> None:
        number, operands = self.object(e.target)
        if number is not None and not self.carries(e.value, number):
            work.append((STORED, number, e.span))
        work.extend(reversed(operands))
        work.append(e.value)

    def update(self, e: typed.CompoundAssign | typed.IncDec, work: list[Any]) -> None:
        number, operands = self.object(e.target)
        if number is not None:
            work.append((READ, number, e.target.span))  # the new value depends on the old one
        work.extend(reversed(operands))
        if isinstance(e, typed.CompoundAssign):
            work.append(e.value)

    def reference(self, e: VarRef, work: list[Any]) -> None:
        # The variable's address is taken, or it is passed as an object. Either may store to it.
        number = self.numbers.get(e.decl)
        if number is not None:
            self.open_block().events.append((STORED, number, e.span))

    def comma(self, e: typed.Comma, work: list[Any]) -> None:
        if isinstance(e.right, typed.Zero) and isinstance(e.type, VoidType) and isinstance(e.left, Load):
            return  # (void)x
        work.append(e.right)
        work.append(e.left)

    def nested(self, e: typed.StatementExpression, work: list[Any]) -> None:
        running = self.running
        self.statement(e.body)
        self.running = running
        self.open_block()
        work.append(e.value)

    def logical(self, e: typed.Logical, work: list[Any]) -> None:
        yes, no, after = self.new(), self.new(), self.new()
        self.test(e, yes, no)
        for block in (yes, no):
            self.current = block
            self.jump(after)
        self.current = after

    def conditional(self, e: typed.Conditional, work: list[Any]) -> None:
        then, otherwise, after = self.new(), self.new(), self.new()
        self.test(e.condition, then, otherwise)
        for block, side in ((then, e.then), (otherwise, e.otherwise)):
            self.current = block
            self.expression(side)
            self.jump(after)
        self.current = after


_STATEMENTS: dict[type, Callable[[_Builder, Any], None]] = {
    typed.DeclStmt: _Builder.declaration,
    typed.ExprStmt: _Builder.plain,
    typed.If: _Builder.if_,
    typed.While: _Builder.while_,
    typed.DoWhile: _Builder.do_while,
    typed.For: _Builder.for_,
    typed.Switch: _Builder.switch,
    typed.Case: _Builder.case,
    typed.Label: _Builder.labelled,
    typed.Goto: _Builder.goto,
    typed.Break: _Builder.break_,
    typed.Continue: _Builder.continue_,
    typed.Return: _Builder.return_,
}
_EXPRESSIONS: dict[type, Callable[[_Builder, Any, list[Any]], None]] = {
    Load: _Builder.load,
    typed.Assign: _Builder.assign,
    typed.CompoundAssign: _Builder.update,
    typed.IncDec: _Builder.update,
    VarRef: _Builder.reference,
    typed.Comma: _Builder.comma,
    typed.StatementExpression: _Builder.nested,
    typed.Logical: _Builder.logical,
    typed.Conditional: _Builder.conditional,
}

# Expressions that compute a matrix from matrices.
_CALCULATED = (
    *(typed.MatrixMulAdd, typed.MatrixBinary, typed.MatrixScale),
    *(typed.MatrixNegate, typed.MatrixConvert, typed.MatrixComponentWise, typed.MatrixReduce),
)


def _operands(e: Expr) -> list[Expr]:
    """Return the operands of an expression in order."""
    return [child for child in children(e) if isinstance(child, Expr)]


def build(
    body: typed.Block,
    variables: Sequence[VarDecl],
    parts: Sequence[VarDecl],
    deliberate: set[Span],
    complete: set[Span],
) -> Graph:
    """Return the control-flow graph of a function's body.

    variables: the blocks list their declarations, stores and reads, by index; an access to a part counts as one.
    parts: arrays, records, and matrices accessed by element, of which `Graph.reads` counts the reads of elements.
    deliberate: the spans of fallthrough attributes.
    complete: the spans of switches without default that cover all values.
    """
    return _Builder(variables, parts, deliberate, complete).build(body)
