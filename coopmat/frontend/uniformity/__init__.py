"""Whether operations on matrices stand in control flow that all work-items of a subgroup go through together, and have
operands (pointers, strides, bounds, scalars) that are the same for all of them.

A finding is a warning, `coop-mat-nonuniform`, whose notes tell the way from what makes the work-items differ to the
condition that parts them, or to the operand. The analysis follows values through variables of one function at a time,
callees first: of a parameter it finds whether it decides about an operation or leads to an operand, which calls are
then held to. Memory and kernel arguments are taken to be the same for the subgroup.
"""

from __future__ import annotations

from ...diagnostics import Diagnostics, Note
from .. import typed
from .calls import in_order
from .function import Analysis
from .state import Summary

CODE = "coop-mat-nonuniform"


def check(unit: typed.Unit, diagnostics: Diagnostics) -> None:
    """Warns of every place in a unit without errors; does nothing where the warning is off."""
    if not diagnostics.wants(CODE):
        return
    functions, with_matrices = in_order(unit)
    if not with_matrices:
        return
    summaries: dict[typed.FunctionDecl, Summary] = {}
    for function in functions:
        found = Analysis(function, summaries, with_matrices).run()
        summaries[function] = found.summary
        for finding in found.findings:
            notes = [Note(cause.text, cause.span) for cause in finding.cause.path()]
            diagnostics.warning(CODE, finding.message, finding.span, notes=notes)
