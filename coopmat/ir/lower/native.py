"""Matrices as values of `target("spirv.CooperativeMatrixKHR", ...)`, operations as calls that become instructions.

What has no instruction is a function in OpenCL C (`coopmat.matrices.native_library`). LLVM's SPIR-V backend knows some
of the calls; the others are placeholders that `spirv/legalize.py` rewrites. A name is `_Z<length>__spirv_<instruction>`
and a tag that keeps declarations of different types apart; loads and stores carry a true Itanium suffix, from which the
backend takes the pointer's element type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from llvmlite import ir

from ...diagnostics import CompileError, Diagnostic, InternalError, Note, Severity, Span
from ...frontend import typed
from ...frontend.matrix_terms import matrix_type
from ...frontend.types import BFLOAT16, FLOAT, HALF, USHORT, AddressSpace, CoopMatrixType, ScalarType
from ...matrices import native_library
from ...matrices.memory_rules import MemoryRules
from ...matrices.native_library import TILE_ALIGN, ClampedConvert, Function, StagedLoad, StagedStore
from ...matrices.variants import Layout
from ..module import ModuleBuilder
from ..target_types import TargetType, cooperative_matrix_type
from ..type_map import I32, I64, VOID_TYPE, undefined
from .context import FunctionContext, space_of

if TYPE_CHECKING:
    from .places import Operand


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a matrix is loaded from or stored to. `pointer` is to its component type, in its own address space;
    `stride` (i64) counts components; `layout` is SPIR-V's number, 2 for packed. `bounds`, of a checked access, are row,
    column, rows and columns, as i32: see `typed.MatrixBounds`."""

    pointer: ir.Value
    layout: int
    stride: ir.Value
    volatile: bool = False
    bounds: tuple[ir.Value, ir.Value, ir.Value, ir.Value] | None = None
    span: Span | None = None


EXTENSION = "SPV_KHR_cooperative_matrix"
BFLOAT16_EXTENSION = "SPV_KHR_bfloat16"
_VOLATILE = 1  # of SPIR-V's memory operands
# SPV_EXT_cooperative_matrix_maintenance1 is written against this one.
_COORDINATES_SINCE = (1, 3)

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


def _pointer_code(memory: Memory, matrix: CoopMatrixType) -> str:
    # The stride counts pointees, and the backend takes bfloat16 in a name for a byte.
    code = USHORT.mangling if matrix.component is BFLOAT16 else component_code(matrix.component)
    return f"PU3AS{int(space_of(memory.pointer))}{code}"


def _refuse(what: str, span: Span | None, *notes: str) -> CompileError:
    return CompileError(
        [Diagnostic(Severity.ERROR, "native-matrix", what, span, notes=tuple(Note(note) for note in notes))]
    )


def _vendor(matrix: CoopMatrixType) -> str:
    """The matrix as a vendor-qualified Itanium type."""
    name = tag(matrix)
    return f"u{len(name)}{name}"


