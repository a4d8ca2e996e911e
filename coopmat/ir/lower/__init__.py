"""Typed AST to canonical LLVM IR: one module for each concern of the language."""

from __future__ import annotations

from .. import LoweredModule, LowerOptions
from .program import lower

__all__ = ["LowerOptions", "LoweredModule", "lower"]
