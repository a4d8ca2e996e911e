"""The modules of the campaign: assembled, optimized by spirv-opt, or made from LLVM IR."""

from __future__ import annotations

from coopmat.spirv.tools import assemble

from .assembled import Program
from .execution import Case
from .from_ir import from_ir
from .optimised import optimised

COUNT = 200


def case(number: int, seed: int = 0) -> Case:
    """Return a module: of ten, five are assembled, two are optimized by spirv-opt, three are made from LLVM IR."""
    place, at = number % 10, number + seed * COUNT
    if place >= 7:
        return from_ir(at)
    program = Program(at)
    made = Case(f"assembled {at}", assemble(program.text, "spv1.4"), program.buffers, features=program.features)
    return optimised(made, number // 10) if place >= 5 else made