class NativeMatrices:
    """Operations on matrices as values. Operand masks are SPIR-V's numbers; what has no lowering is a CompileError."""

    def __init__(self, sub_groups: int, module: ModuleBuilder | None = None) -> None:
        self.module = module
        self._types: dict[CoopMatrixType, TargetType] = {}
        # Functions of the library that are called, by name; how many subgroups a work-group may have.
        self.functions: dict[str, ir.Function] = {}
        self.sub_groups = sub_groups
        self._wanted: dict[str, Function] = {}
        self._rooms: dict[tuple[ScalarType, int], ir.GlobalVariable] = {}

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
        _check_space(memory)
        if _is_staged(memory):
            space = str(space_of(memory.pointer))
            wanted = StagedLoad(matrix_type(matrix), space, Layout(memory.layout), memory.volatile, _rules(ctx))
            before, after = _staged_arguments(matrix, memory)
            return self._call(ctx, wanted, self.variable_type(matrix), [*before, *after, self._tiles(ctx, matrix)])
        name = _name("CooperativeMatrixLoadKHR") + f"{_pointer_code(memory, matrix)}il{_vendor(matrix)}"
        arguments = [memory.pointer, ir.Constant(I32, memory.layout), memory.stride]
        return _access(ctx, name, self.variable_type(matrix), arguments, memory)

    def store(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory, value: Operand) -> None:
        _check_space(memory)
        if _is_staged(memory):
            space = str(space_of(memory.pointer))
            wanted = StagedStore(matrix_type(matrix), space, Layout(memory.layout), memory.volatile, _rules(ctx))
            before, after = _staged_arguments(matrix, memory)
            self._call(ctx, wanted, VOID_TYPE, [*before, value, *after, self._tiles(ctx, matrix)])
            return
        name = _name("CooperativeMatrixStoreKHR") + f"{_pointer_code(memory, matrix)}{_vendor(matrix)}il"
        arguments = [memory.pointer, value, ir.Constant(I32, memory.layout), memory.stride]
        _access(ctx, name, VOID_TYPE, arguments, memory)

    def fill(self, ctx: FunctionContext, matrix: CoopMatrixType, value: ir.Value) -> Operand:
        return ctx.call(_name("CompositeConstruct", tag(matrix)), self.variable_type(matrix), [value])

    def length(self, ctx: FunctionContext, matrix: CoopMatrixType) -> ir.Value:
        # The instruction takes a type; the backend takes it from an operand.
        operand = undefined(self.variable_type(matrix))
        return ctx.call(_name("CooperativeMatrixLengthKHR", tag(matrix)), I32, [operand])

    def binary(self, ctx: FunctionContext, matrix: CoopMatrixType, op: str, left: Operand, right: Operand) -> Operand:
        instruction = _BINARY[op][_class(matrix.component)]
        return self._component_wise(ctx, matrix, instruction, [left, right])

    def scale(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand, scalar: ir.Value) -> Operand:
        # OpMatrixTimesScalar needs a capability that OpenCL does not have.
        return self.binary(ctx, matrix, "mul", value, self.fill(ctx, matrix, scalar))

    def negate(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand) -> Operand:
        return self._component_wise(ctx, matrix, _NEGATE[_class(matrix.component)], [value])

    def _component_wise(
        self, ctx: FunctionContext, matrix: CoopMatrixType, instruction: str, operands: Sequence[Operand]
    ) -> Operand:
        """bfloat16 has no arithmetic: it is done on floats, whose results rounded once more are right."""
        if matrix.component is not BFLOAT16:
            return ctx.call(_name(instruction, tag(matrix)), self.variable_type(matrix), operands)
        wide = replace(matrix, component=FLOAT)
        floats = [self._convert_floats(ctx, matrix, wide, value) for value in operands]
        return self._convert_floats(ctx, wide, matrix, self._component_wise(ctx, wide, instruction, floats))

    def _convert_floats(
        self, ctx: FunctionContext, source: CoopMatrixType, target: CoopMatrixType, value: Operand
    ) -> Operand:
        return ctx.call(_name("FConvert", tag(source), tag(target)), self.variable_type(target), [value])

    def convert(self, ctx: FunctionContext, e: typed.MatrixConvert, value: Operand) -> Operand:
        source, target = e.operand.type, e.type
        assert isinstance(source, CoopMatrixType) and isinstance(target, CoopMatrixType)
        typ = self.variable_type(target)
        here, there = source.component, target.component
        integers = not here.is_float and not there.is_float
        if integers and e.saturate and here.signed != there.signed:
            return self._call(ctx, ClampedConvert(matrix_type(source), matrix_type(target).component), typ, [value])
        if typ == self.variable_type(source):
            return value
        if {here, there} == {HALF, BFLOAT16}:
            # Of one width; either is exact as a float.
            wide = replace(source, component=FLOAT)
            source, value = wide, self._convert_floats(ctx, source, wide, value)
        instruction = _CONVERT[_class(here)][_class(there)]
        tags = (tag(source), tag(target))
        # From integers to integers everything is exact, up to what saturation cuts off; so is a wider type.
        saturate = e.saturate and not there.is_float and not (integers and there.bits > here.bits)
        rounding = "" if integers else e.rounding
        if not saturate and not rounding:
            return ctx.call(_name(instruction, *tags), typ, [value])
        words = [instruction, *(["sat"] if saturate else []), *([rounding] if rounding else []), *tags]
        return ctx.call("__cm_convert_" + "_".join(words), typ, [value])

    def coordinates(self, ctx: FunctionContext, e: typed.MatrixCoordinates, index: ir.Value) -> ir.Value:
        if _version(ctx) < _COORDINATES_SINCE:
            raise _refuse(
                f"coordinates of components need SPIR-V 1.3; this is {ctx.options.spirv_version}",
                e.span,
                "--spirv-version 1.3 asks for it; --matrices one and --matrices lanes need nothing of the device",
            )
        zero = ir.Constant(ctx.types.of(e.matrix.component), 0)
        any_value = self.fill(ctx, e.matrix, zero)
        return ctx.call(f"__cm_coordinates_{tag(e.matrix)}", ir.VectorType(I32, 2), [any_value, index])

    def multiply_add(self, ctx: FunctionContext, e: typed.MatrixMulAdd, a: Operand, b: Operand, c: Operand) -> Operand:
        tags = [tag(m.type) for m in (e.a, e.b, e.c) if isinstance(m.type, CoopMatrixType)]
        name = _name("CooperativeMatrixMulAddKHR", *tags)
        return ctx.call(name, ctx.types.of(e.type), [a, b, c, ir.Constant(I32, e.operands)])

    def get(self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value) -> ir.Value:
        component = ctx.types.of(matrix.component)
        return ctx.call(f"__cm_get_{tag(matrix)}", component, [variable, index])

    def set(
        self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value, value: ir.Value
    ) -> None:
        ctx.call(f"__cm_set_{tag(matrix)}", VOID_TYPE, [variable, index, value])

    # --- the library -----------------------------------------------------------------------------

    def library_text(self, names: Iterable[str]) -> str:
        """OpenCL C that defines these functions."""
        return native_library.instantiate(self._wanted[name] for name in names)

    def _call(self, ctx: FunctionContext, wanted: Function, result: ir.Type, arguments: Sequence[Operand]) -> ir.Value:
        name = wanted.function_name
        function = self.functions.get(name)
        if function is None:
            function = ctx.module.define(name, result, [argument.type for argument in arguments])
            self.functions[name] = function
            self._wanted[name] = wanted
        ctx.uses.calls.add(function)
        return ctx.builder.call(function, arguments)

    def _tiles(self, ctx: FunctionContext, matrix: CoopMatrixType) -> ir.Value:
        """Room in local memory for one tile of each subgroup: accesses that are alike share it."""
        ctx.uses.tiles = True
        count = native_library.tile_components(matrix_type(matrix), _rules(ctx)) * self.sub_groups
        component = ctx.types.of(matrix.component)
        typ = ir.ArrayType(component, count)
        key = (matrix.component, count)
        if key not in self._rooms:
            # A reader of this IR learns from the name how many subgroups there is room for.
            name = f"coop_mat_tiles.{self.sub_groups}.{matrix.component}"
            self._rooms[key] = ctx.module.global_variable(name, typ, AddressSpace.LOCAL, None, TILE_ALIGN)
        zero = ir.Constant(I64, 0)
        return ctx.builder.element(self._rooms[key], typ, [zero, zero])


