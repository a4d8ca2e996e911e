"""The type attribute `coop_mat(scope, rows, columns, use)` and the enumerators of the extension."""

from __future__ import annotations

from ....diagnostics import FixIt, Note, Span
from ....matrices.variants import EVERY_COMPONENT_TYPE, NARROW_TYPES
from ... import syntax
from ...calls import CallGraph
from ...matrix_terms import COMPONENTS
from ...typed import IntConst
from ...types import (
    DOUBLE,
    FLOAT,
    HALF,
    INTEGERS,
    SCOPE_SUBGROUP,
    SCOPE_WORKGROUP,
    SMALL_FLOATS,
    UINT,
    CoopMatrixType,
    MatrixUse,
    ScalarType,
    Type,
)
from ..context import Context, EnumConstant
from ..values import rvalue

_SUBGROUP, _WORKGROUP = (f"CLK_COOPERATIVE_MATRIX_SCOPE_{name}" for name in ("SUBGROUP", "WORKGROUP"))
# Name of a memory scope -> matrix scope. Names are compared, since the values differ between headers.
_MEMORY_SCOPES = {"memory_scope_sub_group": SCOPE_SUBGROUP, "memory_scope_work_group": SCOPE_WORKGROUP}
ENUMERATORS: dict[str, int] = {
    _SUBGROUP: SCOPE_SUBGROUP,
    _WORKGROUP: SCOPE_WORKGROUP,
    "CLK_COOPERATIVE_MATRIX_A": 0,
    "CLK_COOPERATIVE_MATRIX_B": 1,
    "CLK_COOPERATIVE_MATRIX_ACCUMULATOR": 2,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR": 0,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR": 1,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED": 2,
    "CLK_COOPERATIVE_MATRIX_REDUCE_ROW": 1,
    "CLK_COOPERATIVE_MATRIX_REDUCE_COLUMN": 2,
    "CLK_COOPERATIVE_MATRIX_REDUCE_2X2": 4,
    "CLK_COOPERATIVE_MATRIX_OPERAND_NONE": 0,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED": 1,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED": 2,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED": 4,
    "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED": 8,
    "CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION": 16,
    "CLK_COOPERATIVE_MATRIX_OPERAND_TF32": 32,
}
_COMPONENTS = (
    HALF,
    FLOAT,
    DOUBLE,
    *INTEGERS,
    *(t for t in SMALL_FLOATS if COMPONENTS[t.name].name in EVERY_COMPONENT_TYPE),
)
_MAX_EXTENT = (1 << 20) - 1


def predeclared() -> list[EnumConstant]:
    """Return the enumerators of the extension."""
    return [EnumConstant(None, name, UINT, value) for name, value in ENUMERATORS.items()]


def require_extension(c: Context, what: str, span: Span) -> None:
    if not c.matrices:
        has_base = "cl_khr_cooperative_matrix" in c.features
        name = "__opencl_c_ext_cooperative_matrix" if has_base else "cl_khr_cooperative_matrix"
        c.fail(
            "coop-mat-extension-off",
            f"{what} needs {name}, which is turned off",
            span,
            notes=[Note(f"remove -cl-ext=-{name}")],
        )
    if not c.matrix_pragma:
        message = f"{what} is used without '#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable'"
        c.warn("coop-mat-pragma", message, span)
        c.matrix_pragma = True


def apply_attribute(c: Context, base: Type, attribute: syntax.Attribute) -> CoopMatrixType:
    """Return the matrix type of the attribute `coop_mat(scope, rows, columns, use)` with component type `base`."""
    require_extension(c, "'coop_mat'", attribute.span)
    arguments = attribute.arguments or []
    if len(arguments) != 4:
        c.fail(
            "coop-mat-attribute",
            f"'coop_mat' takes scope, rows, columns and use: 4 arguments, not {len(arguments)}",
            attribute.span,
            notes=[Note("T name __attribute__((coop_mat(scope, rows, columns, use)))")],
        )
    if not isinstance(base, ScalarType) or base not in _COMPONENTS:
        allowed = ", ".join(map(str, _COMPONENTS))
        c.fail(
            "coop-mat-component",
            f"'{base}' cannot be the component type of a cooperative matrix",
            attribute.span,
            notes=[Note(f"component types are {allowed}")],
        )
    scope, rows, columns, use = c.all_of(
        lambda: _scope(c, arguments[0]),
        lambda: _extent(c, arguments[1], "rows"),
        lambda: _extent(c, arguments[2], "columns"),
        lambda: _use(c, arguments[3]),
    )
    c.unit.has_matrices = True
    c.has_work_group_matrices |= scope == SCOPE_WORKGROUP
    return CoopMatrixType(base, scope, rows, columns, use)


