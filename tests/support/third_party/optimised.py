"""Modules through spirv-opt, which no compiler here has seen before."""

from __future__ import annotations

from dataclasses import replace

from coopmat.spirv.tools import optimize

from .execution import Case

# It keeps off variables in modules with physical addresses; the rest it does.
PASSES = (
    "-O",
    "-Os",
    "--freeze-spec-const --fold-spec-const-op-composite --unify-const",
    "--merge-return --merge-blocks --simplify-instructions --redundancy-elimination --compact-ids",
    "--inline-entry-points-exhaustive --eliminate-dead-functions --strip-debug",
)


def optimised(case: Case, number: int) -> Case:
    """By one of PASSES."""
    passes = PASSES[number % len(PASSES)]
    spirv = optimize(case.spirv, *passes.split())
    return replace(case, name=f"{case.name} {passes.split()[0]}", spirv=spirv, features=case.features | {"optimised"})
