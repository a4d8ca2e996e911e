"""Cooperative matrices: the type attribute, the builtins, the operators (shared language reference, section 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...diagnostics import FixIt, Label, Note, Span
from .. import syntax, typed
from ..typed import Expr, IntConst, LValue
from ..types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    INTEGERS,
    SCOPE_SUBGROUP,
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
from .context import UNKNOWN, Context, EnumConstant
from .conversions import convert_arithmetic, rvalue

ENUMERATORS: dict[str, int] = {
    "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP": SCOPE_SUBGROUP,
    "CLK_COOPERATIVE_MATRIX_A": 0,
    "CLK_COOPERATIVE_MATRIX_B": 1,
    "CLK_COOPERATIVE_MATRIX_ACCUMULATOR": 2,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR": 0,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR": 1,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED": 2,
    "CLK_COOPERATIVE_MATRIX_OPERAND_NONE": 0,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED": 1,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED": 2,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED": 4,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED": 8,
    "CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION": 16,
}
_LAYOUTS = {0: "row major", 1: "column major", 2: "packed"}
_PACKED = 2
_A_SIGNED, _B_SIGNED, _C_SIGNED, _RESULT_SIGNED, _SATURATING = 1, 2, 4, 8, 16
_COMPONENTS = (HALF, FLOAT, DOUBLE, *INTEGERS)
_MAX_EXTENT = (1 << 20) - 1

# --- the type attribute ----------------------------------------------------------------------------


def apply_attribute(c: Context, base: Type, attribute: syntax.Attribute) -> CoopMatrixType:
    """The matrix type that `coop_mat(scope, rows, columns, use)` makes of component type `base`."""
    require_extension(c, "'coop_mat'", attribute.span)
    arguments = attribute.arguments or []
    if len(arguments) != 4:
        c.fail(
            "coop-mat-attribute",
            f"'coop_mat' takes scope, rows, columns and use: 4 arguments, not {len(arguments)}",
            attribute.span,
        )
    if not isinstance(base, ScalarType) or base not in _COMPONENTS:
        allowed = ", ".join(map(str, _COMPONENTS))
        c.fail(
            "coop-mat-component",
            f"'{base}' cannot be the component type of a cooperative matrix",
            attribute.span,
            notes=[Note(f"component types are {allowed}")],
        )
    scope = _scope(c, arguments[0])
    rows, columns = _extent(c, arguments[1], "rows"), _extent(c, arguments[2], "columns")
    return CoopMatrixType(base, scope, rows, columns, _use(c, arguments[3]))


def require_extension(c: Context, what: str, span: Span) -> None:
    if not c.matrices:
        c.fail(
            "coop-mat-extension-off",
            f"{what} needs cl_khr_cooperative_matrix, which is turned off",
            span,
            notes=[Note("remove -cl-ext=-cl_khr_cooperative_matrix")],
        )


def _enumerator(c: Context, e: syntax.Expression) -> int | None:
    """The value of an integer constant expression; a string holding an enumerator's name is accepted too."""
    from .expressions import analyse

    while isinstance(e, syntax.Paren):
        e = e.inner
    if isinstance(e, syntax.StringLiteral):
        name = "".join(text.strip('"') for text in e.texts)
        if name not in ENUMERATORS:
            return None
        message = f"'{name}' stands as a string; write the enumerator itself"
        c.diagnostics.warning("coop-mat-string-enumerator", message, e.span, fixits=[FixIt(e.span, name)])
        return ENUMERATORS[name]
    if isinstance(e, syntax.Identifier) and e.name == "memory_scope_sub_group":
        return SCOPE_SUBGROUP  # by role: its own value differs between headers
    value = rvalue(analyse(c, e))
    return value.value if isinstance(value, IntConst) else None


def _scope(c: Context, e: syntax.Expression) -> int:
    scope = _enumerator(c, e)
    if scope != SCOPE_SUBGROUP:
        c.fail(
            "coop-mat-scope",
            "the scope of a cooperative matrix must be the subgroup",
            e.span,
            notes=[Note("write CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP or memory_scope_sub_group")],
        )
    return SCOPE_SUBGROUP


def _extent(c: Context, e: syntax.Expression, what: str) -> int:
    from .expressions import analyse

    value = rvalue(analyse(c, e))
    if not isinstance(value, IntConst):
        c.fail("coop-mat-shape", f"the number of {what} must be an integer constant expression", e.span)
    if not 1 <= value.value <= _MAX_EXTENT:
        c.fail("coop-mat-shape", f"the number of {what} must be 1 to {_MAX_EXTENT}, not {value.value}", e.span)
    return value.value


