"""The storage locations that lvalues denote, with their loads and stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.types import (
    AddressSpace,
    ArrayType,
    ConstantMatrixType,
    CoopMatrixType,
    RecordType,
    Type,
    VectorType,
    contains_matrix,
    is_opaque,
    size_of,
)
from ..type_map import I32, I64
from . import images, initializers, matrix_vectors, native_matrices
from .context import FunctionContext
from .conversions import swizzle


@dataclass(slots=True)
class MemoryPlace:
    """An object in memory; also the value of a type handled in memory, valid until the next side effect."""

    pointer: ir.Value
    type: Type
    align: int
    volatile: bool = False

    def read(self, ctx: FunctionContext) -> Operand:
        if ctx.types.in_memory(self.type):
            return self
        if isinstance(self.type, ConstantMatrixType):
            return matrix_vectors.load(ctx, self)
        return ctx.builder.load(self.pointer, typ=ctx.types.of(self.type), align=self.align, volatile=self.volatile)

    def write(self, ctx: FunctionContext, value: Operand) -> None:
        if isinstance(value, MemoryPlace):
            copy(ctx, self, value)
        elif isinstance(self.type, ConstantMatrixType):
            matrix_vectors.store(ctx, self, value)
        else:
            ctx.builder.store(value, self.pointer, align=self.align, volatile=self.volatile)

    def element(self, ctx: FunctionContext, index: ir.Value) -> MemoryPlace:
        """Return the location of an array's element."""
        array = self.type
        if not isinstance(array, ArrayType):
            raise InternalError(f"'{array}' has no elements")
        pointer = ctx.builder.element(self.pointer, ctx.types.of(array), [ZERO, index])
        return MemoryPlace(pointer, array.element, min(self.align, ctx.types.align(array.element)), self.volatile)

    def member(self, ctx: FunctionContext, index: int, volatile: bool) -> MemoryPlace:
        """Return the location of a record's member."""
        record = self.type
        if not isinstance(record, RecordType) or record.fields is None:
            raise InternalError(f"'{record}' has no members")
        item = record.fields[index]
        align = min(self.align, ctx.types.align(item.type))
        while item.offset % align:
            align //= 2
        pointer = self.pointer
        if record.kind == "struct":
            at = ir.Constant(I32, ctx.types.field_index(record, index))
            pointer = ctx.builder.element(pointer, ctx.types.of(record), [ZERO32, at])
        return MemoryPlace(pointer, item.type, align, self.volatile or volatile or item.qualifiers.volatile)


@dataclass(slots=True)
class SwizzlePlace:
    """Components of the vector at `base`.

    Index 3 of a vector of three is undefined: it reads the last component and is not written.
    """

    base: MemoryPlace
    indices: tuple[int, ...]
    space: AddressSpace

    @property
    def _count(self) -> int:
        if not isinstance(self.base.type, VectorType):
            raise InternalError(f"'{self.base.type}' has no components")
        return self.base.type.count

    def read(self, ctx: FunctionContext) -> Operand:
        return swizzle(ctx, self.base.read(ctx), tuple(min(i, self._count - 1) for i in self.indices))

    def write(self, ctx: FunctionContext, value: Operand) -> None:
        parts = [value]
        if len(self.indices) > 1:
            parts = [ctx.builder.extract_element(value, ir.Constant(I32, i)) for i in range(len(self.indices))]
        written = [(i, part) for i, part in zip(self.indices, parts, strict=True) if i < self._count]
        if self.space is AddressSpace.PRIVATE:
            vector = self.base.read(ctx)
            for index, part in written:
                vector = ctx.builder.insert_element(vector, part, ir.Constant(I32, index))
            self.base.write(ctx, vector)
            return
        # Write each component alone: other work-items may write the other components at the same time.
        for index, part in written:
            self._component(ctx, index).write(ctx, part)

    def _component(self, ctx: FunctionContext, index: int) -> MemoryPlace:
        vector = self.base.type
        if not isinstance(vector, VectorType):
            raise InternalError(f"'{vector}' has no components")
        scalar = ctx.types.of(vector.element)
        pointer = ctx.builder.element(self.base.pointer, scalar, [ir.Constant(I64, index)])
        align = min(self.base.align, size_of(vector.element))
        return MemoryPlace(pointer, vector.element, align, self.base.volatile)


@dataclass(slots=True)
class MatrixElementPlace:
    """A component of this work-item's part of a native matrix."""

    matrix: CoopMatrixType
    variable: ir.Value
    index: ir.Value

    def read(self, ctx: FunctionContext) -> Operand:
        return native_matrices.get(ctx, self.matrix, self.variable, self.index)

    def write(self, ctx: FunctionContext, value: Operand) -> None:
        native_matrices.set(ctx, self.matrix, self.variable, self.index, value)


