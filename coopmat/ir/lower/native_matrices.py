"""Native matrices: values of `target("spirv.CooperativeMatrixKHR", ...)`, with operations as calls.

`coopmat.passes.native_calls` has replaced operations without an instruction by function calls. LLVM's SPIR-V backend
turns some of the calls emitted here into instructions; `spirv/legalize.py` rewrites the others, which are placeholders.
A callee's name is `_Z<length>__spirv_<instruction>` and a tag that distinguishes declarations of different types. Loads
and stores have a real Itanium suffix, from which the backend takes the pointee type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from ...diagnostics import CompileError, Diagnostic, InternalError, Note, Severity, Span
from ...frontend import typed
from ...frontend.matrix_terms import COMPONENTS
from ...frontend.types import (
    FLOAT,
    SCOPE_WORKGROUP,
    AddressSpace,
    CoopMatrixType,
    MatrixUse,
    PointerType,
    ScalarType,
    Type,
    held_as,
    size_of,
)
from ...matrices.placeholders import MatrixCall, mangle_instruction
from ...matrices.variants import Conversion, Operands
from ..module import ModuleBuilder
from ..type_map import I32, VOID_TYPE, BFloatType, TargetType, cooperative_matrix_type, undefined
from .context import FunctionContext, space_of

if TYPE_CHECKING:
    from .lvalues import Operand

EXTENSION = "SPV_KHR_cooperative_matrix"
_OP_TYPE_FLOAT = 22
_VOLATILE = 1  # the bit Volatile in SPIR-V's memory operands
# The first SPIR-V version with which modules may use SPV_EXT_cooperative_matrix_maintenance1.
_MAINTENANCE_SINCE = (1, 3)

# Operation -> instructions for components that are (floating point, signed integers, unsigned integers).
_BINARY = {
    "add": ("FAdd", "IAdd", "IAdd"),
    "sub": ("FSub", "ISub", "ISub"),
    "mul": ("FMul", "IMul", "IMul"),
    "div": ("FDiv", "SDiv", "UDiv"),
}
_NEGATE = ("FNegate", "SNegate", "SNegate")
_CONVERT = (
    ("FConvert", "ConvertFToS", "ConvertFToU"),
    ("ConvertSToF", "SConvert", "SConvert"),
    ("ConvertUToF", "UConvert", "UConvert"),
)


def _class(component: ScalarType) -> int:
    return 0 if component.is_float else 1 if component.signed else 2


def tag(matrix: CoopMatrixType) -> str:
    """Return the matrix type's tag, such as `mDh16x16A`: component mangling, shape, use, and W for work-group scope."""
    scope = "W" * (matrix.scope == SCOPE_WORKGROUP)
    return f"m{component_code(matrix.component)}{matrix.rows}x{matrix.columns}{'ABC'[matrix.use]}{scope}"


def component_code(component: ScalarType) -> str:
    return component.mangling


def _pointer_code(pointer: ir.Value, matrix: CoopMatrixType) -> str:
    # The stride is in pointees. For bfloat16, use an integer pointee: the backend takes its mangling for a byte.
    held = held_as(matrix.component)
    assert isinstance(held, ScalarType)
    return f"PU3AS{int(space_of(pointer))}{component_code(held)}"


def _refuse(what: str, span: Span | None, *notes: str) -> CompileError:
    return CompileError(
        [Diagnostic(Severity.ERROR, "native-matrix", what, span, notes=tuple(Note(note) for note in notes))]
    )


def _spelled(component: ScalarType) -> TargetType | None:
    """Return SPIR-V's type of a small float that LLVM lacks (its scalars are integers), or None for other types."""
    encoding = COMPONENTS[component.name].encoding
    if encoding is None or component.name == "bfloat16":
        return None
    operands = (TargetType("spirv.Literal", number) for number in (component.bits, encoding.number))
    return TargetType("spirv.Type", *operands, _OP_TYPE_FLOAT, size_of(component), size_of(component))


def _cast(ctx: FunctionContext, component: ScalarType, value: ir.Value, *, to_bits: bool = False) -> ir.Value:
    """Bitcast a scalar to the matrix component type of `component`; with `to_bits`, bitcast back."""
    spelled = _spelled(component)
    if spelled is None:
        return value
    target = ctx.types.of(component) if to_bits else spelled
    return ctx.call(mangle_instruction("Bitcast", component_code(component), "ft"[to_bits]), target, [value])


def _vendor(matrix: CoopMatrixType) -> str:
    """Return the matrix type as a vendor-qualified Itanium type."""
    name = tag(matrix)
    return f"u{len(name)}{name}"


