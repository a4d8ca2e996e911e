"""Conditions as i1 values and as branches: comparisons and logic never pass through an int."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from ...frontend import typed
from ...frontend.typed import ConvertKind
from ...frontend.types import ScalarType
from ..type_map import I1
from .context import FunctionContext
from .operators import COMPARISONS, compare, is_true


def condition(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    """Whether a scalar or pointer is not zero."""
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
    """To `then` where the condition holds, else to `otherwise`."""
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
    """The condition without the negations and conversions around it, and whether it is negated."""
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
    """Whether the conversion loses no bits of an integer."""
    source, target = e.operand.type, e.type
    if e.kind is not ConvertKind.INT_TO_INT or not isinstance(source, ScalarType):
        return False
    return isinstance(target, ScalarType) and target.bits >= source.bits


def _operands(e: typed.Logical) -> list[typed.Expr]:
    """Of a chain of one operator, from left to right."""
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
        following, done = ctx.block(e.op), ctx.block(f"{e.op}.end")
        head = ctx.builder.block
        targets = (done, following) if decided else (following, done)
        ctx.branch(result, *targets)
        ctx.begin(following)
        value = condition(ctx, operand)
        tail = ctx.builder.block
        ctx.begin(done)
        result = ctx.builder.phi(I1)
        result.add_incoming(ir.Constant(I1, decided), head)
        result.add_incoming(value, tail)
    return result


def choose(ctx: FunctionContext, e: typed.Conditional, evaluate: Callable[[typed.Expr], None]) -> None:
    """Code for the side that the condition chooses, all of a chain `a ? b : c ? d : ...`; goes on behind them."""
    done = ctx.block("choice.end")
    while True:
        then, otherwise = ctx.block("choice.then"), ctx.block("choice.else")
        branch_on(ctx, e.condition, then, otherwise)
        if ctx.begin(then):
            evaluate(e.then)
            ctx.jump(done)
        if not ctx.begin(otherwise):
            break
        if not isinstance(e.otherwise, typed.Conditional):
            evaluate(e.otherwise)
            break
        e = e.otherwise
    ctx.begin(done)
