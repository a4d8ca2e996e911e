"""Clang's matrix types as Clang lowers them: flat vectors and `llvm.matrix.*` (the dialect `llvm`).

A value has its elements in the order of its type's layout, without padding. LLVM's intrinsics are column-major, and
so interpret a row-major matrix as its transpose. Therefore products of row-major matrices swap their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from llvmlite.ir.values import ArgumentAttributes

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.typed import ConvertKind
from ...frontend.types import ULONG, AddressSpace, ConstantMatrixType, MatrixLayout, ScalarType, Type, VectorType
from ..type_map import I1, I32, I64, VOID_TYPE, undefined
from . import conversions, lvalues
from .address_spaces import known_pointer
from .context import FunctionContext, space_of

_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul"}
_PURE = ("nounwind",)


def value(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    """Lower a matrix expression to a vector; left-deep chains are iterated over, not recursed on."""
    chain: list[typed.MatrixElementwise | typed.MatrixProduct] = []
    while isinstance(e, (typed.MatrixElementwise, typed.MatrixProduct)):
        chain.append(e)
        e = e.left
    handler = _HANDLERS.get(type(e))
    result = handler(ctx, e) if handler is not None else ctx.rvalue(e)
    left = _matrix(e.type)
    for outer in reversed(chain):
        result = _combined(ctx, outer, result, left)
        left = _matrix(outer.type)
    return result


def compound_assign(ctx: FunctionContext, e: typed.CompoundAssign) -> ir.Value:
    t = _matrix(e.target.type)
    right = ctx.rvalue(e.value)
    place = lvalues.memory(ctx, e.target)
    old = load(ctx, place)
    if e.op == "product":
        result = _product(ctx, t, (old, t), (right, _matrix(e.value.type)))
    else:
        result = _elementwise(ctx, e.op, t, old, _in_layout(ctx, right, _matrix(e.value.type), t.layout))
    store(ctx, place, result)
    return result


def load(ctx: FunctionContext, place: lvalues.MemoryPlace) -> ir.Value:
    """Load a matrix object as a vector without padding."""
    t = _matrix(place.type)
    if not t.padding:
        return ctx.builder.load(place.pointer, typ=ctx.types.value(t), align=place.align, volatile=place.volatile)
    memory = _Lines(ctx, place.pointer, ir.Constant(I64, t.stride), t, t.layout)
    return memory.load(min(place.align, ctx.types.align(t)), place.volatile)


def store(ctx: FunctionContext, place: lvalues.MemoryPlace, value: ir.Value) -> None:
    t = _matrix(place.type)
    if not t.padding:
        ctx.builder.store(value, place.pointer, align=place.align, volatile=place.volatile)
        return
    memory = _Lines(ctx, place.pointer, ir.Constant(I64, t.stride), t, t.layout)
    memory.store(value, min(place.align, ctx.types.align(t)), place.volatile)


def memory_store(ctx: FunctionContext, e: typed.MatrixMemoryStore) -> None:
    t = _matrix(e.matrix.type)
    layout = MatrixLayout.ROW_MAJOR if e.row_major else MatrixLayout.COLUMN_MAJOR
    value = _in_layout(ctx, ctx.rvalue(e.matrix), t, layout)
    pointer, stride = known_pointer(ctx.rvalue(e.pointer)), ctx.rvalue(e.stride)
    memory = _Lines(ctx, pointer, stride, t, layout)
    memory.store(value, ctx.types.align(t.element), _is_volatile(e.pointer.type))


def vector_of_matrix(ctx: FunctionContext, e: typed.VectorOfMatrix) -> ir.Value:
    vector = ctx.rvalue(e.operand)
    return vector if isinstance(e.type, VectorType) else ctx.builder.extract_element(vector, ir.Constant(I32, 0))


def matrix_of_vector(ctx: FunctionContext, e: typed.MatrixOfVector) -> ir.Value:
    vector = ctx.rvalue(e.operand)
    if isinstance(e.operand.type, VectorType):
        return vector
    return ctx.builder.insert_element(undefined(ctx.types.value(e.type)), vector, ir.Constant(I32, 0))


# --- operations ------------------------------------------------------------------------------------


def _combined(
    ctx: FunctionContext, e: typed.MatrixElementwise | typed.MatrixProduct, left: ir.Value, of: ConstantMatrixType
) -> ir.Value:
    t = _matrix(e.type)
    right = ctx.rvalue(e.right)
    if isinstance(e, typed.MatrixProduct):
        return _product(ctx, t, (left, of), (right, _matrix(e.right.type)))
    left, right = _in_layout(ctx, left, of, t.layout), _in_layout(ctx, right, _matrix(e.right.type), t.layout)
    return _elementwise(ctx, e.op, t, left, right)


def _elementwise(ctx: FunctionContext, op: str, t: ConstantMatrixType, left: ir.Value, right: ir.Value) -> ir.Value:
    if t.element.is_float:
        return ctx.builder.binary(_FLOAT[op], left, right, _flags(ctx))
    return ctx.builder.binary(op, left, right)


_Typed = tuple[ir.Value, ConstantMatrixType]


def _product(ctx: FunctionContext, t: ConstantMatrixType, left: _Typed, right: _Typed) -> ir.Value:
    sizes = (t.rows, left[1].columns, t.columns)
    operands = [_in_layout(ctx, *side, t.layout) for side in (left, right)]
    if t.layout is MatrixLayout.ROW_MAJOR:
        sizes, operands = sizes[::-1], operands[::-1]
    result = ctx.types.value(t)
    name = ".".join(["llvm.matrix.multiply", *(_suffix(v.type) for v in (undefined(result), *operands))])
    numbers = [ir.Constant(I32, n) for n in sizes]
    function = ctx.module.declare(name, result, [*(v.type for v in operands), *[I32] * 3], _PURE)
    flags = _flags(ctx) if t.element.is_float else ()
    return ctx.builder.call(function, [*operands, *numbers], fastmath=flags)


def _transposed(ctx: FunctionContext, value: ir.Value, rows: int, columns: int) -> ir.Value:
    """Return the transpose of a matrix with its elements in column-major order."""
    if 1 in (rows, columns):
        return value
    name = f"llvm.matrix.transpose.{_suffix(value.type)}"
    return ctx.call(name, value.type, [value, ir.Constant(I32, rows), ir.Constant(I32, columns)], _PURE)


def _in_layout(ctx: FunctionContext, value: ir.Value, t: ConstantMatrixType, layout: MatrixLayout) -> ir.Value:
    """Return a value of type `t` with its elements in the order of `layout`."""
    if t.layout is layout:
        return value
    return _transposed(ctx, value, *_order(t))


def _order(t: ConstantMatrixType) -> tuple[int, int]:
    """Return (length of a line, number of lines): the rows and columns of the value as LLVM's intrinsics see it."""
    return (t.columns, t.rows) if t.layout is MatrixLayout.ROW_MAJOR else (t.rows, t.columns)


