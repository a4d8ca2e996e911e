"""Lowering of expressions to values.

Left-deep chains of operators, which are long in generated code, are iterated over, not recursed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from ...diagnostics import CompileError, Diagnostic, InternalError, Severity
from ...frontend import builtins, typed
from ...frontend.typed import ConvertKind
from ...frontend.types import (
    BOOL,
    AddressSpace,
    ConstantMatrixType,
    CoopMatrixType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    element_count,
)
from ...matrix_types import trees as matrix_trees
from ..type_map import I32, I64, undefined
from . import images, initializers, lvalues, matrix_vectors, native_matrices
from .builtins import lower_builtin
from .context import FunctionContext
from .conversions import convert, swizzle
from .operators import (
    COMPARISONS,
    add_to_pointer,
    arithmetic,
    choose,
    compare,
    condition,
    from_truth,
    invert,
    is_true,
    negate,
    pointer_difference,
    splat,
    zero,
)

# Expressions whose object nothing else refers to, so that the object may be passed to a callee without a copy.
_FRESH = (
    typed.Call,
    typed.Aggregate,
)


def operand(ctx: FunctionContext, e: typed.Expr) -> lvalues.Operand:
    """Lower `e`, and return its value: a location for types handled in memory, or None for a void expression."""
    pending: list[tuple[typed.Expr, Callable[..., Any]]] = []
    while True:
        step = _STEPS.get(type(e))
        if step is None or not (inner := step[0](e)):
            break
        pending.append((e, step[1]))
        e = inner
    if ctx.options.marks:
        ctx.program.span = e.span
    value = _LEAVES[type(e)](ctx, e)
    while pending:
        e, apply = pending.pop()
        if ctx.options.marks:
            ctx.program.span = e.span
        value = apply(ctx, e, value)
    return value


def rvalue(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    """Lower `e`, and return its value: an address for types handled in memory."""
    result = operand(ctx, e)
    return result.pointer if isinstance(result, lvalues.MemoryPlace) else result


# --- steps: an operation on the value of the first operand -----------------------------------------


def _first_of_unary(e: typed.Unary) -> typed.Expr | None:
    # `condition` lowers a chain of negations as one i1.
    return None if e.op == "lnot" and isinstance(e.type, ScalarType) else e.operand


def _unary(ctx: FunctionContext, e: typed.Unary, value: ir.Value) -> ir.Value:
    if e.op == "neg":
        return negate(ctx, e.type, value)
    if e.op == "not":
        return invert(ctx, e.type, value)
    equal = compare(ctx, "eq", e.operand.type, value, zero(ctx, e.operand.type))
    return from_truth(ctx, e.type, equal)


def _binary(ctx: FunctionContext, e: typed.Binary, left: ir.Value) -> ir.Value:
    right = rvalue(ctx, e.right)
    if e.op in COMPARISONS:
        return from_truth(ctx, e.type, compare(ctx, e.op, e.left.type, left, right))
    if e.op in ("land", "lor"):
        truths = [is_true(ctx, side.type, v) for side, v in ((e.left, left), (e.right, right))]
        return from_truth(ctx, e.type, ctx.builder.binary(e.op[1:], *truths))
    return arithmetic(ctx, e.op, e.type, left, right)


def _first_of_convert(e: typed.Convert) -> typed.Expr | None:
    return None if e.kind in (ConvertKind.DECAY, ConvertKind.TO_BOOL) else e.operand


def _convert(ctx: FunctionContext, e: typed.Convert, value: lvalues.Operand) -> lvalues.Operand:
    source, target = e.operand.type, e.type
    if e.kind is ConvertKind.SAMPLER:
        return images.constant_sampler(ctx, value)
    return convert(ctx, e.kind, value, source, target)


def _pointer_add(ctx: FunctionContext, e: typed.PointerAdd, pointer: ir.Value) -> ir.Value:
    assert isinstance(e.type, PointerType)
    return add_to_pointer(ctx, e.type, pointer, rvalue(ctx, e.index))


def _extract_swizzle(ctx: FunctionContext, e: typed.ExtractSwizzle, vector: ir.Value) -> ir.Value:
    return swizzle(ctx, vector, e.indices)


def _comma(ctx: FunctionContext, e: typed.Comma, _: lvalues.Operand) -> lvalues.Operand:
    return operand(ctx, e.right)


def _extract_member(ctx: FunctionContext, e: typed.ExtractMember, record: lvalues.Operand) -> lvalues.Operand:
    if not isinstance(record, lvalues.MemoryPlace):
        raise InternalError("a record is handled in memory")
    return record.member(ctx, e.index, False).read(ctx)


# --- leaves ----------------------------------------------------------------------------------------


def _constant(ctx: FunctionContext, e: typed.IntConst | typed.FloatConst) -> ir.Value:
    return initializers.scalar(ctx.program, e)


def _zero(ctx: FunctionContext, e: typed.Zero) -> lvalues.Operand:
    if isinstance(e.type, VoidType):
        return None  # a cast to void is represented by a comma whose right-hand side is this Zero, which has no value
    if isinstance(e.type, ConstantMatrixType):
        return ir.Constant(ctx.types.value(e.type), None)
    return _in_temporary(ctx, e) if ctx.types.in_memory(e.type) else zero(ctx, e.type)


def _in_temporary(ctx: FunctionContext, e: typed.Expr) -> lvalues.MemoryPlace:
    result = lvalues.temporary(ctx, e.type)
    initializers.initialize(ctx, result, e)
    return result


def _load(ctx: FunctionContext, e: typed.Load) -> lvalues.Operand:
    if isinstance(e.type, PointerType) and isinstance(e.operand, typed.VarRef):
        decl = e.operand.decl
        if decl.qualifiers.space is AddressSpace.CONSTANT and decl.initializer is not None:
            # Use the initializer: the value never changes, and SPIR-V does not allow every address in an initializer.
            return rvalue(ctx, decl.initializer)
    return lvalues.place(ctx, e.operand).read(ctx)


def _truth(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    return from_truth(ctx, e.type, condition(ctx, e))


def _convert_object(ctx: FunctionContext, e: typed.Convert) -> ir.Value:
    if e.kind is ConvertKind.TO_BOOL:
        return from_truth(ctx, BOOL, condition(ctx, e.operand))
    assert isinstance(e.operand, typed.LValue)
    array = lvalues.memory(ctx, e.operand)
    first = ir.Constant(I64, 0)
    return ctx.builder.element(array.pointer, ctx.types.of(array.type), [first, first])


def _pointer_difference(ctx: FunctionContext, e: typed.PointerDifference) -> ir.Value:
    assert isinstance(e.left.type, PointerType)
    return pointer_difference(ctx, e.left.type, rvalue(ctx, e.left), rvalue(ctx, e.right))


def _address_of(ctx: FunctionContext, e: typed.AddressOf) -> ir.Value:
    return lvalues.memory(ctx, e.operand).pointer


def _assign(ctx: FunctionContext, e: typed.Assign) -> lvalues.Operand:
    # Iterate over a chain of assignments, a = b = c.
    targets = [e.target]
    value = e.value
    while isinstance(value, typed.Assign):
        targets.append(value.target)
        value = value.value
    result = operand(ctx, value)
    for target in reversed(targets):
        place = lvalues.place(ctx, target)
        place.write(ctx, result)
        if isinstance(place, lvalues.MemoryPlace) and isinstance(result, lvalues.MemoryPlace):
            result = place
    return result


def _compound_assign(ctx: FunctionContext, e: typed.CompoundAssign) -> lvalues.Operand:
    if isinstance(e.computation, ConstantMatrixType):
        return matrix_vectors.compound_assign(ctx, e)
    value = operand(ctx, e.value)
    place = lvalues.place(ctx, e.target)
    old = place.read(ctx)
    t = e.computation
    if e.widen is not None:
        old = convert(ctx, e.widen, old, e.target.type, t)
    if isinstance(t, CoopMatrixType):
        result = native_matrices.binary(ctx, t, e.op, old, value)
    elif isinstance(t, PointerType):
        step = value if e.op == "add" else ctx.builder.binary("sub", ir.Constant(I64, 0), value)
        result = add_to_pointer(ctx, t, old, step)
    else:
        result = arithmetic(ctx, e.op, t, old, value)
    if e.narrow is not None:
        result = convert(ctx, e.narrow, result, t, e.target.type)
    place.write(ctx, result)
    return result


def _inc_dec(ctx: FunctionContext, e: typed.IncDec) -> ir.Value:
    place = lvalues.place(ctx, e.target)
    t = e.target.type
    old = place.read(ctx)
    if isinstance(t, PointerType):
        new = add_to_pointer(ctx, t, old, ir.Constant(I64, e.step))
    else:
        new = arithmetic(ctx, "add", t, old, splat(ctx, t, e.step))
        if t == BOOL:
            new = from_truth(ctx, BOOL, is_true(ctx, BOOL, new))
    place.write(ctx, new)
    return new if e.prefix else old


def _conditional(ctx: FunctionContext, e: typed.Conditional) -> lvalues.Operand:
    if ctx.types.in_memory(e.type):
        return _in_temporary(ctx, e)
    arms: list[tuple[ir.Value, ir.Block]] = []

    def evaluate(side: typed.Expr) -> None:
        value = operand(ctx, side)
        arms.append((value, ctx.builder.block))

    choose(ctx, e, evaluate)
    if len(arms) == 1 or isinstance(e.type, VoidType):
        return arms[0][0]
    result = ctx.builder.phi(ctx.types.value(e.type))
    for value, block in arms:
        result.add_incoming(value, block)
    return result


def _statement_expression(ctx: FunctionContext, e: typed.StatementExpression) -> lvalues.Operand:
    """Emit the statements at the insertion point, then return the expression's value."""
    ctx.nested(e.body)
    return operand(ctx, e.value)