def refuse_narrow(c: Context, t: Type, what: str, span: Span) -> None:
    """Report an operation that matrices of types of fewer than 8 bits do not have."""
    if isinstance(t, CoopMatrixType) and COMPONENTS[t.component.name].name in NARROW_TYPES:
        message = f"{what} is not defined for '{t}': types of fewer than 8 bits are for storage"
        c.fail("coop-mat-narrow", message, span, notes=[Note("convert the matrix, for example to half components")])


def check_work_groups(c: Context) -> None:
    """Report kernels without a required work-group size that reach matrices of work-group scope."""
    if not c.has_work_group_matrices:
        return
    graph = CallGraph(c.unit)
    for kernel in c.unit.kernels:
        if "reqd_work_group_size" not in kernel.attributes and graph.uses(kernel, "of_work_groups"):
            place = next(filter(None, (graph.facts(f).of_work_groups for f in graph.reached(kernel))))
            message = f"kernel '{kernel.name}' uses matrices of work-group scope, but requires no work-group size"
            notes = [Note("a matrix of scope work-group is here", place), Note("set reqd_work_group_size")]
            c.error("coop-mat-work-group-size", message, kernel.span, notes=notes)


def enumerator(c: Context, e: syntax.Expression) -> int | None:
    """Return the value of an integer constant expression, or None.

    A string with an enumerator's name is accepted, with a warning.
    """
    while isinstance(e, syntax.Paren):
        e = e.inner
    if isinstance(e, syntax.StringLiteral):
        name = "".join(text.strip('"') for text in e.texts)
        if name not in ENUMERATORS:
            return None
        message = f"'{name}' is a string; use the enumerator"
        c.diagnostics.warning("coop-mat-string-enumerator", message, e.span, fixits=[FixIt(e.span, name)])
        return ENUMERATORS[name]
    value = rvalue(c.analyse(e))
    return value.value if isinstance(value, IntConst) else None


def _scope(c: Context, e: syntax.Expression) -> int:
    operand = e
    while isinstance(operand, (syntax.Paren, syntax.Cast)):
        operand = operand.inner if isinstance(operand, syntax.Paren) else operand.operand
    if isinstance(operand, syntax.Identifier) and operand.name.startswith("memory_scope_"):
        scope = _MEMORY_SCOPES.get(operand.name)
    else:
        scope = enumerator(c, e)
    if scope is None or scope not in _MEMORY_SCOPES.values():
        c.fail(
            "coop-mat-scope",
            "the scope of a cooperative matrix must be the subgroup or the work-group",
            e.span,
            notes=[Note(f"write {_SUBGROUP} or {_WORKGROUP}")],
            fixits=[FixIt(e.span, _SUBGROUP)],
        )
    return scope


def _extent(c: Context, e: syntax.Expression, what: str) -> int:
    value = rvalue(c.analyse(e))
    if not isinstance(value, IntConst):
        c.fail("coop-mat-shape", f"the number of {what} must be an integer constant expression", e.span)
    if not 1 <= value.value <= _MAX_EXTENT:
        c.fail("coop-mat-shape", f"the number of {what} must be 1 to {_MAX_EXTENT}, not {value.value}", e.span)
    return value.value


def _use(c: Context, e: syntax.Expression) -> MatrixUse:
    use = enumerator(c, e)
    if use not in (0, 1, 2):
        c.fail(
            "coop-mat-use",
            "the use of a cooperative matrix must be A, B or accumulator",
            e.span,
            notes=[Note("write CLK_COOPERATIVE_MATRIX_A, _B or _ACCUMULATOR")],
        )
    return MatrixUse(use)