Place: TypeAlias = MemoryPlace | SwizzlePlace | MatrixElementPlace | images.Handle
Operand: TypeAlias = ir.Value | MemoryPlace
ZERO, ZERO32 = ir.Constant(I64, 0), ir.Constant(I32, 0)


def temporary(ctx: FunctionContext, t: Type) -> MemoryPlace:
    """Allocate a private object without an initial value."""
    align = ctx.types.align(t)
    return MemoryPlace(ctx.allocate(ctx.types.of(t), align), t, align)


def place(ctx: FunctionContext, e: typed.LValue) -> Place:
    if isinstance(e, typed.Swizzle):
        return _swizzle(ctx, e)
    if isinstance(e, typed.VarRef) and is_opaque(e.type):
        return images.handle(ctx, e.decl)
    if isinstance(e, typed.MatrixElement):
        matrix = e.matrix.type
        assert isinstance(matrix, CoopMatrixType)
        variable = memory(ctx, e.matrix)
        return MatrixElementPlace(matrix, variable.pointer, ctx.rvalue(e.index))
    return memory(ctx, e)


def memory(ctx: FunctionContext, e: typed.LValue) -> MemoryPlace:
    """Return the location of an lvalue that has an address, or of an element of Clang's matrix types.

    Long chains of members and elements are iterated over, not recursed on.
    """
    path: list[typed.Member | typed.Index | typed.MatrixSubscript] = []
    while isinstance(e, (typed.Member, typed.Index, typed.MatrixSubscript)):
        path.append(e)
        e = e.matrix if isinstance(e, typed.MatrixSubscript) else e.base
    result = _root(ctx, e)
    for step in reversed(path):
        if isinstance(step, typed.Member):
            result = result.member(ctx, step.index, step.place.volatile)
        elif isinstance(step, typed.MatrixSubscript):
            at = [matrix_vectors.index(ctx, index) for index in (step.row, step.column)]
            result = matrix_vectors.element(ctx, result, *at)
        else:
            result = result.element(ctx, ctx.rvalue(step.index))
            result.volatile |= step.place.volatile
    return result


def _root(ctx: FunctionContext, e: typed.LValue) -> MemoryPlace:
    if isinstance(e, typed.VarRef):
        return variable(ctx, e.decl)
    if isinstance(e, typed.Deref):
        return MemoryPlace(ctx.rvalue(e.pointer), e.type, ctx.types.align(e.type), e.place.volatile)
    if isinstance(e, typed.StringConst):
        return MemoryPlace(ctx.module.string(e.value), e.type, 1)
    if isinstance(e, typed.CompoundLiteral):
        literal = temporary(ctx, e.type)
        initializers.initialize(ctx, literal, e.initializer)
        return literal
    raise InternalError(f"{type(e).__name__} has no address")


def variable(ctx: FunctionContext, decl: typed.VarDecl) -> MemoryPlace:
    """Return the object of a variable; an automatic variable is allocated on first use, in the entry block."""
    entry: MemoryPlace | None = ctx.variables.get(decl)
    if entry is None:
        align = max(ctx.types.align(decl.type), decl.alignment or 1)
        if decl.storage == "static":
            pointer: ir.Value = ctx.program.static_object(decl, ctx.function.name)
        else:
            pointer = ctx.allocate(ctx.types.of(decl.type), align, decl.name)
        entry = ctx.variables[decl] = MemoryPlace(pointer, decl.type, align, decl.qualifiers.volatile)
    return entry


def _swizzle(ctx: FunctionContext, e: typed.Swizzle) -> SwizzlePlace:
    indices = e.indices
    base = e.base
    while isinstance(base, typed.Swizzle):
        indices = tuple(base.indices[i] for i in indices)
        base = base.base
    return SwizzlePlace(memory(ctx, base), indices, base.place.space)


def copy(ctx: FunctionContext, target: MemoryPlace, source: MemoryPlace) -> None:
    """Copy an object of a type handled in memory; matrices are copied as values, other contents as bytes."""
    t = target.type
    if not contains_matrix(t):
        if size_of(t):
            ctx.copy_bytes(target, source, size_of(t))
    elif isinstance(t, ArrayType):
        for i in range(t.size or 0):
            at = ir.Constant(I64, i)
            _copy_part(ctx, target.element(ctx, at), source.element(ctx, at))
    elif isinstance(t, RecordType):
        for i in range(len(t.fields or ())):
            _copy_part(ctx, target.member(ctx, i, False), source.member(ctx, i, False))


def _copy_part(ctx: FunctionContext, target: MemoryPlace, source: MemoryPlace) -> None:
    target.write(ctx, source.read(ctx))
