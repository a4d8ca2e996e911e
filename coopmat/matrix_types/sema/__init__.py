"""The semantic analysis of Clang's matrix types (shared language reference, section 2).

It covers the attribute, operators, element access, casts and builtins.
"""

from ...frontend.builtins.matrix_types import BUILTINS as BUILTINS
from .access import refuse_address as refuse_address, subscripted as subscripted
from .builtins import call as call
from .casts import cast as cast, refuse_list as refuse_list
from .operators import binary as binary, compound_assign as compound_assign, refuse as refuse
from .types import (
    apply_attribute as apply_attribute,
    check_redeclaration as check_redeclaration,
    holds as holds,
    refuse_volatile as refuse_volatile,
)