class NativeMatrixTypes:
    """The LLVM types of the cooperative matrices of a module."""

    def __init__(self, module: ModuleBuilder | None = None) -> None:
        self.module = module
        self._types: dict[CoopMatrixType, TargetType] = {}

    def variable_type(self, matrix: CoopMatrixType) -> ir.Type:
        matrix_type = self._types.get(matrix)
        if matrix_type is None:
            if self.module is None:
                raise InternalError("matrices are used before there is a module")
            if (own := COMPONENTS[matrix.component.name]).is_bits and own.encoding is None:
                note = "--matrices one and --matrices lanes work without the device's matrix instructions"
                raise _refuse(f"no extension of SPIR-V has matrices of '{matrix.component}'", None, note)
            self.module.extensions.add(EXTENSION)
            component = _spelled(matrix.component) or self.module.types.of(matrix.component)
            if isinstance(component, BFloatType):
                self.module.extensions.add(component.extension)
            matrix_type = self._types[matrix] = cooperative_matrix_type(component, matrix)
        return matrix_type

    def align(self, matrix: CoopMatrixType) -> int:
        # LLVM's alignment of its opaque representation.
        return 8


def _matrix(t: Type) -> CoopMatrixType:
    if not isinstance(t, CoopMatrixType):
        raise InternalError(f"'{t}' is no cooperative matrix")
    return t


# --- memory ----------------------------------------------------------------------------------------


def _load(ctx: FunctionContext, e: typed.MatrixLoad) -> Operand:
    matrix = _matrix(e.type)
    pointer = _pointer(ctx, e)
    name = mangle_instruction("CooperativeMatrixLoadKHR") + f"{_pointer_code(pointer, matrix)}il{_vendor(matrix)}"
    arguments = [pointer, ir.Constant(I32, e.layout), ctx.rvalue(e.stride)]
    return _access(ctx, name, ctx.types.of(matrix), arguments, e)


def _store(ctx: FunctionContext, e: typed.MatrixStore) -> None:
    matrix = _matrix(e.matrix.type)
    pointer, stride = _pointer(ctx, e), ctx.rvalue(e.stride)
    name = mangle_instruction("CooperativeMatrixStoreKHR") + f"{_pointer_code(pointer, matrix)}{_vendor(matrix)}il"
    arguments = [pointer, ctx.operand(e.matrix), ir.Constant(I32, e.layout), stride]
    _access(ctx, name, VOID_TYPE, arguments, e)


def _pointer(ctx: FunctionContext, e: typed.MatrixLoad | typed.MatrixStore) -> ir.Value:
    pointer = ctx.rvalue(e.pointer)
    if space_of(pointer) is AddressSpace.GENERIC:
        raise _refuse(
            "a matrix cannot be loaded or stored through a generic pointer",
            e.span,
            "name the address space in the pointer's type, or choose it with to_global or to_local",
        )
    return pointer


def _access(
    ctx: FunctionContext,
    name: str,
    result: ir.Type,
    arguments: list[ir.Value],
    e: typed.MatrixLoad | typed.MatrixStore,
) -> ir.Value:
    assert isinstance(e.pointer.type, PointerType)
    if e.pointer.type.qualifiers.volatile:
        name, arguments = name + "i", [*arguments, ir.Constant(I32, _VOLATILE)]
    return ctx.call(name, result, arguments)


# --- operations ------------------------------------------------------------------------------------


def _fill(ctx: FunctionContext, e: typed.MatrixFill) -> ir.Value:
    return fill(ctx, _matrix(e.type), ctx.rvalue(e.value))


def fill(ctx: FunctionContext, matrix: CoopMatrixType, value: ir.Value) -> ir.Value:
    """Return a matrix whose every component is `value`."""
    component = _cast(ctx, matrix.component, value)
    return ctx.call(mangle_instruction("CompositeConstruct", tag(matrix)), ctx.types.of(matrix), [component])


def _length(ctx: FunctionContext, e: typed.MatrixLength) -> ir.Value:
    # SPIR-V's instruction takes a type operand, which the backend derives from a value operand.
    operand = undefined(ctx.types.of(e.matrix))
    return ctx.call(mangle_instruction("CooperativeMatrixLengthKHR", tag(e.matrix)), I32, [operand])


def _binary(ctx: FunctionContext, e: typed.MatrixBinary, left: ir.Value) -> ir.Value:
    return binary(ctx, _matrix(e.type), e.op, left, ctx.rvalue(e.right))


