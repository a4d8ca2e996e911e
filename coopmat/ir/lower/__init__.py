"""Typed AST to canonical LLVM IR: one module for each concern of the language."""

from __future__ import annotations

from ...frontend import typed
from .. import LoweredModule, LowerOptions
from .program import Library, Program

__all__ = ["Library", "LowerOptions", "LoweredModule", "lower"]


def lower(unit: typed.Unit, options: LowerOptions, library: Library) -> LoweredModule:
    """Lower a translation unit: its kernels and what they call, or all functions where there is no kernel.

    Cooperative matrices are native: `coopmat.passes.matrices` has lowered all others before. `library` compiles OpenCL
    C text to a typed unit; it is called with the functions that native matrices need. Raises CompileError where the
    unit uses something that cannot be lowered.
    """
    return Program(unit, options, library).lower()
