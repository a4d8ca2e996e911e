"""Clang's matrix types: expressions lowered as a whole, as the first-class matrix RFC describes it.

A `Tree` is an expression of matrices with what it reads and where its value goes. `plan` chooses how its values are
held on the way (docs/matrix-types.md), `write` makes a function of plain OpenCL C of it; `reference` says what it
means.
"""

from __future__ import annotations

from .machine import Machine
from .terms import (
    Broadcast,
    Converted,
    Elementwise,
    InMemory,
    Input,
    Object,
    Part,
    Product,
    Term,
    Transposed,
    WithElement,
    WithPart,
)
from .tree import Tree

__all__ = [
    "Broadcast",
    "Converted",
    "Elementwise",
    "InMemory",
    "Input",
    "Machine",
    "Object",
    "Part",
    "Product",
    "Term",
    "Transposed",
    "Tree",
    "WithElement",
    "WithPart",
]
