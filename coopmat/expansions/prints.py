"""The functions for `coop_mat_print` and `coop_mat_print_lanes`.

    static void cm_print_0(MATRIX m)      // the title and the rows; one work-item of the group prints them by printf

The rows are those of a store of the whole matrix to private memory; the lanes access their components.
"""

from __future__ import annotations

from dataclasses import replace

from ..diagnostics import CompileError, Diagnostic, Note, Severity
from ..frontend import typed
from ..frontend.matrix_terms import matrix_type
from ..matrices.native_library import spelled
from ..matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType, Use
from ..native_profiles import NATIVE_PROFILES, NativeProfile

# The most numbers that one printf prints: some devices take 32 arguments.
_AT_ONCE = 16
_LINEAR_ID = "(get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)"


def _check(e: typed.MatrixPrint, profile: NativeProfile | None) -> None:
    """Raise CompileError if a native module cannot print this matrix."""
    message, able = "", [row.name for row in NATIVE_PROFILES.values() if row.coordinates]
    if profile is not None and _matrix(e).of_work_group:
        message, able = "matrices of a work-group cannot be printed natively yet", []
    elif profile is not None and e.by_lanes and not profile.coordinates:
        name = profile.name
        message = f"the profile {name} has no instruction for the coordinates that coop_mat_print_lanes prints"
    if message:
        notes = [f"--native-profile {' and '.join(able)} have such an instruction"] if able else []
        notes += ["--matrices one and --matrices lanes can print it"]
        item = Diagnostic(Severity.ERROR, "native-matrix", message, e.span, notes=tuple(map(Note, notes)))
        raise CompileError([item])


def _matrix(e: typed.MatrixPrint) -> MatrixType:
    t = e.matrix.type
    return matrix_type(t)


def title(name: str, matrix: MatrixType) -> str:
    """Return the first line of a printed matrix: `name [rows x columns T use]`."""
    use = "accumulator" if matrix.use is Use.ACCUMULATOR else matrix.use.letter
    return f"{name} [{matrix.rows} x {matrix.columns} {matrix.component.opencl_c} {use}]"


def text(name: str, e: typed.MatrixPrint, profile: NativeProfile | None, multiplies: object) -> str:
    """Return OpenCL C that defines the function `name` of a print. Raises CompileError for a native profile."""
    _check(e, profile)
    matrix = _matrix(e)
    # Components of 4 bits, which would be packed in memory, are converted.
    wide = replace(matrix, component=COMPONENT_TYPES["s8" if matrix.component.is_integer else "f32"])
    stored = wide if matrix.component.is_nibble else matrix
    body = _lanes(matrix) if e.by_lanes else _rows(stored, title(e.name, matrix), f"({name}_stored)m")
    types = [f"typedef {spelled(t)} {name}_{word};" for t, word in ((matrix, "matrix"), (stored, "stored"))]
    return "\n".join([*types, f"static void {name}({name}_matrix m)", "{", *body, "}", ""])


def _rows(matrix: MatrixType, first: str, stored: str) -> list[str]:
    """Return the statements that print the title `first` and the rows of the expression `stored`."""
    t, rows, columns = matrix.component, matrix.rows, matrix.columns
    form, cast = _number(t)
    ids = "get_local_id(0) + get_local_id(1) + get_local_id(2)"
    lines = [
        f"    {t.opencl_c} x[{rows * columns}];",
        f"    coop_mat_store(x, {stored}, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, (ulong){columns});",
        f"    if (({ids if matrix.of_work_group else 'get_sub_group_local_id()'}) == 0) {{",
        f'        printf("{_escaped(first)}\\n");',
        f"        for (uint r = 0; r < {rows}; ++r) {{",
    ]
    for start in range(0, columns, _AT_ONCE):
        part = range(start, min(start + _AT_ONCE, columns))
        formats = " ".join(f"%{_width(t)}{form}" for _ in part)
        values = ", ".join(f"({cast})x[r * {columns} + {c}]" for c in part)
        lines.append(f'            printf("{formats}{_END if part.stop == columns else " "}", {values});')
    return [*lines, "        }", "    }"]


_END = "\\n"


def _lanes(matrix: MatrixType) -> list[str]:
    """Return the statements that print a line for each component of this work-item."""
    form, cast = _number(matrix.component)
    return [
        f"    const uint lane = {_LINEAR_ID if matrix.of_work_group else 'get_sub_group_local_id()'};",
        "    for (uint i = 0; i < coop_mat_length(m); ++i) {",
        "        const uint2 at = coop_mat_coord(m, i);",
        f'        printf("%u %u %u %u %{form}\\n", lane, i, at.x, at.y, ({cast})m[i]);',
        "    }",
    ]


def _number(t: ComponentType) -> tuple[str, str]:
    """Return printf's conversion without `%` for a component, and the type that it takes.

    The digits are those from which the same number can be read back.
    """
    if not t.is_integer:
        return {64: (".17g", "double"), 32: (".9g", "float")}.get(t.bits, ("g", "float"))
    letter, sign = ("d", "") if t.signed else ("u", "u")
    return (f"l{letter}", f"{sign}long") if t.bits == 64 else (letter, f"{sign}int")


def _width(t: ComponentType) -> int:
    """Return the least width of a printed number; longer numbers shift the rest of their row."""
    return {8: 4, 16: 6}.get(t.bits, 8) if t.is_integer else 10


def _escaped(text: str) -> str:
    """Return the inside of a string literal for a printf format that prints `text`."""
    characters = text.encode("utf-8", "surrogateescape").replace(b"%", b"%%")
    return "".join(chr(c) if c in _PLAIN else f"\\{c:03o}" for c in characters)


_PLAIN = frozenset(b" %()*+,-./0123456789:;<=>@[]^_{|}~" + bytes(range(65, 91)) + bytes(range(97, 123)))
