"""The analysis of the attribute `matrix_type(rows, columns [, clauses])` of typedefs."""

from __future__ import annotations

from ...diagnostics import Label, Note, Span
from ...frontend import syntax
from ...frontend.sema import restricted_types
from ...frontend.sema.context import Context, Typedef
from ...frontend.sema.values import rvalue
from ...frontend.typed import IntConst
from ...frontend.types import (
    FLOATS,
    HALF,
    INTEGERS,
    ConstantMatrixType,
    MatrixLayout,
    ScalarType,
    Type,
    contained,
)

MOST_ROWS = (1 << 20) - 1
MOST_ELEMENTS = 1 << 16
# The most elements of an object, including padding.
MOST_STORED = 1 << 20
_ELEMENTS = (*INTEGERS, *FLOATS)
_FORM = "typedef T name __attribute__((matrix_type(rows, columns)))"
_LAYOUTS = {layout.value: layout for layout in MatrixLayout}
_PADDINGS = {"column_padding": MatrixLayout.COLUMN_MAJOR, "row_padding": MatrixLayout.ROW_MAJOR}


def holds(t: Type) -> bool:
    """Return whether a value of this type is or contains a matrix."""
    return any(isinstance(part, ConstantMatrixType) for part in contained(t))


def check_element(c: Context, t: Type, span: Span) -> ScalarType:
    """Return the type, checked to be a valid element type; report an error if it is not."""
    if not isinstance(t, ScalarType) or t not in _ELEMENTS:
        allowed = ", ".join(map(str, _ELEMENTS))
        message = f"'{t}' cannot be the element type of a matrix"
        c.fail("matrix-type-element", message, span, notes=[Note(f"element types are {allowed}")])
    if t is HALF and "cl_khr_fp16" not in c.features:
        restricted_types.refuse_half(c, t, span)
    return t


def apply_attribute(
    c: Context, base: Type, attribute: syntax.Attribute, s: syntax.Specifiers, d: syntax.Declarator | None
) -> ConstantMatrixType:
    """Return the matrix type with elements of type `base` that the attribute declares.

    `s` are the specifiers that contain or precede the attribute. `d` is the declarator if the attribute follows a
    declarator.
    """
    span = attribute.span
    if not any(word.text == "typedef" for word in s.storage):
        message = "'matrix_type' applies only to typedefs; other declarations use the typedef's name"
        c.fail("matrix-type-attribute", message, span, notes=[Note(_FORM)])
    arguments = attribute.arguments or []
    if len(arguments) < 2 or any(_clause(argument) for argument in arguments[:2]):
        message = "'matrix_type' requires the number of rows, then the number of columns, then optional clauses"
        c.fail("matrix-type-attribute", message, span, notes=[Note(_FORM)])
    if d is not None and d.modifiers:
        message = "the elements of a matrix are scalars: no pointer, array or function takes 'matrix_type'"
        c.fail("matrix-type-element", message, span, labels=[Label(d.span)])
    if isinstance(s.tag, syntax.EnumSpecifier):
        c.fail("matrix-type-element", "an enumeration cannot be the element type of a matrix", span)
    clauses = _Clauses(c)
    element, rows, columns, _ = c.all_of(
        lambda: check_element(c, base, span),
        lambda: extent(c, arguments[0], "rows"),
        lambda: extent(c, arguments[1], "columns"),
        lambda: c.each(arguments[2:], clauses.take),
    )
    return make(c, clauses.of(element, rows, columns), span)


def make(c: Context, matrix: ConstantMatrixType, span: Span) -> ConstantMatrixType:
    """Return the type unchanged; report an error if it is too large."""
    count = matrix.rows * matrix.columns
    if count > MOST_ELEMENTS:
        message = f"a matrix has at most {MOST_ELEMENTS} elements, not {matrix.rows} x {matrix.columns} = {count}"
        c.fail("matrix-type-shape", message, span)
    if matrix.storage_elements > MOST_STORED:
        message = f"a matrix has at most {MOST_STORED} elements including padding, not {matrix.storage_elements}"
        c.fail("matrix-type-shape", message, span)
    c.unit.has_matrix_types = True
    return matrix


