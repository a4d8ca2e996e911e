"""Operations on bfloat matrices that devices lack, replaced by operations on float matrices.

`coopmat.ir.lower.native_matrices` does the same for OpenCL C. Rounding the float result again gives the correct result.
"""

from __future__ import annotations

from dataclasses import replace

from ...matrices.placeholders import mangle_instruction
from ...matrices.variants import COMPONENT_TYPES, MatrixType
from .operations import matrix_of, read_name, tag, type_text
from .text import Argument, Call, Function, Instruction, Module, Names, parse_call, quoted

_BFLOAT16, _FLOAT = COMPONENT_TYPES["bf16"], COMPONENT_TYPES["f32"]


def widen(module: Module) -> None:
    """Replace such operations on bfloat matrices in a canonical module, in place."""
    declared = {head.name: head for head in module.declarations}
    for function in module.functions:
        if any("bfloat" in item.text and "call" in item.text for item in function.instructions()):
            _Widening(function, declared).run()
    module.declarations = list(declared.values())


class _Widening:
    def __init__(self, function: Function, declared: dict[str, Call]) -> None:
        self.function, self.declared = function, declared
        self.names = Names(function)
        self.out: list[Instruction] = []
        self.source = ""

    def run(self) -> None:
        for block in self.function.blocks:
            self.out = []
            for item in block.instructions:
                self.source = item.source
                if not self.widened(item):
                    self.out.append(item)
            block.instructions = self.out

    def widened(self, item: Instruction) -> bool:
        call = parse_call(item.text) if "bfloat" in item.text and "call" in item.text else None
        spelling = read_name(call.name) if call is not None else None
        if call is None or spelling is None or spelling.mode:
            return False
        result, first = matrix_of(call.type), matrix_of(call.arguments[0].type) if call.arguments else None
        row = spelling.row(result.component if result else None)
        if row is None or result is None or first is None:
            return False
        wide = replace(result, component=_FLOAT)
        if row.kind in ("binary", "negate") and result.component == _BFLOAT16:
            values = [self.converted(first, wide, argument.value) for argument in call.arguments]
            wide_result = self.call(mangle_instruction(row.instruction, tag(wide)), wide, [wide] * len(values), values)
            self.converted(wide, result, wide_result, item.result)
            return True
        if row.kind == "convert" and first.component.converts_by_float(result.component):
            self.converted(wide, result, self.converted(first, wide, call.arguments[0].value), item.result)
            return True
        return False

    def converted(self, source: MatrixType, target: MatrixType, value: str, result: str | None = None) -> str:
        name = mangle_instruction("FConvert", tag(source), tag(target))
        return self.call(name, target, [source], [value], result)

    def call(
        self, name: str, type_: MatrixType, types: list[MatrixType], values: list[str], result: str | None = None
    ) -> str:
        arguments = [Argument(type_text(matrix), value) for matrix, value in zip(types, values, strict=True)]
        head = [Argument(argument.type) for argument in arguments]
        kind, callee = type_text(type_), quoted("@", name)
        self.declared.setdefault(name, Call("declare spir_func", kind, callee, head, " convergent nounwind"))
        result = result or self.names.fresh("wide")
        self.out.append(Instruction(result, str(Call("call spir_func", kind, callee, arguments)), self.source))
        return result
