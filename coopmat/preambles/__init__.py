"""Preambles: what the includes at the beginning of a source become, kept between compilations.

The preamble of a source is its first lines, as far as they are directives, blanks and comments, up to the last include
outside of `#if`. Once a compilation has passed over it without an error, the macros, the names of types and the
typed declarations are kept, and the bodies of those functions that were reached; the next compilation with the same
lines, options and files goes on from there. Macros of the command line count only if the text names them.

A preamble is not kept where it has an error, matrices, `#line` or a pragma for warnings, or where it ends within a
declaration. One whose functions were not all kept, and of which others are reached, is made and kept anew, with all.
What is kept lies in this process and in the cache on disk, as pickles from which only the classes in `_readable` are
read.
"""

from __future__ import annotations

from .declarations import Kept as Kept, Restored as Restored, reached as reached
from .macros import restore_macros as restore_macros, take_macros as take_macros
from .store import Preamble as Preamble, Unreached as Unreached, forget as forget, preamble_length as preamble_length
