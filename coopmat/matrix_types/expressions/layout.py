"""The data of a plan, on which `plan` decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .code import COLUMNS
from .terms import InMemory, Term

if TYPE_CHECKING:
    from .tree import Tree

# The number of steps along the dimension K of a product in one iteration of a loop. The vectors for these steps are
# loaded together, so that one transposition serves all of them.
K_BLOCK = 4


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan: evaluate `term` in tiles of `lines` lines with `span` elements of each.

    The lines are columns or rows, as `Plan.axis` specifies.
    """

    term: Term
    lines: int
    span: int

    def shape(self, axis: str) -> tuple[int, int]:
        """Return the number of lines of the term, and their length in elements."""
        return (self.term.columns, self.term.rows) if axis == COLUMNS else (self.term.rows, self.term.columns)


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for the evaluation of `tree`.

    work: the same tree, or a tree of a single column with the same pointers, which is evaluated.
    axis: whether vectors extend along columns or rows.
    straight: whether there are no loops, and all elements are calculated before any is stored.
    narrow: whether every element fits a separate register.
    steps: the terms to evaluate. The last is the root; the others are stored to private arrays first.
    exact: inputs that may coincide exactly with the destination.
    disjoint: inputs that must not overlap the destination at all.
    cost, registers: the estimates of the model.
    If an input violates `exact` or `disjoint` at run time, the value goes through a private array.
    """

    tree: Tree
    work: Tree
    axis: str
    straight: bool
    narrow: bool
    steps: tuple[Step, ...]
    exact: tuple[int, ...] = ()
    disjoint: tuple[int, ...] = ()
    cost: float = 0.0
    registers: int = 0

    @property
    def checked(self) -> bool:
        """Whether the function checks at run time whether inputs overlap the destination."""
        return bool(self.exact or self.disjoint)

    def array(self, term: Term) -> InMemory:
        """Return the private array for the value of the term that a step evaluates."""
        columns = self.axis == COLUMNS
        return InMemory(term.element, "private", term.rows if columns else term.columns, not columns)

    def describe(self) -> str:
        """Return lines of text: the layout, the tiles of each step, the estimates, the checks at run time."""
        layout = f"{self.axis} of" if self.work is self.tree else "one vector of"
        lines = [f"{layout} {self.work.root.rows}x{self.work.root.columns} {self.work.root.element}"]
        for step in self.steps:
            to = "to a private array" if step is not self.steps[-1] else "to its place"
            tile = f"tiles of {step.lines} by {step.span}"
            loops = "no loops" if self.straight else self._loops(step)
            lines.append(f"{step.term.rows}x{step.term.columns} {to}: {tile}, {loops}")
        most = self.tree.machine.registers
        lines.append(f"registers: {self.registers} of {most}; cost: {self.cost:.0f} operations")
        if self.checked:
            inputs = ", ".join(f"p{number}" for number in sorted((*self.exact, *self.disjoint)))
            lines.append(f"alias check: {inputs}; through a private array where they overlap the result")
        else:
            lines.append("alias check: none")
        return "\n".join(lines)

    def _loops(self, step: Step) -> str:
        """Return the text about the loops of a step."""
        lines, span = step.shape(self.axis)
        counts = [-(-lines // step.lines), -(-span // step.span)]
        return f"loops over {counts[0]} x {counts[1]} tiles"
