"""The analysis of calls of the builtins on cooperative matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....diagnostics import FixIt, Label, Note, Span
from ....matrices.variants import EVERY_COMPONENT_TYPE, ComponentType, Layout, default_operands, may_multiply
from ... import syntax, typed
from ...builtins.matrix import BUILTINS, MatrixBuiltin
from ...matrix_terms import matrix_type
from ...nodes import walk
from ...typed import Expr, IntConst
from ...types import (
    UCHAR,
    UINT,
    ULONG,
    VOID,
    AddressSpace,
    CoopMatrixType,
    MatrixUse,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    element_type,
    size_of,
)
from ..context import Context, plural
from ..conversions import check_matrix_conversion, matrix_index
from ..hints import cast_to, declared_here, spelled
from ..printf import string_literals
from ..values import convert_arithmetic, make_binary, rvalue
from .function_operands import function_operand, means_function, names_function, result_of_operand
from .targets import target
from .types import enumerator, refuse_narrow, require_extension


def call(c: Context, name: str, node: syntax.Call, expected: Type | None) -> Expr:
    """Analyse a call of matrix builtin `name`; `expected` is the type that the context expects, if any."""
    require_extension(c, f"'{name}'", node.callee.span)
    row = BUILTINS[name]
    check_count(c, row, node)
    return _ANALYSES[row.operation](c, row, node, expected)


def _init(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    matrix = target(c, row, node, expected)
    value = rvalue(c.analyse(node.arguments[0]))
    if not isinstance(value.type, ScalarType):
        c.fail("coop-mat-init", f"'coop_mat_init' takes an arithmetic scalar, not '{value.type}'", value.span)
    return typed.MatrixFill(node.span, matrix, convert_arithmetic(value, matrix.component))


def _length(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    return typed.MatrixLength(node.span, UINT, matrix_or_type(c, node.arguments[0]))


def _coordinates(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    matrix = matrix_or_type(c, node.arguments[0])
    index = matrix_index(c, c.analyse(node.arguments[1]), matrix)
    return typed.MatrixCoordinates(node.span, VectorType(UINT, 2), matrix, index)


def _convert(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    how = row.how
    result = target(c, row, node, expected)
    value = matrix_argument(c, node.arguments[0])
    if how.transposed:
        _check_transpose(c, value, result, node.span)
    else:
        check_matrix_conversion(c, value, result, node.span)
    if how.saturate and not matrix_type(result).component.saturates:
        message = f"a conversion to floating point cannot saturate: '{value.type}' to '{result}'"
        c.fail("coop-mat-saturation", message, node.span, notes=[Note("leave '_sat' out")])
    return typed.MatrixConvert(node.span, result, value, how)


def _check_transpose(c: Context, value: Expr, result: CoopMatrixType, span: Span) -> None:
    source = value.type
    assert isinstance(source, CoopMatrixType)
    if result != replace(source, rows=source.columns, columns=source.rows, use=result.use):
        message = f"a transpose exchanges rows and columns, and keeps the component type: '{source}' to '{result}'"
        c.fail("coop-mat-conversion", message, span, notes=declared_here(value))


# --- arguments -------------------------------------------------------------------------------------


def check_count(c: Context, row: MatrixBuiltin, node: syntax.Call) -> None:
    """Report a call with a wrong number of arguments."""
    least, most = row.arguments
    if len(node.arguments) < least or (most is not None and len(node.arguments) > most):
        few = f"at least {least}" if most is None else f"{least} or {most}" if least < most else ""
        counts = f"{few} arguments" if few else plural(least, "argument")
        message = f"'{row.name}' takes {counts}, not {len(node.arguments)}"
        c.fail("argument-count", message, node.span, notes=[Note(row.signature)])


def matrix_argument(c: Context, e: syntax.Expression, expected: Type | None = None) -> Expr:
    value = rvalue(c.analyse(e, expected))
    if not isinstance(value.type, CoopMatrixType):
        message = f"expected a cooperative matrix, not '{value.type}'"
        c.fail("coop-mat-not-a-matrix", message, e.span, notes=declared_here(value))
    return value


def matrix_or_type(c: Context, e: syntax.Expression) -> CoopMatrixType:
    """Return the matrix type of an argument: that of a value, which is not evaluated, or a type name."""
    t = c.type_name(e.type_name) if isinstance(e, syntax.TypeArgument) else c.analyse(e).type
    if not isinstance(t, CoopMatrixType):
        c.fail("coop-mat-not-a-matrix", f"expected a cooperative matrix or its type, not '{t}'", e.span)
    return t


# --- multiply-add ----------------------------------------------------------------------------------


_A_SIGNED, _B_SIGNED, _C_SIGNED, _RESULT_SIGNED, _SATURATING = 1, 2, 4, 8, 16
_SIGNS = {_A_SIGNED: "MATRIX_A", _B_SIGNED: "MATRIX_B", _C_SIGNED: "MATRIX_C", _RESULT_SIGNED: "MATRIX_RESULT"}
_TF32 = 32
_MASK = 63


def multiply_add(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    values = a, b, acc = _operands(c, node.arguments[:3], expected)
    components = tuple(matrix_type(_matrix(value)).component for value in values)
    _check_components(c, values, components, node.span)
    mask = int(default_operands(*components))
    if len(node.arguments) == 4:
        mask = _explicit_mask(c, node.arguments[3], mask, components)
    return typed.MatrixMulAdd(node.span, acc.type, a, b, acc, mask)


def _operands(c: Context, nodes: list[syntax.Expression], expected: Type | None) -> list[Expr]:
    """Return A, B and the accumulator, which has the result's type, after the checks of uses and shapes."""
    operands = zip(nodes, (None, None, expected), strict=True)
    values = a, b, acc = c.each(operands, lambda operand: matrix_argument(c, *operand))
    _check_uses(c, values)
    _check_shapes(c, a, b, acc)
    return values


