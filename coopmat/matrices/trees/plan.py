"""How a tree is evaluated: as columns, rows or one vector, whole or in tiles; what is put into private memory first."""

from __future__ import annotations

from dataclasses import dataclass

from .code import COLUMNS, ROWS, chunks
from .terms import Broadcast, Converted, InMemory, Object, Part, Product, Term, Transposed, WithPart
from .tree import Tree

# Vector operations in straight-line code: beyond these, tiles of the result are loops.
STRAIGHT_LIMIT = 512
# Multiply-adds of a loop's body over k.
BODY_LIMIT = 128


@dataclass(frozen=True, slots=True)
class Step:
    """Evaluates `term` to memory: `axis` says along what vectors lie; a tile is `lines` of them, `span` elements long.
    Where `straight`, there are no loops, and what is stored is known before the first store."""

    term: Term
    out: InMemory
    axis: str
    lines: int
    span: int
    straight: bool
    k_step: int


@dataclass(frozen=True, slots=True)
class Plan:
    """`steps`: the last is the tree's root, the others go to private arrays first. `exact` and `apart`: inputs that may
    lie exactly where the result goes, or must not overlap it at all; where they do, the value goes through a private
    array."""

    tree: Tree
    steps: tuple[Step, ...]
    exact: tuple[int, ...]
    apart: tuple[int, ...]

    @property
    def checked(self) -> bool:
        return bool(self.exact or self.apart)

    def describe(self) -> str:
        """One line for each step, and what is checked at run time."""
        found = [_step_text(step) for step in self.steps]
        if self.checked:
            inputs = ", ".join(f"p{number}" for number in sorted((*self.exact, *self.apart)))
            found.append(f"alias check: of {inputs}; through a private array where they overlap")
        return "\n".join(found)


def _step_text(step: Step) -> str:
    how = "no loops" if step.straight else "loops over tiles"
    return f"{step.term.rows}x{step.term.columns} by {step.axis}, tiles of {step.lines} x {step.span}, {how}"


def plan(tree: Tree) -> Plan:
    axis = ROWS if tree.out.row_major else COLUMNS
    if _operations(tree, axis) <= STRAIGHT_LIMIT:
        lines, span = _shape(tree.root, axis)
        return Plan(tree, (Step(tree.root, tree.out, axis, lines, span, True, 1),), (), ())
    steps = [_tiled(term, _temporary(term, axis), axis, tree) for term in _stored(tree)]
    steps.append(_tiled(tree.root, tree.out, axis, tree))
    exact, apart = _overlaps(tree, [step.term for step in steps[:-1]])
    return Plan(tree, tuple(steps), exact, apart)


def _temporary(term: Term, axis: str) -> InMemory:
    return InMemory(term.element, "private", term.columns if axis == ROWS else term.rows, axis == ROWS)


def _shape(term: Term, axis: str) -> tuple[int, int]:
    """How many lines there are along the axis, and how long they are."""
    return (term.columns, term.rows) if axis == COLUMNS else (term.rows, term.columns)


def _tiled(term: Term, out: InMemory, axis: str, tree: Tree) -> Step:
    lines, span = _shape(term, axis)
    lanes = max(1, tree.machine.register_bits // term.element.bits)
    span = min(span, min(2 * lanes, tree.machine.widest))
    lines = min(lines, max(1, tree.machine.registers // 2 // -(-span // lanes)))
    return Step(term, out, axis, lines, span, False, 4)


def _operations(tree: Tree, axis: str) -> int:
    total = 0
    for term in tree.root.walk():
        lines, span = _shape(term, axis)
        count = lines * len(chunks(span, tree.machine.widest))
        total += count * term.left.columns if isinstance(term, Product) else count
        if isinstance(term, Object) and tree.inputs[term.number].volatile:  # type: ignore[union-attr]
            total += term.rows * term.columns
    return total + (tree.root.rows * tree.root.columns if tree.out.volatile else 0)


def direct(term: Term) -> bool:
    """Whether an element of it costs no more than an access to memory and a conversion."""
    while isinstance(term, Transposed | Converted | Part):
        term = term.operand
    return isinstance(term, Object | Broadcast)


def _stored(tree: Tree) -> list[Term]:
    """What is evaluated to private memory, inner terms first."""
    found: dict[int, Term] = {}
    for term in tree.root.walk():
        if isinstance(term, Object) and tree.inputs[term.number].volatile:  # type: ignore[union-attr]
            found[id(term)] = term
        operands: tuple[Term, ...] = ()
        if isinstance(term, Product):
            operands = term.operands
        elif isinstance(term, WithPart):
            operands = (term.part,)
        for operand in operands:
            while isinstance(operand, Transposed):
                operand = operand.operand
            if not direct(operand):
                found[id(operand)] = operand
    found.pop(id(tree.root), None)
    return list(found.values())


def _overlaps(tree: Tree, stored: list[Term]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The inputs that the last step reads and that its stores may change: read only in the places that are stored
    next, and others."""
    if tree.separate:
        return (), ()
    exact: set[int] = set()
    apart: set[int] = set()
    waiting: list[tuple[Term, bool]] = [(tree.root, True)]
    while waiting:
        term, same = waiting.pop()
        if any(term is one for one in stored):
            continue
        if isinstance(term, Object):
            where = tree.inputs[term.number]
            assert isinstance(where, InMemory)
            if _may_overlap(where.space, tree.out.space):
                same = same and (where.element, where.row_major) == (tree.out.element, tree.out.row_major)
                same = same and (None in (where.stride, tree.out.stride) or where.stride == tree.out.stride)
                (exact if same else apart).add(term.number)
        keeps = not isinstance(term, Product | Transposed | Part | WithPart)
        waiting += [(operand, same and keeps) for operand in term.operands]
        if isinstance(term, WithPart):
            waiting[-2] = (term.operand, same)
    return tuple(sorted(exact - apart)), tuple(sorted(apart))


def _may_overlap(a: str, b: str) -> bool:
    return "constant" not in (a, b) and (a == b or "generic" in (a, b))