def extent(c: Context, e: syntax.Expression, what: str) -> int:
    """Return a number of rows or columns: a constant from 1 to MOST_ROWS. Report an error for other expressions."""
    value = _constant(c, e, f"the number of {what}", "matrix-type-shape")
    if not 1 <= value <= MOST_ROWS:
        c.fail("matrix-type-shape", f"the number of {what} must be 1 to {MOST_ROWS}, not {value}", e.span)
    return value


def _constant(c: Context, e: syntax.Expression, what: str, code: str) -> int:
    """Return the value of an integer constant expression; report an error with this code for other expressions."""
    value = rvalue(c.analyse(e))
    if not isinstance(value, IntConst):
        c.fail(code, f"{what} must be an integer constant expression", e.span)
    return value.value


def _clause(e: syntax.Expression) -> str | None:
    """Return the name of the clause that an argument has the form of, or None."""
    name = e.callee.name if isinstance(e, syntax.Call) and isinstance(e.callee, syntax.Identifier) else None
    return name if name in ("layout", *_PADDINGS) else None


class _Clauses:
    """The clauses of the attribute, which follow the shape."""

    def __init__(self, c: Context) -> None:
        self.c = c
        self.layout = c.matrix_layout
        self.padding: tuple[str, int, Span] | None = None
        self.spans: dict[str, Span] = {}

    def take(self, e: syntax.Expression) -> None:
        """Analyse one clause."""
        name = _clause(e)
        if name is None or not isinstance(e, syntax.Call):
            notes = [Note("clauses are layout(row_major), layout(column_major), column_padding(n) and row_padding(n)")]
            self.c.fail("matrix-type-clause", "'matrix_type' has no such clause", e.span, notes=notes)
        kind = "layout" if name == "layout" else "padding"
        if kind in self.spans:
            notes = [Note("the first clause is here", self.spans[kind])]
            self.c.fail("matrix-type-clause", f"'matrix_type' has a second {kind} clause", e.span, notes=notes)
        self.spans[kind] = e.span
        if len(e.arguments) != 1:
            self.c.fail("matrix-type-clause", f"'{name}' takes 1 argument, not {len(e.arguments)}", e.span)
        if kind == "layout":
            self.layout = self._layout(e.arguments[0])
            return
        value = _constant(self.c, e.arguments[0], "the padding", "matrix-type-clause")
        if not 0 <= value <= MOST_STORED:
            message = f"the padding must be 0 to {MOST_STORED} elements, not {value}"
            self.c.fail("matrix-type-clause", message, e.arguments[0].span)
        self.padding = (name, value, e.span)

    def _layout(self, e: syntax.Expression) -> MatrixLayout:
        layout = _LAYOUTS.get(e.name) if isinstance(e, syntax.Identifier) else None
        if layout is None:
            self.c.fail("matrix-type-clause", "the layout of a matrix is row_major or column_major", e.span)
        return layout

    def of(self, element: ScalarType, rows: int, columns: int) -> ConstantMatrixType:
        """Return the matrix type of this element type and shape with the layout and the padding of the clauses."""
        if self.padding is None:
            return ConstantMatrixType(element, rows, columns, self.layout)
        name, padding, span = self.padding
        if _PADDINGS[name] is not self.layout:
            right = next(other for other, layout in _PADDINGS.items() if layout is self.layout)
            message = f"'{name}' does not apply to a {self.layout.value} matrix"
            self.c.fail("matrix-type-clause", message, span, notes=[Note(f"write {right}({padding})")])
        return ConstantMatrixType(element, rows, columns, self.layout, padding)


def refuse_volatile(c: Context, attributes: list[syntax.Attribute]) -> None:
    """Report an error for the attribute on a volatile typedef.

    The named type itself is never volatile, but objects of this type may be.
    """
    own = [item for item in attributes if item.name.strip("_") == "matrix_type"]
    if own:
        message = "the element type of a matrix cannot be volatile; objects of the matrix type can"
        c.fail("matrix-type-element", message, own[0].span)


def check_redeclaration(c: Context, earlier: Typedef, t: Type, span: Span) -> None:
    """Report an error if a matrix type is redeclared as another type."""
    if isinstance(t, ConstantMatrixType) or isinstance(earlier.type, ConstantMatrixType):
        message = f"'{earlier.name}' is redeclared with a different type, '{t}'"
        notes = [Note(f"the previous declaration, '{earlier.type}', is here", earlier.span)]
        c.fail("matrix-type-redeclaration", message, span, notes=notes)
