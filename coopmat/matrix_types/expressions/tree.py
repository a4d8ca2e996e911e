"""A tree: an expression of matrices with inputs and destination, as a function of the library."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields

from ...matrices.library_function import Parameter, Signature, Written
from ...matrices.routes import Target
from .machine import Machine
from .terms import InMemory, Input, Term


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree(Written):
    """A library function that stores the value of the term `root` to `out`.

    The parameters are the pointer of `out`, followed by its stride if `out.stride` is None, and then each input in
    order: a pointer (and stride), a scalar, or an index.
    contract: whether products and sums may be contracted.
    separate: whether `out` overlaps no input. If not, `out` may overlap inputs in any way, and the value is computed
        from the memory's contents before any store.
    """

    root: Term
    inputs: tuple[InMemory | Input, ...]
    out: InMemory
    machine: Machine = field(default_factory=Machine)
    contract: bool = True
    separate: bool = True

    @property
    def function_name(self) -> str:
        """The name of the function: the element type and shape of the result, and a hash of the tree."""
        number = hashlib.sha256(self._key().encode()).hexdigest()[:12]
        return f"cm_tree_{self.root.element}_{self.root.rows}x{self.root.columns}_{number}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<Tree {self._key()}>"

    def _key(self) -> str:
        """Return a text that identifies the tree: terms follow their operands, which avoids recursion."""
        terms = [f"{type(term).__name__}({', '.join(str(value) for value in _own(term))})" for term in self.root.walk()]
        rest = (self.inputs, self.out, self.machine, self.contract, self.separate)
        return " ".join([*terms, *map(str, rest)])

    @property
    def signature(self) -> Signature:
        items = [*_pointer("out", self.out, const=False)]
        for number, item in enumerate(self.inputs):
            if isinstance(item, InMemory):
                items += _pointer(f"p{number}", item, const=True)
            else:
                items.append(Parameter(f"p{number}", item.element.library_c if item.element else "ulong"))
        return Signature("void", tuple(items))

    @property
    def description(self) -> str:
        """The order and the loops in which the expression is evaluated, as text."""
        from .plan import plan

        return plan(self).describe()

    def text(self, target: Target) -> str:
        from .plan import plan
        from .write import write

        return write(plan(self))


def _own(term: Term) -> list[object]:
    """Return the properties of a term without its operands."""
    values = (getattr(term, field.name) for field in fields(term))
    return [value for value in values if not isinstance(value, Term)]


def _pointer(name: str, memory: InMemory, const: bool) -> list[Parameter]:
    """Return the parameters of a matrix in memory: the pointer, and the stride if it is not constant."""
    parameters = [Parameter(name, memory.element.library_c, memory.space, const, memory.volatile)]
    if memory.stride is None:
        parameters.append(Parameter(f"{name}_stride", "ulong"))
    return parameters
