"""The pass that replaces vectors of types for storage by vectors of bytes.

    floate4m3_t4  ->  uchar4
    floate2m1_t4  ->  uchar2, because a byte has two components of 4 bits, the first in its low bits

Components of 4 bits are unpacked to a vector of bytes where they are used. Scalars keep their types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...diagnostics import Span
from ...frontend import typed
from ...frontend.builtins import parse_conversion
from ...frontend.matrix_terms import COMPONENTS
from ...frontend.sema.values import kind_between
from ...frontend.storage_types import is_storage_vector
from ...frontend.typed import ConvertKind
from ...frontend.types import (
    FLOAT,
    INT,
    UCHAR,
    PointerType,
    RecordType,
    ScalarType,
    Type,
    VectorType,
    element_count,
    element_type,
    is_bits,
    with_count,
)
from ...matrices.routes import LOWERED_ROUTES, Target
from ...matrices.small_float_functions import SmallFloatFunction
from ...matrices.spelling import INEXACT_IN_FLOAT, from_float
from .. import Library, Report
from ..functions import FunctionRewriter, Rewriter, copied, sequence
from ..library import LibraryCalls
from ..storage import PlainTypes, load

__all__ = ["StorageVectors"]

_TARGET = Target(LOWERED_ROUTES["one"], 1)


@dataclass(frozen=True, slots=True)
class StorageVectors:
    """The pass `storage-vectors`."""

    library: Library
    name: str = "storage-vectors"
    removes: tuple[type, ...] = ()
    only: str = "has_storage_vectors"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        types, calls = _Types(), LibraryCalls(self.library)
        functions = {f: copied(f) for f in unit.functions}
        variables = {v: copied(v, type=types.type(v.type)) for v in unit.variables}
        for variable in unit.variables:
            if variable.initializer is not None:
                variables[variable].initializer = _constant(variable.initializer, variables, types.type)
        for source, new in functions.items():
            if source.body is not None:
                _Function(new, types.type, functions, variables, calls).rewrite()
            else:
                new.type = types.type(new.type)
                new.parameters = [copied(p, type=types.type(p.type)) for p in new.parameters]
        library = calls.link()
        return replace(
            unit,
            functions=[*library.functions, *functions.values()],
            variables=list(variables.values()),
            records=[*library.records, *map(types.record_type, unit.records)],
            has_storage_vectors=False,
        )


def _is_packed(t: Type) -> bool:
    return isinstance(t, VectorType) and COMPONENTS[t.element.name].is_nibble


class _Types(PlainTypes):
    """A mapping from types to types without vectors of types for storage."""

    own = VectorType

    def make(self, t: Type) -> RecordType:
        raise NotImplementedError

    def _replaced(self, t: Type) -> Type:
        if isinstance(t, VectorType):
            return with_count(UCHAR, t.count // (2 if _is_packed(t) else 1)) if is_storage_vector(t) else t
        return super()._replaced(t)


class _Function(FunctionRewriter):
    """A rewriter of one function."""

    def __init__(
        self,
        decl: typed.FunctionDecl,
        map_type: Callable[[Type], Type],
        functions: Mapping[typed.FunctionDecl, typed.FunctionDecl],
        variables: Mapping[typed.VarDecl, typed.VarDecl],
        calls: LibraryCalls,
    ) -> None:
        super().__init__(decl, map_type, functions)
        self.statics, self.calls = variables, calls
        self._local_statics: dict[typed.VarDecl, typed.VarDecl] = {}

    def static(self, decl: typed.VarDecl) -> typed.VarDecl:
        if decl in self.statics:
            return self.statics[decl]
        new = self._local_statics.get(decl)
        if new is None:
            new = self._local_statics[decl] = copied(decl, type=self.map_type(decl.type))
            if decl.initializer is not None:
                new.initializer = _constant(decl.initializer, self.statics, self.map_type)
        return new

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _HANDLERS

    # --- components ------------------------------------------------------------------------------

    def literal(self, e: typed.VectorLiteral, new: typed.VectorLiteral) -> typed.Expr:
        if not is_storage_vector(e.type):
            return new
        items = [self._bytes(item, old.type) for old, item in zip(e.items, new.items, strict=True)]
        return self._from_bytes(typed.VectorLiteral(e.span, with_count(UCHAR, element_count(e.type)), items), e.type)

    def extract(self, e: typed.ExtractSwizzle, new: typed.ExtractSwizzle) -> typed.Expr:
        if not is_storage_vector(e.operand.type):
            return new
        return self._part(self._bytes(new.operand, e.operand.type), e.indices, e.type, e.span)

    def load(self, e: typed.Load, new: typed.Load) -> typed.Expr:
        swizzle = e.operand
        if not isinstance(swizzle, typed.Swizzle) or not is_storage_vector(swizzle.base.type):
            return new
        assert isinstance(new.operand, typed.Swizzle)
        whole = self._bytes(load(new.operand.base), swizzle.base.type)
        return self._part(whole, swizzle.indices, e.type, e.span)

    def _part(self, whole: typed.Expr, indices: tuple[int, ...], t: Type, span: Span) -> typed.Expr:
        """Return components of a vector of unpacked bytes, as a value that replaces one of the type `t`."""
        part = typed.ExtractSwizzle(span, with_count(UCHAR, len(indices)), whole, indices)
        return self._from_bytes(part, t)

    def assign(self, e: typed.Assign, new: typed.Assign) -> typed.Expr:
        """Store components of a vector by storing the whole vector."""
        swizzle = e.target
        if not isinstance(swizzle, typed.Swizzle) or not is_storage_vector(swizzle.base.type):
            return new
        assert isinstance(new.target, typed.Swizzle)
        t, span = swizzle.base.type, e.span
        before, base = self.stable_lvalue(new.target.base)
        more, value = self.materialize(new.value)
        parts = self._bytes(value, e.value.type)
        whole = self._bytes(load(base), t)
        items: list[typed.Expr] = [
            typed.ExtractSwizzle(span, UCHAR, whole, (i,))
            if i not in swizzle.indices
            else parts
            if len(swizzle.indices) == 1
            else typed.ExtractSwizzle(span, UCHAR, parts, (swizzle.indices.index(i),))
            for i in range(element_count(t))
        ]
        packed = self._from_bytes(typed.VectorLiteral(span, with_count(UCHAR, len(items)), items), t)
        return sequence([*before, *more, typed.Assign(span, base.type, base, packed), value])

    def _bytes(self, x: typed.Expr, t: Type) -> typed.Expr:
        """Return a value that replaces one of the type `t` with a byte for each component."""
        if not is_storage_vector(t):
            if not is_bits(t):
                return x
            if isinstance(x, typed.FloatConst):
                return typed.IntConst(x.span, UCHAR, _pattern(x))
            return typed.Convert(x.span, UCHAR, ConvertKind.BITCAST, x)
        if not _is_packed(t):
            return x
        n, span = element_count(t), x.span
        v = with_count(UCHAR, n)
        both: typed.Expr = typed.Convert(span, v, ConvertKind.SPLAT, x)
        if n > 2:
            both = typed.ExtractSwizzle(span, v, x, tuple(i // 2 for i in range(n)))
        shifts = typed.VectorLiteral(span, v, [typed.IntConst(span, UCHAR, i % 2 * 4) for i in range(n)])
        return typed.Binary(span, v, "and", typed.Binary(span, v, "shr", both, shifts), _splat(15, v, span))

    def _from_bytes(self, x: typed.Expr, t: Type) -> typed.Expr:
        """Return the value that replaces one of the type `t`, the reverse of `_bytes`."""
        if is_bits(t):
            return typed.Convert(x.span, t, ConvertKind.BITCAST, x)
        if not _is_packed(t):
            return x
        n, span = element_count(t), x.span
        half = with_count(UCHAR, n // 2)
        before, x = self.materialize(x)
        low, high = (typed.ExtractSwizzle(span, half, x, tuple(range(first, n, 2))) for first in (0, 1))
        # Integer promotion in OpenCL C keeps the upper bits of a scalar.
        upper = _bitwise("shl", _bitwise("and", high, _splat(15, half, span)), _splat(4, half, span))
        return sequence([*before, _bitwise("or", _bitwise("and", low, _splat(15, half, span)), upper)])

    # --- conversions -----------------------------------------------------------------------------

    def convert(self, e: typed.Convert, new: typed.Convert) -> typed.Expr:
        if e.kind is ConvertKind.SPLAT and is_storage_vector(e.type):
            byte, v = self._bytes(new.operand, e.operand.type), with_count(UCHAR, element_count(e.type))
            return self._from_bytes(typed.Convert(e.span, v, ConvertKind.SPLAT, byte), e.type)
        if e.kind in _NUMERIC and (is_storage_vector(e.type) or is_storage_vector(e.operand.type)):
            return self._converted(new.operand, e.operand.type, e.type, e.span, None)
        return new.operand if e.kind in _CASTS and new.type == new.operand.type else new

    def _converted(
        self, x: typed.Expr, source: Type, t: Type, span: Span, call: typed.BuiltinCall | None
    ) -> typed.Expr:
        """Return `x`, which replaces a value of the type `source`, converted to `t` with one rounding.

        call: the call of a convert_ builtin that tells the rounding; None for the default.
        """
        n, own = element_count(t), element_type(t)
        floats = with_count(FLOAT, n)
        assert isinstance(own, ScalarType)
        if is_storage_vector(source):
            x = self._call(source, "to_float", self._bytes(x, source), span)
            if not is_storage_vector(t):
                is_integer = COMPONENTS[element_type(source).name].is_integer  # type: ignore[attr-defined]
                if is_integer and own.is_integer and call is None:
                    # Negative integers wrap.
                    x = typed.Convert(span, with_count(INT, n), ConvertKind.FLOAT_TO_INT, x)
                return _to_plain(x, t, span, call)
            source = floats
        component = COMPONENTS[element_type(source).name]  # type: ignore[attr-defined]
        if component in INEXACT_IN_FLOAT:
            x = self._call(source, "to_odd", x, span)
        elif (kind := kind_between(source, floats)) is not None:
            x = typed.Convert(span, floats, kind, x)
        how = parse_conversion(call.name) if call is not None else None
        rounding, saturate = ("", False) if how is None else (how.rounding or "", how.saturate)
        return self._from_bytes(self._call(t, from_float(COMPONENTS[own.name], rounding, saturate), x, span), t)

    def _call(self, t: Type, what: str, x: typed.Expr, span: Span) -> typed.Expr:
        """Call a function on small floats for the components of the vector type `t`."""
        component = COMPONENTS[element_type(t).name]  # type: ignore[attr-defined]
        return self.calls.call(self.decl, _TARGET, SmallFloatFunction(component, what, element_count(t)), [x], span)

    # --- builtins --------------------------------------------------------------------------------

    def builtin(self, e: typed.BuiltinCall, new: typed.BuiltinCall) -> typed.Expr:
        if e.name.startswith("convert_") and (is_storage_vector(e.type) or is_storage_vector(e.parameters[0])):
            return self._converted(new.arguments[0], e.parameters[0], e.type, e.span, e)
        if e.name.startswith(("vload", "vstore")) and (is_storage_vector(e.type) or is_storage_vector(e.parameters[0])):
            return self._memory(e, new)
        return new

    def _memory(self, e: typed.BuiltinCall, new: typed.BuiltinCall) -> typed.Expr:
        """Return an access to a vector of bytes; offsets count such vectors."""
        *rest, pointer = new.arguments
        assert isinstance(pointer.type, PointerType)
        to_bytes = typed.Convert(e.span, PointerType(UCHAR, pointer.type.qualifiers), ConvertKind.POINTER, pointer)
        is_load = e.name.startswith("vload")
        t = new.type if is_load else rest[0].type
        if element_count(t) > 1:
            parameters = (*(argument.type for argument in rest), to_bytes.type)
            name = f"{'vload' if is_load else 'vstore'}{element_count(t)}"
            return typed.BuiltinCall(e.span, new.type, name, e.lowering, parameters, [*rest, to_bytes])
        at = typed.PointerAdd(e.span, to_bytes.type, to_bytes, rest[-1])
        place = typed.Deref(e.span, UCHAR, pointer.type.qualifiers, at)
        if is_load:
            return load(place)
        return sequence([typed.Assign(e.span, UCHAR, place, rest[0]), typed.Zero(e.span, e.type)])


_NUMERIC = (ConvertKind.INT_TO_FLOAT, ConvertKind.FLOAT_TO_INT, ConvertKind.FLOAT_TO_FLOAT)
_CASTS = (ConvertKind.BITCAST, ConvertKind.POINTER)
_HANDLERS: dict[type, Callable[..., Any]] = {
    typed.VectorLiteral: _Function.literal,
    typed.ExtractSwizzle: _Function.extract,
    typed.Load: _Function.load,
    typed.Assign: _Function.assign,
    typed.Convert: _Function.convert,
    typed.BuiltinCall: _Function.builtin,
}


def _splat(value: int, t: Type, span: Span) -> typed.Expr:
    constant = typed.IntConst(span, UCHAR, value)
    return constant if t == UCHAR else typed.Convert(span, t, ConvertKind.SPLAT, constant)


def _bitwise(op: str, left: typed.Expr, right: typed.Expr) -> typed.Expr:
    return typed.Binary(left.span, left.type, op, left, right)


def _pattern(e: typed.Expr) -> int:
    """Return the bits of a constant of a type for storage."""
    if isinstance(e, typed.FloatConst):
        assert isinstance(e.type, ScalarType)
        return COMPONENTS[e.type.name].pattern(e.value)
    assert isinstance(e, typed.Zero), e
    return 0


def _to_plain(x: typed.Expr, t: Type, span: Span, call: typed.BuiltinCall | None) -> typed.Expr:
    """Return a vector of float converted to another type that is not for storage."""
    kind = kind_between(x.type, t)
    if call is not None:
        return typed.BuiltinCall(span, t, call.name, call.lowering, (x.type,), [x])
    return x if kind is None else typed.Convert(span, t, kind, x)


def _constant(
    e: typed.Expr, variables: Mapping[typed.VarDecl, typed.VarDecl], map_type: Callable[[Type], Type]
) -> typed.Expr:
    """Return the initial value of a static object, with bytes in place of components."""

    def reference(old: typed.VarRef, new: typed.VarRef) -> Any:
        return copied(new, decl=variables.get(old.decl, old.decl))

    def literal(old: typed.VectorLiteral, new: typed.VectorLiteral) -> typed.Expr:
        if not is_storage_vector(old.type):
            return new
        codes = [_pattern(item) for item in old.items]
        if _is_packed(old.type):
            codes = [low & 15 | high << 4 for low, high in zip(codes[0::2], codes[1::2], strict=True)]
        items = [typed.IntConst(old.span, UCHAR, code & 255) for code in codes]
        return typed.VectorLiteral(old.span, new.type, list(items)) if len(items) > 1 else items[0]

    result: typed.Expr = Rewriter({typed.VarRef: reference, typed.VectorLiteral: literal}, map_type).rewrite(e)
    return result
