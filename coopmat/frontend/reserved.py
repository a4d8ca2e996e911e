"""The names that a device's compiler, LLVM or the matrix library may define, which users' names may collide with."""

from __future__ import annotations

import re

from ..features import TABLE
from . import builtins, macros
from .words import TERMINALS, TYPE_NAMES

#: The prefix, in upper or lower case, of all functions, records and macros of the matrix library's texts.
LIBRARY_PREFIX = "cm_"


class LibraryName(str):
    """The file name of a text of the matrix library; its class distinguishes it from a user's file of the same name."""

    __slots__ = ()


LIBRARY_NAME = LibraryName("<matrix library>")

# Keywords and macros of later versions of OpenCL C and of compilers, which an older source may use as names.
_LATER_WORDS = "pipe generic uniform linux unix NULL"
_MACROS = {name.partition("(")[0] for rows in (macros.FIXED, *macros.CONDITIONAL.values()) for name, _ in rows}
_FEATURES = {row.name for row in TABLE}
_WORDS = frozenset({*_LATER_WORDS.split(), *TERMINALS, *TYPE_NAMES, *_MACROS, *_FEATURES})
_OF_IMPLEMENTATION = re.compile("_[_A-Z]")


def is_library(name: str) -> bool:
    """Return whether `name`, the file name of a span, is that of the matrix library."""
    return isinstance(name, LibraryName)


def is_word(name: str) -> bool:
    """Return whether a compiler may have a keyword, a type or a macro with this name."""
    return name in _WORDS or _OF_IMPLEMENTATION.match(name) is not None


def is_reserved(name: str) -> bool:
    """Return whether a compiler may have a keyword, type, macro or builtin function with this name."""
    return is_word(name) or builtins.find(name) is not None
