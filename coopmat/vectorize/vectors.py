"""The values of a vectorized function, and their representation as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.nodes import walk
from ..frontend.typed import ConvertKind, Expr, Stmt
from ..frontend.typed.construct import load, variable
from ..frontend.types import (
    BOOL,
    PLAIN,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    integer_type,
)


class Variance(Enum):
    """How a value varies between the components that are computed together.

    UNIFORM: the same for all components.
    LINEAR: the value for component n is the value for the first component plus n.
    VARYING: a vector of independent values.
    MASK: a vector of truth values, -1 or 0.
    """

    UNIFORM = "uniform"
    LINEAR = "linear"
    VARYING = "varying"
    MASK = "mask"


UNIFORM, LINEAR, VARYING, MASK = Variance


class NotVectorizable(Exception):
    """Raised if a construct has no vector form."""


class Retry(Exception):
    """Raised if a variable assumed to be uniform is not; the function must be vectorized again."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that has type `type`, a scalar or pointer, in the scalar function.

    variance: how the value varies.
    expr: UNIFORM: the value, of type `type`; LINEAR: the first component's value, of that type; otherwise a vector.
    aligned: the first component's value, of a LINEAR value, is a nonnegative multiple of the width.
    wraps: a LINEAR value of an unsigned type may wrap around to 0.
    narrow: the value before zero-extension, which may wrap; this value is LINEAR only if `narrow` does not wrap.
    """

    variance: Variance
    expr: Expr
    type: Type
    aligned: bool = False
    wraps: bool = False
    narrow: Value | None = None


class Vectors:
    """The state of one attempt to vectorize a function, with helpers for vectors and masks.

    The state includes the variables and the emitted statements. `varying` holds the variables known to be vectors; an
    attempt adds to that set.
    """

    def __init__(
        self, f: typed.FunctionDecl, variances: Sequence[Variance], width: int, varying: set[typed.VarDecl]
    ) -> None:
        self.f, self.variances, self.width, self.varying = f, variances, width, varying
        self.values: dict[typed.VarDecl, Value] = {}
        self.variables: dict[typed.VarDecl, typed.VarDecl] = {}
        # variable -> the mask in force at its declaration. While that mask is in force, the variable may stay uniform.
        self.declared_under: dict[typed.VarDecl, Expr | None] = {}
        self.assigned = assigned_variables(f)
        self.mask: Expr | None = None
        self.count = 0
        self.loops = 0
        self.out: list[Stmt] = []

    def wide(self, t: Type) -> VectorType:
        if not isinstance(t, ScalarType) or t is BOOL or t.is_bits:
            raise NotVectorizable
        return VectorType(t, self.width)

    def splat(self, e: Expr) -> Expr:
        return typed.Convert(e.span, self.wide(e.type), ConvertKind.SPLAT, e)

    def vector(self, v: Value, t: Type) -> Expr:
        """Return the value as a vector with elements of type `t`, the value's scalar type."""
        wide, span = self.wide(t), v.expr.span
        if v.variance is UNIFORM:
            return self.splat(v.expr)
        if v.narrow is not None:
            return typed.Convert(span, wide, ConvertKind.INT_TO_INT, self.vector(v.narrow, v.narrow.type))
        if v.variance is LINEAR:
            numbers: list[Expr] = [typed.IntConst(span, wide.element, n) for n in range(self.width)]
            steps = typed.VectorLiteral(span, wide, numbers)
            return typed.Binary(span, wide, "add", self.splat(v.expr), steps)
        if v.variance is MASK:
            mask = self.of_width(v.expr, wide.element.bits)
            ones = self.splat(typed.IntConst(span, integer_type(wide.element.bits, True), 1))
            truths = typed.Binary(span, mask.type, "and", mask, ones)
            if not wide.element.is_integer:
                return typed.Convert(span, wide, ConvertKind.INT_TO_FLOAT, truths)
            return truths if truths.type == wide else typed.Convert(span, wide, ConvertKind.BITCAST, truths)
        return v.expr

    def truth(self, v: Value, span: Span) -> Expr:
        """Return the mask of the components whose value is not zero, held in a variable."""
        if v.variance is MASK:
            return self.materialize_expr(v.expr)
        vector = self.vector(v, v.type)
        assert isinstance(vector.type, VectorType)
        t = VectorType(integer_type(vector.type.element.bits, True), self.width)
        return self.materialize_expr(typed.Binary(span, t, "ne", vector, typed.Zero(span, vector.type)))

    def negated(self, mask: Expr) -> Expr:
        return typed.Unary(mask.span, mask.type, "not", mask)

    def both(self, outer: Expr | None, mask: Expr) -> Expr:
        if outer is None:
            return self.materialize_expr(mask)
        mask = self.of_width(mask, mask_bits(outer))
        return self.materialize_expr(typed.Binary(mask.span, outer.type, "and", outer, mask))

    def of_width(self, mask: Expr, bits: int) -> Expr:
        if mask_bits(mask) == bits:
            return mask
        t = VectorType(integer_type(bits, True), self.width)
        return typed.Convert(mask.span, t, ConvertKind.INT_TO_INT, mask)

    def select(self, mask: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr:
        assert isinstance(then.type, VectorType)
        truth = self.of_width(mask, then.type.element.bits)
        return typed.VectorSelect(span, then.type, truth, then, otherwise)

    def selected(self, mask: Expr, a: Value, b: Value, span: Span) -> Value:
        sides = [self.vector(v, a.type) for v in (a, b)]
        return Value(VARYING, self.select(mask, sides[0], sides[1], span), a.type)

    def temporary(self, t: Type, span: Span) -> typed.VarRef:
        decl = typed.VarDecl(span, f"w.{self.count}", t, PLAIN, "automatic")
        self.count += 1
        self.out.append(typed.DeclStmt(span, decl))
        return variable(decl)

    def materialize(self, v: Value) -> Value:
        return v if isinstance(v.expr.type, PointerType) else replace(v, expr=self.materialize_expr(v.expr))

    def materialize_expr(self, e: Expr) -> Expr:
        """Store the value in a new variable, so that it is computed once and at this point, and return its load.

        Constants, and loads of variables created here, are returned unchanged.
        """
        if isinstance(e, (typed.IntConst, typed.FloatConst, typed.Zero)):
            return e
        if isinstance(e, typed.Load) and isinstance(e.operand, typed.VarRef) and e.operand.decl.name.startswith("w."):
            return e
        decl = typed.VarDecl(e.span, f"w.{self.count}", e.type, PLAIN, "automatic", initializer=e)
        self.count += 1
        self.out.append(typed.DeclStmt(e.span, decl))
        return load(variable(decl))


def mask_bits(mask: Expr) -> int:
    assert isinstance(mask.type, VectorType)
    return mask.type.element.bits


def assigned_variables(f: typed.FunctionDecl) -> set[typed.VarDecl]:
    """Return the variables that are assigned after their declaration, or whose address is taken."""
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
