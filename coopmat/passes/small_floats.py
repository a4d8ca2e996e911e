"""Arithmetic of floating-point types that devices have in memory only: functions on their bits, from the library.

A bfloat16, say, stays one where it is loaded, stored and passed; whatever is calculated is so in float.
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
from ..frontend.types import FLOAT, ScalarType, Type, held_as, is_bits
from ..matrices.small_float_functions import SmallFloatFunction
from ..matrices.spelling import INEXACT_IN_FLOAT, from_float
from ..matrices.strategies import STRATEGIES, Target
from . import Library, Report
from .functions import FunctionRewriter, copies, sequence
from .library import LibraryCalls
from .storage import load

_TARGET = Target(STRATEGIES["one"], 1)


@dataclass(frozen=True, slots=True)
class SmallFloats:
    """The pass."""

    library: Library
    name: str = "small-floats"
    removes: tuple[type, ...] = ()
    only: str = "has_small_floats"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        calls = LibraryCalls(self.library)
        functions = copies(unit)
        for source, new in functions.items():
            if new is not source and new.body is not None:
                _Function(new, functions, calls).rewrite()
        return replace(unit, functions=[*calls.link().functions, *functions.values()])


class _Function(FunctionRewriter):
    """A function on its way."""

    def __init__(
        self,
        decl: typed.FunctionDecl,
        functions: Mapping[typed.FunctionDecl, typed.FunctionDecl],
        calls: LibraryCalls,
    ) -> None:
        super().__init__(decl, lambda t: t, functions)
        self.calls = calls

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _HANDLERS

    def _call(self, t: ScalarType, what: str, x: typed.Expr, span: Span) -> typed.Expr:
        return self.calls.call(self.decl, _TARGET, SmallFloatFunction(COMPONENTS[t.name], what, 1), [x], span)

    def convert(self, e: typed.Convert, new: typed.Convert) -> typed.Expr:
        if e.kind not in _NUMERIC or not (is_bits(e.type) or is_bits(e.operand.type)):
            return new
        return self._converted(new.operand, e.type, e.span)

    def builtin(self, e: typed.BuiltinCall, new: typed.BuiltinCall) -> typed.Expr:
        """A conversion by its name, in a rounding mode."""
        how = parse_conversion(e.name)
        if how is None or not (is_bits(e.type) or is_bits(e.parameters[0])):
            return new
        x = new.arguments[0]
        if is_bits(e.type):
            return self._converted(x, e.type, e.span, how.rounding or "", how.saturate)
        wide = self._converted(x, FLOAT, e.span)
        return typed.BuiltinCall(e.span, e.type, e.name, e.lowering, (FLOAT,), [wide])

    def _converted(self, x: typed.Expr, t: Type, span: Span, rounding: str = "", saturate: bool = False) -> typed.Expr:
        """Rounded once: what is not exact in a float becomes one whose last bit is odd first."""
        source = x.type
        assert isinstance(source, ScalarType) and isinstance(t, ScalarType)
        if source == t:
            return x
        if source.is_bits:
            bits = typed.Convert(span, held_as(source), ConvertKind.BITCAST, x)
            return self._converted(self._call(source, "to_float", bits, span), t, span, rounding, saturate)
        if not t.is_bits:
            return _convert(x, t, span)
        if COMPONENTS.get(source.name) in INEXACT_IN_FLOAT:
            x = self._call(source, "to_odd", x, span)
        rounded = self._call(t, from_float(COMPONENTS[t.name], rounding, saturate), _convert(x, FLOAT, span), span)
        return typed.Convert(span, t, ConvertKind.BITCAST, rounded)

    def compound_assign(self, e: typed.CompoundAssign, new: typed.CompoundAssign) -> typed.Expr:
        if not is_bits(e.target.type):
            return new
        before, target = self.once(new.target)
        own = self._converted(load(target), e.computation, e.span)
        result = typed.Binary(e.span, e.computation, e.op, own, new.value)
        value = self._converted(result, e.target.type, e.span)
        return sequence([*before, typed.Assign(e.span, e.type, target, value)])

    def inc_dec(self, e: typed.IncDec, new: typed.IncDec) -> typed.Expr:
        t = e.target.type
        if not is_bits(t):
            return new
        before, target = self.once(new.target)
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
    typed.BuiltinCall: _Function.builtin,
    typed.CompoundAssign: _Function.compound_assign,
    typed.IncDec: _Function.inc_dec,
}


def _convert(x: typed.Expr, t: ScalarType, span: Span) -> typed.Expr:
    """Convert a number that is no small float."""
    kind = kind_between(x.type, t)
    return x if kind is None else typed.Convert(span, t, kind, x)
