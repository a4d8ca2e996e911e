"""The vectorizer's statements, and `vectorize`, the entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.nodes import copied, walk
from ..frontend.typed import Expr, Stmt
from ..frontend.typed.construct import load, variable
from ..frontend.types import (
    PLAIN,
    FunctionType,
    PointerType,
    ScalarType,
)
from .expressions import Expressions
from .vectors import (
    LINEAR,
    MASK,
    UNIFORM,
    VARYING,
    NotVectorizable,
    Retry,
    Value,
    Variance,
    assigned_variables,
)

# The largest number of ifs after a conditional return: the statements after the if are emitted once for each side.
_MOST_ENDS = 4


def vectorize(f: typed.FunctionDecl, variances: Sequence[Variance], width: int) -> typed.FunctionDecl | None:
    """Return a version of `f` that computes `width` components, or None if `f` cannot be vectorized.

    `variances` has one for each parameter. UNIFORM and LINEAR parameters keep their types; a LINEAR argument is the
    value for the first component and must be a multiple of `width`. VARYING parameters and the result are vectors.
    """
    varying: set[typed.VarDecl] = set()
    while True:
        try:
            return Vectorizer(f, variances, width, varying).run()
        except Retry:
            continue
        except NotVectorizable:
            return None


class Vectorizer(Expressions):
    def run(self) -> typed.FunctionDecl:
        f = self.f
        if f.body is None or not isinstance(f.type.result, ScalarType):
            raise NotVectorizable
        parameters = [self.parameter(p, variance) for p, variance in zip(f.parameters, self.variances, strict=True)]
        result = self.result(list(f.body.items))
        value = self.vector(result, f.type.result)
        body = typed.Block(f.body.span, [*self.out, typed.Return(f.body.span, value)])
        kind = FunctionType(value.type, tuple(p.type for p in parameters))
        name = f"{f.name}.{self.width}"
        attributes = {n: v for n, v in f.attributes.items() if n == "fp_contract"} | {"always_inline": True}
        return typed.FunctionDecl(f.span, name, kind, parameters, False, True, attributes, body)

    def parameter(self, p: typed.VarDecl, variance: Variance) -> typed.VarDecl:
        t = self.wide(p.type) if variance is VARYING else p.type
        new: typed.VarDecl = copied(p, type=t, initializer=None)
        if p in self.assigned and variance is LINEAR:
            raise NotVectorizable
        if p in self.assigned and variance is UNIFORM and p in self.varying:
            raise NotVectorizable
        self.variables[p] = new
        self.declared_under[p] = None
        self.values[p] = Value(variance, load(variable(new)), p.type, aligned=True)
        return new

    def result(self, statements: list[Stmt]) -> Value:
        """Emit statements that end in a return on every path, and return the function's result."""
        for n, s in enumerate(statements):
            rest = statements[n + 1 :]
            if isinstance(s, typed.Block):
                return self.result([*s.items, *rest])
            if isinstance(s, typed.Return):
                if s.value is None:
                    raise NotVectorizable
                return self.materialize(self.value(s.value))
            if isinstance(s, typed.If) and any(isinstance(node, typed.Return) for node in walk(s)):
                return self.results_of(s, rest)
            self.statement(s)
        raise NotVectorizable

    def results_of(self, s: typed.If, rest: list[Stmt]) -> Value:
        """Emit an if with a return in one side or in both, followed by `rest`, and return the function's result."""
        condition = self.value(s.condition)
        sides = [[side, *rest] if side is not None else rest for side in (s.then, s.otherwise)]
        if sum(isinstance(node, typed.If) for node in walk(*(r for r in rest))) > _MOST_ENDS:
            raise NotVectorizable
        if condition.variance is UNIFORM:
            results = []
            blocks = []
            for side in sides:
                outer, self.out = self.out, []
                results.append(self.result(side))
                blocks.append(self.out)
                self.out = outer
            t = results[0].type
            home = self.temporary(self.wide(t), s.span)
            for block, value in zip(blocks, results, strict=True):
                outer, self.out = self.out, block
                vector = self.vector(value, t)
                block.append(typed.ExprStmt(s.span, typed.Assign(s.span, vector.type, home, vector)))
                self.out = outer
            then, otherwise = (typed.Block(s.span, block) for block in blocks)
            self.out.append(typed.If(s.span, condition.expr, then, otherwise))
            return Value(VARYING, load(home), t)
        mask = self.truth(condition, s.span)
        outer_mask = self.mask
        values = []
        for truth, side in zip((mask, self.negated(mask)), sides, strict=True):
            self.mask = self.both(outer_mask, truth)
            values.append(self.result(side))
        self.mask = outer_mask
        return self.selected(mask, values[0], values[1], s.span)

    def statement(self, s: Stmt) -> None:
        handler = _STATEMENTS.get(type(s))
        if handler is None:
            raise NotVectorizable
        handler(self, s)

    def block(self, s: typed.Block) -> None:
        for item in s.items:
            self.statement(item)

    def declaration(self, s: typed.DeclStmt) -> None:
        decl = s.decl
        if decl.storage != "automatic" or not isinstance(decl.type, (ScalarType, PointerType)):
            raise NotVectorizable
        value = None if decl.initializer is None else self.value(decl.initializer)
        self.declared_under[decl] = self.mask
        # The name is made unique by a number, because variables of the same name in different scopes end up in one
        # function.
        name = f"v.{self.count}.{decl.name}"
        self.count += 1
        once = decl not in self.assigned
        if value is not None and once and value.variance is MASK:
            self.values[decl] = replace(value, expr=self.materialize_expr(value.expr))
            return
        if value is not None and once and value.variance in (UNIFORM, LINEAR) and value.narrow is None:
            new = copied(decl, name=name, initializer=value.expr)
            self.values[decl] = replace(value, expr=load(variable(new)), type=decl.type)
        elif decl in self.varying or (value is not None and value.variance is not UNIFORM):
            self.varying.add(decl)
            vector = None if value is None else self.vector(value, decl.type)
            new = copied(decl, name=name, type=self.wide(decl.type), initializer=vector, qualifiers=PLAIN)
            self.values[decl] = Value(VARYING, load(variable(new)), decl.type)
        else:
            new = copied(decl, name=name, initializer=None if value is None else value.expr)
            self.values[decl] = Value(UNIFORM, load(variable(new)), decl.type)
        self.variables[decl] = new
        self.out.append(typed.DeclStmt(s.span, new))

    def expression(self, s: typed.ExprStmt) -> None:
        e = s.expr
        if isinstance(e, typed.Assign):
            self.store(e.target, self.value(e.value), e.span)
        elif isinstance(e, typed.CompoundAssign):
            self.store(e.target, self.updated(e), e.span)
        elif isinstance(e, typed.IncDec) and isinstance(e.target.type, ScalarType) and e.target.type.is_integer:
            one = typed.IntConst(e.span, e.target.type, 1)
            op = "add" if e.step > 0 else "sub"
            value = typed.Binary(e.span, e.target.type, op, load(e.target), one)
            self.store(e.target, self.value(value), e.span)
        else:
            raise NotVectorizable

    def updated(self, e: typed.CompoundAssign) -> Value:
        old: Expr = load(e.target)
        if e.widen is not None:
            old = typed.Convert(e.span, e.computation, e.widen, old)
        if not isinstance(e.computation, ScalarType):
            raise NotVectorizable
        value: Expr = typed.Binary(e.span, e.computation, e.op, old, e.value)
        if e.narrow is not None:
            value = typed.Convert(e.span, e.target.type, e.narrow, value)
        return self.value(value)

    def store(self, target: typed.LValue, value: Value, span: Span) -> None:
        if not isinstance(target, typed.VarRef) or target.decl not in self.variables or target.place.volatile:
            raise NotVectorizable
        decl = target.decl
        old, home = self.values[decl], variable(self.variables[decl])
        under = self.mask if self.mask is not self.declared_under[decl] else None
        if old.variance is UNIFORM:
            if value.variance is not UNIFORM or under is not None:
                self.varying.add(decl)
                raise Retry
            new = value.expr
        else:
            new = self.vector(value, decl.type)
            if under is not None:
                new = self.select(under, new, old.expr, span)
        self.out.append(typed.ExprStmt(span, typed.Assign(span, new.type, home, new)))

    def condition(self, s: typed.If) -> None:
        condition = self.value(s.condition)
        if condition.variance is UNIFORM:
            blocks = [None if side is None else self.nested(side) for side in (s.then, s.otherwise)]
            self.out.append(typed.If(s.span, condition.expr, blocks[0] or typed.Block(s.span, []), blocks[1]))
            return
        mask, outer = self.truth(condition, s.span), self.mask
        for truth, side in ((mask, s.then), (self.negated(mask), s.otherwise)):
            if side is not None:
                self.mask = self.both(outer, truth)
                self.statement(side)
        self.mask = outer

    def nested(self, s: Stmt) -> typed.Block:
        outer, self.out = self.out, []
        self.statement(s)
        block, self.out = typed.Block(s.span, self.out), outer
        return block

    def loop(self, s: typed.For) -> None:
        outer, self.out = self.out, []
        for item in s.init:
            self.statement(item)
        if any(not isinstance(item, typed.DeclStmt) for item in self.out):
            raise NotVectorizable
        init: list[Stmt] = self.out
        self.out = []
        condition = None if s.condition is None else self.uniform(s.condition)
        if self.out:
            raise NotVectorizable
        self.loops += 1
        masks, self.mask = self.mask, self.mask
        self.statement(s.body)
        body, self.out = self.out, []
        self.mask = masks
        if s.step is not None:
            self.expression(typed.ExprStmt(s.span, s.step))
        steps = [item.expr for item in self.out if isinstance(item, typed.ExprStmt)]
        if len(steps) != len(self.out) or len(steps) > 1:
            raise NotVectorizable
        self.loops -= 1
        self.out = outer
        step = steps[0] if steps else None
        self.out.append(typed.For(s.span, init, condition, step, typed.Block(s.span, body), s.unroll))

    def leave(self, s: Stmt) -> None:
        """Emit a break or continue. Raise NotVectorizable under a mask: the loop must continue for all components."""
        if self.mask is not None or not self.loops:
            raise NotVectorizable
        self.out.append(s)

    def called(self, e: typed.Call) -> Value:
        values = [self.value(a) for a in e.arguments]
        if all(v.variance is UNIFORM for v in values):
            return Value(UNIFORM, copied(e, arguments=[v.expr for v in values]), e.type)
        return self.inlined(e, values)

    def inlined(self, e: typed.Call, values: list[Value]) -> Value:
        """Inline a call of a program function, whose variables must not be confused with the caller's."""
        f = e.function
        if f.body is None or not isinstance(e.type, ScalarType) or self.loops:
            raise NotVectorizable
        saved = self.values, self.variables, self.declared_under, self.assigned
        self.assigned = assigned_variables(f)
        if any(p in self.assigned for p in f.parameters):
            raise NotVectorizable
        materialize = [self.materialize(v) for v in values]
        self.values = {p: replace(v, type=p.type) for p, v in zip(f.parameters, materialize, strict=True)}
        self.variables, self.declared_under = {}, {}
        result = self.result(list(f.body.items))
        self.values, self.variables, self.declared_under, self.assigned = saved
        return result


_STATEMENTS: dict[type, Callable[[Vectorizer, Any], None]] = {
    typed.Block: Vectorizer.block,
    typed.DeclStmt: Vectorizer.declaration,
    typed.ExprStmt: Vectorizer.expression,
    typed.If: Vectorizer.condition,
    typed.For: Vectorizer.loop,
    typed.Break: Vectorizer.leave,
    typed.Continue: Vectorizer.leave,
}
