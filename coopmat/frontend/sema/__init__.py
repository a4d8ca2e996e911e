"""Semantic analysis: the syntax tree to the typed AST, every finding collected."""

from __future__ import annotations

from ...diagnostics import Diagnostics
from .. import syntax, typed


def analyse(tree: syntax.TranslationUnit, diagnostics: Diagnostics, *, off: frozenset[str] = frozenset()) -> typed.Unit:
    """The typed AST of a translation unit; `off` names the extensions that are turned off.

    Where `diagnostics` has errors afterwards the unit is incomplete and must not be lowered.
    """
    from .context import Context
    from .functions import unit

    return unit(Context(diagnostics, off), tree)
