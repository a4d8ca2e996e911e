"""Loads and stores: the pointer, the layout, the stride, the bounds of checked ones."""

from __future__ import annotations

from ....diagnostics import Note
from ....matrices.variants import Layout
from ... import syntax, typed
from ...builtins.matrix import MatrixBuiltin
from ...matrix_terms import matrix_type
from ...typed import Expr, IntConst
from ...types import (
    UINT,
    ULONG,
    VOID,
    AddressSpace,
    CoopMatrixType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    element_type,
    size_of,
)
from ..context import Context
from ..hints import cast_to, declared_here
from ..values import convert_arithmetic, make_binary, rvalue
from .arguments import matrix_argument
from .expected import target
from .types import enumerator

_LAYOUTS = {0: "row major", 1: "column major", 2: "packed"}


def load(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    """Of `coop_mat_load` and, with bounds, `coop_mat_load_checked`."""
    matrix = target(c, row, node, expected)
    return typed.MatrixLoad(node.span, matrix, *_access(c, node.arguments, matrix.component, store=False))


def store(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    """Of `coop_mat_store` and, with bounds, `coop_mat_store_checked`."""
    where, what, *rest = node.arguments
    matrix = matrix_argument(c, what)
    assert isinstance(matrix.type, CoopMatrixType)
    pointer, layout, stride, bounds = _access(c, [where, *rest], matrix.type.component, store=True)
    result = typed.MatrixStore(node.span, VOID, pointer, matrix, layout, stride, bounds)
    _overlap(c, result, matrix.type)
    return result


def _overlap(c: Context, e: typed.MatrixStore, matrix: CoopMatrixType) -> None:
    """Warns where two components of what is stored share a place, as far as constants tell."""
    component = matrix_type(matrix).component
    pack = Layout(e.layout).pack(component)
    by_column = e.layout == Layout.COLUMN_MAJOR
    lines, length = (matrix.columns, matrix.rows) if by_column else (-(-matrix.rows // pack), matrix.columns * pack)
    if e.bounds is not None:
        # What lies outside is not stored.
        bound = e.bounds.rows if by_column else e.bounds.columns
        length = min(length, bound.value * pack) if isinstance(bound, IntConst) else 0
    if isinstance(e.stride, IntConst) and 0 < e.stride.value < length and lines > 1:
        what = "column" if by_column else "row"
        message = f"a {what} of '{matrix}' has {length} components, and the next one starts {e.stride.value} behind it"
        c.warn("coop-mat-stride", f"{message}: they overlap", e.stride.span)


def _access(
    c: Context, nodes: list[syntax.Expression], component: ScalarType, *, store: bool
) -> tuple[Expr, int, Expr, typed.MatrixBounds | None]:
    """The pointer as one to the component type, the layout, the stride in components, the bounds.

    Each tells what is wrong with it before the call is given up.
    """
    (where, scale), layout, stride, bounds = c.all_of(
        lambda: _source(c, nodes[0], component, store=store),
        lambda: _layout(c, nodes[1]),
        lambda: _stride(c, nodes[2], store=store),
        lambda: _bounds(c, nodes[3:]) if nodes[3:] else None,
    )
    if scale != 1:
        stride = make_binary(nodes[2].span, "mul", stride, IntConst(nodes[2].span, ULONG, scale))
    return where, layout, stride, bounds


def _source(c: Context, node: syntax.Expression, component: ScalarType, *, store: bool) -> tuple[Expr, int]:
    """The pointer as one to the component type, and how many components one pointee holds."""
    e = rvalue(c.analyse(node))
    t = e.type
    if not isinstance(t, PointerType):
        c.fail("coop-mat-pointee", f"expected a pointer to '{component}', not '{t}'", e.span)
    if store and (t.qualifiers.const or t.qualifiers.space is AddressSpace.CONSTANT):
        message = f"cannot store through '{t}': what it points to is read-only"
        c.fail("coop-mat-const-store", message, e.span, notes=declared_here(e))
    if element_type(t.pointee) != component:
        c.fail(
            "coop-mat-pointee",
            f"'{t}' does not point to '{component}', the component type of the matrix",
            e.span,
            notes=[Note("cast the pointer where another type in memory is meant"), *declared_here(e)],
            fixits=cast_to(c, e, str(PointerType(component, t.qualifiers))),
        )
    if not isinstance(t.pointee, VectorType):
        return e, 1
    where = PointerType(component, t.qualifiers)
    return typed.Convert(e.span, where, typed.ConvertKind.POINTER, e), size_of(t.pointee) // size_of(component)


def _layout(c: Context, e: syntax.Expression) -> int:
    value = enumerator(c, e)
    if value not in _LAYOUTS:
        c.fail(
            "coop-mat-layout",
            "the layout must be an integer constant expression with the value of a layout enumerator",
            e.span,
            notes=[Note("write CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, _COLUMN_MAJOR or _PACKED")],
        )
    return value


def _stride(c: Context, e: syntax.Expression, *, store: bool) -> Expr:
    """The stride in pointees, as size_t."""
    value = rvalue(c.analyse(e))
    if not isinstance(value.type, ScalarType) or not value.type.is_integer:
        c.fail("coop-mat-invalid-stride", f"the stride must be an integer, not '{value.type}'", e.span)
    if isinstance(value, IntConst) and value.value < 0:
        c.fail("coop-mat-invalid-stride", f"the stride cannot be negative ({value.value})", e.span)
    if value.type != ULONG and not isinstance(value, IntConst):
        c.warn("stride-type", f"the stride is a '{value.type}'; the draft asks for size_t", e.span)
    if store and isinstance(value, IntConst) and value.value == 0:
        c.warn("coop-mat-zero-stride", "a store with stride 0 writes every row to one place", e.span)
    return convert_arithmetic(value, ULONG)


_BOUNDS = ("row", "column", "number of rows", "number of columns")


def _bounds(c: Context, nodes: list[syntax.Expression]) -> typed.MatrixBounds:
    values = c.each(zip(_BOUNDS, nodes, strict=True), lambda bound: _bound(c, *bound))
    return typed.MatrixBounds(nodes[0].span.to(nodes[-1].span), VOID, *values)


def _bound(c: Context, what: str, node: syntax.Expression) -> Expr:
    value = rvalue(c.analyse(node))
    if not isinstance(value.type, ScalarType) or not value.type.is_integer:
        c.fail("coop-mat-bounds", f"the {what} must be an integer, not '{value.type}'", node.span)
    if isinstance(value, IntConst) and not 0 <= value.value < 1 << UINT.bits:
        c.fail("coop-mat-bounds", f"the {what} must be a uint, which {value.value} is not", node.span)
    return convert_arithmetic(value, UINT)