def _scale(ctx: FunctionContext, e: typed.MatrixScale, value: ir.Value) -> ir.Value:
    return binary(ctx, _matrix(e.type), "scalar_mul", value, ctx.rvalue(e.scalar))


def binary(ctx: FunctionContext, matrix: CoopMatrixType, op: str, left: ir.Value, right: ir.Value) -> ir.Value:
    """Emit a component-wise operation: `op` is add, sub, mul, div, or scalar_mul with a scalar `right`."""
    if op == "scalar_mul":
        # OpMatrixTimesScalar requires the capability Matrix, which OpenCL does not have.
        op, right = "mul", fill(ctx, matrix, right)
    return _component_wise(ctx, matrix, _BINARY[op][_class(matrix.component)], [left, right])


def _negate(ctx: FunctionContext, e: typed.MatrixNegate, value: ir.Value) -> ir.Value:
    matrix = _matrix(e.type)
    return _component_wise(ctx, matrix, _NEGATE[_class(matrix.component)], [value])


def _component_wise(
    ctx: FunctionContext, matrix: CoopMatrixType, instruction: str, operands: Sequence[ir.Value]
) -> ir.Value:
    """Emit an instruction on matrices; for small floats, convert to float and back.

    Rounding the float result again gives the correctly rounded small float.
    """
    if not matrix.component.is_bits:
        return ctx.call(mangle_instruction(instruction, tag(matrix)), ctx.types.of(matrix), operands)
    wide = replace(matrix, component=FLOAT)
    floats = [_convert_floats(ctx, matrix, wide, value) for value in operands]
    return _convert_floats(ctx, wide, matrix, _component_wise(ctx, wide, instruction, floats))


def _convert_floats(ctx: FunctionContext, source: CoopMatrixType, target: CoopMatrixType, value: ir.Value) -> ir.Value:
    return ctx.call(mangle_instruction("FConvert", tag(source), tag(target)), ctx.types.of(target), [value])


def _convert(ctx: FunctionContext, e: typed.MatrixConvert, value: ir.Value) -> ir.Value:
    source, target = _matrix(e.operand.type), _matrix(e.type)
    accumulator = MatrixUse.ACCUMULATOR
    if e.how.transposed or source.use is not target.use:
        _require_maintenance(ctx, "changes of a matrix's use", e.span)
    if e.how.transposed:
        # The instruction transposes accumulators only, into matrices of use A or B.
        value, source = _with_use(ctx, source, accumulator, value), replace(source, use=accumulator)
        use = MatrixUse.A if target.use is accumulator else target.use
        value = _with_use(ctx, source, use, value, transposed=True)
        source = replace(source, rows=target.rows, columns=target.columns, use=use)
    elif accumulator not in (source.use, target.use) and source.use is not target.use:
        value, source = _with_use(ctx, source, accumulator, value), replace(source, use=accumulator)
    if COMPONENTS[source.component.name].converts_by_float(COMPONENTS[target.component.name]):
        wide = replace(source, component=FLOAT)
        name = _CONVERT[_class(source.component)][0]
        value, source = ctx.call(mangle_instruction(name, tag(source), tag(wide)), ctx.types.of(wide), [value]), wide
    if ctx.types.of(replace(source, use=target.use)) == ctx.types.of(target):
        return _with_use(ctx, source, target.use, value)
    return _convert_components(ctx, source, target, e.how, value)


def _with_use(
    ctx: FunctionContext, matrix: CoopMatrixType, use: MatrixUse, value: ir.Value, *, transposed: bool = False
) -> ir.Value:
    """Convert a matrix to another use, and with `transposed` transpose it. If the use is the same, do neither."""
    if matrix.use is use:
        return value
    rows, columns = (matrix.columns, matrix.rows) if transposed else (matrix.rows, matrix.columns)
    result = replace(matrix, rows=rows, columns=columns, use=use)
    change, tags = "transposed" if transposed else "use", f"{tag(matrix)}_{tag(result)}"
    call = MatrixCall("convert", instruction="CooperativeMatrixConvertUseEXT", change=change, tags=tags)
    return ctx.call(call.write(), ctx.types.of(result), [value])