def _matrix(e: Expr) -> CoopMatrixType:
    assert isinstance(e.type, CoopMatrixType)
    return e.type


def _check_uses(c: Context, values: list[Expr]) -> None:
    wrong = [(value, use) for value, use in zip(values, MatrixUse, strict=True) if _matrix(value).use is not use]
    for value, use in wrong:
        words = f"operand {use.value + 1} must have use {use.name.lower()}"
        fixits = _exchanged(c, values) if use is MatrixUse.A and len(wrong) == 2 else []
        message = f"{words}, but its type is '{value.type}'"
        c.error("coop-mat-wrong-use", message, value.span, notes=declared_here(value), fixits=fixits)
    if wrong:
        c.abandon()


def _exchanged(c: Context, values: list[Expr]) -> list[FixIt]:
    """Return fix-its that exchange operands A and B if each has the use of the other, else none."""
    a, b = values[:2]
    texts = spelled(c, a.span), spelled(c, b.span)
    if (_matrix(a).use, _matrix(b).use) != (MatrixUse.B, MatrixUse.A) or texts[0] is None or texts[1] is None:
        return []
    return [FixIt(a.span, texts[1]), FixIt(b.span, texts[0])]


def _check_components(c: Context, values: list[Expr], components: tuple[ComponentType, ...], span: Span) -> None:
    """Report component types that a multiply-add cannot combine."""
    if may_multiply(*components):
        return
    names = "', '".join(t.opencl_c for t in components[:2]) + f"' and '{components[2].opencl_c}"
    message = f"components must be all integers or all floating point, not '{names}'"
    notes = [note for value in values for note in declared_here(value)]
    if len({t.kind for t in components}) == 1:
        message = f"no multiply-add combines components '{names}'"
        notes.insert(0, Note("convert matrices of types for storage, or use 'coop_mat_mulAdd_scaled' if it fits"))
    labels = [Label(value.span) for value in values]
    c.fail("coop-mat-component-class", message, span, labels=labels, notes=notes)


def _check_shapes(c: Context, a: Expr, b: Expr, acc: Expr) -> None:
    ta, tb, tc = _matrix(a), _matrix(b), _matrix(acc)
    checks = (
        (ta.columns == tb.rows, "columns of A", ta.columns, "rows of B", tb.rows, a, b),
        (ta.rows == tc.rows, "rows of A", ta.rows, "rows of the accumulator", tc.rows, a, acc),
        (tb.columns == tc.columns, "columns of B", tb.columns, "columns of the accumulator", tc.columns, b, acc),
    )
    for fits, first, m, second, n, left, right in checks:
        if not fits:
            message = f"shapes do not fit: {m} {first}, {n} {second}"
            notes = [Note("A is M x K, B is K x N, the accumulator M x N"), *declared_here(left), *declared_here(right)]
            labels = [Label(left.span, f"this is '{left.type}'")]
            c.fail("coop-mat-shapes", message, right.span, labels=labels, notes=notes)