def _vector_select(ctx: FunctionContext, e: typed.VectorSelect) -> ir.Value:
    mask = rvalue(ctx, e.condition)
    truth = ctx.builder.compare("icmp", "slt", mask, zero(ctx, e.condition.type))
    return ctx.builder.select(truth, rvalue(ctx, e.then), rvalue(ctx, e.otherwise))


def _vector_literal(ctx: FunctionContext, e: typed.VectorLiteral) -> ir.Value:
    constant = initializers.constant(ctx.program, e) if initializers.is_constant(e) else None
    if constant is not None:
        return constant
    values = [rvalue(ctx, item) for item in e.items]
    if len(values) == 1 and element_count(e.items[0].type) == element_count(e.type):
        return values[0]
    result: ir.Value = undefined(ctx.types.of(e.type))
    at = 0
    for item, value in zip(e.items, values, strict=True):
        for part in _components(ctx, item.type, value):
            result = ctx.builder.insert_element(result, part, ir.Constant(I32, at))
            at += 1
    return result


def _components(ctx: FunctionContext, t: Type, value: ir.Value) -> list[ir.Value]:
    if not isinstance(t, VectorType):
        return [value]
    return [ctx.builder.extract_element(value, ir.Constant(I32, i)) for i in range(t.count)]


def _call(ctx: FunctionContext, e: typed.Call) -> lvalues.Operand:
    arguments = [argument(ctx, part) for part in e.arguments]
    function = ctx.program.callee(e.function)
    if not ctx.types.in_memory(e.type):
        return ctx.builder.call(function, arguments)
    result = lvalues.temporary(ctx, e.type)
    ctx.builder.call(function, [result.pointer, *arguments])
    return result


