"""Which modules there are: assembled, through spirv-opt, through LLVM IR."""

from __future__ import annotations

from coopmat.spirv.tools import assemble

from .assembled import Program
from .execution import Case
from .from_ir import from_ir
from .optimised import optimised

COUNT = 200


def case(number: int, seed: int = 0) -> Case:
    """Of ten, five are as they were assembled, two went through spirv-opt, three came through LLVM IR."""
    place, at = number % 10, number + seed * COUNT
    if place >= 7:
        return from_ir(at)
    program = Program(at)
    made = Case(f"assembled {at}", assemble(program.text, "spv1.4"), program.buffers, features=program.features)
    return optimised(made, number // 10) if place >= 5 else made
