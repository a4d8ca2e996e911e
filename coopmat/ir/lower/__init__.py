"""Typed AST to canonical LLVM IR: one module for each concern of the language."""

from __future__ import annotations

from ...frontend import typed
from .. import LoweredModule, LowerOptions
from .program import Program

__all__ = ["LowerOptions", "LoweredModule", "lower"]


def lower(unit: typed.Unit, options: LowerOptions) -> LoweredModule:
    """Lower a translation unit: its kernels and what they call, or all functions where there is no kernel.

    Passes have made calls of a library of what is neither plain C nor an instruction (`coopmat.passes`). Raises
    CompileError where the unit uses something that cannot be lowered.
    """
    return Program(unit, options).lower()
