"""The vectorizer's expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..diagnostics import Span
from ..frontend import builtins, typed
from ..frontend.nodes import children, copied, with_children
from ..frontend.typed import ConvertKind, Expr
from ..frontend.typed.construct import load
from ..frontend.types import (
    BOOL,
    INT,
    ULONG,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    integer_type,
)
from .vectors import (
    LINEAR,
    MASK,
    UNIFORM,
    VARYING,
    NotVectorizable,
    Value,
    Vectors,
    mask_bits,
)

# The section of the OpenCL C specification on relational functions.
_RELATIONS = "6.15.6"
# Relational functions that are not component-wise: `any` and `all` return one truth value for a vector, and `select`
# tests the most significant bit for vectors, but compares with zero for scalars.
_OF_ALL = frozenset({"any", "all", "select"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


class Expressions(Vectors, ABC):
    """A vectorizer of expressions; `value` returns the vectorized value of any expression."""

    @abstractmethod
    def called(self, e: typed.Call) -> Value:
        """Emit the callee's statements in place of the call, and return its result."""

    def value(self, e: Expr) -> Value:
        handler = _VALUES.get(type(e))
        if handler is None or (not isinstance(e.type, ScalarType) and not isinstance(e.type, PointerType)):
            return self.as_uniform(e)
        return handler(self, e)

    def as_uniform(self, e: Expr) -> Value:
        """Return an expression as a uniform value.

        Raise NotVectorizable if an operand varies, or if the expression assigns to a variable or contains statements.
        """
        if isinstance(e, (typed.Assign, typed.CompoundAssign, typed.IncDec, typed.StatementExpression)):
            raise NotVectorizable
        if isinstance(e, typed.VarRef):
            new = self.variables.get(e.decl)
            if new is None or self.values[e.decl].variance is not UNIFORM:
                if new is None and e.decl.storage == "static":
                    return Value(UNIFORM, e, e.type)
                raise NotVectorizable
            return Value(UNIFORM, copied(e, decl=new), e.type)
        parts = [self.uniform_part(child) for child in children(e)]
        return Value(UNIFORM, with_children(e, parts, e.type), e.type)

    def uniform(self, e: Expr) -> Expr:
        value = self.value(e)
        if value.variance is not UNIFORM:
            raise NotVectorizable
        return value.expr

    def uniform_part(self, node: Any) -> Expr:
        if not isinstance(node, Expr):
            raise NotVectorizable
        return self.uniform(node)

    def constant(self, e: Expr) -> Value:
        return Value(UNIFORM, e, e.type)

    def loaded(self, e: typed.Load) -> Value:
        target = e.operand
        if isinstance(target, typed.VarRef) and target.decl in self.values:
            return self.values[target.decl]
        if target.place.volatile:
            raise NotVectorizable
        values = [self.value(index) for index in _indices(target)]
        if all(v.variance is UNIFORM for v in values):
            return self.as_uniform(e)
        if not isinstance(e.type, ScalarType) or e.type.is_bits or e.type is BOOL:
            raise NotVectorizable
        return self.gathered(e, target, values)

    def gathered(self, e: typed.Load, target: typed.LValue, values: list[Value]) -> Value:
        """Load elements of memory that differ between components.

        If their addresses are consecutive, load a vector; otherwise load each element, under the mask if there is one.
        """
        indices = [v if v.variance is UNIFORM else self.materialize_index(v, e.span) for v in values]
        mask = self.mask
        first = indices[0]
        others = all(v.variance is UNIFORM for v in indices[1:])
        at_once = None
        if first.variance is LINEAR and others and isinstance(target, (typed.Index, typed.Deref)):
            at_once = self.neighbours(e, target, [v.expr for v in indices])
            if mask is None and first.narrow is None:
                return Value(VARYING, at_once, e.type)
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
        return Value(VARYING, each, e.type)

    def materialize_index(self, v: Value, span: Span) -> Value:
        if v.variance is LINEAR:
            return v
        return self.materialize(Value(VARYING, self.vector(v, v.type), v.type))

    def lane(self, v: Value, n: int) -> Expr:
        """Return the scalar value for component number `n`."""
        if v.variance is UNIFORM:
            return v.expr
        if v.narrow is not None:
            return typed.Convert(v.expr.span, v.type, ConvertKind.INT_TO_INT, self.lane(v.narrow, n))
        if v.variance is LINEAR:
            return typed.Binary(v.expr.span, v.type, "add", v.expr, typed.IntConst(v.expr.span, v.type, n))
        return typed.ExtractSwizzle(v.expr.span, v.type, v.expr, (n,))

    def neighbours(self, e: typed.Load, target: typed.LValue, indices: list[Expr]) -> Expr:
        """Return a vector load (vloadn) of consecutive elements, of which `indices` select the first."""
        place = self.rebuilt(target, indices)
        qualifiers = replace(place.place, restrict=False)
        pointer_type = PointerType(e.type, qualifiers)
        if isinstance(place, typed.Deref):
            pointer = place.pointer
        else:
            pointer = typed.AddressOf(e.span, pointer_type, place)
        overload = builtins.resolve(f"vload{self.width}", [ULONG, pointer.type])
        if not isinstance(overload, builtins.Overload):
            raise NotVectorizable
        arguments = [typed.IntConst(e.span, ULONG, 0), _as(pointer, overload.parameters[1])]
        return typed.BuiltinCall(
            e.span, overload.result, overload.name, overload.lowering, overload.parameters, arguments
        )

    def may_load_at_once(self, first: Value, mask: Expr | None, span: Span) -> Expr:
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
        """Return the lvalue with its indices replaced; `indices` has the order of `_indices`."""
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

    def unary(self, e: typed.Unary) -> Value:
        v = self.value(e.operand)
        if v.variance is UNIFORM:
            return Value(UNIFORM, copied(e, operand=v.expr), e.type)
        if e.op == "lnot":
            return Value(MASK, self.negated(self.truth(v, e.span)), INT)
        vector = self.vector(v, e.operand.type)
        return Value(VARYING, typed.Unary(e.span, vector.type, e.op, vector), e.type)

    def binary(self, e: typed.Binary) -> Value:
        a, b = self.value(e.left), self.value(e.right)
        if a.variance is UNIFORM and b.variance is UNIFORM:
            return Value(UNIFORM, copied(e, left=a.expr, right=b.expr), e.type)
        if not isinstance(e.left.type, ScalarType) or not isinstance(e.right.type, ScalarType):
            raise NotVectorizable
        simple = self.with_linear(e, a, b)
        if simple is not None:
            return simple
        left, right = self.vector(a, e.left.type), self.vector(b, e.right.type)
        if e.op in _COMPARISONS:
            t = VectorType(integer_type(e.left.type.bits, True), self.width)
            return Value(MASK, typed.Binary(e.span, t, e.op, left, right), INT)
        if e.op in ("div", "rem") and e.left.type.is_integer and self.mask is not None:
            # Replace the divisors of inactive components by 1, because they may be zero.
            one = self.splat(typed.IntConst(e.span, e.right.type, 1))
            right = self.select(self.mask, right, one, e.span)
        return Value(VARYING, typed.Binary(e.span, left.type, e.op, left, right), e.type)

    def with_linear(self, e: typed.Binary, a: Value, b: Value) -> Value | None:
        """Return the result of an operation on a LINEAR and a UNIFORM value if that is LINEAR or UNIFORM, else None."""
        if e.op == "add" and a.variance is UNIFORM and b.variance is LINEAR:
            a, b = b, a
        if a.variance is not LINEAR or b.variance is not UNIFORM or not isinstance(a.type, ScalarType):
            return None
        if a.narrow is not None:
            return None
        constant = b.expr.value if isinstance(b.expr, typed.IntConst) else None
        expr = copied(e, left=a.expr, right=b.expr)
        if e.op in ("add", "sub"):
            aligned = a.aligned and constant is not None and constant % self.width == 0
            aligned &= not a.type.signed or (e.op == "add" and constant is not None and constant >= 0)
            # Signed overflow is undefined, so a signed result does not wrap. 64-bit indices wrap like addresses.
            wraps = a.wraps or (not a.type.signed and a.type.bits < 64)
            return Value(LINEAR, expr, e.type, aligned, wraps)
        if constant is None or not a.aligned or a.wraps:
            return None
        if e.op in ("shr", "and"):
            constant = 1 << constant if e.op == "shr" else constant + 1
            if constant <= 0 or constant & (constant - 1):
                return None
        if constant <= 0 or constant % self.width:
            return None
        if e.op in ("div", "shr", "lt", "ge"):
            return Value(UNIFORM, expr, e.type)
        if e.op in ("rem", "and"):
            return Value(LINEAR, expr, e.type, aligned=True)
        return None

    def logical(self, e: typed.Logical) -> Value:
        a = self.value(e.left)
        if a.variance is UNIFORM:
            outer, self.out = self.out, []
            b = self.value(e.right)
            emitted, self.out = self.out, outer
            if b.variance is UNIFORM and not emitted:
                return Value(UNIFORM, copied(e, left=a.expr, right=b.expr), e.type)
            self.out += emitted
        mask, outer_mask = self.truth(a, e.span), self.mask
        self.mask = self.both(outer_mask, mask if e.op == "land" else self.negated(mask))
        right = self.truth(self.value(e.right), e.span)
        self.mask = outer_mask
        op = "and" if e.op == "land" else "or"
        right = self.of_width(right, mask_bits(mask))
        return Value(MASK, typed.Binary(e.span, mask.type, op, mask, right), INT)

    def conditional(self, e: typed.Conditional) -> Value:
        condition = self.value(e.condition)
        if condition.variance is UNIFORM:
            outer, self.out = self.out, []
            a, b = self.value(e.then), self.value(e.otherwise)
            emitted, self.out = self.out, outer
            if emitted:
                # The statements would be executed for both sides, whatever the condition is.
                raise NotVectorizable
            if a.variance is UNIFORM and b.variance is UNIFORM:
                return Value(UNIFORM, copied(e, condition=condition.expr, then=a.expr, otherwise=b.expr), e.type)
            sides = [self.vector(v, e.type) for v in (a, b)]
            return Value(VARYING, typed.Conditional(e.span, sides[0].type, condition.expr, *sides), e.type)
        mask, outer_mask = self.truth(condition, e.span), self.mask
        self.mask = self.both(outer_mask, mask)
        a = self.value(e.then)
        self.mask = self.both(outer_mask, self.negated(mask))
        b = self.value(e.otherwise)
        self.mask = outer_mask
        return self.selected(mask, replace(a, type=e.type), replace(b, type=e.type), e.span)

    def converted(self, e: typed.Convert) -> Value:
        if e.kind is ConvertKind.DECAY or not isinstance(e.type, ScalarType):
            return self.as_uniform(e)
        v = self.value(e.operand)
        if v.variance is UNIFORM:
            return Value(UNIFORM, copied(e, operand=v.expr), e.type)
        source = e.operand.type
        if v.variance is MASK:
            return replace(v, type=e.type)
        if e.kind is ConvertKind.TO_BOOL:
            return Value(MASK, self.truth(v, e.span), INT)
        if not isinstance(source, ScalarType) or e.type.is_bits or source.is_bits:
            raise NotVectorizable
        if v.variance is LINEAR and e.kind is ConvertKind.INT_TO_INT and e.type.bits >= source.bits:
            # Row and column numbers are far from the limits of both types, so the conversion keeps them linear.
            if not v.wraps and v.narrow is None:
                return Value(LINEAR, copied(e, operand=v.expr), e.type, v.aligned)
            if v.narrow is None and not source.signed and e.type.bits > source.bits:
                return Value(LINEAR, copied(e, operand=v.expr), e.type, narrow=v)
        vector = self.vector(v, source)
        return Value(VARYING, typed.Convert(e.span, self.wide(e.type), e.kind, vector), e.type)

    def builtin(self, e: typed.BuiltinCall) -> Value:
        values = [self.value(a) for a in e.arguments]
        if all(v.variance is UNIFORM for v in values):
            return Value(UNIFORM, copied(e, arguments=[v.expr for v in values]), e.type)
        row = builtins.find(e.name)
        if row is None or not row.pure or e.name in _OF_ALL:
            raise NotVectorizable
        arguments = [self.vector(v, t) for v, t in zip(values, e.parameters, strict=True)]
        result = self.call(e.name, arguments, e.span)
        if row.section == _RELATIONS and not e.name.endswith("select"):
            # A relational function returns 1 for true on scalars, and -1 on vectors.
            return Value(MASK, result, INT)
        if result.type != self.wide(e.type):
            raise NotVectorizable
        return Value(VARYING, result, e.type)

    def call(self, name: str, arguments: list[Expr], span: Span) -> Expr:
        types = tuple(a.type for a in arguments)
        row = builtins.find(name)
        overloads = builtins.overloads(row) if row is not None and row.supported else ()
        overload = next((o for o in overloads if o.parameters == types), None)
        if overload is None:
            raise NotVectorizable
        return typed.BuiltinCall(span, overload.result, name, overload.lowering, overload.parameters, arguments)


def _element(t: Type) -> Type:
    assert isinstance(t, VectorType)
    return t.element


def _as(pointer: Expr, t: Type) -> Expr:
    return pointer if pointer.type == t else typed.Convert(pointer.span, t, ConvertKind.POINTER, pointer)


def _indices(target: typed.LValue) -> list[Expr]:
    """Return the indices (of Index and PointerAdd nodes) that select an object in memory, outermost node first."""
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


_VALUES: dict[type, Callable[[Expressions, Any], Value]] = {
    typed.IntConst: Expressions.constant,
    typed.FloatConst: Expressions.constant,
    typed.Zero: Expressions.constant,
    typed.Load: Expressions.loaded,
    typed.Unary: Expressions.unary,
    typed.Binary: Expressions.binary,
    typed.Logical: Expressions.logical,
    typed.Conditional: Expressions.conditional,
    typed.Convert: Expressions.converted,
    typed.BuiltinCall: Expressions.builtin,
    typed.Call: lambda self, e: self.called(e),
}
