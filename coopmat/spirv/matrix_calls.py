"""Placeholder calls on matrices whose instructions need decorations, capabilities or extensions.

- `__cm_convert_<Instruction>[_sat][_rte|_rtz|_rtp|_rtn][_use|_transposed]_<tag>(M)` becomes `Op<Instruction>`, with the
  decorations SaturatedConversion and FPRoundingMode (SPIR-V specification, 3.20). A conversion that changes the use
  needs SPV_EXT_cooperative_matrix_maintenance1; if it transposes, it has the extension's decoration.
- `__cm_map_<matrices>_<tag>_<function>(M, ...)` becomes OpCooperativeMatrixPerElementOpEXT of the same extension.
- `__cm_reduce_<mode>_<tag>_<tag>_<function>(M)` becomes OpCooperativeMatrixReduceEXT. The function of a map or
  reduction is identified by its OpName.
- `__cm_coordinates_<tag>(M, i32)` becomes OpCooperativeMatrixGetCoordinateEXT, which returns the row and the column of
  a component (SPV_EXT_cooperative_matrix_maintenance1). LLVM's backend does not know the extension, so it is declared
  here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from coopmat.matrices.placeholders import MatrixCall
from coopmat.matrices.variants import SMALL_FLOATS
from coopmat.spirv.module import ENUM, OP, Instruction, Module, decode_string, encode_string, instruction, numbers

MAINTENANCE = "SPV_EXT_cooperative_matrix_maintenance1"
_MATRIX = OP["OpTypeCooperativeMatrixKHR"]
# The capabilities of the extension.
CAPABILITIES = CONVERSIONS, REDUCTIONS, PER_ELEMENT, GET_COORDINATE = numbers(
    "Capability.CooperativeMatrix*EXT", "Conversions Reductions PerElementOperations GetCoordinate"
)
TRANSPOSE, ROUNDING_MODE = numbers("Decoration.*", "CooperativeMatrixTransposeEXT FPRoundingMode")
# The decorations of saturated conversions to integers and to 8-bit floats.
SATURATED = numbers("Decoration.*", "SaturatedConversion SaturatedToLargestFloat8NormalConversionEXT")

_PREAMBLE = frozenset(numbers("Op*", "Capability Extension"))
_ANNOTATIONS = frozenset(numbers("Op*", "Decorate MemberDecorate DecorationGroup GroupDecorate DecorateId"))


@dataclass(slots=True)
class Additions:
    """The decorations, capabilities and extensions that rewritten calls require elsewhere in the module."""

    decorations: list[Instruction] = field(default_factory=list)
    capabilities: set[int] = field(default_factory=set)
    extensions: set[str] = field(default_factory=set)

    def require(self, capability: int) -> None:
        """Add a capability of SPV_EXT_cooperative_matrix_maintenance1, and this extension."""
        self.capabilities.add(capability)
        self.extensions.add(MAINTENANCE)


# (function id, number of its first parameter concerned, values) -> (casts, arguments); see `_Legalizer.cast_arguments`.
CastArguments = Callable[[int, int, Sequence[int]], tuple[list[Instruction], list[int]]]


def rewriter(
    name: MatrixCall, additions: Additions, functions: Mapping[str, int], passed: CastArguments
) -> Callable[[Instruction], list[Instruction]] | None:
    """Return the rewriter for calls of the function of this name; None for accesses to components.

    `functions` maps names of the module's functions to ids. `passed` casts values to the types of a function's
    parameters.
    """
    if name.word == "convert":
        return partial(_convert, additions, name)
    if name.word == "map":
        return partial(_map, additions, functions[name.function], passed)
    if name.word == "reduce":
        return partial(_reduce, additions, int(name.number), functions[name.function])
    return partial(_coordinates, additions) if name.word == "coordinates" else None


def _convert(additions: Additions, name: MatrixCall, call: Instruction) -> list[Instruction]:
    """Return the conversion instruction that replaces a placeholder call; add its decorations to `additions`."""
    result = call.result or 0
    if name.change:
        additions.require(CONVERSIONS)
    if name.change == "transposed":
        additions.decorations.append(instruction("OpDecorate", result, TRANSPOSE))
    saturated, rounding = name.mode.startswith("sat"), name.mode.removeprefix("sat").removeprefix("_")
    if saturated:
        decoration = SATURATED[name.instruction == "FConvert"]
        additions.decorations.append(instruction("OpDecorate", result, decoration))
    if rounding:
        additions.decorations.append(
            instruction("OpDecorate", result, ROUNDING_MODE, ENUM[f"FPRoundingMode.{rounding.upper()}"])
        )
    return [Instruction(OP[f"Op{name.instruction}"], call.operands[1:], call.result_type, call.result)]


def _map(additions: Additions, function: int, passed: CastArguments, call: Instruction) -> list[Instruction]:
    """Return the OpCooperativeMatrixPerElementOpEXT that replaces a placeholder call, after casts of its arguments.

    The instruction applies `function` to each component. `passed` casts the arguments to the parameters' types.
    """
    additions.require(PER_ELEMENT)
    _, matrix, *operands = call.operands
    # The function's first three parameters are the row, the column and the component.
    casts, arguments = passed(function, 3, operands)
    number = OP["OpCooperativeMatrixPerElementOpEXT"]
    return [*casts, Instruction(number, (matrix, function, *arguments), call.result_type, call.result)]


def _reduce(additions: Additions, mode: int, function: int, call: Instruction) -> list[Instruction]:
    """Return the OpCooperativeMatrixReduceEXT that replaces a placeholder call."""
    additions.require(REDUCTIONS)
    operands = (call.operands[1], mode, function)
    return [Instruction(OP["OpCooperativeMatrixReduceEXT"], operands, call.result_type, call.result)]


def _coordinates(additions: Additions, call: Instruction) -> list[Instruction]:
    """Return the OpCooperativeMatrixGetCoordinateEXT that replaces a placeholder call for a component's coordinates."""
    additions.require(GET_COORDINATE)
    number = OP["OpCooperativeMatrixGetCoordinateEXT"]
    return [Instruction(number, call.operands[1:], call.result_type, call.result)]


