"""Clang's builtins `__builtin_elementwise_...` on scalars, vectors and matrix types.

Each applies a builtin of OpenCL C to every element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ...diagnostics import Span
from .. import syntax, typed
from ..typed import Expr
from ..types import INT, PLAIN, UINT, ConstantMatrixType, ScalarType, Type, VectorType
from .context import Context, plural
from .conversions import assign_convert
from .values import convert_arithmetic, rvalue


@dataclass(frozen=True, slots=True)
class _Row:
    """A builtin with `count` arguments.

    floats, integers: the OpenCL C builtin for elements of that kind, or None.
    """

    floats: str | None
    integers: str | None
    count: int = 1


_SAME = (
    *("ceil", "floor", "trunc", "rint", "round", "sqrt", "exp", "exp2", "exp10", "log", "log2", "log10"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
)
_ROWS = {
    "abs": _Row("fabs", "abs"),
    "max": _Row("fmax", "max", 2),
    "min": _Row("fmin", "min", 2),
    "maxnum": _Row("fmax", None, 2),
    "minnum": _Row("fmin", None, 2),
    "add_sat": _Row(None, "add_sat", 2),
    "sub_sat": _Row(None, "sub_sat", 2),
    "popcount": _Row(None, "popcount"),
    "roundeven": _Row("rint", None),
    "nearbyint": _Row("rint", None),
    "fma": _Row("fma", None, 3),
    **{name: _Row(name, None) for name in _SAME},
    **{name: _Row(name, None, 2) for name in ("pow", "atan2", "fmod", "copysign")},
}


def _call(row: _Row, c: Context, name: str, node: syntax.Call) -> Expr:
    """Analyse a call: all arguments have one type, which is the result's type."""
    if len(node.arguments) != row.count:
        message = f"'{name}' takes {plural(row.count, 'argument')}, not {len(node.arguments)}"
        c.fail("argument-count", message, node.span)
    values = [_promoted(rvalue(value)) for value in c.analyse_each(*node.arguments)]
    t = values[0].type
    element = t.element if isinstance(t, (VectorType, ConstantMatrixType)) else t
    function = (row.floats if element.is_float else row.integers) if isinstance(element, ScalarType) else None
    if function is None:
        c.fail("no-matching-function", f"'{name}' does not take '{t}'", node.span)
    for value in values:
        if value.type != t:
            c.fail("no-matching-function", f"argument types of '{name}' differ: '{t}', '{value.type}'", value.span)
    if isinstance(t, ConstantMatrixType):
        return _of_matrices(c, function, values, t, node)
    return _applied(c, function, values, t, node)


def _promoted(e: Expr) -> Expr:
    is_small = isinstance(e.type, ScalarType) and e.type.is_integer and e.type.bits < INT.bits
    return convert_arithmetic(e, INT) if is_small else e


def _applied(c: Context, function: str, values: list[Expr], t: Type, node: syntax.Call) -> Expr:
    from .calls import resolved

    result = resolved(c, function, values, node)
    # The absolute value of an integer is unsigned in OpenCL C.
    assert isinstance(t, (ScalarType, VectorType))
    return convert_arithmetic(result, t, node.span)


def _of_matrices(
    c: Context, function: str, values: Sequence[Expr], t: ConstantMatrixType, node: syntax.Call
) -> typed.StatementExpression:
    """Return a statement expression that copies the first matrix, and replaces the elements of the copy in loops."""
    span = node.span
    if c.function is None:
        c.fail("not-constant", "a call of a builtin on matrices is not constant", span)
    matrices = [_variable(f"coopmat_matrix{n}", t, value) for n, value in enumerate(values)]
    row, column = (_variable(f"coopmat_{word}", UINT, typed.IntConst(span, UINT, 0)) for word in ("row", "column"))
    elements: list[typed.LValue] = [
        typed.MatrixSubscript(span, t.element, PLAIN, _use(m, span), _value(row, span), _value(column, span))
        for m in matrices
    ]
    result = _applied(c, function, [rvalue(element) for element in elements], t.element, node)
    store = typed.Assign(span, t.element, elements[0], assign_convert(c, result, t.element, span, "the result"))
    body: typed.Stmt = typed.ExprStmt(span, store)
    for variable, count in ((column, t.columns), (row, t.rows)):
        limit = typed.IntConst(span, UINT, count)
        condition = typed.Binary(span, INT, "lt", _value(variable, span), limit)
        step = typed.IncDec(span, UINT, _use(variable, span), 1, True)
        body = typed.For(span, [typed.DeclStmt(span, variable)], condition, step, body)
    declared = [typed.DeclStmt(m.span, m) for m in matrices]
    return typed.StatementExpression(span, t, typed.Block(span, [*declared, body]), _value(matrices[0], span))


def _variable(name: str, t: Type, value: Expr) -> typed.VarDecl:
    return typed.VarDecl(value.span, name, t, PLAIN, "automatic", value)


def _use(variable: typed.VarDecl, span: Span) -> typed.VarRef:
    return typed.VarRef(span, variable.type, PLAIN, variable)


def _value(variable: typed.VarDecl, span: Span) -> Expr:
    return typed.Load(span, variable.type, _use(variable, span))


TABLE = {f"__builtin_elementwise_{word}": partial(_call, row) for word, row in _ROWS.items()}
