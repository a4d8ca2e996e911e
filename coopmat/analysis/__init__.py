"""Analyses of the typed AST that report diagnostics and modify nothing.

They warn about conversions, comparisons, unused results and uninitialized variables. They also check matrix operands
that must be uniform in a subgroup, and report operations that a device does not support.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostics
from ..frontend import typed
from .implicit import (
    COMPARISON_CODES as COMPARISON_CODES,
    check_comparison as check_comparison,
    check_conversion as check_conversion,
    check_divisor as check_divisor,
    check_operands as check_operands,
    check_pointer_cast as check_pointer_cast,
    check_tested_pointer as check_tested_pointer,
)
from .uninitialized import UNINITIALIZED_CODES as UNINITIALIZED_CODES, check_uninitialized as check_uninitialized
from .warnings import (
    PRECEDENCE_CODES as PRECEDENCE_CODES,
    UNUSED_CODES as UNUSED_CODES,
    check_condition as check_condition,
    check_discarded as check_discarded,
    check_if as check_if,
    check_loop as check_loop,
    check_precedence as check_precedence,
    check_unused_functions as check_unused_functions,
    check_unused_in_function as check_unused_in_function,
    has_unused_attribute as has_unused_attribute,
)

if TYPE_CHECKING:
    from ..matrices.memory_rules import MemoryRules
    from .target_check import Requirement

# The other analyses are imported only for units with matrices: imports take most of the time of a short compilation.


def check_uniformity(unit: typed.Unit, diagnostics: Diagnostics, *, has_barriers: bool) -> None:
    """Report matrix operations whose operands, or the control flow around them, differ within a subgroup.

    has_barriers: whether operations that exchange values contain barriers of the work-group, as on the route scratch.
    """
    from .uniformity import check

    check(unit, diagnostics, has_barriers=has_barriers)


def find_requirements(unit: typed.Unit, rules: MemoryRules | None) -> Iterator[Requirement]:
    """Yield what a unit requires of a device; `rules` are the device's requirements on matrices in memory."""
    from .source_requirements import find_requirements

    return find_requirements(unit, rules)


def check_vulkan(unit: typed.Unit, diagnostics: Diagnostics, target_env: str) -> None:
    """Report the constructs of a unit that modules for Vulkan cannot have."""
    from .vulkan_check import find_refused

    for span, what in find_refused(unit):
        diagnostics.error("vulkan", f"not supported with --target-env {target_env}: {what}", span)
