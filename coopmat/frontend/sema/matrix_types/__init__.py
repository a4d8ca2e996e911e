"""Clang's matrix types: the attribute, the operators, element access, casts, the builtins (shared language reference,
section 2)."""

from .access import refuse_address, subscripted
from .builtins import BUILTINS, call
from .casts import cast, mismatch, refuse_list
from .operators import binary, compound_assign, refuse
from .types import apply_attribute, check_redeclaration, check_volatile, holds

__all__ = [
    "BUILTINS",
    "apply_attribute",
    "binary",
    "call",
    "cast",
    "check_redeclaration",
    "check_volatile",
    "compound_assign",
    "holds",
    "mismatch",
    "refuse",
    "refuse_address",
    "refuse_list",
    "subscripted",
]
