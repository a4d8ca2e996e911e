"""The dialects of LLVM IR with cooperative matrices: reading any of them, writing each of them.

All functions take and give LLVM's own print of a module (`coopmat.spirv.emit.reprint`); see docs/dialects.md.
"""

from __future__ import annotations

from . import places
from .canonical import canonicalize
from .operations import MENTION
from .text import Malformed, Module, parse_module
from .write import write

__all__ = ["DIALECTS", "MENTION", "Malformed", "Module", "canonicalize", "parse_module", "places", "read", "rewrite"]

DIALECTS = ("khr", "rfc", "clang")


def read(text: str) -> str:
    """A module of any dialect in the canonical one. Raises Malformed."""
    module = parse_module(text)
    canonicalize(module)
    return str(module)


def rewrite(text: str, dialect: str) -> str:
    """A module of any dialect in the one named, one of DIALECTS. Raises Malformed."""
    module = parse_module(text)
    canonicalize(module)
    write(module, dialect)
    return str(module)