def _declare_small_floats(code: list[Instruction], additions: Additions) -> None:
    """Add the extensions and capabilities that small float types require; the backend adds only SPV_KHR_bfloat16."""
    encodings = {(row.bits, row.encoding.number): row.encoding for row in SMALL_FLOATS if row.encoding is not None}
    for item in code:
        if item.opcode == OP["OpTypeFloat"] and len(item.operands) == 2 and item.operands in encodings:
            encoding = encodings[item.operands]
            of_matrices = any(i.opcode == _MATRIX and i.operands[0] == item.result for i in code)
            additions.extensions.add(encoding.extension)
            additions.capabilities.update(
                ENUM[f"Capability.{name}"] for name in encoding.capabilities[: 1 + of_matrices]
            )


def add(module: Module, additions: Additions) -> None:
    """Insert the additions: capabilities and extensions at the beginning, decorations after the last annotation."""
    code = module.instructions
    _declare_small_floats(code, additions)
    if additions.decorations:
        types = next(n for n, item in enumerate(code) if item.name.startswith("OpType"))
        at = max((n + 1 for n, item in enumerate(code) if item.opcode in _ANNOTATIONS), default=types)
        code[at:at] = additions.decorations
    present = {item.operands[0] for item in code if item.opcode == OP["OpCapability"]}
    names = {decode_string(item.operands)[0] for item in code if item.opcode == OP["OpExtension"]}
    capabilities = [instruction("OpCapability", number) for number in sorted(additions.capabilities - present)]
    extensions = [instruction("OpExtension", *encode_string(name)) for name in sorted(additions.extensions - names)]
    last = max(n for n, item in enumerate(code) if item.opcode in _PREAMBLE)
    code[last + 1 : last + 1] = extensions
    code[0:0] = capabilities
