"""Preambles: the state of the compiler after the includes at the beginning of a source, kept between compilations.

A source's preamble is its first lines of directives, blanks and comments, up to the last include outside of `#if`. A
compilation that has processed the preamble without errors keeps its state: the macros, the names of types, the typed
declarations, and the bodies of reachable functions. The next compilation with the same lines, options and files
continues after the preamble. Macros of the command line are compared only if the text names them.

A preamble with an error, matrices, `#line` or a pragma about warnings is not kept, nor one that ends within a
declaration. If a later compilation reaches a function whose body was not kept, it processes the preamble again, and
keeps all functions.

Preambles are kept in this process and in the cache on disk, as pickles. Only the classes in `_readable` are unpickled.
"""

from __future__ import annotations

from .snapshot import Snapshot as Snapshot
from .store import Unreached as Unreached, forget as forget