def _transpose(ctx: FunctionContext, e: typed.MatrixTranspose) -> ir.Value:
    source = _matrix(e.operand.type)
    result = _transposed(ctx, ctx.rvalue(e.operand), *_order(source))
    turned = ConstantMatrixType(source.element, source.columns, source.rows, source.layout)
    return _in_layout(ctx, result, turned, _matrix(e.type).layout)


def _broadcast(ctx: FunctionContext, e: typed.MatrixBroadcast) -> ir.Value:
    t = _matrix(e.type)
    typ, scalar = ctx.types.value(t), ctx.rvalue(e.value)
    if isinstance(scalar, ir.Constant):
        return ir.Constant(typ, [scalar] * typ.count)
    first = ctx.builder.insert_element(undefined(typ), scalar, ir.Constant(I32, 0))
    return conversions.shuffle(ctx, first, [0] * typ.count)


def _cast(ctx: FunctionContext, e: typed.MatrixCast) -> ir.Value:
    source, target = _matrix(e.operand.type), _matrix(e.type)
    result = ctx.rvalue(e.operand)
    name = _conversion(source.element, target.element)
    if name is not None:
        result = getattr(ctx.builder, name)(result, ctx.types.value(target))
    return _in_layout(ctx, result, source, target.layout)


def _conversion(source: ScalarType, target: ScalarType) -> str | None:
    """Return the name of the instruction for a cast between element types, or None if the values are the same."""
    if source.is_float and target.is_float:
        names = ("fpext", "fptrunc")
    elif source.is_float:
        return "fptosi" if target.signed else "fptoui"
    elif target.is_float:
        return "sitofp" if source.signed else "uitofp"
    else:
        names = ("sext" if source.signed else "zext", "trunc")
    return None if source.bits == target.bits else names[source.bits > target.bits]


def _part(ctx: FunctionContext, e: typed.MatrixPart) -> ir.Value:
    source = _matrix(e.operand.type)
    whole = ctx.rvalue(e.operand)
    if isinstance(e.index, typed.IntConst):
        numbers = [_number(source, *at) for at in _places_of_part(source, e.which, e.index.value)]
        return conversions.shuffle(ctx, whole, numbers)
    result: ir.Value = undefined(ctx.types.value(e.type))
    for i, at in enumerate(_indices_of_part(ctx, source, e.which, index(ctx, e.index))):
        result = ctx.builder.insert_element(result, ctx.builder.extract_element(whole, at), ir.Constant(I32, i))
    return result


