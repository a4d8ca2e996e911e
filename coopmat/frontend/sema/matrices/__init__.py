"""Cooperative matrices: type attribute, operators and builtins (shared language reference, section 1)."""

from ...builtins.matrix import BUILTINS as BUILTINS
from .builtins import call as call
from .component_wise import (
    component_wise as component_wise,
    is_component_wise as is_component_wise,
    values_with_matrices as values_with_matrices,
)
from .effects import check_effects as check_effects
from .operators import binary as binary, compound_assign as compound_assign, negate as negate
from .targets import needs_target as needs_target, target_beside as target_beside
from .types import (
    ENUMERATORS as ENUMERATORS,
    apply_attribute as apply_attribute,
    check_work_groups as check_work_groups,
    predeclared as predeclared,
    require_extension as require_extension,
)
