"""The check that a device supports the matrix types and multiply-adds of a module for the native route."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...analysis.memory_check import STRIDE, about_stride
from ...analysis.target_check import MULTIPLY_ADD, TYPE, about_multiply_add, about_type
from ...diagnostics import Note
from ...matrices.memory_rules import MemoryRules
from ...matrices.supported import Supported, multiply_add
from ...matrices.variants import Layout, MatrixType, Operands
from ...spirv.module import OP, Instruction, Module
from ...spirv.pool import Pool
from ...spirv.sections import Section, split
from . import small_floats
from .types import Types

# Parameters: code, message, notes.
Tell = Callable[[str, str, list[Note]], None]
_MULTIPLY_ADD = OP["OpCooperativeMatrixMulAddKHR"]
# load or store -> index of the stride among its operands; the layout precedes it
_STRIDES = {OP["OpCooperativeMatrixLoadKHR"]: 2, OP["OpCooperativeMatrixStoreKHR"]: 3}
_LAYOUTS = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)


def check(module: Module, supported: Supported, device: str, tell: Tell) -> None:
    """Report each type and multiply-add that the device lacks once. Raise Refused for types that cannot be lowered."""
    types, functions = _read(module)
    lacking = [m for m in dict.fromkeys(types.matrices.values()) if not supported.has_type(m)]
    for matrix in lacking:
        tell(TYPE, *about_type(supported, device, matrix))
    code = (item for body in functions for item in body if item.opcode == _MULTIPLY_ADD)
    variants = dict.fromkeys(multiply_add(*operands) for operands in _multiply_adds(code, types, lacking))
    for variant in variants:
        if not supported.has_multiply_add(variant):
            tell(MULTIPLY_ADD, *about_multiply_add(supported, device, variant))


def check_strides(module: Module, rules: MemoryRules, device: str, tell: Tell) -> None:
    """Report constant strides that are no multiple of what the device requires; other layouts are not checked.

    With another extension's layout, the stride may not be the distance of rows or columns.
    """
    types, functions = _read(module)
    constants = {i.result: i for i in module.instructions if i.name == "OpConstant"}
    for item in (item for body in functions for item in body if item.opcode in _STRIDES):
        at = _STRIDES[item.opcode]
        matrix = types.matrices.get(item.result_type or types.of(item.operands[1]))
        constant = constants.get(item.operands[at]) if len(item.operands) > at else None
        layout = constants.get(item.operands[at - 1])
        if matrix is None or constant is None or (layout is not None and layout.operands[0] not in _LAYOUTS):
            continue
        size = types.bits(types.pointee(item.operands[0])) // 8
        stride = types.constants.value(item.operands[at]) * size
        if stride % rules.multiple(matrix.component):
            components = stride // matrix.component.size
            tell(STRIDE, *about_stride(rules, device, matrix.component, components))


def _read(module: Module) -> tuple[Types, Sequence[Sequence[Instruction]]]:
    """Return the types of a module, matrix types included, and its functions."""
    sections, functions = split(module.instructions)
    types = Types(Pool(module, sections[Section.GLOBAL], module.definitions()))
    types.read_matrices(small_floats.of_matrices(sections[Section.GLOBAL]))
    return types, functions


def _multiply_adds(
    code: Iterator[Instruction], types: Types, lacking: list[MatrixType]
) -> Iterator[tuple[MatrixType, MatrixType, MatrixType, Operands]]:
    """Yield A, B, C and the operand mask of multiply-adds, except those of types that were reported already."""
    for item in code:
        a, b, c = (types.matrices[types.of(operand)] for operand in item.operands[:3])
        if not {a, b, c} & set(lacking):
            # The bits have no meaning for floating point.
            mask = item.operands[3] if len(item.operands) > 3 and c.component.is_integer else 0
            yield a, b, c, Operands(mask & 31)
