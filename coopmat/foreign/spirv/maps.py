"""Functions that apply another function to each component of a matrix: OpCooperativeMatrixPerElementOpEXT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...matrices.lowering import Coord, Length
from ...spirv.module import OP, Instruction
from .values import address

if TYPE_CHECKING:
    from .function import Code, FunctionLowering


def function(f: FunctionLowering, type_id: int, callee: int, types: Sequence[int]) -> Code:
    """Return the code of `void map(M *out, operands...)`, which loops over the components of a work-item.

    For each component, `callee` is called with the row, the column, and the operands; of operands that are matrices,
    with the corresponding component. `types` are the operands' types.
    """
    globals_, types_of = f.globals, f.types
    uint, boolean, void = globals_.integer(32), globals_.intern("OpTypeBool"), globals_.intern("OpTypeVoid")
    parameter_types = [globals_.pointer(t) if types_of.carries(t) else t for t in (type_id, *types)]
    entry, head, body, end, name, following = (f.module.new_id() for _ in range(6))
    matrix, zero = types_of.matrices[type_id], globals_.number(0)
    signature = globals_.intern("OpTypeFunction", void, *parameter_types)
    code: Code = [_make("OpFunction", 0, signature, type_id=void, result=name)]
    outer, f.out = f.out, code
    out, *operands = (f.emit("OpFunctionParameter", t) for t in parameter_types)
    code.append(_make("OpLabel", result=entry))
    length = f.call(Length(matrix))
    code += [_make("OpBranch", head), _make("OpLabel", result=head)]
    i = f.emit("OpPhi", uint, zero, entry, following, body)
    more = f.emit("OpULessThan", boolean, i, length)
    code += [_make("OpLoopMerge", end, body, 0), _make("OpBranchConditional", more, body, end)]
    code.append(_make("OpLabel", result=body))
    place = f.call(Coord(matrix), i)
    arguments = [f.emit("OpCompositeExtract", uint, place, n) for n in range(2)]
    for operand, t in zip(operands, types, strict=True):
        is_matrix = types_of.carries(t)
        arguments.append(f.emit("OpLoad", types_of.elements(t), address(f, operand, t, i)) if is_matrix else operand)
    value = f.emit("OpFunctionCall", types_of.elements(type_id), callee, *arguments)
    code.append(_make("OpStore", address(f, out, type_id, i), value))
    f.emit("OpIAdd", uint, i, globals_.number(1), result=following)
    code += [_make("OpBranch", head), _make("OpLabel", result=end), _make("OpReturn"), _make("OpFunctionEnd")]
    f.out = outer
    return code


def _make(name: str, *operands: int, type_id: int | None = None, result: int | None = None) -> Instruction:
    return Instruction(OP[name], operands, type_id, result)