def _use(c: Context, e: syntax.Expression) -> MatrixUse:
    use = _enumerator(c, e)
    if use not in (0, 1, 2):
        c.fail(
            "coop-mat-use",
            "the use of a cooperative matrix must be A, B or accumulator",
            e.span,
            notes=[Note("write CLK_COOPERATIVE_MATRIX_A, _B or _ACCUMULATOR")],
        )
    return MatrixUse(use)


# --- operators -------------------------------------------------------------------------------------

_BINARY = ("add", "sub", "mul", "div")


def negate(c: Context, op: str, e: Expr, span: Span) -> Expr:
    if op != "-":
        c.fail("coop-mat-operator", f"invalid operand to unary '{op}': '{e.type}'", span, labels=[Label(e.span)])
    return typed.MatrixNegate(span, e.type, e)


def binary(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    """`op` is the spelling, `name` the operation; at least one operand is a matrix."""
    if name == "mul":
        for matrix, scalar in ((left, right), (right, left)):
            if isinstance(matrix.type, CoopMatrixType) and isinstance(scalar.type, ScalarType):
                return typed.MatrixScale(span, matrix.type, matrix, _scalar(scalar, matrix.type))
    _check_operands(c, op, name, left, right, op_span)
    return typed.MatrixBinary(span, left.type, name, left, right)


def compound_assign(c: Context, op: str, name: str, target: LValue, value: Expr, span: Span, op_span: Span) -> Expr:
    t = target.type
    if name == "mul" and isinstance(t, CoopMatrixType) and isinstance(value.type, ScalarType):
        scalar = _scalar(value, t)
        return typed.CompoundAssign(span, t, "scalar_mul", target, scalar, t, None, None)
    _check_operands(c, op, name, target, value, op_span)
    return typed.CompoundAssign(span, t, name, target, value, t, None, None)


def _scalar(e: Expr, t: CoopMatrixType) -> Expr:
    return convert_arithmetic(e, t.component)


def _check_operands(c: Context, op: str, name: str, left: Expr, right: Expr, op_span: Span) -> None:
    labels = [Label(left.span), Label(right.span)]
    both = isinstance(left.type, CoopMatrixType) and isinstance(right.type, CoopMatrixType)
    if name not in _BINARY or not both:
        allowed = "matrices take + - * / with an identical type, unary -, and * with a scalar"
        message = f"invalid operands to '{op}': '{left.type}' and '{right.type}'"
        c.fail("coop-mat-operator", message, op_span, labels=labels, notes=[Note(allowed)])
    if left.type != right.type:
        message = f"the operands of '{op}' must have one matrix type: '{left.type}' and '{right.type}' differ"
        c.fail("coop-mat-operand-types", message, op_span, labels=labels)


# --- builtins --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatrixBuiltin:
    """A builtin on matrices: how many arguments it takes, and what analyses the call."""

    analyse: Callable[[Context, syntax.Call, Type | None], Expr]
    arguments: tuple[int, ...]
    usage: str


def call(c: Context, name: str, node: syntax.Call, expected: Type | None) -> Expr:
    """A call of matrix builtin `name`; `expected` is the type that the context asks for, where it does."""
    require_extension(c, f"'{name}'", node.callee.span)
    row = BUILTINS[name]
    if len(node.arguments) not in row.arguments:
        wanted = " or ".join(map(str, row.arguments)) + (" argument" if row.arguments == (1,) else " arguments")
        c.fail(
            "argument-count",
            f"'{name}' takes {wanted}, not {len(node.arguments)}",
            node.span,
            notes=[Note(row.usage)],
        )
    return row.analyse(c, node, expected)


def _target(c: Context, node: syntax.Call, expected: Type | None) -> CoopMatrixType:
    if isinstance(expected, CoopMatrixType):
        return expected
    if expected is UNKNOWN:
        c.abandon()
    assert isinstance(node.callee, syntax.Identifier)
    name = node.callee.name
    if expected is not None:
        c.fail("coop-mat-mismatch", f"'{name}' gives a cooperative matrix, not '{expected}'", node.span)
    c.fail(
        "coop-mat-no-target",
        f"the matrix type of '{name}' does not follow from this context",
        node.span,
        notes=[Note("assign it to a matrix, pass it to a function, return it, or cast it to a matrix type")],
    )


def _memory_pointer(c: Context, e: Expr, component: ScalarType, span: Span, *, store: bool) -> tuple[Expr, int]:
    """The pointer as one to the component type, and how many components one pointee holds."""
    t = e.type
    if not isinstance(t, PointerType):
        c.fail("coop-mat-pointee", f"expected a pointer to '{component}', not '{t}'", e.span)
    if store and (t.qualifiers.const or t.qualifiers.space is AddressSpace.CONSTANT):
        c.fail("coop-mat-const-store", f"cannot store through '{t}': what it points to is read-only", e.span)
    if t.qualifiers.space is AddressSpace.PRIVATE:
        c.unsupported("loading and storing matrices in private memory is", e.span)
    if element_type(t.pointee) != component:
        c.fail(
            "coop-mat-pointee",
            f"'{t}' does not point to '{component}', the component type of the matrix",
            e.span,
            notes=[Note("cast the pointer where another type in memory is meant")],
        )
    if not isinstance(t.pointee, VectorType):
        return e, 1
    where = PointerType(component, t.qualifiers)
    return typed.Convert(span, where, typed.ConvertKind.POINTER, e), size_of(t.pointee) // size_of(component)


def _layout(c: Context, e: syntax.Expression) -> int:
    from .expressions import analyse

    value = rvalue(analyse(c, e))
    if not isinstance(value, IntConst) or value.value not in _LAYOUTS:
        c.fail(
            "coop-mat-layout",
            "the layout must be an integer constant expression with the value of a layout enumerator",
            e.span,
            notes=[Note("write CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR or _COLUMN_MAJOR")],
        )
    if value.value == _PACKED:
        c.unsupported("the packed layout is", e.span)
    return value.value


def _stride(c: Context, e: syntax.Expression, scale: int, *, store: bool) -> Expr:
    """The stride in components, as size_t."""
    from .expressions import analyse
    from .operators import make_binary

    value = rvalue(analyse(c, e))
    if not isinstance(value.type, ScalarType) or not value.type.is_integer:
        c.fail("coop-mat-stride", f"the stride must be an integer, not '{value.type}'", e.span)
    if value.type not in (ULONG, INT) and not isinstance(value, IntConst):
        c.warn("stride-type", f"the stride is a '{value.type}'; the draft asks for size_t", e.span)
    if store and isinstance(value, IntConst) and value.value == 0:
        c.warn("coop-mat-zero-stride", "a store with stride 0 writes every row to one place", e.span)
    stride = convert_arithmetic(value, ULONG)
    if scale == 1:
        return stride
    return make_binary(e.span, "mul", stride, IntConst(e.span, ULONG, scale))


def _load(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    from .expressions import analyse

    target = _target(c, node, expected)
    pointer = rvalue(analyse(c, node.arguments[0]))
    pointer, scale = _memory_pointer(c, pointer, target.component, node.span, store=False)
    layout = _layout(c, node.arguments[1])
    return typed.MatrixLoad(node.span, target, pointer, layout, _stride(c, node.arguments[2], scale, store=False))


def _store(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    from .expressions import analyse

    pointer = rvalue(analyse(c, node.arguments[0]))
    matrix = _matrix_argument(c, node.arguments[1])
    assert isinstance(matrix.type, CoopMatrixType)
    pointer, scale = _memory_pointer(c, pointer, matrix.type.component, node.span, store=True)
    layout = _layout(c, node.arguments[2])
    stride = _stride(c, node.arguments[3], scale, store=True)
    return typed.MatrixStore(node.span, VOID, pointer, matrix, layout, stride)


def _matrix_argument(c: Context, e: syntax.Expression, expected: Type | None = None) -> Expr:
    from .expressions import analyse

    value = rvalue(analyse(c, e, expected))
    if not isinstance(value.type, CoopMatrixType):
        c.fail("coop-mat-not-a-matrix", f"expected a cooperative matrix, not '{value.type}'", e.span)
    return value


def _mul_add(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    values: list[Expr] = []
    # The accumulator is of the result's type.
    for argument, wanted in zip(node.arguments[:3], (None, None, expected), strict=True):
        with c.recover():
            values.append(_matrix_argument(c, argument, wanted))
    if len(values) < 3:
        c.abandon()
    a, b, acc = values
    _check_uses(c, values)
    _check_shapes(c, a, b, acc)
    ta, tb, tc = (_component(value) for value in values)
    if len({ta.is_float, tb.is_float, tc.is_float}) > 1:
        message = f"components must be all integers or all floating point, not '{ta}', '{tb}' and '{tc}'"
        c.fail("coop-mat-component-class", message, node.span, labels=[Label(value.span) for value in values])
    mask = _default_operands(ta, tb, tc)
    if len(node.arguments) == 4:
        mask = _operands(c, node.arguments[3], mask, ta, tb, tc)
    return typed.MatrixMulAdd(node.span, acc.type, a, b, acc, mask)


def _component(e: Expr) -> ScalarType:
    assert isinstance(e.type, CoopMatrixType)
    return e.type.component


def _check_uses(c: Context, values: list[Expr]) -> None:
    wrong = False
    for value, use in zip(values, MatrixUse, strict=True):
        assert isinstance(value.type, CoopMatrixType)
        if value.type.use is not use:
            wrong = True
            words = f"operand {use.value + 1} must have use {use.name.lower()}"
            c.error("coop-mat-wrong-use", f"{words}, but its type is '{value.type}'", value.span)
    if wrong:
        c.abandon()


def _check_shapes(c: Context, a: Expr, b: Expr, acc: Expr) -> None:
    ta, tb, tc = a.type, b.type, acc.type
    assert isinstance(ta, CoopMatrixType) and isinstance(tb, CoopMatrixType) and isinstance(tc, CoopMatrixType)
    checks = (
        (ta.columns == tb.rows, "columns of A", ta.columns, "rows of B", tb.rows, a, b),
        (ta.rows == tc.rows, "rows of A", ta.rows, "rows of the accumulator", tc.rows, a, acc),
        (tb.columns == tc.columns, "columns of B", tb.columns, "columns of the accumulator", tc.columns, b, acc),
    )
    for fits, first, m, second, n, left, right in checks:
        if not fits:
            message = f"shapes do not fit: {m} {first}, {n} {second}"
            c.fail("coop-mat-shapes", message, right.span, labels=[Label(left.span, f"this is '{left.type}'")])


def _default_operands(a: ScalarType, b: ScalarType, acc: ScalarType) -> int:
    """The signed bits as the component types have it; none on floating point."""
    if a.is_float:
        return 0
    signs = ((a, _A_SIGNED), (b, _B_SIGNED), (acc, _C_SIGNED | _RESULT_SIGNED))
    return sum(bits for t, bits in signs if t.signed)


def _operands(c: Context, e: syntax.Expression, derived: int, *types: ScalarType) -> int:
    from .expressions import analyse

    value = rvalue(analyse(c, e))
    if not isinstance(value, IntConst) or not 0 <= value.value < 32:
        c.fail(
            "coop-mat-operands",
            "the operands must be an integer constant expression made of the operand enumerators",
            e.span,
        )
    if types[0].is_float:
        if value.value:
            c.warn("coop-mat-operands-sign", "the operand bits say nothing about floating-point components", e.span)
        return 0
    if (value.value & ~_SATURATING) != derived:
        spelled = "|".join(_operand_names(derived)) or "none"
        message = f"the operand bits contradict the component types, which say {spelled}"
        c.warn("coop-mat-operands-sign", message, e.span)
    return value.value


def _operand_names(mask: int) -> list[str]:
    names = {_A_SIGNED: "A", _B_SIGNED: "B", _C_SIGNED: "C", _RESULT_SIGNED: "RESULT"}
    return [f"{name}_SIGNED" for bit, name in names.items() if mask & bit]


def _init(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    from .expressions import analyse

    target = _target(c, node, expected)
    value = rvalue(analyse(c, node.arguments[0]))
    if not isinstance(value.type, ScalarType):
        c.fail("coop-mat-init", f"'coop_mat_init' takes an arithmetic scalar, not '{value.type}'", value.span)
    return typed.MatrixFill(node.span, target, _scalar(value, target))


def _length(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    from .declarations import type_name
    from .expressions import analyse

    argument = node.arguments[0]
    if isinstance(argument, syntax.TypeArgument):
        t = type_name(c, argument.type_name)
    else:
        t = analyse(c, argument).type
    if not isinstance(t, CoopMatrixType):
        c.fail("coop-mat-not-a-matrix", f"expected a cooperative matrix or its type, not '{t}'", argument.span)
    return typed.MatrixLength(node.span, UINT, t)


def _later(name: str) -> Callable[[Context, syntax.Call, Type | None], Expr]:
    def analyse(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
        c.unsupported(f"'{name}' is", node.callee.span)

    return analyse


_MUL_ADD = MatrixBuiltin(_mul_add, (3, 4), "C coop_mat_mulAdd(A a, B b, C c [, operands])")
_ANY = tuple(range(10))

BUILTINS: dict[str, MatrixBuiltin] = {
    "coop_mat_load": MatrixBuiltin(_load, (3,), "M coop_mat_load(const gentype *p, layout, size_t stride)"),
    "coop_mat_store": MatrixBuiltin(_store, (4,), "void coop_mat_store(gentype *p, M m, layout, size_t stride)"),
    "coop_mat_mulAdd": _MUL_ADD,
    "coop_matmul_add": _MUL_ADD,
    "coop_mat_init": MatrixBuiltin(_init, (1,), "M coop_mat_init(scalar)"),
    "coop_mat_length": MatrixBuiltin(_length, (1,), "uint coop_mat_length(M)"),
    **{
        name: MatrixBuiltin(_later(name), _ANY, "")
        for name in (
            *(f"coop_mat_convert{suffix}" for suffix in ("", "_sat", "_rte", "_rtz", "_rtp", "_rtn")),
            "coop_mat_coord",
            "coop_mat_load_checked",
            "coop_mat_store_checked",
        )
    },
}


def predeclared() -> list[EnumConstant]:
    """The enumerators of the extension."""
    return [EnumConstant(None, name, UINT, value) for name, value in ENUMERATORS.items()]
