"""Clang's matrix types, from analysis to code.

`sema` analyses them. `trees` reads whole expressions from the typed AST. `expressions` plans these and writes OpenCL C
functions. `lowering` is the pass that inserts the calls. The interfaces of the room are these four, and `Overlaps`
here.
"""

from __future__ import annotations

from .overlaps import Overlaps as Overlaps
