"""Cooperative matrices: the type attribute, the operators, the builtins (shared language reference, section 1)."""

from .builtins import BUILTINS, call
from .expected import needs_target, target_beside
from .operators import binary, compound_assign, negate
from .types import ENUMERATORS, apply_attribute, predeclared, require_extension

__all__ = [
    "BUILTINS",
    "ENUMERATORS",
    "apply_attribute",
    "binary",
    "call",
    "compound_assign",
    "needs_target",
    "negate",
    "predeclared",
    "require_extension",
    "target_beside",
]
