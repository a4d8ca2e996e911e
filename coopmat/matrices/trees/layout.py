"""What `plan` decides, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .code import COLUMNS
from .terms import InMemory, Term

if TYPE_CHECKING:
    from .tree import Tree

# Elements of a row or of k that are read together where vectors lie across: as many as one transposition of vectors.
K_BLOCK = 4


@dataclass(frozen=True, slots=True)
class Step:
    """Evaluates `term`, `lines` columns (or rows) of `span` elements at a time."""

    term: Term
    lines: int
    span: int

    def shape(self, axis: str) -> tuple[int, int]:
        """How many lines there are in all, and how long they are."""
        return (self.term.columns, self.term.rows) if axis == COLUMNS else (self.term.rows, self.term.columns)


@dataclass(frozen=True, slots=True)
class Plan:
    """How `tree` is evaluated; `work` is the same tree, or one of a single column, with the same pointers.

    `axis`: whether vectors lie along columns or rows. `straight`: no loops, and nothing is stored before everything is
    known. `narrow`: every element fits a register of its own. `steps`: the last is the root, the others go to private
    arrays first. `exact` and `apart`: inputs that may lie exactly where the result goes, or must not overlap it at all;
    where they do, the value goes through a private array. `cost` and `registers` are the model's.
    """

    tree: Tree
    work: Tree
    axis: str
    straight: bool
    narrow: bool
    steps: tuple[Step, ...]
    exact: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()
    cost: float = 0.0
    registers: int = 0

    @property
    def checked(self) -> bool:
        return bool(self.exact or self.apart)

    def array(self, term: Term) -> InMemory:
        """Where a step's value lies in private memory."""
        columns = self.axis == COLUMNS
        return InMemory(term.element, "private", term.rows if columns else term.columns, not columns)

    def describe(self) -> str:
        """Lines of text: the layout, the tiles of each step, what is estimated, what is checked at run time."""
        layout = f"{self.axis} of" if self.work is self.tree else "one vector of"
        found = [f"{layout} {self.work.root.rows}x{self.work.root.columns} {self.work.root.element}"]
        for step in self.steps:
            to = "to a private array" if step is not self.steps[-1] else "to its place"
            tile = f"tiles of {step.lines} by {step.span}"
            loops = "no loops" if self.straight else self._loops(step)
            found.append(f"{step.term.rows}x{step.term.columns} {to}: {tile}, {loops}")
        most = self.tree.machine.registers
        found.append(f"registers: {self.registers} of {most}; cost: {self.cost:.0f} operations")
        if self.checked:
            inputs = ", ".join(f"p{number}" for number in sorted((*self.exact, *self.apart)))
            found.append(f"alias check: {inputs}; through a private array where they overlap the result")
        else:
            found.append("alias check: none")
        return "\n".join(found)

    def _loops(self, step: Step) -> str:
        lines, span = step.shape(self.axis)
        counts = [-(-lines // step.lines), -(-span // step.span)]
        return f"loops over {counts[0]} x {counts[1]} tiles"
