"""The functions for `coop_mat_mulAdd_scaled`.

    static C cm_scaled_0(A a, B b, C c, const SPACE uchar *sa, ulong stride_a, const SPACE uchar *sb, ulong stride_b)

The products of a block of K are summed in float by a multiply-add, then scaled and added. If there are several blocks,
they are read from private memory, to which A and B are stored whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..diagnostics import CompileError, Diagnostic, Note, Severity
from ..frontend import typed
from ..frontend.matrix_terms import matrix_type
from ..frontend.types import CoopMatrixType, PointerType
from ..matrices.native_library import spelled
from ..matrices.variants import COMPONENT_TYPES, SCALE_BLOCK, ComponentType, MatrixType
from ..native_profiles import NativeProfile

#: Returns whether the device has an instruction for the multiply-add of these types of A, B and C.
Multiplies = Callable[[MatrixType, MatrixType, MatrixType], bool]
_ROW_MAJOR = "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR"
# The functions that scale and add a component of a block's sum. The product of two scales may be out of float's range,
# so each factor has half of the exponent. If that is less than -126, the product is too small for float anyway.
_ADD = """\
static float {name}_power(int exponent)
{{
    return as_float((max(exponent, -126) + 127) << 23);
}}
static float {name}_add(uint r, uint c, float sum, float x, {parameters})
{{
    const int i = sa[r * stride_a], j = sb[c * stride_b], exponent = i + j - 254;
    x = x * {name}_power(exponent >> 1) * {name}_power(exponent - (exponent >> 1));
    return i == 255 || j == 255 ? NAN : sum + x;
}}"""


def _check(e: typed.MatrixMulAddScaled, profile: NativeProfile | None) -> None:
    if profile is not None and _matrix(e).of_work_group:
        message = "scaled multiply-adds of matrices of a work-group are not supported natively yet"
        notes = (Note("--matrices one and --matrices lanes can lower them"),)
        raise CompileError([Diagnostic(Severity.ERROR, "native-matrix", message, e.span, notes=notes)])


def text(name: str, e: typed.MatrixMulAddScaled, profile: NativeProfile | None, multiplies: Multiplies) -> str:
    """Return OpenCL C that defines the function `name` of a scaled multiply-add, and the functions that it calls.

    Raises CompileError if a native module cannot have the function.
    """
    _check(e, profile)
    a, b, c = (_matrix(operand) for operand in (e.a, e.b, e.c))
    sums = replace(c, component=COMPONENT_TYPES["f32"])
    depths = [min(SCALE_BLOCK, a.columns - k) for k in range(0, a.columns, SCALE_BLOCK)]
    components = _factors(replace(a, columns=depths[0]), replace(b, rows=depths[0]), sums, multiplies)
    x, y = map(_with, (a, b), components)
    types = {"a": a, "b": b, "c": c, "sums": sums, "x": x, "y": y}
    for depth in depths:
        types |= {f"x{depth}": replace(x, columns=depth), f"y{depth}": replace(y, rows=depth)}
    parameters = f"{_pointer(e.scales_a)}sa, ulong stride_a, {_pointer(e.scales_b)}sb, ulong stride_b"
    lines = [f"typedef {spelled(matrix)} {name}_{key};" for key, matrix in types.items()]
    lines += [_ADD.format(name=name, parameters=parameters)]
    lines += [f"static {name}_c {name}({name}_a a, {name}_b b, {name}_c c, {parameters})", "{"]
    lines += [f"    {name}_x x = ({name}_x)a;", f"    {name}_y y = ({name}_y)b;"]
    lines += [f"    {name}_sums block, sums = ({name}_sums)c;"]
    operands = "x, y"
    if len(depths) > 1:
        lines += [*_stored("x", x), *_stored("y", y)]
    for k, depth in enumerate(depths):
        if len(depths) > 1:
            operands = f"x_{k}, y_{k}"
            at = k * SCALE_BLOCK
            lines += [f"    {name}_x{depth} x_{k} = coop_mat_load(all_x + {at}, {_access(x)});"]
            lines += [f"    {name}_y{depth} y_{k} = coop_mat_load(all_y + {at * y.columns}, {_access(y)});"]
        lines += ["    block = coop_mat_init(0);", f"    block = coop_mat_mulAdd({operands}, block);"]
        lines += [f"    sums = coop_mat_map(sums, block, {name}_add, sa + {k}, stride_a, sb + {k}, stride_b);"]
    return "\n".join([*lines, f"    return ({name}_c)sums;", "}", ""])


def _factors(a: MatrixType, b: MatrixType, sums: MatrixType, multiplies: Multiplies) -> list[ComponentType]:
    """Return component types of factors that have all values of A and B: if possible, those of an instruction."""
    own, wide = [a.component, b.component], [[COMPONENT_TYPES[name]] * 2 for name in ("bf16", "f16")]
    can_multiply = all(component.is_factor for component in own)
    for pair in [own, *wide] if can_multiply else wide:
        if multiplies(_with(a, pair[0]), _with(b, pair[1]), sums):
            return pair
    return own if can_multiply else [COMPONENT_TYPES["f32"]] * 2


def _with(matrix: MatrixType, component: ComponentType) -> MatrixType:
    return replace(matrix, component=component)


def _stored(matrix: str, t: MatrixType) -> list[str]:
    """Return the statements that store a matrix to an array in private memory."""
    declaration = f"    {t.component.opencl_c} all_{matrix}[{t.rows * t.columns}];"
    return [declaration, f"    coop_mat_store(all_{matrix}, {matrix}, {_access(t)});"]


def _access(t: MatrixType) -> str:
    """Return the layout and the stride of such an array."""
    return f"{_ROW_MAJOR}, (ulong){t.columns}"


def _matrix(e: typed.Expr) -> MatrixType:
    assert isinstance(e.type, CoopMatrixType)
    return matrix_type(e.type)


def _pointer(e: typed.Expr) -> str:
    """Return the type of a pointer to scales as OpenCL C."""
    assert isinstance(e.type, PointerType)
    return f"const __{e.type.qualifiers.space}{' volatile' * e.type.qualifiers.volatile} uchar *"