def _explicit_mask(c: Context, e: syntax.Expression, derived: int, components: tuple[ComponentType, ...]) -> int:
    """Return the explicit mask of operands, after a warning if it contradicts the component types.

    With components of 4 bits, a contradiction is an error.
    """
    value = enumerator(c, e)
    if value is None or not 0 <= value <= _MASK:
        c.fail(
            "coop-mat-operands",
            "the operands must be an integer constant expression of operand enumerators",
            e.span,
            notes=[Note("combine enumerators CLK_COOPERATIVE_MATRIX_OPERAND_... by |")],
        )
    if value & _TF32 and any(t.name != "f32" for t in components):
        c.fail("coop-mat-operands", "CLK_COOPERATIVE_MATRIX_OPERAND_TF32 is for matrices of float only", e.span)
    if any(isinstance(node, syntax.IntegerLiteral) for node in walk(e)):
        message = "the operands are an integer literal; expected operand enumerators"
        c.warn("coop-mat-operands-type", message, e.span)
    if not components[0].is_integer:
        if value & _SATURATING:
            c.warn("coop-mat-operands-sign", "floating-point components do not saturate", e.span)
        elif value & ~_TF32:
            c.warn("coop-mat-operands-sign", "signedness has no effect on floating-point components", e.span)
        return value
    if (value & ~_SATURATING) != derived:
        message = f"the operands contradict the component types, which need {_names(derived)}"
        if any(t.is_nibble and (value ^ derived) & sign for t, sign in zip(components, _SIGNS, strict=False)):
            c.fail("coop-mat-operands", message, e.span)
        c.warn("coop-mat-operands-sign", message, e.span)
    return value


def _names(mask: int) -> str:
    return " | ".join(f"{name}_SIGNED" for bit, name in _SIGNS.items() if mask & bit) or "none"