def _rules(ctx: FunctionContext) -> MemoryRules:
    return ctx.options.memory_rules or MemoryRules()


def _is_staged(memory: Memory) -> bool:
    """Whether the access is more than an instruction, whose pointer is to memory that the subgroup shares.

    The packed layout exists as a vendor's only (SPV_INTEL_joint_matrix), which spirv-val does not know.
    """
    private = space_of(memory.pointer) is AddressSpace.PRIVATE
    return private or memory.bounds is not None or memory.layout == Layout.PACKED


def _staged_arguments(matrix: CoopMatrixType, memory: Memory) -> tuple[list[ir.Value], list[ir.Value]]:
    """Before and after a stored value."""
    whole = tuple(ir.Constant(I32, n) for n in (0, 0, matrix.rows, matrix.columns))
    return [memory.pointer], [memory.stride, *(memory.bounds or whole)]


def _check_space(memory: Memory) -> None:
    if space_of(memory.pointer) is AddressSpace.GENERIC:
        raise _refuse(
            "a matrix cannot be loaded or stored through a generic pointer",
            memory.span,
            "name the address space in the pointer's type, or choose it with to_global or to_local",
        )


def _access(ctx: FunctionContext, name: str, result: ir.Type, arguments: list[ir.Value], memory: Memory) -> ir.Value:
    if memory.volatile:
        name, arguments = name + "i", [*arguments, ir.Constant(I32, _VOLATILE)]
    return ctx.call(name, result, arguments)


def _version(ctx: FunctionContext) -> tuple[int, ...]:
    return tuple(int(part) for part in ctx.options.spirv_version.split("."))
