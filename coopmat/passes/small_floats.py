"""The pass that lowers arithmetic of floating-point types that the device only has in memory to library functions.

A value of such a type (for example bfloat16) keeps its type in loads, stores and calls; arithmetic is done in float.
The same holds for half on compilers without cl_khr_fp16. Computing a sum, difference, product or quotient of two halves
in float and then rounding to half gives the correctly rounded half result: float has more than twice half's precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.builtins import parse_conversion
from ..frontend.matrix_terms import COMPONENTS
from ..frontend.sema.values import kind_between
from ..frontend.typed import ConvertKind
from ..frontend.types import FLOAT, HALF, INT, USHORT, ScalarType, Type, held_as, is_bits
from ..matrices.half_bits import HalfFunction
from ..matrices.routes import LOWERED_ROUTES, Target
from ..matrices.small_float_functions import SmallFloatFunction
from ..matrices.spelling import INEXACT_IN_FLOAT, from_float
from . import Library, Report
from .functions import FunctionRewriter, copies, sequence
from .library import LibraryCalls
from .storage import load

_TARGET = Target(LOWERED_ROUTES["one"], 1)


@dataclass(frozen=True, slots=True)
class SmallFloats:
    """The pass `small-floats`; with `half_bits`, half is lowered like the other small types."""

    library: Library
    half_bits: bool = False
    name: str = "small-floats"
    removes: tuple[type, ...] = ()
    only: str = "has_small_floats"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        calls = LibraryCalls(self.library)
        functions = copies(unit)
        for source, new in functions.items():
            if new is not source and new.body is not None:
                _Function(new, functions, calls, self.half_bits).rewrite()
        return replace(unit, functions=[*calls.link().functions, *functions.values()])


class _Function(FunctionRewriter):
    """A rewriter of one function."""

    def __init__(
        self,
        decl: typed.FunctionDecl,
        functions: Mapping[typed.FunctionDecl, typed.FunctionDecl],
        calls: LibraryCalls,
        half_bits: bool,
    ) -> None:
        super().__init__(decl, lambda t: t, functions)
        self.calls, self.half_bits = calls, half_bits

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _HANDLERS

    def _is_small(self, t: Type) -> bool:
        return is_bits(t) or (self.half_bits and t is HALF)

    def _call(self, t: ScalarType, what: str, x: typed.Expr, span: Span) -> typed.Expr:
        function = HalfFunction(what, 1) if t is HALF else SmallFloatFunction(COMPONENTS[t.name], what, 1)
        return self.calls.call(self.decl, _TARGET, function, [x], span)

    def convert(self, e: typed.Convert, new: typed.Convert) -> typed.Expr:
        if e.kind is ConvertKind.TO_BOOL and self._is_small(e.operand.type):
            return replace(new, operand=self._converted(new.operand, FLOAT, e.span))
        if e.kind not in _NUMERIC or not (self._is_small(e.type) or self._is_small(e.operand.type)):
            return new
        return self._converted(new.operand, e.type, e.span)

    def unary(self, e: typed.Unary, new: typed.Unary) -> typed.Expr:
        return self._in_float(e, new, "operand") if self._is_small(e.operand.type) else new

    def binary(self, e: typed.Binary, new: typed.Binary) -> typed.Expr:
        return self._in_float(e, new, "left", "right") if self._is_small(e.left.type) else new

    def _in_float(self, e: typed.Expr, new: typed.Expr, *operands: str) -> typed.Expr:
        """Return the operation computed on operands converted to float; the result is converted back to its type.

        Of the small types, only half has such operations.
        """
        wide = {name: self._converted(getattr(new, name), FLOAT, e.span) for name in operands}
        if not self._is_small(e.type):
            return replace(new, **wide)  # type: ignore[arg-type]
        return self._converted(replace(new, type=FLOAT, **wide), e.type, e.span)  # type: ignore[arg-type]

    def builtin(self, e: typed.BuiltinCall, new: typed.BuiltinCall) -> typed.Expr:
        """Lower a `convert_*` builtin from or to a small type, with its rounding mode and saturation."""
        how = parse_conversion(e.name)
        if how is None or not (self._is_small(e.type) or self._is_small(e.parameters[0])):
            return new
        x = new.arguments[0]
        if self._is_small(e.type):
            return self._converted(x, e.type, e.span, how.rounding or "", how.saturate)
        wide = self._converted(x, FLOAT, e.span)
        return typed.BuiltinCall(e.span, e.type, e.name, e.lowering, (FLOAT,), [wide])

    def _converted(self, x: typed.Expr, t: Type, span: Span, rounding: str = "", saturate: bool = False) -> typed.Expr:
        """Return `x` converted to `t` with one rounding.

        A source value that float cannot represent is first rounded to odd in float, so that the second rounding gives
        the correctly rounded result.
        """
        source = x.type
        assert isinstance(source, ScalarType) and isinstance(t, ScalarType)
        if source == t:
            return x
        if self._is_small(source):
            bits = typed.Convert(span, USHORT if source is HALF else held_as(source), ConvertKind.BITCAST, x)
            x = self._call(source, "to_float", bits, span)
            if COMPONENTS[source.name].is_integer and t.is_integer:
                x = _convert(x, INT, span)  # negative integers wrap
            return self._converted(x, t, span, rounding, saturate)
        if not self._is_small(t):
            return _convert(x, t, span)
        if COMPONENTS.get(source.name) in INEXACT_IN_FLOAT:
            x = self._call(source, "to_odd", x, span)
        rounded = self._call(t, from_float(COMPONENTS[t.name], rounding, saturate), _convert(x, FLOAT, span), span)
        return typed.Convert(span, t, ConvertKind.BITCAST, rounded)

    def compound_assign(self, e: typed.CompoundAssign, new: typed.CompoundAssign) -> typed.Expr:
        if not (self._is_small(e.target.type) or self._is_small(e.computation)):
            return new
        before, target = self.stable_lvalue(new.target)
        own = self._converted(load(target), e.computation, e.span)
        result: typed.Expr = typed.Binary(e.span, e.computation, e.op, own, new.value)
        if self._is_small(e.computation):
            result = self._in_float(result, result, "left", "right")
        value = self._converted(result, e.target.type, e.span)
        return sequence([*before, typed.Assign(e.span, e.type, target, value)])

    def inc_dec(self, e: typed.IncDec, new: typed.IncDec) -> typed.Expr:
        t = e.target.type
        if not self._is_small(t):
            return new
        before, target = self.stable_lvalue(new.target)
        result: list[typed.Expr] = []
        own: typed.Expr = load(target)
        if not e.prefix:
            old_value = self.temporary(t, e.span)
            before.append(typed.Assign(e.span, t, old_value, own))
            own, result = load(old_value), [load(old_value)]
        one = typed.FloatConst(e.span, FLOAT, float(e.step))
        total = typed.Binary(e.span, FLOAT, "add", self._converted(own, FLOAT, e.span), one)
        change = typed.Assign(e.span, t, target, self._converted(total, t, e.span))
        return sequence([*before, change, *result])


_NUMERIC = (ConvertKind.INT_TO_FLOAT, ConvertKind.FLOAT_TO_INT, ConvertKind.FLOAT_TO_FLOAT)
_HANDLERS: dict[type, Callable[..., Any]] = {
    typed.Convert: _Function.convert,
    typed.Unary: _Function.unary,
    typed.Binary: _Function.binary,
    typed.BuiltinCall: _Function.builtin,
    typed.CompoundAssign: _Function.compound_assign,
    typed.IncDec: _Function.inc_dec,
}


def _convert(x: typed.Expr, t: ScalarType, span: Span) -> typed.Expr:
    """Convert between numeric types of which neither is a small float."""
    kind = kind_between(x.type, t)
    return x if kind is None else typed.Convert(span, t, kind, x)