def _convert_components(
    ctx: FunctionContext, source: CoopMatrixType, target: CoopMatrixType, how: Conversion, value: ir.Value
) -> ir.Value:
    """Convert the components by one instruction, which may change the use, too."""
    old, new, typ = source.component, target.component, ctx.types.of(target)
    instruction = _CONVERT[_class(old)][_class(new)]
    tags = f"{tag(source)}_{tag(target)}"
    integers = not old.is_float and not new.is_float
    # Integers are not rounded, and a wider type of the same sign needs no saturation. The pass `NativeMatrices` has
    # replaced conversions that saturate to a type of the other sign.
    saturate = how.saturate and COMPONENTS[new.name].saturates and not (integers and new.bits > old.bits)
    rounding = "" if integers else how.rounding
    mode = "_".join(filter(None, ("sat" if saturate else "", rounding)))
    change = "use" if source.use is not target.use else ""
    if not mode and not change:
        return ctx.call(mangle_instruction(instruction, tags), typ, [value])
    call = MatrixCall("convert", instruction=instruction, mode=mode, change=change, tags=tags)
    return ctx.call(call.write(), typ, [value])


def _coordinates(ctx: FunctionContext, e: typed.MatrixCoordinates) -> ir.Value:
    _require_maintenance(ctx, "coordinates of components", e.span)
    index = ctx.rvalue(e.index)
    any_value = fill(ctx, e.matrix, ir.Constant(ctx.types.of(e.matrix.component), 0))
    return ctx.call(MatrixCall("coordinates", tags=tag(e.matrix)).write(), ir.VectorType(I32, 2), [any_value, index])


def _multiply_add(ctx: FunctionContext, e: typed.MatrixMulAdd) -> ir.Value:
    operands = [ctx.operand(m) for m in (e.a, e.b, e.c)]
    name = mangle_instruction("CooperativeMatrixMulAddKHR", *(tag(_matrix(m.type)) for m in (e.a, e.b, e.c)))
    return ctx.call(name, ctx.types.of(e.type), [*operands, ir.Constant(I32, e.operands & ~int(Operands.TF32))])


def _map(ctx: FunctionContext, e: typed.MatrixMap) -> ir.Value:
    _require_maintenance(ctx, "functions of components", e.span)
    operands = [ctx.operand(m) for m in e.operands]
    arguments = [ctx.argument(argument) for argument in e.arguments]
    matrix, function = _matrix(e.type), ctx.program.callee(e.function)
    call = MatrixCall("map", str(len(operands)), tags=tag(matrix), function=function.name)
    return ctx.call(call.write(), ctx.types.of(matrix), [*operands, *arguments])


def _reduce(ctx: FunctionContext, e: typed.MatrixReduce) -> ir.Value:
    _require_maintenance(ctx, "reductions", e.span)
    source, result, function = _matrix(e.operand.type), _matrix(e.type), ctx.program.callee(e.function)
    call = MatrixCall("reduce", str(e.how), tags=f"{tag(source)}_{tag(result)}", function=function.name)
    return ctx.call(call.write(), ctx.types.of(result), [ctx.operand(e.operand)])


def get(ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value) -> ir.Value:
    """Return the component `index` of this work-item's part of a matrix variable."""
    component = _spelled(matrix.component) or ctx.types.of(matrix.component)
    value = ctx.call(MatrixCall("get", tags=tag(matrix)).write(), component, [variable, index])
    return _cast(ctx, matrix.component, value, to_bits=True)


def set(ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value, value: ir.Value) -> None:
    component = _cast(ctx, matrix.component, value)
    ctx.call(MatrixCall("set", tags=tag(matrix)).write(), VOID_TYPE, [variable, index, component])


def _require_maintenance(ctx: FunctionContext, what: str, span: Span) -> None:
    """Raise CompileError if the module's SPIR-V version is older than the maintenance extension requires."""
    if tuple(int(part) for part in ctx.options.spirv_version.split(".")) < _MAINTENANCE_SINCE:
        raise _refuse(
            f"{what} need SPIR-V 1.3; the module's version is {ctx.options.spirv_version}",
            span,
            "use --spirv-version 1.3",
            "--matrices one and --matrices lanes work without the device's matrix instructions",
        )


#: class of expression -> (function that returns the first operand, function that lowers the operation on its value).
STEPS: dict[type, tuple[Callable[[Any], typed.Expr], Callable[..., Any]]] = {
    typed.MatrixBinary: (lambda e: e.left, _binary),
    typed.MatrixScale: (lambda e: e.matrix, _scale),
    typed.MatrixNegate: (lambda e: e.operand, _negate),
    typed.MatrixConvert: (lambda e: e.operand, _convert),
}
LEAVES: dict[type, Callable[..., Any]] = {
    typed.MatrixLoad: _load,
    typed.MatrixStore: _store,
    typed.MatrixFill: _fill,
    typed.MatrixLength: _length,
    typed.MatrixCoordinates: _coordinates,
    typed.MatrixMulAdd: _multiply_add,
    typed.MatrixMap: _map,
    typed.MatrixReduce: _reduce,
}
