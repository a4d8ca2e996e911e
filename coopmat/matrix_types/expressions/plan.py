"""The choice of how a tree is evaluated, by counting the cost of candidates.

A tree is evaluated as columns, rows or one vector, as a whole or in tiles, and some values are first stored in private
memory. The candidates' code is written and its cost counted (docs/matrix-types.md describes the model). The cheapest
candidate is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .code import COLUMNS, ROWS, chunks
from .evaluate import direct, key_of
from .layout import Plan, Step
from .terms import (
    Broadcast,
    Converted,
    Elementwise,
    InMemory,
    Object,
    Part,
    Product,
    Term,
    Transposed,
    WithPart,
)
from .write import body

if TYPE_CHECKING:
    from .tree import Tree

# The largest number of vector operations in straight-line code; beyond this, tiles of the result are in loops.
STRAIGHT_LIMIT = 512
# The smallest number of vector operations for which loops are considered.
LOOP_LEAST = 96


def plan(tree: Tree) -> Plan:
    """Return the cheapest plan for a tree."""
    work = _one_vector(tree) or tree
    axes = (COLUMNS, ROWS) if work is tree else (COLUMNS,)
    operations = {axis: _operations(work, axis) for axis in axes}
    narrow = all(t.rows * t.columns <= tree.machine.registers for t in work.root.walk())
    plans: list[Plan] = []
    straight = [_straight(tree, work, axis, narrow) for axis in axes if operations[axis] <= STRAIGHT_LIMIT]
    if straight:
        best = _cheapest(straight)
        # The order of the lines only affects the number of registers.
        total, _ = best.steps[-1].shape(best.axis)
        sizes = {min(size, total) for size in ((2,) if narrow else (2, 4, total))}
        plans += [_by_lines(best, size) for size in sorted(sizes, reverse=True)]
    if not straight or (min(operations.values()) >= LOOP_LEAST and not narrow):
        best = _cheapest([_loops(tree, work, axis, *_tiles(work, axis)[0]) for axis in axes])
        plans += [_loops(tree, work, best.axis, *tile) for tile in _tiles(work, best.axis)]
    return _cheapest(plans)


def _cheapest(candidates: Sequence[Plan]) -> Plan:
    """Return the candidate of the lowest cost, with its cost."""
    return min((_counted(candidate) for candidate in candidates), key=_cost)


def _cost(candidate: Plan) -> float:
    return candidate.cost


def _counted(candidate: Plan) -> Plan:
    """Return the candidate with its cost and its number of registers."""
    code = body(candidate, checks=False)
    live, spilled = code.live()
    return replace(candidate, cost=code.cost + spilled, registers=live)


def _by_lines(candidate: Plan, lines: int) -> Plan:
    """Return the plan with `lines` lines at a time in the last step."""
    return replace(candidate, steps=(*candidate.steps[:-1], replace(candidate.steps[-1], lines=lines)))


def _straight(tree: Tree, work: Tree, axis: str, narrow: bool) -> Plan:
    """Return a plan without loops."""
    volatile_objects = {key_of(t): t for t in work.root.walk() if isinstance(t, Object) and _where(work, t).volatile}
    steps = [_step(term, axis, *Step(term, 1, 1).shape(axis)) for term in (*volatile_objects.values(), work.root)]
    return Plan(tree, work, axis, True, narrow, tuple(steps))


def _loops(tree: Tree, work: Tree, axis: str, lines: int, span: int) -> Plan:
    """Return a plan with loops over tiles of `lines` lines of `span` elements."""
    stored = _stored(work)
    steps = tuple(_step(term, axis, lines, span) for term in (*stored, work.root))
    return Plan(tree, work, axis, False, False, steps, *_overlaps(work, stored))


def _step(term: Term, axis: str, lines: int, span: int) -> Step:
    """Return a step of the plan: it computes a term in tiles of `lines` by `span`, which are cut to the term's shape.

    axis: whether the lines are rows or columns.
    """
    shape = Step(term, 1, 1).shape(axis)
    return Step(term, min(lines, shape[0]), min(span, shape[1]))


def _tiles(work: Tree, axis: str) -> list[tuple[int, int]]:
    """Return the (lines, span) of tiles that fill most of the registers, but not all, the largest first."""
    machine = work.machine
    lanes = max(1, machine.register_bits // work.root.element.bits)
    lines, length = Step(work.root, 1, 1).shape(axis)
    spans = {min(span, length) for span in (lanes, 2 * lanes, machine.widest)}
    tiles = {(min(count, lines), span) for span in spans for count in (1, 2, 4, 6, 8)}
    sizes = {tile: tile[0] * -(-tile[1] // lanes) for tile in tiles}
    candidates = [tile for tile in tiles if sizes[tile] < machine.registers] or [min(tiles)]
    most = max(sizes[tile] for tile in candidates)
    return sorted((tile for tile in candidates if sizes[tile] * 3 >= most), key=lambda tile: (-sizes[tile], tile))


# --- one vector ----------------------------------------------------------------------------------


def _one_vector(tree: Tree) -> Tree | None:
    """Return the tree as a tree on matrices of a single column, or None if that is impossible.

    All matrices must have the same order in memory without gaps. Elements may only be combined with elements at the
    same position.
    """
    root = tree.root
    if 1 in (root.rows, root.columns):
        return None
    count = root.rows * root.columns
    inputs = list(tree.inputs)
    out = _as_column(tree.out, root, tree.out.row_major)
    if out is None:
        return None
    order: list[tuple[Term, bool]] = []
    worklist = [(root, False)]
    while worklist:
        term, is_transposed = worklist.pop()
        if not isinstance(term, Object | Broadcast | Elementwise | Converted | Transposed):
            return None
        order.append((term, is_transposed))
        worklist += [(operand, is_transposed != isinstance(term, Transposed)) for operand in term.operands]
    # Operands before their users, left before right.
    built: list[Term] = []
    for term, is_transposed in reversed(order):
        if isinstance(term, Object):
            flat = _as_column(_where(tree, term), term, tree.out.row_major != is_transposed)
            if flat is None:
                return None
            inputs[term.number] = flat
        if isinstance(term, Elementwise):
            right, left = built.pop(), built.pop()
            built.append(Elementwise(term.element, count, 1, left, right, term.operator))
        elif isinstance(term, Converted):
            built.append(Converted(term.element, count, 1, built.pop()))
        elif not isinstance(term, Transposed):
            built.append(replace(term, rows=count, columns=1))
    return replace(tree, root=built.pop(), inputs=tuple(inputs), out=out)


def _as_column(where: InMemory, term: Term, row_major: bool) -> InMemory | None:
    """Return a matrix in memory as a single column, or None if it has gaps or another order."""
    tight = term.columns if where.row_major else term.rows
    if where.stride != tight or where.row_major != row_major:
        return None
    return replace(where, stride=term.rows * term.columns, row_major=False)


# --- estimates before code is written -------------------------------------------------------------


def _where(tree: Tree, term: Object) -> InMemory:
    """Return the memory of an object."""
    where = tree.inputs[term.number]
    assert isinstance(where, InMemory)
    return where


def _operations(tree: Tree, axis: str) -> int:
    """Return the number of vector operations of a tree without loops."""
    total = 0
    for term in tree.root.walk():
        lines, span = Step(term, 1, 1).shape(axis)
        count = lines * len(chunks(span, tree.machine.widest))
        total += count * term.left.columns if isinstance(term, Product) else count
        if isinstance(term, Object) and _where(tree, term).volatile:
            total += term.rows * term.columns
    return total + (tree.root.rows * tree.root.columns if tree.out.volatile else 0)


def _stored(tree: Tree) -> list[Term]:
    """Return the terms that loops first evaluate to private memory, inner terms first.

    Volatile objects are stored, because they must be read once. An operand is stored if each element is needed more
    than once and costs more than an access to memory.
    """
    terms_by_key: dict[int | tuple[int], Term] = {}
    for term in tree.root.walk():
        if isinstance(term, Object) and _where(tree, term).volatile:
            terms_by_key[key_of(term)] = term
        operands: tuple[Term, ...] = ()
        if isinstance(term, Product):
            operands = term.operands
        elif isinstance(term, WithPart):
            operands = (term.part,)
        for operand in operands:
            while isinstance(operand, Transposed):
                operand = operand.operand
            if not direct(operand):
                terms_by_key[key_of(operand)] = operand
    terms_by_key.pop(key_of(tree.root), None)
    return list(terms_by_key.values())


def _overlaps(tree: Tree, stored: list[Term]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (exact, disjoint): the inputs of the last step that its stores may change.

    `exact` inputs are only read at the positions that are stored next; `disjoint` are the others.
    """
    if tree.separate:
        return (), ()
    before = {key_of(term) for term in stored}
    exact: set[int] = set()
    disjoint: set[int] = set()
    worklist: list[tuple[Term, bool]] = [(tree.root, True)]
    while worklist:
        term, same = worklist.pop()
        if key_of(term) in before:
            continue
        if isinstance(term, Object) and _may_overlap(_where(tree, term).space, tree.out.space):
            (exact if same and _same_order(_where(tree, term), tree.out) else disjoint).add(term.number)
        keeps = not isinstance(term, Product | Transposed | Part)
        for number, operand in enumerate(term.operands):
            part = isinstance(term, WithPart) and number == 1
            worklist.append((operand, same and keeps and not part))
    return tuple(sorted(exact - disjoint)), tuple(sorted(disjoint))


def _same_order(a: InMemory, b: InMemory) -> bool:
    """Return whether the same position is the same element in both, provided that the strides are equal at run time."""
    return (a.element, a.row_major) == (b.element, b.row_major) and (
        None in (a.stride, b.stride) or a.stride == b.stride
    )


def _may_overlap(a: str, b: str) -> bool:
    """Return whether two address spaces may overlap."""
    return "constant" not in (a, b) and (a == b or "generic" in (a, b))
