"""Modules optimized by spirv-opt, in forms that differ from our compiler's."""

from __future__ import annotations

from dataclasses import replace

from coopmat.spirv.tools import optimize

from .execution import Case

# spirv-opt leaves variables alone in modules with physical addresses; its other passes work.
PASSES = (
    "-O",
    "-Os",
    "--freeze-spec-const --fold-spec-const-op-composite --unify-const",
    "--merge-return --merge-blocks --simplify-instructions --redundancy-elimination --compact-ids",
    "--inline-entry-points-exhaustive --eliminate-dead-functions --strip-debug",
)


def optimised(case: Case, number: int) -> Case:
    """Return the case with its module optimized by one of PASSES."""
    passes = PASSES[number % len(PASSES)]
    spirv = optimize(case.spirv, *passes.split())
    return replace(case, name=f"{case.name} {passes.split()[0]}", spirv=spirv, features=case.features | {"optimised"})
