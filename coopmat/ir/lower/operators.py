"""Arithmetic and comparison of scalars and vectors, and conditions.

Conditions are lowered to i1 values or to branches, without an int in between.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from ...frontend import typed
from ...frontend.typed import ConvertKind
from ...frontend.types import (
    EVENT,
    INT,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    element_type,
    is_float,
    size_of,
)
from ...matrices.placeholders import NULL_EVENT
from ..type_map import I1, I8, I64
from .context import FunctionContext

COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_SIGNED = {"div": "sdiv", "rem": "srem", "shr": "ashr"}
_OVERFLOWING = ("add", "sub", "mul")
_UNSIGNED = {"div": "udiv", "rem": "urem", "shr": "lshr"}
# An equality with a NaN operand is false, an inequality true, and an order comparison false.
_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def zero(ctx: FunctionContext, t: Type) -> ir.Value:
    if t == EVENT:
        # The backend does not support constant events; `spirv.legalize` replaces this call by a null constant.
        return ctx.call(NULL_EVENT, ctx.types.of(t), [], ("nounwind", "readnone"))
    return ir.Constant(ctx.types.of(t), None)


def splat(ctx: FunctionContext, t: Type, value: int | float) -> ir.Constant:
    """Return the constant of scalar or vector type `t` whose every component is `value`."""
    return ir.Constant(ctx.types.of(t), value)


def is_signed(t: Type) -> bool:
    return bool(getattr(element_type(t), "signed", False))


def arithmetic(ctx: FunctionContext, op: str, t: Type, left: ir.Value, right: ir.Value) -> ir.Value:
    """Emit an arithmetic operation on operands of type `t`; `op` is as in `typed.Binary`."""
    element = element_type(t)
    if is_float(element):
        return ctx.builder.binary(_FLOAT[op], left, right, ctx.float_flags)
    if op in ("shl", "shr"):
        right = _shift_count(ctx, t, right)
    names = _SIGNED if is_signed(t) else _UNSIGNED
    return ctx.builder.binary(names.get(op, op), left, right, _overflow_flags(op, t))


def _overflow_flags(op: str, t: Type) -> tuple[str, ...]:
    """Return nsw if overflow is undefined, as clang does: for signed scalars (C11 6.5), but not for vectors.

    Operations on types narrower than int are only increments, which wrap in the conversion back; other operands are
    promoted.
    """
    exact = isinstance(t, ScalarType) and t.signed and t.bits >= INT.bits and op in _OVERFLOWING
    return ("nsw",) if exact else ()


def _shift_count(ctx: FunctionContext, t: Type, count: ir.Value) -> ir.Value:
    """Return the shift count modulo the width in bits (OpenCL C 3.0, section 6.7)."""
    mask = size_of(element_type(t)) * 8 - 1
    if isinstance(count, ir.Constant) and isinstance(count.constant, int):
        return ir.Constant(count.type, count.constant & mask)
    return ctx.builder.binary("and", count, splat(ctx, t, mask))


def compare(ctx: FunctionContext, op: str, t: Type, left: ir.Value, right: ir.Value) -> ir.Value:
    """Emit a comparison of operands of type `t`, which may be pointers; return an i1 or a vector of i1."""
    element = element_type(t)
    if is_float(element):
        return ctx.builder.compare("fcmp", _FLOAT_PREDICATES[op], left, right)
    if op not in ("eq", "ne"):
        op = ("s" if is_signed(t) else "u") + op
    return ctx.builder.compare("icmp", op, left, right)


def is_true(ctx: FunctionContext, t: Type, value: ir.Value) -> ir.Value:
    """Return whether the value is not zero, as an i1, or per component as a vector of i1."""
    if isinstance(value, ir.Constant) and isinstance(value.constant, (int, float)):
        return ir.Constant(ir.IntType(1), int(value.constant != 0))
    return compare(ctx, "ne", t, value, zero(ctx, t))


def from_truth(ctx: FunctionContext, t: Type, truth: ir.Value) -> ir.Value:
    """Convert an i1 to 0 or 1 of integer type `t`, or a vector of i1 to 0 or -1 in every component."""
    if isinstance(t, VectorType):
        return ctx.builder.sext(truth, ctx.types.of(t))
    if isinstance(truth, ir.Constant):
        return ir.Constant(ctx.types.of(t), int(truth.constant))
    return ctx.builder.zext(truth, ctx.types.of(t))


def negate(ctx: FunctionContext, t: Type, value: ir.Value) -> ir.Value:
    if is_float(element_type(t)):
        return ctx.builder.fneg(value, flags=ctx.float_flags)
    return arithmetic(ctx, "sub", t, zero(ctx, t), value)


def invert(ctx: FunctionContext, t: Type, value: ir.Value) -> ir.Value:
    """Return the bitwise complement."""
    return ctx.builder.binary("xor", value, splat(ctx, t, -1))


def add_to_pointer(ctx: FunctionContext, t: PointerType, pointer: ir.Value, index: ir.Value) -> ir.Value:
    # Arithmetic on void pointers is in bytes, as in GNU C.
    pointee = I8 if isinstance(t.pointee, VoidType) else ctx.types.of(t.pointee)
    return ctx.builder.element(pointer, pointee, [index])


def pointer_difference(ctx: FunctionContext, t: PointerType, left: ir.Value, right: ir.Value) -> ir.Value:
    """Return the difference of two pointers in elements."""
    addresses = [ctx.builder.ptrtoint(pointer, I64) for pointer in (left, right)]
    difference = ctx.builder.binary("sub", *addresses)
    size = max(size_of(t.pointee), 1)
    return difference if size == 1 else ctx.builder.exact_division(difference, ir.Constant(I64, size))


# --- conditions ------------------------------------------------------------------------------------


def condition(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    """Lower a condition to an i1: whether the scalar or pointer `e` is not zero."""
    e, inverted = _strip(e)
    if isinstance(e, typed.Logical):
        result = _logical(ctx, e)
    elif isinstance(e, typed.Binary) and e.op in COMPARISONS:
        result = compare(ctx, e.op, e.left.type, ctx.rvalue(e.left), ctx.rvalue(e.right))
    else:
        result = is_true(ctx, e.type, ctx.rvalue(e))
    if not inverted:
        return result
    if isinstance(result, ir.Constant):
        return ir.Constant(I1, 1 - result.constant)
    return ctx.builder.binary("xor", result, ir.Constant(I1, 1))


def branch_on(ctx: FunctionContext, e: typed.Expr, then: ir.Block, otherwise: ir.Block) -> None:
    """Branch to `then` if the condition holds, else to `otherwise`."""
    e, inverted = _strip(e)
    if inverted:
        then, otherwise = otherwise, then
    if not isinstance(e, typed.Logical):
        ctx.branch(condition(ctx, e), then, otherwise)
        return
    *first, last = _operands(e)
    for operand in first:
        following = ctx.block(e.op)
        if e.op == "land":
            branch_on(ctx, operand, following, otherwise)
        else:
            branch_on(ctx, operand, then, following)
        if not ctx.begin(following):
            return
    branch_on(ctx, last, then, otherwise)


def _strip(e: typed.Expr) -> tuple[typed.Expr, bool]:
    """Strip negations and conversions that keep zero; return the operand and whether it is negated."""
    inverted = False
    while True:
        if isinstance(e, typed.Unary) and e.op == "lnot" and isinstance(e.type, ScalarType):
            inverted = not inverted
            e = e.operand
        elif isinstance(e, typed.Convert) and (e.kind is ConvertKind.TO_BOOL or _keeps_zero(e)):
            e = e.operand
        else:
            return e, inverted


def _keeps_zero(e: typed.Convert) -> bool:
    """Return whether the conversion is an integer extension, which maps only zero to zero."""
    source, target = e.operand.type, e.type
    if e.kind is not ConvertKind.INT_TO_INT or not isinstance(source, ScalarType):
        return False
    return isinstance(target, ScalarType) and target.bits >= source.bits


def _operands(e: typed.Logical) -> list[typed.Expr]:
    """Return the operands of a chain of one operator, from left to right."""
    result: list[typed.Expr] = []
    left: typed.Expr = e
    while isinstance(left, typed.Logical) and left.op == e.op:
        result.append(left.right)
        left = left.left
    result.append(left)
    result.reverse()
    return result


def _logical(ctx: FunctionContext, e: typed.Logical) -> ir.Value:
    decided = int(e.op == "lor")
    first, *rest = _operands(e)
    result = condition(ctx, first)
    for operand in rest:
        if isinstance(result, ir.Constant):
            if bool(result.constant) == bool(decided):
                return result
            result = condition(ctx, operand)
            continue
        following, end = ctx.block(e.op), ctx.block(f"{e.op}.end")
        head = ctx.builder.block
        targets = (end, following) if decided else (following, end)
        ctx.branch(result, *targets)
        ctx.begin(following)
        value = condition(ctx, operand)
        tail = ctx.builder.block
        ctx.begin(end)
        result = ctx.builder.phi(I1)
        result.add_incoming(ir.Constant(I1, decided), head)
        result.add_incoming(value, tail)
    return result


def choose(ctx: FunctionContext, e: typed.Conditional, evaluate: Callable[[typed.Expr], None]) -> None:
    """Branch to the side that the condition selects, let `evaluate` lower each side, and continue after them.

    A chain `a ? b : c ? d : ...` is lowered in a loop.
    """
    end = ctx.block("choice.end")
    while True:
        then, otherwise = ctx.block("choice.then"), ctx.block("choice.else")
        branch_on(ctx, e.condition, then, otherwise)
        if ctx.begin(then):
            evaluate(e.then)
            ctx.jump(end)
        if not ctx.begin(otherwise):
            break
        if not isinstance(e.otherwise, typed.Conditional):
            evaluate(e.otherwise)
            break
        e = e.otherwise
    ctx.begin(end)
