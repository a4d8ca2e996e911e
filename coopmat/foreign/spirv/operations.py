"""The lowering of matrix operations to calls of library functions.

Each function of CHANGES lowers an instruction and returns True, or returns False if the instruction has no matrices.
"""

from __future__ import annotations

from dataclasses import replace

from ...matrices import lowering as library
from ...matrices.maps import BLOCKS, COLUMN, ROW, ROW_AND_COLUMN
from ...matrices.variants import CAST, COMPONENT_TYPES, Conversion, Layout, MatrixType, Operands
from ...spirv import joint_matrix
from ...spirv.module import ENUM, OP, Instruction
from ...spirv.refusal import Refused, label, unsupported
from . import floats_as_integers, maps, values
from .function import Change, FunctionLowering
from .kernels import SPACES

_VOLATILE = ENUM["MemoryAccess.Volatile"]
_ROUNDING = ("rte", "rtz", "rtp", "rtn")
_OPERAND_BITS = 31
_OPERATORS = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div"}


def _matrix(f: FunctionLowering, type_id: int | None) -> MatrixType:
    matrix = f.types.matrices.get(type_id or 0)
    if matrix is None:
        raise Refused("spirv-invalid", f"type %{type_id} is not a cooperative matrix, and one is needed")
    return matrix


def _as(matrix: MatrixType, signed: bool) -> MatrixType:
    """Return the matrix type with integers of this sign; floating-point types are returned unchanged."""
    return replace(matrix, component=matrix.component.with_sign(signed))


# --- memory ----------------------------------------------------------------------------------------


def load(f: FunctionLowering, item: Instruction) -> bool:
    pointer, layout, *rest = item.operands
    matrix = _matrix(f, item.result_type)
    kind, stride, address = _place(f, item, matrix, pointer, layout, rest)
    f.call(library.Load(matrix, *kind), item.result or 0, address, stride)
    return True


def store(f: FunctionLowering, item: Instruction) -> bool:
    pointer, value, layout, *rest = item.operands
    matrix = _matrix(f, f.types.of(value))
    kind, stride, address = _place(f, item, matrix, pointer, layout, rest)
    f.call(library.Store(matrix, *kind), address, f.place(value), stride)
    return True


def _place(
    f: FunctionLowering, item: Instruction, matrix: MatrixType, pointer: int, layout: int, rest: list[int]
) -> tuple[tuple[str, Layout, bool], int, int]:
    """Return (address space, layout, whether volatile), the stride in components, and the pointer."""
    number, space = f.types.constants.value(layout), f.types.storage_class(pointer)
    if number not in list(Layout):
        raise unsupported(item, f"the layout {number} is not supported")
    if space not in SPACES:
        raise unsupported(item, f"memory of storage class {space} is not supported")
    volatile = len(rest) > 1 and bool(rest[1] & _VOLATILE)
    stride = _stride(f, item, matrix, f.types.pointee(pointer), rest[0]) if rest else f.globals.number(0, 64)
    return (SPACES[space], Layout(number), volatile), stride, pointer


