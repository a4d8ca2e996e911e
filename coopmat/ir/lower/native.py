"""Matrices as values of `target("spirv.CooperativeMatrixKHR", ...)`, operations as calls that become instructions.

LLVM's SPIR-V backend knows some of the calls; the others are placeholders that `spirv/legalize.py` rewrites. A name is
`_Z<length>__spirv_<instruction>` and a tag that keeps declarations of different types apart; loads and stores carry
a true Itanium suffix, from which the backend takes the pointer's element type.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.types import BFLOAT16, AddressSpace, CoopMatrixType, ScalarType
from ..module import ModuleBuilder
from ..target_types import TargetType, cooperative_matrix_type
from ..type_map import I32, VOID_TYPE, undefined
from .context import FunctionContext, space_of
from .matrices import Memory, not_supported
from .places import MemoryPlace, Operand

EXTENSION = "SPV_KHR_cooperative_matrix"
BFLOAT16_EXTENSION = "SPV_KHR_bfloat16"

# (floating point, signed, unsigned); None: the components' types are the same in SPIR-V, where integers have no sign.
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
    """Such as `mDh16x16A`: the component's mangling, the shape and the use."""
    return f"m{component_code(matrix.component)}{matrix.rows}x{matrix.columns}{'ABC'[matrix.use]}"


def component_code(component: ScalarType) -> str:
    return component.mangling


def _name(instruction: str, *tags: str) -> str:
    spelled = f"__spirv_{instruction}"
    return f"_Z{len(spelled)}{spelled}" + "".join(f"_{t}" for t in tags)


def _pointer_code(pointer: ir.Value, matrix: CoopMatrixType) -> str:
    space = space_of(pointer)
    code = component_code(matrix.component)
    return f"P{code}" if space is AddressSpace.PRIVATE else f"PU3AS{int(space)}{code}"


def _vendor(matrix: CoopMatrixType) -> str:
    """The matrix as a vendor-qualified Itanium type."""
    name = tag(matrix)
    return f"u{len(name)}{name}"


class NativeMatrices:
    """See `Matrices`."""

    in_memory = False

    def __init__(self, module: ModuleBuilder | None = None) -> None:
        self.module = module
        self._types: dict[CoopMatrixType, TargetType] = {}

    def variable_type(self, matrix: CoopMatrixType) -> ir.Type:
        known = self._types.get(matrix)
        if known is None:
            if self.module is None:
                raise InternalError("matrices are used before there is a module")
            self.module.extensions.add(EXTENSION)
            if matrix.component is BFLOAT16:
                self.module.extensions.add(BFLOAT16_EXTENSION)
            component = self.module.types.of(matrix.component)
            known = self._types[matrix] = cooperative_matrix_type(component, matrix)
        return known

    def align(self, matrix: CoopMatrixType) -> int:
        # What LLVM takes for its opaque representation.
        return 8

    def load(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory) -> Operand:
        pointer = memory.pointer
        name = _name("CooperativeMatrixLoadKHR") + f"{_pointer_code(pointer, matrix)}il{_vendor(matrix)}"
        return ctx.call(name, self.variable_type(matrix), [pointer, ir.Constant(I32, memory.layout), memory.stride])

    def store(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory, value: Operand) -> None:
        pointer = memory.pointer
        name = _name("CooperativeMatrixStoreKHR") + f"{_pointer_code(pointer, matrix)}{_vendor(matrix)}il"
        ctx.call(name, VOID_TYPE, [pointer, value, ir.Constant(I32, memory.layout), memory.stride])

    def fill(self, ctx: FunctionContext, matrix: CoopMatrixType, value: ir.Value) -> Operand:
        return ctx.call(_name("CompositeConstruct", tag(matrix)), self.variable_type(matrix), [value])

    def length(self, ctx: FunctionContext, matrix: CoopMatrixType) -> ir.Value:
        # The instruction takes a type; the backend takes it from an operand.
        operand = undefined(self.variable_type(matrix))
        return ctx.call(_name("CooperativeMatrixLengthKHR", tag(matrix)), I32, [operand])

    def binary(self, ctx: FunctionContext, matrix: CoopMatrixType, op: str, left: Operand, right: Operand) -> Operand:
        instruction = _BINARY[op][_class(matrix.component)]
        return ctx.call(_name(instruction, tag(matrix)), self.variable_type(matrix), [left, right])

    def scale(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand, scalar: ir.Value) -> Operand:
        # OpMatrixTimesScalar needs a capability that OpenCL does not have.
        return self.binary(ctx, matrix, "mul", value, self.fill(ctx, matrix, scalar))

    def negate(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand) -> Operand:
        instruction = _NEGATE[_class(matrix.component)]
        return ctx.call(_name(instruction, tag(matrix)), self.variable_type(matrix), [value])

    def convert(self, ctx: FunctionContext, e: typed.MatrixConvert, value: Operand) -> Operand:
        source, target = e.operand.type, e.type
        assert isinstance(source, CoopMatrixType) and isinstance(target, CoopMatrixType)
        if e.rounding or e.saturate:
            raise not_supported("conversions of matrices with rounding or saturation are", e.span)
        typ = self.variable_type(target)
        if typ == self.variable_type(source):
            return value
        instruction = _CONVERT[_class(source.component)][_class(target.component)]
        return ctx.call(_name(instruction, tag(source), tag(target)), typ, [value])

    def coordinates(self, ctx: FunctionContext, e: typed.MatrixCoordinates, index: ir.Value) -> ir.Value:
        raise not_supported("coordinates of components of native matrices are", e.span)

    def multiply_add(self, ctx: FunctionContext, e: typed.MatrixMulAdd, a: Operand, b: Operand, c: Operand) -> Operand:
        tags = [tag(m.type) for m in (e.a, e.b, e.c) if isinstance(m.type, CoopMatrixType)]
        name = _name("CooperativeMatrixMulAddKHR", *tags)
        return ctx.call(name, ctx.types.of(e.type), [a, b, c, ir.Constant(I32, e.operands)])

    def get(self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value) -> ir.Value:
        component = ctx.types.of(matrix.component)
        return ctx.call(f"__cm_get_{component_code(matrix.component)}", component, [variable, index])

    def set(
        self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value, value: ir.Value
    ) -> None:
        ctx.call(f"__cm_set_{component_code(matrix.component)}", VOID_TYPE, [variable, index, value])

    def copy(self, ctx: FunctionContext, matrix: CoopMatrixType, target: MemoryPlace, source: MemoryPlace) -> None:
        raise InternalError("a native matrix is a value, which has no place to copy from")

    def substitute(self, ctx: FunctionContext, e: typed.BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
        return None
