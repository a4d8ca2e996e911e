"""Component-wise instructions on matrices, replaced by calls of functions that loop over a work-item's components.

    %r = OpFAdd %M %a %b      becomes      %r = OpFunctionCall %M %f %a %b

The function %f stores %a and %b in variables, accesses their components by access chains and adds them as scalars.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...native_profiles import NativeProfile
from ...spirv.module import OP, Instruction, numbers
from ...spirv.module_globals import FUNCTION
from ..spirv.types import MATRIX
from .parts import Decoration, Parts

_ARITHMETIC = frozenset(
    numbers(
        "Op*",
        "FAdd FSub FMul FDiv FNegate IAdd ISub IMul SDiv UDiv SNegate MatrixTimesScalar",
    )
)
_CONVERSIONS = frozenset(
    numbers(
        "Op*",
        "FConvert ConvertFToS ConvertFToU ConvertSToF ConvertUToF SConvert UConvert SatConvertSToU "
        "SatConvertUToS Bitcast",
    )
)
_SCALE = OP["OpMatrixTimesScalar"]


@dataclass(frozen=True, slots=True)
class _Operation:
    """An instruction, given by its opcode and types: the key of the function that replaces it.

    operands, result: ids of types.
    decorations: the decorations of the result, which the scalar result will have.
    """

    opcode: int
    operands: tuple[int, ...]
    result: int
    decorations: tuple[Decoration, ...]


def by_elements(parts: Parts, profile: NativeProfile) -> None:
    """Replace arithmetic and conversions of matrices by calls, unless the profile's consumer supports them."""
    opcodes = (frozenset() if profile.arithmetic else _ARITHMETIC) | (
        frozenset() if profile.conversions else _CONVERSIONS
    )
    if opcodes:
        _ByElements(parts, opcodes).run()


class _ByElements:
    def __init__(self, parts: Parts, opcodes: frozenset[int]) -> None:
        self.parts, self.opcodes = parts, opcodes
        self.names: dict[_Operation, int] = {}
        self.functions: list[list[Instruction]] = []
        self.decorations = parts.decorations()

    def run(self) -> None:
        results: set[int] = set()
        for code in self.parts.functions:
            for n, item in enumerate(code):
                if item.opcode in self.opcodes and self.is_matrix(item.result_type):
                    code[n] = self.call(item)
                    results.add(item.result or 0)
        # The results are results of calls now: drop their names and decorations.
        self.parts.forget(results)
        # A function may follow its callers.
        self.parts.functions += self.functions

    def is_matrix(self, type_id: int | None) -> bool:
        return type_id is not None and self.parts.definitions[type_id].opcode == MATRIX

    def call(self, item: Instruction) -> Instruction:
        types = self.parts.types
        operation = _Operation(
            item.opcode,
            tuple(types.of(operand) for operand in item.operands),
            item.result_type or 0,
            tuple(self.decorations.get(item.result or 0, ())),
        )
        if operation not in self.names:
            self.names[operation] = self.parts.module.new_id()
            self.functions.append(self.function(operation, self.names[operation]))
            self.parts.define(self.functions[-1])
        operands = (self.names[operation], *item.operands)
        return Instruction(OP["OpFunctionCall"], operands, item.result_type, item.result)

    def function(self, operation: _Operation, name: int) -> list[Instruction]:
        """Return the code of the function `name`, whose parameters have the types of the instruction's operands.

        If the first matrix operand has the result's type, the operand's variable also receives the result.
        """
        globals_, new = self.parts.globals, self.parts.module.new_id
        uint, bool_ = globals_.integer(32), globals_.intern("OpTypeBool")
        parameters = [(new(), type_id) for type_id in operation.operands]
        variables = {n: new() for n, (_, type_id) in enumerate(parameters) if self.is_matrix(type_id)}
        entry, head, body, end, i, following, more, length, whole = (new() for _ in range(9))
        first = next(iter(variables))
        result = variables[first] if operation.operands[first] == operation.result else new()
        places = {variables[n]: parameters[n][1] for n in variables} | {result: operation.result}
        zero, one = globals_.number(0), globals_.number(1)
        element = self.element(operation, parameters, variables, result, i)
        return [
            _make("OpFunction", 0, self.signature(operation), type_id=operation.result, result=name),
            *(_make("OpFunctionParameter", type_id=type_id, result=id_) for id_, type_id in parameters),
            _make("OpLabel", result=entry),
            *(_make("OpVariable", FUNCTION, type_id=globals_.pointer(t), result=id_) for id_, t in places.items()),
            *(_make("OpStore", variables[n], parameters[n][0]) for n in variables),
            _make("OpCooperativeMatrixLengthKHR", operation.result, type_id=uint, result=length),
            _make("OpBranch", head),
            _make("OpLabel", result=head),
            _make("OpPhi", zero, entry, following, body, type_id=uint, result=i),
            _make("OpULessThan", i, length, type_id=bool_, result=more),
            _make("OpBranchConditional", more, body, end),
            _make("OpLabel", result=body),
            *element,
            _make("OpIAdd", i, one, type_id=uint, result=following),
            _make("OpBranch", head),
            _make("OpLabel", result=end),
            _make("OpLoad", result, type_id=operation.result, result=whole),
            _make("OpReturnValue", whole),
            _make("OpFunctionEnd"),
        ]

    def signature(self, operation: _Operation) -> int:
        return self.parts.globals.intern("OpTypeFunction", operation.result, *operation.operands)

    def element(
        self,
        operation: _Operation,
        parameters: list[tuple[int, int]],
        variables: dict[int, int],
        result: int,
        index: int,
    ) -> list[Instruction]:
        """Return code that applies the operation to the components at `index` and stores the result's component."""
        code: list[Instruction] = []
        values = []
        for n, (id_, type_id) in enumerate(parameters):
            values.append(self.load(code, variables[n], type_id, index) if n in variables else id_)
        component = self.component(operation.result)
        scalar, place = self.parts.module.new_id(), self.chain(code, result, operation.result, index)
        code.append(_make(self.scalar_name(operation), *values, type_id=component, result=scalar))
        code.append(_make("OpStore", place, scalar))
        self.parts.decorate(scalar, operation.decorations)
        return code

    def scalar_name(self, operation: _Operation) -> str:
        if operation.opcode != _SCALE:
            return Instruction(operation.opcode, ()).name
        is_float = self.parts.definitions[self.component(operation.result)].opcode == OP["OpTypeFloat"]
        return "OpFMul" if is_float else "OpIMul"

    def component(self, matrix: int) -> int:
        return self.parts.definitions[matrix].operands[0]

    def chain(self, code: list[Instruction], variable: int, matrix: int, index: int) -> int:
        id_ = self.parts.module.new_id()
        type_id = self.parts.globals.pointer(self.component(matrix))
        code.append(_make("OpAccessChain", variable, index, type_id=type_id, result=id_))
        return id_

    def load(self, code: list[Instruction], variable: int, matrix: int, index: int) -> int:
        place, id_ = self.chain(code, variable, matrix, index), self.parts.module.new_id()
        code.append(_make("OpLoad", place, type_id=self.component(matrix), result=id_))
        return id_


def _make(name: str, *operands: int, type_id: int | None = None, result: int | None = None) -> Instruction:
    return Instruction(OP[name], operands, type_id, result)