def _with_part(ctx: FunctionContext, e: typed.MatrixWithPart) -> ir.Value:
    t = _matrix(e.operand.type)
    result = ctx.rvalue(e.operand)
    number_ = index(ctx, e.index)
    if e.which == "element":
        assert e.column is not None
        at = _index(ctx, t, number_, index(ctx, e.column))
        result = ctx.builder.insert_element(result, ctx.rvalue(e.part), at)
        return _in_layout(ctx, result, t, _matrix(e.type).layout)
    part = ctx.rvalue(e.part)
    for i, at in enumerate(_indices_of_part(ctx, t, e.which, number_)):
        element = ctx.builder.extract_element(part, ir.Constant(I32, i))
        result = ctx.builder.insert_element(result, element, at)
    return _in_layout(ctx, result, t, _matrix(e.type).layout)


def _places_of_part(t: ConstantMatrixType, which: str, index: int) -> list[tuple[int, int]]:
    """Return the (row, column) of each element of row or column number `index`."""
    if which == "row":
        return [(index, column) for column in range(t.columns)]
    return [(row, index) for row in range(t.rows)]


def _indices_of_part(ctx: FunctionContext, t: ConstantMatrixType, which: str, index: ir.Value) -> list[ir.Value]:
    """Return the index in the vector of each element of row or column number `index`."""
    others = [ir.Constant(I64, n) for n in range(t.columns if which == "row" else t.rows)]
    if which == "row":
        return [_index(ctx, t, index, column) for column in others]
    return [_index(ctx, t, row, index) for row in others]


def _number(t: ConstantMatrixType, row: int, column: int) -> int:
    return row * t.columns + column if t.layout is MatrixLayout.ROW_MAJOR else column * t.rows + row


def _index(ctx: FunctionContext, t: ConstantMatrixType, row: ir.Value, column: ir.Value) -> ir.Value:
    major, minor = (row, column) if t.layout is MatrixLayout.ROW_MAJOR else (column, row)
    return number(ctx, major, _order(t)[0], minor)


# --- memory ----------------------------------------------------------------------------------------


def _memory_load(ctx: FunctionContext, e: typed.MatrixMemoryLoad) -> ir.Value:
    t = _matrix(e.type)
    layout = MatrixLayout.ROW_MAJOR if e.row_major else MatrixLayout.COLUMN_MAJOR
    pointer, stride = known_pointer(ctx.rvalue(e.pointer)), ctx.rvalue(e.stride)
    result = _Lines(ctx, pointer, stride, t, layout).load(ctx.types.align(t.element), _is_volatile(e.pointer.type))
    return _in_layout(ctx, result, ConstantMatrixType(t.element, t.rows, t.columns, layout), t.layout)


class _Lines:
    """The lines (columns, or rows if row-major) of a matrix in memory, `stride` elements apart.

    LLVM's intrinsics support private memory only; in other address spaces each line is loaded or stored as a vector.
    """

    def __init__(
        self, ctx: FunctionContext, pointer: ir.Value, stride: ir.Value, t: ConstantMatrixType, layout: MatrixLayout
    ) -> None:
        self.ctx, self.pointer, self.stride = ctx, pointer, stride
        self.length, self.count = _order(ConstantMatrixType(t.element, t.rows, t.columns, layout))
        self.scalar = ctx.types.of(t.element)
        self.whole = ctx.types.value(t)

    def load(self, align: int, volatile: bool) -> ir.Value:
        if self.is_private:
            return self.call(
                f"llvm.matrix.column.major.load.{_suffix(self.whole)}.i64", self.whole, [], align, volatile
            )
        typ = ir.VectorType(self.scalar, self.length)
        lines = [
            self.ctx.builder.load(self.line(n), typ=typ, align=align, volatile=volatile) for n in range(self.count)
        ]
        return _joined(self.ctx, lines)

    def store(self, value: ir.Value, align: int, volatile: bool) -> None:
        if self.is_private:
            name = f"llvm.matrix.column.major.store.{_suffix(self.whole)}.i64"
            self.call(name, VOID_TYPE, [value], align, volatile)
            return
        for n in range(self.count):
            numbers = list(range(n * self.length, (n + 1) * self.length))
            line = conversions.shuffle(self.ctx, value, numbers)
            self.ctx.builder.store(line, self.line(n), align=align, volatile=volatile)

    @property
    def is_private(self) -> bool:
        return space_of(self.pointer) is AddressSpace.PRIVATE

    def line(self, n: int) -> ir.Value:
        if n == 0:
            return self.pointer
        builder = self.ctx.builder
        if isinstance(self.stride, ir.Constant):
            at: ir.Value = ir.Constant(I64, self.stride.constant * n)
        else:
            at = builder.binary("mul", self.stride, ir.Constant(I64, n))
        return builder.element(self.pointer, self.scalar, [at])

    def call(self, name: str, result: ir.Type, first: Sequence[ir.Value], align: int, volatile: bool) -> ir.Value:
        numbers = [ir.Constant(I1, int(volatile)), ir.Constant(I32, self.length), ir.Constant(I32, self.count)]
        arguments = [*first, self.pointer, self.stride, *numbers]
        call = self.ctx.call(name, result, arguments, _PURE)
        attributes = ArgumentAttributes()
        attributes.align = align
        call.arg_attributes[len(first)] = attributes
        return call


