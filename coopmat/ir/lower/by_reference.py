"""Matrices as private storage, operations as calls of a library's functions (`coopmat.matrices`).

A call's result goes to a temporary of its own; once everything is inlined, LLVM's scalar replacement dissolves the
storage and the copies into values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.types import (
    FLOATS,
    INTEGERS,
    SIZE_T,
    VECTOR_SIZES,
    AddressSpace,
    CoopMatrixType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    element_count,
    element_type,
    with_count,
)
from ...matrices import lowering
from ...matrices.lowering import STRATEGIES, Instance
from ...matrices.variants import COMPONENT_TYPES, ComponentType, Layout, MatrixType, Operands, Use
from ..module import ModuleBuilder
from ..type_map import I32, POINTERS, VOID_TYPE, undefined
from .context import FunctionContext, space_of
from .matrices import Memory
from .places import MemoryPlace, Operand, temporary

_COMPONENTS = {component.opencl_c: component for component in COMPONENT_TYPES.values()}
_VALUES: dict[str, Type] = {
    "size_t": SIZE_T,
    **{str(t): t for scalar in (*INTEGERS, *FLOATS) for t in (with_count(scalar, n) for n in (1, *VECTOR_SIZES))},
}
_SPACES = {str(space): space for space in AddressSpace}


@lru_cache(maxsize=1024)
def matrix_type(matrix: CoopMatrixType) -> MatrixType:
    """The same type in the terms of `coopmat.matrices`."""
    return MatrixType(_COMPONENTS[matrix.component.name], matrix.rows, matrix.columns, Use(int(matrix.use)))


class MatricesByReference:
    """See `Matrices`. `functions` are the library functions that are called, by name."""

    in_memory = True

    def __init__(self, strategy: str, sub_group_size: int, module: ModuleBuilder | None = None) -> None:
        self.strategy = STRATEGIES[strategy]
        self.sub_group_size = sub_group_size
        self.module = module
        self.functions: dict[str, ir.Function] = {}
        self._instances: dict[str, Instance] = {}

    def variable_type(self, matrix: CoopMatrixType) -> ir.Type:
        if self.module is None:
            raise InternalError("matrices are used before there is a module")
        component = self.module.types.of(matrix.component)
        count = lowering.storage_components(self.strategy, matrix_type(matrix), self.sub_group_size)
        # Vectors give the storage its alignment inside records, too.
        width = self.align(matrix) * 8 // matrix.component.bits
        return ir.ArrayType(component if width == 1 else ir.VectorType(component, width), count // width)

    def align(self, matrix: CoopMatrixType) -> int:
        return lowering.storage_alignment(self.strategy, matrix_type(matrix))

    def library_text(self, names: Iterable[str]) -> str:
        """OpenCL C that defines these functions."""
        return lowering.instantiate(self.strategy, self.sub_group_size, [self._instances[name] for name in names])

    def call(self, ctx: FunctionContext, instance: Instance, arguments: Sequence[ir.Value]) -> ir.Value:
        function = self.functions.get(instance.function_name)
        if function is None:
            function = self.functions[instance.function_name] = _declare(ctx.module, instance)
            self._instances[instance.function_name] = instance
        return ctx.builder.call(function, arguments)

    def substitute(self, ctx: FunctionContext, e: typed.BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
        if not self.strategy.one_work_item:
            return None
        first = e.parameters[0] if e.parameters else None
        whole = lowering.substitute_builtin(self.strategy, e.name, _component(first))
        if whole is not None and whole.signature.parameters and _is_of_vectors(whole, first):
            return self._substitute_vector(ctx, e, whole, arguments)
        if whole is None:
            # The device's own would speak of subgroups that are not there.
            raise InternalError(f"'{e.name}' has no meaning for a subgroup of one")
        return self.call(ctx, whole, arguments[: len(whole.signature.parameters)])

    def _substitute_vector(
        self, ctx: FunctionContext, e: typed.BuiltinCall, instance: Instance, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        """A function of scalars for each component."""
        vector = e.parameters[0]
        result = undefined(ctx.types.of(vector))
        given = list(zip(e.parameters, arguments, strict=True))[: len(instance.signature.parameters)]
        for i in range(element_count(vector)):
            at = ir.Constant(I32, i)
            parts = [ctx.builder.extract_element(value, at) if t == vector else value for t, value in given]
            result = ctx.builder.insert_element(result, self.call(ctx, instance, parts), at)
        return result

    def load(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory) -> Operand:
        instance = lowering.Load(matrix_type(matrix), str(space_of(memory.pointer)), Layout(memory.layout))
        return self._to_temporary(ctx, matrix, instance, [memory.pointer, memory.stride])

    def store(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory, value: Operand) -> None:
        instance = lowering.Store(matrix_type(matrix), str(space_of(memory.pointer)), Layout(memory.layout))
        self.call(ctx, instance, [memory.pointer, _pointer(value), memory.stride])

    def fill(self, ctx: FunctionContext, matrix: CoopMatrixType, value: ir.Value) -> Operand:
        return self._to_temporary(ctx, matrix, lowering.Fill(matrix_type(matrix)), [value])

    def length(self, ctx: FunctionContext, matrix: CoopMatrixType) -> ir.Value:
        return self.call(ctx, lowering.Length(matrix_type(matrix)), [])

    def binary(self, ctx: FunctionContext, matrix: CoopMatrixType, op: str, left: Operand, right: Operand) -> Operand:
        instance = lowering.Binary(matrix_type(matrix), op)
        return self._to_temporary(ctx, matrix, instance, [_pointer(left), _pointer(right)])

    def scale(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand, scalar: ir.Value) -> Operand:
        instance = lowering.ScalarMultiply(matrix_type(matrix))
        return self._to_temporary(ctx, matrix, instance, [_pointer(value), scalar])

    def negate(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand) -> Operand:
        return self._to_temporary(ctx, matrix, lowering.Negate(matrix_type(matrix)), [_pointer(value)])

    def convert(self, ctx: FunctionContext, e: typed.MatrixConvert, value: Operand) -> Operand:
        source, target = e.operand.type, e.type
        assert isinstance(source, CoopMatrixType) and isinstance(target, CoopMatrixType)
        to = matrix_type(target).component
        instance = lowering.Convert(matrix_type(source), to, e.rounding, e.saturate)
        return self._to_temporary(ctx, target, instance, [_pointer(value)])

    def coordinates(self, ctx: FunctionContext, e: typed.MatrixCoordinates, index: ir.Value) -> ir.Value:
        return self.call(ctx, lowering.Coord(matrix_type(e.matrix)), [index])

    def multiply_add(self, ctx: FunctionContext, e: typed.MatrixMulAdd, a: Operand, b: Operand, c: Operand) -> Operand:
        a_type, b_type, c_type = (m.type for m in (e.a, e.b, e.c) if isinstance(m.type, CoopMatrixType))
        types = (matrix_type(a_type), matrix_type(b_type), matrix_type(c_type))
        instance = lowering.MultiplyAdd(*types, Operands(e.operands))
        return self._to_temporary(ctx, c_type, instance, [_pointer(a), _pointer(b), _pointer(c)])

    def get(self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value) -> ir.Value:
        return self.call(ctx, lowering.Get(matrix_type(matrix)), [variable, index])

    def set(
        self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value, value: ir.Value
    ) -> None:
        self.call(ctx, lowering.Set(matrix_type(matrix)), [variable, index, value])

    def copy(self, ctx: FunctionContext, matrix: CoopMatrixType, target: MemoryPlace, source: MemoryPlace) -> None:
        m = matrix_type(matrix)
        count = lowering.storage_components(self.strategy, m, self.sub_group_size)
        ctx.copy_bytes(target, source, count * m.component.size)

    def _to_temporary(
        self, ctx: FunctionContext, matrix: CoopMatrixType, instance: Instance, arguments: Sequence[ir.Value]
    ) -> MemoryPlace:
        result = temporary(ctx, matrix)
        self.call(ctx, instance, [result.pointer, *arguments])
        return result


def _pointer(value: Operand) -> ir.Value:
    if not isinstance(value, MemoryPlace):
        raise InternalError("a matrix by reference is a place in memory")
    return value.pointer


def _component(t: Type | None) -> ComponentType | None:
    """Of a scalar, a vector, or what a pointer is to."""
    element = element_type(t.pointee if isinstance(t, PointerType) else t) if t is not None else None
    return _COMPONENTS.get(element.name) if isinstance(element, ScalarType) else None


def _is_of_vectors(instance: Instance, first: Type | None) -> bool:
    """Whether a function of scalars was found for a builtin's vectors."""
    return isinstance(first, VectorType) and instance.signature.parameters[0].type == first.element.name


def _declare(module: ModuleBuilder, instance: Instance) -> ir.Function:
    """The function's head; `Program` lowers its body, once the library's text is known."""
    signature = instance.signature
    result = VOID_TYPE if signature.returns == "void" else module.types.of(_VALUES[signature.returns])
    parameters = [
        POINTERS[_SPACES[parameter.space]] if parameter.space else module.types.of(_VALUES[parameter.type])
        for parameter in signature.parameters
    ]
    return module.define(instance.function_name, result, parameters, inline=True)