def _multiply_add_scaled(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    a, scales_a, stride_a, b, scales_b, stride_b, acc = node.arguments
    values = x, y, z = _operands(c, [a, b, acc], expected)
    for value, (names, words) in zip(values, (_SCALED, _SCALED, _SUMS), strict=True):
        if matrix_type(_matrix(value)).component.name not in names:
            c.fail("coop-mat-scaled", f"expected {words}, not '{value.type}'", value.span, notes=declared_here(value))
    parts = c.all_of(
        lambda: _scales(c, scales_a),
        lambda: _stride(c, stride_a, store=False),
        lambda: _scales(c, scales_b),
        lambda: _stride(c, stride_b, store=False),
    )
    c.unit.has_expansions = True
    return typed.MatrixMulAddScaled(node.span, z.type, x, y, z, 0, *parts)


_SMALL = [name for name, t in EVERY_COMPONENT_TYPE.items() if not t.is_integer and t.bits <= 8]
_SCALED = _SMALL, "floating-point components of at most 8 bits"
_SUMS = ["f32", "f16", "bf16"], "an accumulator of float, half or bfloat16"


def _scales(c: Context, node: syntax.Expression) -> Expr:
    """Return a pointer to E8M0 scales, as a pointer to uchar."""
    e = rvalue(c.analyse(node))
    if not isinstance(e.type, PointerType) or str(e.type.pointee) not in ("floate8m0_t", "uchar"):
        c.fail("coop-mat-scaled", f"expected a pointer to scales, not '{e.type}'", e.span, notes=declared_here(e))
    where = PointerType(UCHAR, e.type.qualifiers)
    return e if e.type == where else typed.Convert(e.span, where, typed.ConvertKind.POINTER, e)


# --- loads and stores ------------------------------------------------------------------------------


_LAYOUTS = {0: "row major", 1: "column major", 2: "packed"}


def load(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    """Analyse `coop_mat_load` and, with bounds, `coop_mat_load_checked`."""
    matrix = target(c, row, node, expected)
    return typed.MatrixLoad(node.span, matrix, *_access(c, node.arguments, matrix.component, store=False))


def store(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    """Analyse `coop_mat_store` and, with bounds, `coop_mat_store_checked`."""
    where, what, *rest = node.arguments
    matrix = matrix_argument(c, what)
    assert isinstance(matrix.type, CoopMatrixType)
    pointer, layout, stride, bounds = _access(c, [where, *rest], matrix.type.component, store=True)
    result = typed.MatrixStore(node.span, VOID, pointer, matrix, layout, stride, bounds)
    _overlap(c, result, matrix.type)
    return result


def _overlap(c: Context, e: typed.MatrixStore, matrix: CoopMatrixType) -> None:
    """Warn if constants show that two stored components share an address."""
    component = matrix_type(matrix).component
    pack = Layout(e.layout).pack(component)
    by_column = e.layout == Layout.COLUMN_MAJOR
    lines, length = (matrix.columns, matrix.rows) if by_column else (-(-matrix.rows // pack), matrix.columns * pack)
    if e.bounds is not None:
        # Components outside of the bounds are not stored.
        bound = e.bounds.rows if by_column else e.bounds.columns
        length = min(length, bound.value * pack) if isinstance(bound, IntConst) else 0
    if isinstance(e.stride, IntConst) and 0 < e.stride.value < length and lines > 1:
        what = "column" if by_column else "row"
        message = f"a {what} of '{matrix}' has {length} components, and the stride is {e.stride.value}"
        c.warn("coop-mat-stride", f"{message}: the {what}s overlap", e.stride.span)


def _access(
    c: Context, nodes: list[syntax.Expression], component: ScalarType, *, store: bool
) -> tuple[Expr, int, Expr, typed.MatrixBounds | None]:
    """Return the pointer converted to the component type, the layout, the stride in components, and the bounds.

    The errors of all arguments are reported before analysis of the call is abandoned.
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
    """Return the pointer converted to the component type, and the number of components in one original pointee."""
    e = rvalue(c.analyse(node))
    t = e.type
    if not isinstance(t, PointerType):
        c.fail("coop-mat-pointee", f"expected a pointer to '{component}', not '{t}'", e.span)
    if store and (t.qualifiers.const or t.qualifiers.space is AddressSpace.CONSTANT):
        message = f"cannot store through '{t}': what it points to is read-only"
        c.fail("coop-mat-const-store", message, e.span, notes=declared_here(e))
    pointee, where = element_type(t.pointee), PointerType(component, t.qualifiers)
    if pointee != component:
        note, fixits = "cast the pointer where another type in memory is meant", cast_to(c, e, str(where))
        if isinstance(pointee, ScalarType) and size_of(pointee) not in (1, size_of(component)):
            fixits = []  # the cast pointer would reach beyond the object
            note = f"convert from or to a matrix of '{pointee}', or cast the pointer to memory that holds '{component}'"
        message = f"'{t}' does not point to '{component}', the component type of the matrix"
        c.fail("coop-mat-pointee", message, e.span, notes=[Note(note), *declared_here(e)], fixits=fixits)
    if not isinstance(t.pointee, VectorType):
        return e, 1
    return typed.Convert(e.span, where, typed.ConvertKind.POINTER, e), 4 if t.pointee.count == 3 else t.pointee.count


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
    """Return the stride in pointees, as size_t."""
    value = rvalue(c.analyse(e))
    if not isinstance(value.type, ScalarType) or not value.type.is_integer:
        c.fail("coop-mat-invalid-stride", f"the stride must be an integer, not '{value.type}'", e.span)
    if isinstance(value, IntConst) and value.value < 0:
        c.fail("coop-mat-invalid-stride", f"the stride cannot be negative ({value.value})", e.span)
    if value.type != ULONG and not isinstance(value, IntConst):
        c.warn("stride-type", f"the stride has type '{value.type}'; the extension specifies size_t", e.span)
    if store and isinstance(value, IntConst) and value.value == 0:
        c.warn("coop-mat-zero-stride", "a store with stride 0 writes all rows to the same address", e.span)
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
        c.fail("coop-mat-bounds", f"the {what} must fit uint, but is {value.value}", node.span)
    return convert_arithmetic(value, UINT)


# --- functions as operands -------------------------------------------------------------------------


_ROW, _COLUMN, _BLOCKS = 1, 2, 4


def _map(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    nodes = node.arguments
    if names_function(c, nodes[0]):
        notes = [Note("use 'coop_mat_build' to compute a matrix from a function alone")]
        c.fail("coop-mat-not-a-matrix", "expected a cooperative matrix, not a function", nodes[0].span, notes=notes)
    # The first argument that names a function is the function. If none does, the last argument is reported.
    count = next((n for n, argument in enumerate(nodes) if n and means_function(c, argument)), len(nodes) - 1)
    first = matrix_argument(c, nodes[0], expected)
    matrix = _matrix(first)
    operands = [first, *c.each(nodes[1:count], lambda argument: _operand_of_map(c, argument, matrix))]
    part = result_of_operand(c, nodes[count], matrix)
    leading = (UINT, UINT, *(part for _ in operands))
    function, arguments = function_operand(c, nodes[count], leading, part, nodes[count + 1 :])
    return typed.MatrixMap(node.span, matrix, function, operands, arguments, False)


def _operand_of_map(c: Context, node: syntax.Expression, matrix: CoopMatrixType) -> Expr:
    value = rvalue(c.analyse(node, matrix))
    if not isinstance(value.type, CoopMatrixType):
        message = f"expected a cooperative matrix or the name of a function, not '{value.type}'"
        c.fail("coop-mat-function", message, node.span, notes=declared_here(value))
    if value.type != matrix:
        message = f"the matrices of 'coop_mat_map' must have one type: '{matrix}' and '{value.type}' differ"
        c.fail("coop-mat-operand-types", message, node.span, notes=declared_here(value))
    return value


def _build(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    matrix, down = target(c, row, node, expected), row.operation == "build_columns"
    function, *rest = node.arguments
    part = result_of_operand(c, function, matrix, down)
    decl, arguments = function_operand(c, function, (UINT, UINT), part, rest)
    return typed.MatrixMap(node.span, matrix, decl, [], arguments, down)


def _reduce(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    result = target(c, row, node, expected)
    operand, how = c.all_of(lambda: matrix_argument(c, node.arguments[0]), lambda: _directions(c, node.arguments[1]))
    refuse_narrow(c, operand.type, "'coop_mat_reduce'", node.span)
    _check_reduction(c, operand, how, result, node.span)
    component = result.component
    function, _ = function_operand(c, node.arguments[2], (component, component), component)
    return typed.MatrixReduce(node.span, result, operand, how, function)


def _directions(c: Context, e: syntax.Expression) -> int:
    value = enumerator(c, e)
    if value not in (_ROW, _COLUMN, _ROW | _COLUMN, _BLOCKS):
        words = "CLK_COOPERATIVE_MATRIX_REDUCE_ROW, _COLUMN, _ROW | _COLUMN, or _2X2 alone"
        message = "the reduction kind must be an integer constant expression with the value of a reduction enumerator"
        c.fail("coop-mat-reduce", message, e.span, notes=[Note(f"write {words}")])
    return value


def _check_reduction(c: Context, operand: Expr, how: int, result: CoopMatrixType, span: Span) -> None:
    """Check the types of a reduction: a dimension that is not reduced keeps its extent."""
    source = _matrix(operand)
    rows = {_ROW: source.rows, _BLOCKS: source.rows // 2}.get(how, result.rows)
    columns = {_COLUMN: source.columns, _BLOCKS: source.columns // 2}.get(how, result.columns)
    if how == _BLOCKS and (source.rows % 2 or source.columns % 2):
        c.fail("coop-mat-reduce", f"'{source}' has no blocks of 2x2: both sizes must be even", operand.span)
    wanted = replace(source, rows=rows, columns=columns)
    if source.use is not MatrixUse.ACCUMULATOR:
        message = f"only an accumulator can be reduced, not '{source}'"
        c.fail("coop-mat-wrong-use", message, operand.span, notes=declared_here(operand))
    if result != wanted:
        message = f"this reduction of '{source}' gives '{wanted}', not '{result}'"
        c.fail("coop-mat-reduce", message, span, notes=declared_here(operand))


def _prefetch(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    matrix = matrix_or_type(c, node.arguments[0])
    pointer, layout, stride, _ = _access(c, node.arguments[1:], matrix.component, store=False)
    return typed.MatrixPrefetch(node.span, VOID, matrix, pointer, layout, stride)


def _print(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    if "CL1.2" not in c.features:
        message = f"'{row.name}' prints by printf, which OpenCL C before 1.2 lacks"
        c.fail("coop-mat-print", message, node.span, notes=[Note(_INSTEAD_OF_PRINT)])
    value = matrix_argument(c, node.arguments[0])
    name = spelled(c, node.arguments[0].span) or "matrix"
    if node.arguments[1:]:
        literals = string_literals(c.analyse(node.arguments[1]))
        if len(literals) != 1:
            c.fail("coop-mat-print", f"the name in '{row.name}' must be a string literal", node.arguments[1].span)
        name = literals[0].value.partition(b"\0")[0].decode("utf-8", "surrogateescape")
    c.unit.has_expansions = True
    return typed.MatrixPrint(node.span, VOID, value, name, row.name.endswith("_lanes"))


_INSTEAD_OF_PRINT = "compile with -cl-std=CL1.2, or store the matrix to a buffer and print it on the host"
_ANALYSES: dict[str, Callable[[Context, MatrixBuiltin, syntax.Call, Type | None], Expr]] = {
    "load": load,
    "store": store,
    "multiply_add": multiply_add,
    "multiply_add_scaled": _multiply_add_scaled,
    "init": _init,
    "length": _length,
    "coordinates": _coordinates,
    "convert": _convert,
    "map": _map,
    "build": _build,
    "build_columns": _build,
    "reduce": _reduce,
    "prefetch": _prefetch,
    "print": _print,
}
