"""Functions of scalars as functions of vectors: what a function gives for several components side by side, by vector
instructions. Compilers for CPUs do not vectorise loops that call functions such as exp.

    wide = widened(function, (UNIFORM, CONSECUTIVE, VARYING), 16)

Both sides of a condition that differs from component to component are calculated, loads only where they would be.
What cannot be said so (a loop that ends earlier for some, an array of its own) makes no wide function: None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ..diagnostics import Span
from ..frontend import builtins, typed
from ..frontend.nodes import children, walk
from ..frontend.typed import ConvertKind, Expr, Stmt
from ..frontend.types import (
    BOOL,
    INT,
    PLAIN,
    ULONG,
    FunctionType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    integer_type,
)
from .functions import copied, with_children
from .storage import load, variable


class Kind(Enum):
    """What a value is for the components side by side: the same; for number n the first one's plus n; of its own; or a
    truth of its own, as -1 or 0."""

    UNIFORM = "uniform"
    CONSECUTIVE = "consecutive"
    VARYING = "varying"
    MASK = "mask"


UNIFORM, CONSECUTIVE, VARYING, MASK = Kind


class _NotWideError(Exception):
    """Raised for what has no vectors."""


class _AgainError(Exception):
    """Raised when a variable that was taken for uniform is not."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of scalar type `type` in the function as it was. `expr` is of that type if it is uniform or consecutive,
    the first one's then; else a vector. `aligned`: a consecutive value's first one is a multiple of the width, and not
    negative. `wraps`: it may go beyond the type's range and begin at 0 again. `narrow`: it is that value, which may
    wrap, in a wider type; only if it does not, this one is consecutive."""

    kind: Kind
    expr: Expr
    type: Type
    aligned: bool = False
    wraps: bool = False
    narrow: _Value | None = None


def widened(f: typed.FunctionDecl, kinds: Sequence[Kind], width: int) -> typed.FunctionDecl | None:
    """Return the function of `width` components: its parameters are like `f`'s where `kinds` says UNIFORM or
    CONSECUTIVE, whose first one is a multiple of the width; VARYING ones are vectors, and so is the result. None where
    there is none."""
    varying: set[typed.VarDecl] = set()
    while True:
        try:
            return _Widener(f, kinds, width, varying).run()
        except _AgainError:
            continue
        except _NotWideError:
            return None


class _Widener:
    """One attempt. `varying` are the variables that are known to be vectors, to which it adds."""

    def __init__(self, f: typed.FunctionDecl, kinds: Sequence[Kind], width: int, varying: set[typed.VarDecl]) -> None:
        self.f, self.kinds, self.width, self.varying = f, kinds, width, varying
        self.values: dict[typed.VarDecl, _Value] = {}
        self.variables: dict[typed.VarDecl, typed.VarDecl] = {}
        # The truth under which a variable was declared: while it lasts, the variable may stay uniform.
        self.declared_under: dict[typed.VarDecl, Expr | None] = {}
        self.assigned = _assigned(f)
        self.mask: Expr | None = None
        self.count = 0
        self.loops = 0
        self.out: list[Stmt] = []

    def run(self) -> typed.FunctionDecl:
        f = self.f
        if f.body is None or not isinstance(f.type.result, ScalarType):
            raise _NotWideError
        parameters = [self.parameter(p, kind) for p, kind in zip(f.parameters, self.kinds, strict=True)]
        result = self.result(list(f.body.items))
        value = self.vector(result, f.type.result)
        body = typed.Block(f.body.span, [*self.out, typed.Return(f.body.span, value)])
        kind = FunctionType(value.type, tuple(p.type for p in parameters))
        name = f"{f.name}.{self.width}"
        attributes = {n: v for n, v in f.attributes.items() if n == "fp_contract"} | {"always_inline": True}
        return typed.FunctionDecl(f.span, name, kind, parameters, False, True, attributes, body)

    def parameter(self, p: typed.VarDecl, kind: Kind) -> typed.VarDecl:
        t = self.wide(p.type) if kind is VARYING else p.type
        new: typed.VarDecl = copied(p, type=t, initializer=None)
        if p in self.assigned and kind is CONSECUTIVE:
            raise _NotWideError
        if p in self.assigned and kind is UNIFORM and p in self.varying:
            raise _NotWideError
        self.variables[p] = new
        self.declared_under[p] = None
        self.values[p] = _Value(kind, load(variable(new)), p.type, aligned=True)
        return new

    # --- statements ------------------------------------------------------------------------------

    def result(self, statements: list[Stmt]) -> _Value:
        """Emit statements that end the function, and return what they give."""
        for n, s in enumerate(statements):
            rest = statements[n + 1 :]
            if isinstance(s, typed.Block):
                return self.result([*s.items, *rest])
            if isinstance(s, typed.Return):
                if s.value is None:
                    raise _NotWideError
                return self.held(self.value(s.value))
            if isinstance(s, typed.If) and any(isinstance(node, typed.Return) for node in walk(s)):
                return self.results_of(s, rest)
            self.statement(s)
        raise _NotWideError

    def results_of(self, s: typed.If, rest: list[Stmt]) -> _Value:
        """What a function gives that ends in one side of a condition, or in both."""
        condition = self.value(s.condition)
        sides = [[side, *rest] if side is not None else rest for side in (s.then, s.otherwise)]
        if sum(isinstance(node, typed.If) for node in walk(*(r for r in rest))) > _MOST_ENDS:
            raise _NotWideError
        if condition.kind is UNIFORM:
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
            return _Value(VARYING, load(home), t)
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
            raise _NotWideError
        handler(self, s)

    def block(self, s: typed.Block) -> None:
        for item in s.items:
            self.statement(item)

    def declaration(self, s: typed.DeclStmt) -> None:
        decl = s.decl
        if decl.storage != "automatic" or not isinstance(decl.type, (ScalarType, PointerType)):
            raise _NotWideError
        value = None if decl.initializer is None else self.value(decl.initializer)
        self.declared_under[decl] = self.mask
        # Without the scope that distinguished it from others of its name.
        name = f"v.{self.count}.{decl.name}"
        self.count += 1
        once = decl not in self.assigned
        if value is not None and once and value.kind is MASK:
            self.values[decl] = replace(value, expr=self.held_expr(value.expr))
            return
        if value is not None and once and value.kind in (UNIFORM, CONSECUTIVE) and value.narrow is None:
            new = copied(decl, name=name, initializer=value.expr)
            self.values[decl] = replace(value, expr=load(variable(new)), type=decl.type)
        elif decl in self.varying or (value is not None and value.kind is not UNIFORM):
            self.varying.add(decl)
            vector = None if value is None else self.vector(value, decl.type)
            new = copied(decl, name=name, type=self.wide(decl.type), initializer=vector, qualifiers=PLAIN)
            self.values[decl] = _Value(VARYING, load(variable(new)), decl.type)
        else:
            new = copied(decl, name=name, initializer=None if value is None else value.expr)
            self.values[decl] = _Value(UNIFORM, load(variable(new)), decl.type)
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
            raise _NotWideError

    def updated(self, e: typed.CompoundAssign) -> _Value:
        old: Expr = load(e.target)
        if e.widen is not None:
            old = typed.Convert(e.span, e.computation, e.widen, old)
        if not isinstance(e.computation, ScalarType):
            raise _NotWideError
        value: Expr = typed.Binary(e.span, e.computation, e.op, old, e.value)
        if e.narrow is not None:
            value = typed.Convert(e.span, e.target.type, e.narrow, value)
        return self.value(value)

    def store(self, target: typed.LValue, value: _Value, span: Span) -> None:
        if not isinstance(target, typed.VarRef) or target.decl not in self.variables or target.place.volatile:
            raise _NotWideError
        decl = target.decl
        old, home = self.values[decl], variable(self.variables[decl])
        under = self.mask if self.mask is not self.declared_under[decl] else None
        if old.kind is UNIFORM:
            if value.kind is not UNIFORM or under is not None:
                self.varying.add(decl)
                raise _AgainError
            new = value.expr
        else:
            new = self.vector(value, decl.type)
            if under is not None:
                new = self.select(under, new, old.expr, span)
        self.out.append(typed.ExprStmt(span, typed.Assign(span, new.type, home, new)))

    def condition(self, s: typed.If) -> None:
        condition = self.value(s.condition)
        if condition.kind is UNIFORM:
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
            raise _NotWideError
        init: list[Stmt] = self.out
        self.out = []
        condition = None if s.condition is None else self.uniform(s.condition)
        if self.out:
            raise _NotWideError
        self.loops += 1
        masks, self.mask = self.mask, self.mask
        self.statement(s.body)
        body, self.out = self.out, []
        self.mask = masks
        if s.step is not None:
            self.expression(typed.ExprStmt(s.span, s.step))
        steps = [item.expr for item in self.out if isinstance(item, typed.ExprStmt)]
        if len(steps) != len(self.out) or len(steps) > 1:
            raise _NotWideError
        self.loops -= 1
        self.out = outer
        step = steps[0] if steps else None
        self.out.append(typed.For(s.span, init, condition, step, typed.Block(s.span, body), s.unroll))

    def leave(self, s: Stmt) -> None:
        """A break or continue, of a loop that goes on for all or none."""
        if self.mask is not None or not self.loops:
            raise _NotWideError
        self.out.append(s)

    def uniform(self, e: Expr) -> Expr:
        value = self.value(e)
        if value.kind is not UNIFORM:
            raise _NotWideError
        return value.expr

    # --- values ----------------------------------------------------------------------------------

    def value(self, e: Expr) -> _Value:
        handler = _VALUES.get(type(e))
        if handler is None or (not isinstance(e.type, ScalarType) and not isinstance(e.type, PointerType)):
            return self.as_uniform(e)
        return handler(self, e)

    def as_uniform(self, e: Expr) -> _Value:
        """An expression of another kind, all parts of which are the same for all components."""
        if isinstance(e, (typed.Assign, typed.CompoundAssign, typed.IncDec, typed.StatementExpression)):
            raise _NotWideError
        if isinstance(e, typed.VarRef):
            new = self.variables.get(e.decl)
            if new is None or self.values[e.decl].kind is not UNIFORM:
                if new is None and e.decl.storage == "static":
                    return _Value(UNIFORM, e, e.type)
                raise _NotWideError
            return _Value(UNIFORM, copied(e, decl=new), e.type)
        parts = [self.uniform_part(child) for child in children(e)]
        return _Value(UNIFORM, with_children(e, parts, e.type), e.type)

    def uniform_part(self, node: Any) -> Expr:
        if not isinstance(node, Expr):
            raise _NotWideError
        return self.uniform(node)

    def constant(self, e: Expr) -> _Value:
        return _Value(UNIFORM, e, e.type)

    def loaded(self, e: typed.Load) -> _Value:
        target = e.operand
        if isinstance(target, typed.VarRef) and target.decl in self.values:
            return self.values[target.decl]
        if target.place.volatile:
            raise _NotWideError
        values = [self.value(index) for index in _indices(target)]
        if all(v.kind is UNIFORM for v in values):
            return self.as_uniform(e)
        if not isinstance(e.type, ScalarType) or e.type.is_bits or e.type is BOOL:
            raise _NotWideError
        return self.gathered(e, target, values)

    def gathered(self, e: typed.Load, target: typed.LValue, values: list[_Value]) -> _Value:
        """Elements of memory: as a vector where they are neighbours, else each by itself."""
        indices = [v if v.kind is UNIFORM else self.held_index(v, e.span) for v in values]
        mask = self.mask
        first = indices[0]
        others = all(v.kind is UNIFORM for v in indices[1:])
        at_once = None
        if first.kind is CONSECUTIVE and others and isinstance(target, (typed.Index, typed.Deref)):
            at_once = self.neighbours(e, target, [v.expr for v in indices], first)
            if mask is None and first.narrow is None:
                return _Value(VARYING, at_once, e.type)
        lanes: list[Expr] = []
        for n in range(self.width):
            part: Expr = load(self.rebuilt(target, [self.lane(v, n) for v in indices]))
            if mask is not None:
                truth = typed.ExtractSwizzle(e.span, _element(mask.type), mask, (n,))
                part = typed.Conditional(e.span, e.type, truth, part, typed.Zero(e.span, e.type))
            lanes.append(part)
        each: Expr = typed.VectorLiteral(e.span, self.wide(e.type), lanes)
        if at_once is not None:
            each = typed.Conditional(e.span, each.type, self.may_load_at_once(first, mask, e.span), at_once, each)
        return _Value(VARYING, each, e.type)

    def held_index(self, v: _Value, span: Span) -> _Value:
        if v.kind is CONSECUTIVE:
            return v
        return self.held(_Value(VARYING, self.vector(v, v.type), v.type))

    def lane(self, v: _Value, n: int) -> Expr:
        """One component's own value."""
        if v.kind is UNIFORM:
            return v.expr
        if v.narrow is not None:
            return typed.Convert(v.expr.span, v.type, ConvertKind.INT_TO_INT, self.lane(v.narrow, n))
        if v.kind is CONSECUTIVE:
            return typed.Binary(v.expr.span, v.type, "add", v.expr, typed.IntConst(v.expr.span, v.type, n))
        return typed.ExtractSwizzle(v.expr.span, v.type, v.expr, (n,))

    def neighbours(self, e: typed.Load, target: typed.LValue, indices: list[Expr], first: _Value) -> Expr:
        """A vector of neighbours in memory, from the first one's place on."""
        place = self.rebuilt(target, indices)
        qualifiers = replace(place.place, restrict=False)
        pointer_type = PointerType(e.type, qualifiers)
        if isinstance(place, typed.Deref):
            pointer = place.pointer
        else:
            pointer = typed.AddressOf(e.span, pointer_type, place)
        overload = builtins.resolve(f"vload{self.width}", [ULONG, pointer.type])
        if not isinstance(overload, builtins.Overload):
            raise _NotWideError
        arguments = [typed.IntConst(e.span, ULONG, 0), _as(pointer, overload.parameters[1])]
        return typed.BuiltinCall(
            e.span, overload.result, overload.name, overload.lowering, overload.parameters, arguments
        )

    def may_load_at_once(self, first: _Value, mask: Expr | None, span: Span) -> Expr:
        conditions: list[Expr] = []
        if first.narrow is not None:
            t = first.narrow.type
            assert isinstance(t, ScalarType)
            most = typed.IntConst(span, t, (1 << t.bits) - self.width)
            conditions.append(typed.Binary(span, INT, "le", first.narrow.expr, most))
        if mask is not None:
            conditions.append(self.call("all", [mask], span))
        result = conditions[0]
        for condition in conditions[1:]:
            result = typed.Logical(span, INT, "land", result, condition)
        return result

    def rebuilt(self, target: typed.LValue, indices: list[Expr]) -> typed.LValue:
        """The object with other indices, in the order of `_indices`."""
        rest = list(indices)

        def place(e: Any) -> Any:
            if isinstance(e, typed.Index):
                index = rest.pop(0)
                return copied(e, base=place(e.base), index=index)
            if isinstance(e, typed.Member):
                return copied(e, base=place(e.base))
            if isinstance(e, typed.Deref):
                return copied(e, pointer=pointer(e.pointer))
            return self.as_uniform(e).expr

        def pointer(e: Any) -> Any:
            if isinstance(e, typed.PointerAdd):
                index = rest.pop(0)
                return copied(e, pointer=pointer(e.pointer), index=index)
            if isinstance(e, typed.Convert) and e.kind is ConvertKind.DECAY and isinstance(e.operand, typed.LValue):
                return copied(e, operand=place(e.operand))
            return self.uniform(e)

        result: typed.LValue = place(target)
        return result

    # --- operators

    def unary(self, e: typed.Unary) -> _Value:
        v = self.value(e.operand)
        if v.kind is UNIFORM:
            return _Value(UNIFORM, copied(e, operand=v.expr), e.type)
        if e.op == "lnot":
            return _Value(MASK, self.negated(self.truth(v, e.span)), INT)
        vector = self.vector(v, e.operand.type)
        return _Value(VARYING, typed.Unary(e.span, vector.type, e.op, vector), e.type)

    def binary(self, e: typed.Binary) -> _Value:
        a, b = self.value(e.left), self.value(e.right)
        if a.kind is UNIFORM and b.kind is UNIFORM:
            return _Value(UNIFORM, copied(e, left=a.expr, right=b.expr), e.type)
        if not isinstance(e.left.type, ScalarType) or not isinstance(e.right.type, ScalarType):
            raise _NotWideError
        simple = self.with_consecutive(e, a, b)
        if simple is not None:
            return simple
        left, right = self.vector(a, e.left.type), self.vector(b, e.right.type)
        if e.op in _COMPARISONS:
            t = VectorType(integer_type(e.left.type.bits, True), self.width)
            return _Value(MASK, typed.Binary(e.span, t, e.op, left, right), INT)
        if e.op in ("div", "rem") and e.left.type.is_integer and self.mask is not None:
            # What is not wanted must not be divided by zero.
            one = self.splat(typed.IntConst(e.span, e.right.type, 1))
            right = self.select(self.mask, right, one, e.span)
        return _Value(VARYING, typed.Binary(e.span, left.type, e.op, left, right), e.type)

    def with_consecutive(self, e: typed.Binary, a: _Value, b: _Value) -> _Value | None:
        """An operation on a consecutive and a uniform value that gives such a one again."""
        if e.op == "add" and a.kind is UNIFORM and b.kind is CONSECUTIVE:
            a, b = b, a
        if a.kind is not CONSECUTIVE or b.kind is not UNIFORM or not isinstance(a.type, ScalarType):
            return None
        if a.narrow is not None:
            return None
        constant = b.expr.value if isinstance(b.expr, typed.IntConst) else None
        expr = copied(e, left=a.expr, right=b.expr)
        if e.op in ("add", "sub"):
            aligned = a.aligned and constant is not None and constant % self.width == 0
            aligned &= not a.type.signed or (e.op == "add" and constant is not None and constant >= 0)
            # Of a signed type no result is beyond its range; addresses wrap as indices of 64 bits do.
            wraps = a.wraps or (not a.type.signed and a.type.bits < 64)
            return _Value(CONSECUTIVE, expr, e.type, aligned, wraps)
        if constant is None or not a.aligned or a.wraps:
            return None
        if e.op in ("shr", "and"):
            constant = 1 << constant if e.op == "shr" else constant + 1
            if constant <= 0 or constant & (constant - 1):
                return None
        if constant <= 0 or constant % self.width:
            return None
        if e.op in ("div", "shr", "lt", "ge"):
            return _Value(UNIFORM, expr, e.type)
        if e.op in ("rem", "and"):
            return _Value(CONSECUTIVE, expr, e.type, aligned=True)
        return None

    def logical(self, e: typed.Logical) -> _Value:
        a = self.value(e.left)
        if a.kind is UNIFORM:
            outer, self.out = self.out, []
            b = self.value(e.right)
            emitted, self.out = self.out, outer
            if b.kind is UNIFORM and not emitted:
                return _Value(UNIFORM, copied(e, left=a.expr, right=b.expr), e.type)
            self.out += emitted
        mask, outer_mask = self.truth(a, e.span), self.mask
        self.mask = self.both(outer_mask, mask if e.op == "land" else self.negated(mask))
        right = self.truth(self.value(e.right), e.span)
        self.mask = outer_mask
        op = "and" if e.op == "land" else "or"
        right = self.of_width(right, _bits(mask))
        return _Value(MASK, typed.Binary(e.span, mask.type, op, mask, right), INT)

    def conditional(self, e: typed.Conditional) -> _Value:
        condition = self.value(e.condition)
        if condition.kind is UNIFORM:
            outer, self.out = self.out, []
            a, b = self.value(e.then), self.value(e.otherwise)
            emitted, self.out = self.out, outer
            if emitted:
                # They would be evaluated whatever the condition is.
                raise _NotWideError
            if a.kind is UNIFORM and b.kind is UNIFORM:
                return _Value(UNIFORM, copied(e, condition=condition.expr, then=a.expr, otherwise=b.expr), e.type)
            sides = [self.vector(v, e.type) for v in (a, b)]
            return _Value(VARYING, typed.Conditional(e.span, sides[0].type, condition.expr, *sides), e.type)
        mask, outer_mask = self.truth(condition, e.span), self.mask
        self.mask = self.both(outer_mask, mask)
        a = self.value(e.then)
        self.mask = self.both(outer_mask, self.negated(mask))
        b = self.value(e.otherwise)
        self.mask = outer_mask
        return self.selected(mask, replace(a, type=e.type), replace(b, type=e.type), e.span)

    def converted(self, e: typed.Convert) -> _Value:
        if e.kind is ConvertKind.DECAY or not isinstance(e.type, ScalarType):
            return self.as_uniform(e)
        v = self.value(e.operand)
        if v.kind is UNIFORM:
            return _Value(UNIFORM, copied(e, operand=v.expr), e.type)
        source = e.operand.type
        if v.kind is MASK:
            return replace(v, type=e.type)
        if e.kind is ConvertKind.TO_BOOL:
            return _Value(MASK, self.truth(v, e.span), INT)
        if not isinstance(source, ScalarType) or e.type.is_bits or source.is_bits:
            raise _NotWideError
        if v.kind is CONSECUTIVE and e.kind is ConvertKind.INT_TO_INT and e.type.bits >= source.bits:
            # A row or a column is far from the ends of both types.
            if not v.wraps and v.narrow is None:
                return _Value(CONSECUTIVE, copied(e, operand=v.expr), e.type, v.aligned)
            if v.narrow is None and not source.signed and e.type.bits > source.bits:
                return _Value(CONSECUTIVE, copied(e, operand=v.expr), e.type, narrow=v)
        vector = self.vector(v, source)
        return _Value(VARYING, typed.Convert(e.span, self.wide(e.type), e.kind, vector), e.type)

    def builtin(self, e: typed.BuiltinCall) -> _Value:
        values = [self.value(a) for a in e.arguments]
        if all(v.kind is UNIFORM for v in values):
            return _Value(UNIFORM, copied(e, arguments=[v.expr for v in values]), e.type)
        row = builtins.find(e.name)
        if row is None or not row.pure or e.name in _OF_ALL:
            raise _NotWideError
        arguments = [self.vector(v, t) for v, t in zip(values, e.parameters, strict=True)]
        result = self.call(e.name, arguments, e.span)
        if row.section == _RELATIONS and not e.name.endswith("select"):
            # Truths are 1 of a scalar, and -1 of a vector.
            return _Value(MASK, result, INT)
        if result.type != self.wide(e.type):
            raise _NotWideError
        return _Value(VARYING, result, e.type)

    def call(self, name: str, arguments: list[Expr], span: Span) -> Expr:
        types = tuple(a.type for a in arguments)
        row = builtins.find(name)
        overloads = builtins.overloads(row) if row is not None and row.supported else ()
        overload = next((o for o in overloads if o.parameters == types), None)
        if overload is None:
            raise _NotWideError
        return typed.BuiltinCall(span, overload.result, name, overload.lowering, overload.parameters, arguments)

    def called(self, e: typed.Call) -> _Value:
        values = [self.value(a) for a in e.arguments]
        if all(v.kind is UNIFORM for v in values):
            return _Value(UNIFORM, copied(e, arguments=[v.expr for v in values]), e.type)
        return self.inlined(e, values)

    def inlined(self, e: typed.Call, values: list[_Value]) -> _Value:
        """A function of the program's, in place: its variables are its own."""
        f = e.function
        if f.body is None or not isinstance(e.type, ScalarType) or self.loops:
            raise _NotWideError
        saved = self.values, self.variables, self.declared_under, self.assigned
        self.assigned = _assigned(f)
        if any(p in self.assigned for p in f.parameters):
            raise _NotWideError
        held = [self.held(v) for v in values]
        self.values = {p: replace(v, type=p.type) for p, v in zip(f.parameters, held, strict=True)}
        self.variables, self.declared_under = {}, {}
        result = self.result(list(f.body.items))
        self.values, self.variables, self.declared_under, self.assigned = saved
        return result

    # --- vectors ---------------------------------------------------------------------------------

    def wide(self, t: Type) -> VectorType:
        if not isinstance(t, ScalarType) or t is BOOL or t.is_bits:
            raise _NotWideError
        return VectorType(t, self.width)

    def splat(self, e: Expr) -> Expr:
        return typed.Convert(e.span, self.wide(e.type), ConvertKind.SPLAT, e)

    def vector(self, v: _Value, t: Type) -> Expr:
        """The value as a vector of elements of its type, which is `t`."""
        wide, span = self.wide(t), v.expr.span
        if v.kind is UNIFORM:
            return self.splat(v.expr)
        if v.narrow is not None:
            return typed.Convert(span, wide, ConvertKind.INT_TO_INT, self.vector(v.narrow, v.narrow.type))
        if v.kind is CONSECUTIVE:
            numbers: list[Expr] = [typed.IntConst(span, wide.element, n) for n in range(self.width)]
            steps = typed.VectorLiteral(span, wide, numbers)
            return typed.Binary(span, wide, "add", self.splat(v.expr), steps)
        if v.kind is MASK:
            mask = self.of_width(v.expr, wide.element.bits)
            ones = self.splat(typed.IntConst(span, integer_type(wide.element.bits, True), 1))
            truths = typed.Binary(span, mask.type, "and", mask, ones)
            if not wide.element.is_integer:
                return typed.Convert(span, wide, ConvertKind.INT_TO_FLOAT, truths)
            return truths if truths.type == wide else typed.Convert(span, wide, ConvertKind.BITCAST, truths)
        return v.expr

    def truth(self, v: _Value, span: Span) -> Expr:
        """Whether a value is not zero, for each component; held in a variable."""
        if v.kind is MASK:
            return self.held_expr(v.expr)
        vector = self.vector(v, v.type)
        assert isinstance(vector.type, VectorType)
        t = VectorType(integer_type(vector.type.element.bits, True), self.width)
        return self.held_expr(typed.Binary(span, t, "ne", vector, typed.Zero(span, vector.type)))

    def negated(self, mask: Expr) -> Expr:
        return typed.Unary(mask.span, mask.type, "not", mask)

    def both(self, outer: Expr | None, mask: Expr) -> Expr:
        if outer is None:
            return self.held_expr(mask)
        mask = self.of_width(mask, _bits(outer))
        return self.held_expr(typed.Binary(mask.span, outer.type, "and", outer, mask))

    def of_width(self, mask: Expr, bits: int) -> Expr:
        if _bits(mask) == bits:
            return mask
        t = VectorType(integer_type(bits, True), self.width)
        return typed.Convert(mask.span, t, ConvertKind.INT_TO_INT, mask)

    def select(self, mask: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr:
        assert isinstance(then.type, VectorType)
        truth = self.of_width(mask, then.type.element.bits)
        return typed.VectorSelect(span, then.type, truth, then, otherwise)

    def selected(self, mask: Expr, a: _Value, b: _Value, span: Span) -> _Value:
        sides = [self.vector(v, a.type) for v in (a, b)]
        return _Value(VARYING, self.select(mask, sides[0], sides[1], span), a.type)

    def temporary(self, t: Type, span: Span) -> typed.VarRef:
        decl = typed.VarDecl(span, f"w.{self.count}", t, PLAIN, "automatic")
        self.count += 1
        self.out.append(typed.DeclStmt(span, decl))
        return variable(decl)

    def held(self, v: _Value) -> _Value:
        return v if isinstance(v.expr.type, PointerType) else replace(v, expr=self.held_expr(v.expr))

    def held_expr(self, e: Expr) -> Expr:
        """The value in a variable, so that it is calculated here and once."""
        if isinstance(e, (typed.IntConst, typed.FloatConst, typed.Zero)):
            return e
        if isinstance(e, typed.Load) and isinstance(e.operand, typed.VarRef) and e.operand.decl.name.startswith("w."):
            return e
        decl = typed.VarDecl(e.span, f"w.{self.count}", e.type, PLAIN, "automatic", initializer=e)
        self.count += 1
        self.out.append(typed.DeclStmt(e.span, decl))
        return load(variable(decl))


_MOST_ENDS = 4
_RELATIONS = "6.15.6"
# What is one truth of all components of a vector, and chooses by another bit than of a scalar.
_OF_ALL = frozenset({"any", "all", "select"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def _bits(mask: Expr) -> int:
    assert isinstance(mask.type, VectorType)
    return mask.type.element.bits


def _element(t: Type) -> Type:
    assert isinstance(t, VectorType)
    return t.element


def _as(pointer: Expr, t: Type) -> Expr:
    return pointer if pointer.type == t else typed.Convert(pointer.span, t, ConvertKind.POINTER, pointer)


def _assigned(f: typed.FunctionDecl) -> set[typed.VarDecl]:
    """The variables of a function that get values after their declaration, or whose address is taken."""
    result: set[typed.VarDecl] = set()
    for node in walk(f.body) if f.body is not None else ():
        if isinstance(node, (typed.Assign, typed.CompoundAssign, typed.IncDec)):
            target: Any = node.target
        elif isinstance(node, typed.AddressOf) or (isinstance(node, typed.Convert) and node.kind is ConvertKind.DECAY):
            target = node.operand
        else:
            continue
        while isinstance(target, (typed.Index, typed.Member, typed.Swizzle)):
            target = target.base
        if isinstance(target, typed.VarRef):
            result.add(target.decl)
    return result


def _indices(target: typed.LValue) -> list[Expr]:
    """The indices that select an object in memory, the innermost first."""
    result: list[Expr] = []
    e: Any = target
    while True:
        if isinstance(e, typed.Index):
            result.append(e.index)
            e = e.base
        elif isinstance(e, typed.Member):
            e = e.base
        elif isinstance(e, typed.Deref):
            e = e.pointer
            while isinstance(e, typed.PointerAdd):
                result.append(e.index)
                e = e.pointer
            if not (isinstance(e, typed.Convert) and e.kind is ConvertKind.DECAY):
                return result
            e = e.operand
        else:
            return result


_STATEMENTS: dict[type, Callable[[_Widener, Any], None]] = {
    typed.Block: _Widener.block,
    typed.DeclStmt: _Widener.declaration,
    typed.ExprStmt: _Widener.expression,
    typed.If: _Widener.condition,
    typed.For: _Widener.loop,
    typed.Break: _Widener.leave,
    typed.Continue: _Widener.leave,
}
_VALUES: dict[type, Callable[[_Widener, Any], _Value]] = {
    typed.IntConst: _Widener.constant,
    typed.FloatConst: _Widener.constant,
    typed.Zero: _Widener.constant,
    typed.Load: _Widener.loaded,
    typed.Unary: _Widener.unary,
    typed.Binary: _Widener.binary,
    typed.Logical: _Widener.logical,
    typed.Conditional: _Widener.conditional,
    typed.Convert: _Widener.converted,
    typed.BuiltinCall: _Widener.builtin,
    typed.Call: _Widener.called,
}
