"""Whole expressions of Clang's matrix types, lowered as the first-class matrix RFC describes.

A `Tree` is an expression of matrices with its inputs and its destination. `plan` chooses how values are stored during
evaluation (docs/matrix-types.md). `write` makes a function of plain OpenCL C from the plan. `term_reference` is the
numpy reference.
"""

from __future__ import annotations

from .machine import Machine as Machine
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
