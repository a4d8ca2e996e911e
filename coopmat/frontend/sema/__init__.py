"""Semantic analysis: the syntax tree to the typed AST, every finding collected."""

from __future__ import annotations

from ...diagnostics import Diagnostics
from ...features import Features
from .. import syntax, typed


def analyse(
    tree: syntax.TranslationUnit,
    diagnostics: Diagnostics,
    features: Features | None = None,
    single: bool = False,
    contract: bool = True,
    wrap: bool = False,
) -> typed.Unit:
    """The typed AST of a translation unit; `features` is what is on (None: everything, as OpenCL C 3.0 has it).

    `single`: a floating constant without a suffix is a float (-cl-single-precision-constant).
    `contract`: whether floating-point expressions may be contracted where no pragma says.
    `wrap`: signed integers wrap modulo 2^N (-fwrapv); their sums and products are calculated unsigned.

    Where `diagnostics` has errors afterwards the unit is incomplete and must not be lowered.
    """
    from .. import uniformity
    from .context import Context, Rules
    from .declarations import type_name
    from .expressions import analyse as expression
    from .functions import prototype, unit
    from .statements import block

    rules = Rules(expression, type_name, block, prototype)
    result = unit(Context(rules, diagnostics, features or Features.of(), single, contract, wrap), tree)
    if result.has_matrices and not diagnostics.has_errors:
        uniformity.check(result, diagnostics)
    return result
