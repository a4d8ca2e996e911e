"""What a module requires of a device, for `coopmat.analysis.target_check`."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.target_check import Requirement
from ...matrices.memory_rules import Congruence
from ...matrices.variants import Layout
from ...spirv.checks import STRIDE_AT
from ...spirv.module import OP, Module
from ...spirv.module_globals import ModuleGlobals
from ...spirv.sections import Section, split
from . import floats_as_integers
from .types import Types

_MULTIPLY_ADD = OP["OpCooperativeMatrixMulAddKHR"]


def find_requirements(module: Module) -> Iterator[Requirement]:
    """Yield what all types and functions of a module require. Raise Refused for types that cannot be lowered.

    The requirements have no places. Strides are those that are constants.
    """
    sections, functions = split(module.instructions)
    types = Types(ModuleGlobals(module, sections[Section.GLOBAL], module.definitions()))
    types.read_matrices(floats_as_integers.of_matrices(sections[Section.GLOBAL]))
    yield from (Requirement(None, (matrix,)) for matrix in types.matrices.values())
    constants = {i.result: i for i in module.instructions if i.name == "OpConstant"}
    for item in (item for body in functions for item in body):
        if item.opcode == _MULTIPLY_ADD:
            a, b, c = (types.matrices[types.of(operand)] for operand in item.operands[:3])
            yield Requirement(None, (a, b, c), item.operands[3] if len(item.operands) > 3 else 0)
        elif item.opcode in STRIDE_AT:
            at = STRIDE_AT[item.opcode]
            matrix = types.matrices.get(item.result_type or types.of(item.operands[1]))
            if matrix is None or len(item.operands) <= at or item.operands[at] not in constants:
                continue
            layout = constants.get(item.operands[at - 1])
            size = types.bits(types.pointee(item.operands[0])) // 8
            yield Requirement(
                None,
                (matrix,),
                layout=layout.operands[0] if layout is not None else Layout.ROW_MAJOR,
                stride=Congruence(0, types.constants.value(item.operands[at]) * size),
            )
