"""Matrices as private storage, operations as calls of a library's functions (`coopmat.matrices`).

A call's result goes to a temporary of its own; once everything is inlined, LLVM's scalar replacement dissolves the
storage and the copies into values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import matrix_calls, typed
from ...frontend.matrix_terms import matrix_type
from ...frontend.types import AddressSpace, CoopMatrixType, element_count
from ...matrices import lowering
from ...matrices.lowering import Instance, Strategy, Target
from ..module import ModuleBuilder
from ..type_map import I32, undefined
from .address_spaces import known_pointer
from .context import FunctionContext, space_of
from .library_functions import declare
from .matrices import Memory
from .places import MemoryPlace, Operand, temporary


class MatricesByReference:
    """See `Matrices`. `functions` are the library functions that are called, by target and name.

    Storage has room for what a work-item holds in subgroups of `sub_group_size`, the smallest that a kernel has.
    """

    in_memory = True

    def __init__(self, strategy: Strategy, sub_group_size: int, module: ModuleBuilder | None = None) -> None:
        self.strategy = strategy
        self.sub_group_size = sub_group_size
        self.module = module
        self.functions: dict[tuple[Target | None, str], ir.Function] = {}
        self._instances: dict[tuple[Target | None, str], Instance] = {}
        # The local memory that subgroups exchange values through, and how much of it is needed.
        self._scratch: dict[Target, tuple[ir.GlobalVariable, int]] = {}

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

    def library_text(self, target: Target | None, names: Iterable[str]) -> str:
        """OpenCL C that defines these functions."""
        assert target is not None
        lowering.check_count(len(self.functions))
        return lowering.instantiate(target, [self._instances[target, name] for name in names])

    def call(self, ctx: FunctionContext, instance: Instance, arguments: Sequence[ir.Value]) -> ir.Value:
        target = ctx.target
        if target is None:
            raise InternalError("a library function is called without a target")
        key = (target, instance.function_name)
        function = self.functions.get(key)
        if function is None:
            function = self.functions[key] = declare(ctx.module, instance, target)
            self._instances[key] = instance
        size = instance.scratch_bytes(target)
        if size:
            arguments = [*arguments, self._scratch_memory(ctx.module, target, size)]
        return ctx.builder.call(function, arguments)

    def _scratch_memory(self, module: ModuleBuilder, target: Target, size: int) -> ir.Value:
        known = self._scratch.get(target)
        if known is None:
            typ = ir.ArrayType(ir.IntType(64), 0)
            known = (module.global_variable("cm_scratch", typ, AddressSpace.LOCAL, None, 16), 0)
        self._scratch[target] = (known[0], max(known[1], size))
        return known[0]

    def finish(self) -> None:
        """To be called when all functions are lowered: only then it is known how much local memory they need."""
        for variable, size in self._scratch.values():
            variable.value_type = ir.ArrayType(ir.IntType(64), -(-size // 8))

    def substitute(self, ctx: FunctionContext, e: typed.BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
        if not ctx.program.replaces_subgroups:
            return None
        found = matrix_calls.substitute(self.strategy, e)
        if found.each:
            return self._substitute_vector(ctx, e, found.instance, arguments)
        return self.call(ctx, found.instance, arguments[: len(found.instance.signature.parameters)])

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
        pointer, access, place = _access(memory)
        return self._to_temporary(ctx, matrix, matrix_calls.load(matrix, access), [pointer, *place])

    def store(self, ctx: FunctionContext, matrix: CoopMatrixType, memory: Memory, value: Operand) -> None:
        pointer, access, place = _access(memory)
        self.call(ctx, matrix_calls.store(matrix, access), [pointer, _pointer(value), *place])

    def fill(self, ctx: FunctionContext, matrix: CoopMatrixType, value: ir.Value) -> Operand:
        return self._to_temporary(ctx, matrix, matrix_calls.fill(matrix), [value])

    def length(self, ctx: FunctionContext, matrix: CoopMatrixType) -> ir.Value:
        return self.call(ctx, matrix_calls.length(matrix), [])

    def binary(self, ctx: FunctionContext, matrix: CoopMatrixType, op: str, left: Operand, right: Operand) -> Operand:
        return self._to_temporary(ctx, matrix, matrix_calls.binary(matrix, op), [_pointer(left), _pointer(right)])

    def scale(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand, scalar: ir.Value) -> Operand:
        instance = matrix_calls.binary(matrix, "scalar_mul")
        return self._to_temporary(ctx, matrix, instance, [_pointer(value), scalar])

    def negate(self, ctx: FunctionContext, matrix: CoopMatrixType, value: Operand) -> Operand:
        return self._to_temporary(ctx, matrix, matrix_calls.negate(matrix), [_pointer(value)])

    def convert(self, ctx: FunctionContext, e: typed.MatrixConvert, value: Operand) -> Operand:
        assert isinstance(e.type, CoopMatrixType)
        return self._to_temporary(ctx, e.type, matrix_calls.convert(e), [_pointer(value)])

    def coordinates(self, ctx: FunctionContext, e: typed.MatrixCoordinates, index: ir.Value) -> ir.Value:
        return self.call(ctx, matrix_calls.coordinates(e.matrix), [index])

    def multiply_add(self, ctx: FunctionContext, e: typed.MatrixMulAdd, a: Operand, b: Operand, c: Operand) -> Operand:
        assert isinstance(e.type, CoopMatrixType)
        pointers = [_pointer(a), _pointer(b), _pointer(c)]
        return self._to_temporary(ctx, e.type, matrix_calls.multiply_add(e), pointers)

    def get(self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value) -> ir.Value:
        return self.call(ctx, matrix_calls.get(matrix), [variable, index])

    def set(
        self, ctx: FunctionContext, matrix: CoopMatrixType, variable: ir.Value, index: ir.Value, value: ir.Value
    ) -> None:
        self.call(ctx, matrix_calls.set(matrix), [variable, index, value])

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


def _access(memory: Memory) -> tuple[ir.Value, matrix_calls.Access, Sequence[ir.Value]]:
    """The pointer, which instance it needs, and what that takes besides the pointer and the matrix."""
    pointer = known_pointer(memory.pointer)
    access = matrix_calls.Access(space_of(pointer), memory.layout, memory.volatile, memory.bounds is not None)
    return pointer, access, [memory.stride, *(memory.bounds or ())]