def argument(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    """Return the argument for a call's parameter; a value handled in memory is passed by the address of a copy."""
    value = operand(ctx, e)
    if not isinstance(value, lvalues.MemoryPlace):
        return value
    if isinstance(e, _FRESH):
        return value.pointer
    # The callee may modify its parameter.
    own = lvalues.temporary(ctx, e.type)
    lvalues.copy(ctx, own, value)
    return own.pointer


def _builtin_call(ctx: FunctionContext, e: typed.BuiltinCall) -> lvalues.Operand:
    arguments = [rvalue(ctx, argument) for argument in e.arguments]
    row = builtins.find(e.name)
    if row is not None and row.spirv > ctx.options.spirv_version:
        text = f"'{e.name}' needs SPIR-V {row.spirv}, and {ctx.options.spirv_version} was asked for"
        raise CompileError([Diagnostic(Severity.ERROR, "spirv-version", text, e.span)])
    if row is not None:
        ctx.module.extensions.update(row.extensions.split())
    if ctx.options.marks:
        ctx.program.span = e.span
    return lower_builtin(ctx, e, arguments)


def _vector_of_matrix(ctx: FunctionContext, e: typed.VectorOfMatrix) -> lvalues.Operand:
    return matrix_vectors.vector_of_matrix(ctx, e)


def _matrix_of_vector(ctx: FunctionContext, e: typed.MatrixOfVector) -> lvalues.Operand:
    return matrix_vectors.matrix_of_vector(ctx, e)


def _matrix_memory_store(ctx: FunctionContext, e: typed.MatrixMemoryStore) -> None:
    matrix_vectors.memory_store(ctx, e)


def _matrix_tree(ctx: FunctionContext, e: typed.Expr) -> lvalues.Operand:
    return matrix_vectors.value(ctx, e)


def _compound_literal_value(ctx: FunctionContext, e: typed.LValue) -> lvalues.Operand:
    return lvalues.place(ctx, e).read(ctx)


Step = tuple[Callable[[Any], "typed.Expr | None"], Callable[..., Any]]
_STEPS: dict[type, Step] = {
    typed.Unary: (_first_of_unary, _unary),
    typed.Binary: (lambda e: e.left, _binary),
    typed.Convert: (_first_of_convert, _convert),
    typed.PointerAdd: (lambda e: e.pointer, _pointer_add),
    typed.ExtractSwizzle: (lambda e: e.operand, _extract_swizzle),
    typed.ExtractMember: (lambda e: e.operand, _extract_member),
    typed.Comma: (lambda e: e.left, _comma),
    **native_matrices.STEPS,
}
_LEAVES: dict[type, Callable[..., Any]] = {
    typed.IntConst: _constant,
    typed.FloatConst: _constant,
    typed.Zero: _zero,
    typed.Load: _load,
    typed.Unary: _truth,
    typed.Logical: _truth,
    typed.Convert: _convert_object,
    typed.PointerDifference: _pointer_difference,
    typed.AddressOf: _address_of,
    typed.Assign: _assign,
    typed.CompoundAssign: _compound_assign,
    typed.IncDec: _inc_dec,
    typed.Conditional: _conditional,
    typed.StatementExpression: _statement_expression,
    typed.VectorSelect: _vector_select,
    typed.VectorLiteral: _vector_literal,
    typed.Aggregate: _in_temporary,
    typed.Call: _call,
    typed.BuiltinCall: _builtin_call,
    **native_matrices.LEAVES,
    typed.VectorOfMatrix: _vector_of_matrix,
    typed.MatrixOfVector: _matrix_of_vector,
    typed.MatrixMemoryStore: _matrix_memory_store,
    **dict.fromkeys(matrix_trees.TREES, _matrix_tree),
    **dict.fromkeys((typed.StringConst, typed.CompoundLiteral), _compound_literal_value),
}
