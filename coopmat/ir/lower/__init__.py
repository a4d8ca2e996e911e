"""Lowering of the typed AST to canonical LLVM IR; each module lowers one part of the language."""

from __future__ import annotations

from .. import LoweredModule, LowerOptions
from .program import lower

__all__ = ["LowerOptions", "LoweredModule", "lower"]
