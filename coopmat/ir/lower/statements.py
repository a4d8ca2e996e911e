"""Lowering of statements to basic blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.types import is_opaque
from ..type_map import undefined
from . import expressions, initializers, lvalues
from .context import FunctionContext
from .operators import branch_on


@dataclass(slots=True)
class Jumps:
    """The jump targets that are in scope.

    end: the target of break, or None.
    following: the target of continue, or None.
    cases: case value of the innermost switch (None: its default) -> block.
    labels: name -> block, for goto.
    """

    end: ir.Block | None = None
    following: ir.Block | None = None
    cases: dict[int | None, ir.Block] = field(default_factory=dict)
    labels: dict[str, ir.Block] = field(default_factory=dict)


def lower_body(ctx: FunctionContext, body: typed.Block) -> None:
    """Lower a function's body, and terminate each path that falls off its end."""
    _statement(ctx, body, Jumps())
    if ctx.live:
        if ctx.function.ftype.return_type == ir.VoidType():
            ctx.builder.ret_void()
        else:
            # Falling off the end is undefined only if the caller uses the value (C11 6.9.1).
            ctx.builder.ret(undefined(ctx.function.ftype.return_type))
    ctx.finish()


def nested(ctx: FunctionContext, body: typed.Block) -> None:
    """Lower the statements of a statement expression; afterwards a live block is current."""
    _statement(ctx, body, Jumps())
    _revive(ctx)


def _statement(ctx: FunctionContext, s: typed.Stmt, jumps: Jumps) -> None:
    if not ctx.live and not _has_label(s):
        return
    ctx.program.span = s.span
    before = ctx.at(s.span)
    _STATEMENTS[type(s)](ctx, s, jumps)
    ctx.at(before)


def _has_label(s: typed.Stmt) -> bool:
    """Return whether the statement contains a label or case label, so that jumps may reach parts of it."""
    work: list[typed.Stmt | None] = [s]
    while work:
        node = work.pop()
        if isinstance(node, (typed.Label, typed.Case)):
            return True
        if isinstance(node, typed.Block):
            work.extend(node.items)
        elif isinstance(node, typed.If):
            work += [node.then, node.otherwise]
        elif isinstance(node, (typed.While, typed.DoWhile, typed.For, typed.Switch)):
            work.append(node.body)
    return False


def _revive(ctx: FunctionContext) -> None:
    """If the insertion point is dead, start an unreachable block.

    The head of a statement with labels inside needs a block, though control only enters at those labels.
    """
    if not ctx.live:
        unreached = ctx.block("unreached")
        ctx.reach(unreached)
        ctx.begin(unreached)


def _block(ctx: FunctionContext, s: typed.Block, jumps: Jumps) -> None:
    for item in s.items:
        _statement(ctx, item, jumps)


def _declaration(ctx: FunctionContext, s: typed.DeclStmt, jumps: Jumps) -> None:
    if is_opaque(s.decl.type):
        return  # an image or sampler constant, which is rematerialized at each use
    variable = lvalues.variable(ctx, s.decl)
    if s.decl.initializer is not None and s.decl.storage != "static":
        initializers.initialize(ctx, variable, s.decl.initializer)


def _expression(ctx: FunctionContext, s: typed.ExprStmt, jumps: Jumps) -> None:
    expressions.operand(ctx, s.expr)


def _if(ctx: FunctionContext, s: typed.If, jumps: Jumps) -> None:
    end = ctx.block("if.end")
    while True:
        _revive(ctx)
        then = ctx.block("if.then")
        otherwise = ctx.block("if.else") if s.otherwise is not None else end
        branch_on(ctx, s.condition, then, otherwise)
        _part(ctx, then, s.then, jumps)
        ctx.jump(end)
        if not isinstance(s.otherwise, typed.If) or not ctx.begin(otherwise):
            break
        # Iterate over else-ifs, because recursion could overflow the stack.
        s = s.otherwise
    if s.otherwise is not None:
        _part(ctx, otherwise, s.otherwise, jumps)
    ctx.begin(end)


def _part(ctx: FunctionContext, block: ir.Block, s: typed.Stmt, jumps: Jumps) -> None:
    """Lower `s` in `block`; if the block is unreachable, only code after labels inside `s` is emitted."""
    ctx.begin(block)
    _statement(ctx, s, jumps)


def _loop_jumps(jumps: Jumps, end: ir.Block, following: ir.Block) -> Jumps:
    return Jumps(end, following, jumps.cases, jumps.labels)


def _mark(ctx: FunctionContext, back: ir.Value | None, unroll: int | None) -> None:
    if back is not None and unroll is not None:
        back.set_metadata("llvm.loop", ctx.module.loop_node(unroll))


