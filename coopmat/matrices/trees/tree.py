"""A tree as a function of the library."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from ..instances import Parameter, Signature, Written
from ..strategies import Target
from .machine import Machine
from .terms import InMemory, Input, Term


@dataclass(frozen=True, slots=True)
class Tree(Written):
    """Stores the value of `root` to `out`. The function takes the pointer of `out` (and its stride, if that is None),
    then each input in order: a pointer (and stride), a scalar, or an index.

    `contract`: products and sums may be contracted. `separate`: `out` overlaps no input; otherwise it may, in any way,
    and the value is the one from before anything is stored.
    """

    root: Term
    inputs: tuple[InMemory | Input, ...]
    out: InMemory
    machine: Machine = field(default_factory=Machine)
    contract: bool = True
    separate: bool = True

    @property
    def function_name(self) -> str:
        """The shape of the result, and a number of its own."""
        number = hashlib.sha256(repr(self).encode()).hexdigest()[:12]
        return f"cm_tree_{self.root.element}_{self.root.rows}x{self.root.columns}_{number}"

    @property
    def signature(self) -> Signature:
        found = [*_pointer("out", self.out, const=False)]
        for number, item in enumerate(self.inputs):
            if isinstance(item, InMemory):
                found += _pointer(f"p{number}", item, const=True)
            else:
                found.append(Parameter(f"p{number}", item.element.library_c if item.element else "ulong"))
        return Signature("void", tuple(found))

    def text(self, target: Target) -> str:
        from .plan import plan
        from .write import write

        return write(plan(self))


def _pointer(name: str, memory: InMemory, const: bool) -> list[Parameter]:
    parameters = [Parameter(name, memory.element.library_c, memory.space, const, memory.volatile)]
    if memory.stride is None:
        parameters.append(Parameter(f"{name}_stride", "ulong"))
    return parameters
