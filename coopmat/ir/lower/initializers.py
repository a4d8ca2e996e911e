"""Initial values of objects in memory."""

from __future__ import annotations

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend import typed
from ...frontend.types import (
    EVENT,
    ArrayType,
    ConstantMatrixType,
    CoopMatrixType,
    RecordType,
    Type,
    VectorType,
    contains_matrix,
    size_of,
)
from ..type_map import I64
from . import constants, native, places
from .conditions import choose
from .context import FunctionContext
from .operators import zero

# More scalars than this are copied from a constant object rather than stored one by one.
_MAX_STORES = 32
_LARGEST_SCALAR = 8  # in bytes


def initialize(ctx: FunctionContext, place: places.MemoryPlace, e: typed.Expr) -> None:
    """Give the object its first value, `e` of the object's type."""
    if not ctx.types.in_memory(e.type):
        place.write(ctx, ctx.operand(e))
    elif isinstance(e, typed.Zero):
        _zero(ctx, place)
    elif isinstance(e, typed.Aggregate):
        _aggregate(ctx, place, e)
    elif isinstance(e, typed.StringConst) or (isinstance(e, typed.Load) and isinstance(e.operand, typed.StringConst)):
        _from_constant(ctx, place, _constant(ctx, e))
    elif isinstance(e, typed.Conditional):
        _conditional(ctx, place, e)
    else:
        place.write(ctx, ctx.operand(e))


def _zero(ctx: FunctionContext, place: places.MemoryPlace) -> None:
    t = place.type
    if isinstance(t, CoopMatrixType):
        # A null constant of a matrix does not survive SROA and the backend; a fill does.
        place.write(ctx, native.fill(ctx, t, zero(ctx, t.component)))
    elif contains_matrix(t) or (isinstance(t, ArrayType) and t.element == EVENT):
        for part in _parts(ctx, place):
            _zero(ctx, part)
    elif _scalars(place.type) <= _MAX_STORES:
        ctx.builder.store(zero(ctx, place.type), place.pointer, align=place.align, volatile=place.volatile)
    else:
        _from_constant(ctx, place, zero(ctx, place.type))


def _parts(ctx: FunctionContext, place: places.MemoryPlace) -> list[places.MemoryPlace]:
    """The members or elements of a record or array."""
    if isinstance(place.type, RecordType):
        return [place.member(ctx, index, False) for index in range(len(place.type.fields or ()))]
    assert isinstance(place.type, ArrayType)
    return [place.element(ctx, ir.Constant(I64, index)) for index in range(place.type.size or 0)]


def _scalars(t: Type) -> int:
    """How many an object of the type has; the bytes of one that is larger than few of them, or empty: records of
    records hold more than can be counted."""
    if isinstance(t, ArrayType):
        return (t.size or 0) * _scalars(t.element)
    if isinstance(t, RecordType):
        if t.kind == "union" or (not t.holds_matrix and not 0 < size_of(t) <= _MAX_STORES * _LARGEST_SCALAR):
            return size_of(t)
        return sum(_scalars(item.type) for item in t.fields or ())
    if isinstance(t, ConstantMatrixType):
        return t.storage_elements
    return t.count if isinstance(t, VectorType) else 1


def _aggregate(ctx: FunctionContext, place: places.MemoryPlace, e: typed.Aggregate) -> None:
    if _scalars(e.type) > _MAX_STORES and constants.is_constant(e):
        _from_constant(ctx, place, _constant(ctx, e))
        return
    given = {index for index, _ in e.items}
    if isinstance(e.type, RecordType):
        whole = len(e.type.fields or ()) == len(given) and e.type.kind == "struct"
    else:
        whole = isinstance(e.type, ArrayType) and e.type.size == len(given)
    if not whole:
        _zero(ctx, place)
    for index, value in e.items:
        if isinstance(e.type, RecordType):
            part = place.member(ctx, index, False)
        else:
            part = place.element(ctx, ir.Constant(I64, index))
        initialize(ctx, part, value)


def _constant(ctx: FunctionContext, e: typed.Expr) -> ir.Constant:
    value = constants.constant(ctx.program, e)
    if value is None:
        raise InternalError("an initial value was expected to be constant", str(e.span))
    return value


def _from_constant(ctx: FunctionContext, place: places.MemoryPlace, value: ir.Constant) -> None:
    source = ctx.program.constant_object(f"{ctx.function.name}.init", value, place.align)
    places.copy(ctx, place, places.MemoryPlace(source, place.type, place.align))


def _conditional(ctx: FunctionContext, place: places.MemoryPlace, e: typed.Conditional) -> None:
    choose(ctx, e, lambda side: initialize(ctx, place, side))