def _joined(ctx: FunctionContext, vectors: list[ir.Value]) -> ir.Value:
    """Concatenate vectors of one length, by halves."""
    if len(vectors) == 1:
        return vectors[0]
    half = 1 << (len(vectors) - 1).bit_length() - 1
    left, right = _joined(ctx, vectors[:half]), _joined(ctx, vectors[half:])
    count, more = left.type.count, right.type.count
    if more < count:
        # Pad the shorter vector: the operands of a shuffle must have the same length.
        padded = ir.Constant(ir.VectorType(I32, count), [i % more for i in range(count)])
        right = ctx.builder.shuffle_vector(right, undefined(right.type), padded)
    mask = ir.Constant(ir.VectorType(I32, count + more), list(range(count + more)))
    return ctx.builder.shuffle_vector(left, right, mask)


# --- helpers ---------------------------------------------------------------------------------------


def _flags(ctx: FunctionContext) -> tuple[str, ...]:
    if "fast" in ctx.float_flags or not ctx.contract_matrices:
        return ctx.float_flags
    return tuple(dict.fromkeys((*ctx.float_flags, "contract")))


_CODES = {"half": "f16", "float": "f32", "double": "f64"}


def _suffix(typ: ir.Type) -> str:
    """Return the suffix for a vector type in the names of intrinsics, such as v16f32."""
    element = str(typ.element)
    return f"v{typ.count}{_CODES.get(element, element)}"


def _is_volatile(t: Type) -> bool:
    return bool(t.qualifiers.volatile)  # type: ignore[attr-defined]


def _matrix(t: Type) -> ConstantMatrixType:
    if not isinstance(t, ConstantMatrixType):
        raise InternalError(f"'{t}' is no matrix type")
    return t


_HANDLERS: dict[type, Callable[[FunctionContext, Any], ir.Value]] = {
    typed.MatrixBroadcast: _broadcast,
    typed.MatrixTranspose: _transpose,
    typed.MatrixCast: _cast,
    typed.MatrixPart: _part,
    typed.MatrixWithPart: _with_part,
    typed.MatrixMemoryLoad: _memory_load,
}


# --- elements of objects ------------------------------------------------------------------------------


def element(ctx: FunctionContext, matrix: lvalues.MemoryPlace, row: ir.Value, column: ir.Value) -> lvalues.MemoryPlace:
    """Return the location of an element of a matrix object; `row` and `column` are 64-bit integers."""
    t = _matrix(matrix.type)
    by_rows = t.layout is MatrixLayout.ROW_MAJOR
    major, minor = (row, column) if by_rows else (column, row)
    pointer = ctx.builder.element(matrix.pointer, ctx.types.of(t), [lvalues.ZERO, number(ctx, major, t.stride, minor)])
    return lvalues.MemoryPlace(pointer, t.element, min(matrix.align, ctx.types.align(t.element)), matrix.volatile)


def number(ctx: FunctionContext, line: ir.Value, length: int, at: ir.Value) -> ir.Value:
    """Return the index of element `at` of line number `line`, if each line has `length` elements."""
    if isinstance(line, ir.Constant):
        start = ir.Constant(I64, line.constant * length)
        if isinstance(at, ir.Constant):
            return ir.Constant(I64, start.constant + at.constant)
    else:
        start = ctx.builder.binary("mul", line, ir.Constant(I64, length))
    return ctx.builder.binary("add", start, at)


def index(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    """Return the value of an integer expression, converted to 64 bits."""
    return conversions.convert(ctx, ConvertKind.INT_TO_INT, ctx.rvalue(e), e.type, ULONG)
