"""Clang's matrix types, on their whole way: `sema` analyses them, `trees` reads whole expressions from the typed AST,
`expressions` plans them and writes functions of OpenCL C, and `lowering` is the pass that calls these.

The interfaces are these four, and `Overlaps` here.
"""

from __future__ import annotations

from .overlaps import Overlaps as Overlaps