def _stride(f: FunctionLowering, item: Instruction, matrix: MatrixType, pointee: int, stride: int) -> int:
    """Return the id of the stride in components as a 64-bit integer; SPIR-V's stride is in units of the pointee."""
    element, component = f.types.bits(pointee), matrix.component.bits
    operand, constant_names = f.definitions[stride], ("OpConstant", "OpConstantNull")
    if operand.name in constant_names:
        return f.globals.number(f.types.constants.value(stride) * element // component, 64)
    size_t = f.globals.integer(64)
    if f.types.bits(f.types.of(stride)) != 64:
        stride = f.emit("OpUConvert", size_t, stride)
    if element > component:
        return f.emit("OpIMul", size_t, stride, f.globals.number(element // component, 64))
    if element < component:
        return f.emit("OpUDiv", size_t, stride, f.globals.number(component // element, 64))
    return stride


# --- values ----------------------------------------------------------------------------------------


def fill(f: FunctionLowering, item: Instruction) -> bool:
    if values.construct(f, item):
        return True
    if item.result not in f.places:
        return False
    if len(item.operands) != 1:
        raise Refused("spirv-invalid", f"{label(item)} of a matrix takes one component")
    f.call(library.Fill(_matrix(f, item.result_type)), item.result, item.operands[0])
    return True


def length(f: FunctionLowering, item: Instruction) -> bool:
    f.call(library.Length(_matrix(f, item.operands[0])), result=item.result)
    return True


def _binary(f: FunctionLowering, item: Instruction) -> bool:
    if item.result not in f.places:
        return False
    name = item.name.removeprefix("Op")
    matrix = _as(_matrix(f, item.result_type), signed=not name.startswith("U"))
    f.call(library.Binary(matrix, _OPERATORS[name[1:]]), item.result, *map(f.place, item.operands))
    return True


def negate(f: FunctionLowering, item: Instruction) -> bool:
    if item.result not in f.places:
        return False
    f.call(library.Negate(_matrix(f, item.result_type)), item.result, f.place(item.operands[0]))
    return True


def scale(f: FunctionLowering, item: Instruction) -> bool:
    if item.result not in f.places:
        return False
    matrix, scalar = item.operands
    f.call(library.ScalarMultiply(_matrix(f, item.result_type)), item.result, f.place(matrix), scalar)
    return True


# instruction -> (whether source integers are signed, whether result integers are, whether the result saturates)
_CONVERSIONS = {
    "ConvertFToU": (False, False, False),
    "ConvertFToS": (True, True, False),
    "ConvertSToF": (True, True, False),
    "ConvertUToF": (False, False, False),
    "UConvert": (False, False, False),
    "SConvert": (True, True, False),
    "FConvert": (True, True, False),
    "SatConvertSToU": (True, False, True),
    "SatConvertUToS": (False, True, True),
}


def convert(f: FunctionLowering, item: Instruction) -> bool:
    rounding, saturates_too = _how(f, item)
    if item.result not in f.places:
        of_small_floats = f.module.small_floats.conversions.get(item.result or 0)
        if of_small_floats is None:
            return False
        floats_as_integers.convert(f, item, of_small_floats, rounding, saturates_too)
        return True
    source_signed, result_signed, saturates = _CONVERSIONS[item.name.removeprefix("Op")]
    source = _as(_matrix(f, f.types.of(item.operands[0])), source_signed)
    result = _as(_matrix(f, item.result_type), result_signed)
    _convert(f, item, source, result, Conversion(rounding, saturates or saturates_too))
    return True


def _convert(f: FunctionLowering, item: Instruction, source: MatrixType, result: MatrixType, how: Conversion) -> None:
    """Call the function that converts components, changes the use, or both; transpose if the result is so decorated."""
    if item.result in f.module.transposed:
        component = None if source.component == result.component else source.component
        function: library.LibraryFunction = library.Transpose(result, source.use, component, how)
    else:
        function = library.Convert(source, result.component, how, None if source.use == result.use else result.use)
    f.call(function, item.result or 0, f.place(item.operands[0]))


def convert_use(f: FunctionLowering, item: Instruction) -> bool:
    _convert(f, item, _matrix(f, f.types.of(item.operands[0])), _matrix(f, item.result_type), CAST)
    return True


def _how(f: FunctionLowering, item: Instruction) -> tuple[str, bool]:
    """Return the rounding mode, or "", and the saturation that decorations of the result require."""
    mode, saturates = f.module.conversions.get(item.result or 0, (None, False))
    if mode is not None and mode >= len(_ROUNDING):
        raise Refused("spirv-invalid", f"{label(item)} has the rounding mode {mode}")
    return "" if mode is None else _ROUNDING[mode], saturates


def bitcast(f: FunctionLowering, item: Instruction) -> bool:
    """Lower a bitcast of matrices to a copy: components of equal size have equal places. Else see `values.view`."""
    if item.result not in f.places:
        return values.view(f, item)
    source, result = _matrix(f, f.types.of(item.operands[0])), _matrix(f, item.result_type)
    if (source.component.bits, source.shape) != (result.component.bits, result.shape):
        raise unsupported(item, f"of {source} to {result} is not supported")
    f.copy(item.result, f.emit("OpBitcast", f.globals.pointer(item.result_type or 0), f.place(item.operands[0])))
    return True


# --- multiply-adds ---------------------------------------------------------------------------------


def multiply_add(f: FunctionLowering, item: Instruction) -> bool:
    a, b, c, *masks = item.operands
    mask = masks[0] if masks else 0
    if unknown := mask & ~(_OPERAND_BITS | joint_matrix.BFLOAT16_OPERANDS):
        raise unsupported(item, f"the operand bits 0x{unknown:x} are not supported")
    *types, result = _multiplied(f, item)
    place, mask = f.place(c), mask & _OPERAND_BITS
    if result.component != types[2].component:
        place = _widened(f, item, types[2], result, c, Operands(mask))
    try:
        function = library.MultiplyAdd(types[0], types[1], result, Operands(mask))
    except ValueError as error:
        raise Refused("spirv-invalid", f"{label(item)}: {error}") from None
    f.call(function, item.result or 0, f.place(a), f.place(b), place)
    return True


def _multiplied(f: FunctionLowering, item: Instruction) -> list[MatrixType]:
    """Return the types of A, B, C and the result; operand bits may mark integers of 16 bits as bfloat16."""
    types = [_matrix(f, type_id) for type_id in (*map(f.types.of, item.operands[:3]), item.result_type)]
    bfloat16 = COMPONENT_TYPES["bf16"]
    return [
        replace(matrix, component=bfloat16) if of_bfloat16 and matrix.component.bits == 16 else matrix
        for matrix, of_bfloat16 in zip(types, joint_matrix.of_bfloat16(item), strict=True)
    ]


def _widened(
    f: FunctionLowering, item: Instruction, addend: MatrixType, result: MatrixType, value: int, mask: Operands
) -> int:
    """Convert an addend to the result's type, which must be at least as wide; return the addend's address."""
    signed = Operands.C_SIGNED in mask
    if addend.component.bits > result.component.bits or addend.component.kind != result.component.kind:
        raise unsupported(item, f"of {addend} to {result} is not supported yet")
    if signed != (Operands.RESULT_SIGNED in mask) and Operands.SATURATING in mask:
        raise unsupported(item, "an addend of another type and sign than the saturated result is not supported yet")
    f.call(library.Convert(_as(addend, signed), result.component.with_sign(signed)), item.result or 0, f.place(value))
    return item.result or 0


# --- others ----------------------------------------------------------------------------------------


def coordinates(f: FunctionLowering, item: Instruction) -> bool:
    """Lower the coordinates of a component (SPV_EXT_cooperative_matrix_maintenance1, SPV_INTEL_joint_matrix)."""
    matrix, index = item.operands
    f.call(library.Coord(_matrix(f, f.types.of(matrix))), index, result=item.result)
    return True


def reduce(f: FunctionLowering, item: Instruction) -> bool:
    """Lower OpCooperativeMatrixReduceEXT, which combines components by a function of the module."""
    value, how, function = item.operands
    source, result = _matrix(f, f.types.of(value)), _matrix(f, item.result_type)
    operand = f.module.operand(function, source.component, f.target)
    if how not in (ROW, COLUMN, ROW_AND_COLUMN, BLOCKS):
        raise Refused("spirv-invalid", f"{label(item)} has the mode {how}")
    library_function = library.Reduce(source, operand[0], how=how, rows=result.rows, columns=result.columns)
    f.call(library_function, item.result or 0, f.place(value), operand=operand)
    return True


def per_element(f: FunctionLowering, item: Instruction) -> bool:
    """Lower OpCooperativeMatrixPerElementOpEXT to a call of a new function that loops over the components."""
    value, function, *operands = item.operands
    type_id = item.result_type or 0
    callee = f.module.version(function, f.target)
    arguments = [f.place(operand) if f.carries(operand) else operand for operand in (value, *operands)]
    types = [f.types.of(operand) for operand in (value, *operands)]
    code = maps.function(f, type_id, callee, types)
    head = code[0]
    assert isinstance(head, Instruction)
    f.module.functions_of_maps.append(code)
    f.module.touched = True
    f.emit("OpFunctionCall", f.globals.intern("OpTypeVoid"), head.result or 0, item.result or 0, *arguments)
    return True


def _operators() -> dict[int, Change]:
    names = [f"{kind}{name}" for name in ("Add", "Sub", "Mul") for kind in "IF"] + ["FDiv", "SDiv", "UDiv"]
    return {OP[f"Op{name}"]: _binary for name in names}


CHANGES: dict[int, Change] = {
    **_operators(),
    **{OP[f"Op{name}"]: convert for name in _CONVERSIONS},
    **{
        OP[f"Op{name}"]: change
        for name, change in {
            "CooperativeMatrixLoadKHR": load,
            "CooperativeMatrixStoreKHR": store,
            "CooperativeMatrixMulAddKHR": multiply_add,
            "CooperativeMatrixLengthKHR": length,
            "CooperativeMatrixConvertUseEXT": convert_use,
            "CooperativeMatrixReduceEXT": reduce,
            "CooperativeMatrixPerElementOpEXT": per_element,
            "CooperativeMatrixGetCoordinateEXT": coordinates,
            "CooperativeMatrixGetElementCoordINTEL": coordinates,
            "CompositeConstruct": fill,
            "SNegate": negate,
            "FNegate": negate,
            "MatrixTimesScalar": scale,
            "Bitcast": bitcast,
        }.items()
    },
}
