"""Clang's matrix types: expressions lowered as a whole, as the first-class matrix RFC describes it.

A `Tree` is an expression of matrices with its inputs and its destination. `plan` chooses how its values are stored
during evaluation (docs/matrix-types.md), `write` makes a function of plain OpenCL C of it; `reference` defines its
meaning.
"""

from __future__ import annotations

from .machine import Machine as Machine, registers_of as registers_of
from .terms import (
    Broadcast as Broadcast,
    Converted as Converted,
    Elementwise as Elementwise,
    InMemory as InMemory,
    Input as Input,
    Object as Object,
    Part as Part,
    Product as Product,
    Term as Term,
    Transposed as Transposed,
    WithElement as WithElement,
    WithPart as WithPart,
)
from .tree import Tree as Tree