def _while(ctx: FunctionContext, s: typed.While, jumps: Jumps) -> None:
    _revive(ctx)
    head, body, back, end = (ctx.block(f"while.{name}") for name in ("cond", "body", "back", "end"))
    ctx.begin(head)
    branch_on(ctx, s.condition, body, end)
    _part(ctx, body, s.body, _loop_jumps(jumps, end, back))
    if ctx.begin(back):
        _mark(ctx, ctx.jump(head), s.unroll)
    ctx.begin(end)


def _do_while(ctx: FunctionContext, s: typed.DoWhile, jumps: Jumps) -> None:
    _revive(ctx)
    body, test, back, end = (ctx.block(f"do.{name}") for name in ("body", "cond", "back", "end"))
    ctx.begin(body)
    _statement(ctx, s.body, _loop_jumps(jumps, end, test))
    if ctx.begin(test):
        # Emit one back edge, even for conditions that branch several times, to attach the loop metadata to.
        branch_on(ctx, s.condition, back, end)
        if ctx.begin(back):
            _mark(ctx, ctx.jump(body), s.unroll)
    ctx.begin(end)


def _for(ctx: FunctionContext, s: typed.For, jumps: Jumps) -> None:
    _revive(ctx)
    for item in s.init:
        _statement(ctx, item, jumps)
    head, body, step, end = (ctx.block(f"for.{name}") for name in ("cond", "body", "step", "end"))
    ctx.begin(head)
    if s.condition is None:
        ctx.jump(body)
    else:
        branch_on(ctx, s.condition, body, end)
    _part(ctx, body, s.body, _loop_jumps(jumps, end, step))
    if ctx.begin(step):
        if s.step is not None:
            expressions.operand(ctx, s.step)
        _mark(ctx, ctx.jump(head), s.unroll)
    ctx.begin(end)


def _switch(ctx: FunctionContext, s: typed.Switch, jumps: Jumps) -> None:
    _revive(ctx)
    value = expressions.rvalue(ctx, s.value)
    end = ctx.block("switch.end")
    cases: dict[int | None, ir.Block] = {case: ctx.block("case") for case in s.cases}
    default = end
    if s.has_default:
        default = cases[None] = ctx.block("default")
    ctx.reach(default)
    instruction = ctx.builder.switch(value, default)
    for case, block in cases.items():
        ctx.reach(block)
        if case is not None:
            instruction.add_case(ir.Constant(value.type, case), block)
    _statement(ctx, s.body, Jumps(end, jumps.following, cases, jumps.labels))
    ctx.begin(end)


def _case(ctx: FunctionContext, s: typed.Case, jumps: Jumps) -> None:
    # Consecutive case labels are nested.
    body: typed.Stmt = s
    while isinstance(body, typed.Case):
        ctx.begin(jumps.cases[body.value])
        body = body.body
    _statement(ctx, body, jumps)


def _label(ctx: FunctionContext, s: typed.Label, jumps: Jumps) -> None:
    block = _label_block(ctx, s.name, jumps)
    ctx.reach(block)
    ctx.begin(block)
    _statement(ctx, s.body, jumps)


def _label_block(ctx: FunctionContext, name: str, jumps: Jumps) -> ir.Block:
    block = jumps.labels.get(name)
    if block is None:
        block = jumps.labels[name] = ctx.block(f"label.{name}")
    return block


def _goto(ctx: FunctionContext, s: typed.Goto, jumps: Jumps) -> None:
    ctx.jump(_label_block(ctx, s.label, jumps))


def _break(ctx: FunctionContext, s: typed.Break, jumps: Jumps) -> None:
    if jumps.end is None:
        raise InternalError("a break outside of loops and switches", str(s.span))
    ctx.jump(jumps.end)


def _continue(ctx: FunctionContext, s: typed.Continue, jumps: Jumps) -> None:
    if jumps.following is None:
        raise InternalError("a continue outside of loops", str(s.span))
    ctx.jump(jumps.following)


def _return(ctx: FunctionContext, s: typed.Return, jumps: Jumps) -> None:
    if s.value is None:
        ctx.builder.ret_void()
        return
    if ctx.types.in_memory(s.value.type):
        if ctx.result is None:
            raise InternalError("a function returns in memory what it was not given memory for", str(s.span))
        result = lvalues.MemoryPlace(ctx.result, s.value.type, ctx.types.align(s.value.type))
        initializers.initialize(ctx, result, s.value)
        ctx.builder.ret_void()
        return
    value = expressions.operand(ctx, s.value)
    if ctx.function.ftype.return_type == ir.VoidType():
        ctx.builder.ret_void()
    else:
        ctx.builder.ret(value)


_STATEMENTS: dict[type, Callable[[FunctionContext, Any, Jumps], None]] = {
    typed.Block: _block,
    typed.DeclStmt: _declaration,
    typed.ExprStmt: _expression,
    typed.If: _if,
    typed.While: _while,
    typed.DoWhile: _do_while,
    typed.For: _for,
    typed.Switch: _switch,
    typed.Case: _case,
    typed.Label: _label,
    typed.Goto: _goto,
    typed.Break: _break,
    typed.Continue: _continue,
    typed.Return: _return,
}
