"""Clang's matrix types: what is accepted and what it becomes; errors of declarations."""

from __future__ import annotations

from dataclasses import fields

import pytest
from matrix_type_support import HEAD, right
from sema_support import constant, expect

from coopmat.diagnostics import Diagnostics
from coopmat.features import Features
from coopmat.frontend import typed
from coopmat.frontend.parse import parse
from coopmat.frontend.preprocess import PreprocessOptions, preprocess
from coopmat.frontend.sema.functions import analyse
from coopmat.frontend.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    ULONG,
    ConstantMatrixType,
    MatrixLayout,
    size_of,
)

ROW_MAJOR = MatrixLayout.ROW_MAJOR


def value(text: str) -> typed.Expr:
    """The typed form of an expression."""
    body = right(f"{text};").functions[-1].body
    assert body is not None
    statement = body.items[-1]
    assert isinstance(statement, typed.ExprStmt)
    return statement.expr


def matrix(text: str) -> ConstantMatrixType:
    """The matrix type of an expression."""
    t = value(text).type
    assert isinstance(t, ConstantMatrixType)
    return t


# --- the type --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("typedef float X MATRIX(2, 3);", ConstantMatrixType(FLOAT, 2, 3)),
        ("typedef MATRIX(2, 3) float X;", ConstantMatrixType(FLOAT, 2, 3)),
        ("typedef float MATRIX(2, 3) X;", ConstantMatrixType(FLOAT, 2, 3)),
        ("typedef float X __attribute__((__matrix_type__(2, 3)));", ConstantMatrixType(FLOAT, 2, 3)),
        ("typedef unsigned long X MATRIX(1 + 1, sizeof(int));", ConstantMatrixType(ULONG, 2, 4)),
        ("typedef half X MATRIX(SECOND, 3);", ConstantMatrixType(HALF, 1, 3)),
        ("typedef size_t Y; typedef Y X MATRIX(2, 3);", ConstantMatrixType(ULONG, 2, 3)),
        ("typedef M X;", ConstantMatrixType(FLOAT, 4, 4)),
        ("typedef double X MATRIX(2, 3, layout(column_major));", ConstantMatrixType(DOUBLE, 2, 3)),
        ("typedef int X MATRIX(2, 3, layout(row_major));", ConstantMatrixType(INT, 2, 3, ROW_MAJOR)),
        ("typedef int X MATRIX(2, 3, row_padding(5), layout(row_major));", ConstantMatrixType(INT, 2, 3, ROW_MAJOR, 5)),
        ("typedef char X MATRIX(2, 3, column_padding(0));", ConstantMatrixType(CHAR, 2, 3)),
        ("typedef char X MATRIX(2, 3, column_padding(2));", ConstantMatrixType(CHAR, 2, 3, padding=2)),
        ("typedef float X MATRIX(256, 256);", ConstantMatrixType(FLOAT, 256, 256)),
        ("typedef char X MATRIX(1, 65536);", ConstantMatrixType(CHAR, 1, 65536)),
        ("typedef float X MATRIX(2, 3), Y; typedef Y Z; Z z = x;", ConstantMatrixType(FLOAT, 2, 3)),
    ],
)
def test_the_attribute(declaration: str, expected: ConstantMatrixType) -> None:
    body = right(f"{declaration} X made;").functions[-1].body
    assert body is not None
    last = body.items[-1]
    assert isinstance(last, typed.DeclStmt) and last.decl.type == expected


@pytest.mark.parametrize(
    ("t", "size", "alignment"),
    [("M", 64, 4), ("C", 6, 1), ("H", 12, 2), ("P", 96, 4), ("struct S", 196, 4), ("union U", 64, 4), ("M[3]", 192, 4)],
)
def test_size_and_alignment(t: str, size: int, alignment: int) -> None:
    before = HEAD.partition("M g(")[0]
    assert constant(f"sizeof({t})", before=before) == size
    assert constant(f"__alignof__({t})", before=before) == alignment


def test_padding_lies_behind_columns_or_rows() -> None:
    column_major = ConstantMatrixType(FLOAT, 2, 3, padding=5)
    assert (column_major.stride, column_major.storage_elements) == (7, 21)
    row_major = ConstantMatrixType(FLOAT, 2, 3, ROW_MAJOR, 5)
    assert (row_major.stride, row_major.storage_elements, size_of(row_major)) == (8, 16, 64)


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        # Where it stands.
        ("float x §MATRIX(2, 2);", ["matrix-type-attribute"]),
        ("void h(float x §MATRIX(2, 2)) { }", ["matrix-type-attribute"]),
        ("struct X { float x §MATRIX(2, 2); };", ["matrix-type-attribute"]),
        ("float §MATRIX(2, 2) h(void);", ["matrix-type-attribute"]),
        ("struct §MATRIX(2, 2) X { int n; };", ["matrix-type-attribute"]),
        ("void h() { (float §MATRIX(2, 2))1; }", ["matrix-type-attribute"]),
        ("void h() { §MATRIX(2, 2) for (;;) { } }", ["matrix-type-attribute"]),
        ("typedef float X §MATRIX(2);", ["matrix-type-attribute"]),
        ("typedef float X §MATRIX();", ["matrix-type-attribute"]),
        ("typedef float X §MATRIX(2, layout(row_major));", ["matrix-type-attribute"]),
        ("typedef float X §MATRIX(column_padding(2), 2, 2);", ["matrix-type-attribute"]),
        ("typedef float X __attribute__((§matrix_type));", ["matrix-type-attribute"]),
        # Elements.
        *((f"typedef {t} X §MATRIX(2, 2);", ["matrix-type-element"]) for t in ("bool", "float4", "bfloat16", "void")),
        *((f"typedef {t} X §MATRIX(2, 2);", ["matrix-type-element"]) for t in ("struct S", "event_t", "M", "enum E")),
        ("typedef enum { A } X §MATRIX(2, 2);", ["matrix-type-element"]),
        ("typedef float *X §MATRIX(2, 2);", ["matrix-type-element"]),
        ("typedef float X[2] §MATRIX(2, 2);", ["matrix-type-element"]),
        ("typedef float X(int) §MATRIX(2, 2);", ["matrix-type-element"]),
        ("typedef volatile float X §MATRIX(2, 2);", ["matrix-type-element"]),
        ("typedef float X __attribute__((matrix_type(2, 2), §matrix_type(2, 2)));", ["matrix-type-element"]),
        # The shape.
        ("typedef float X MATRIX(§0, 2);", ["matrix-type-shape"]),
        ("typedef float X MATRIX(2, §-1);", ["matrix-type-shape"]),
        ("typedef float X MATRIX(§1.5f, §0);", ["matrix-type-shape", "matrix-type-shape"]),
        ("typedef float X MATRIX(§1 << 20, 1);", ["matrix-type-shape"]),
        ("void h(int n) { typedef float X MATRIX(§n, 2); X x; }", ["matrix-type-shape"]),
        ("typedef float X §MATRIX(65537, 1);", ["matrix-type-shape"]),
        ("typedef float X §MATRIX(1024, 1024);", ["matrix-type-shape"]),
        ("typedef float X §MATRIX(2, 60000, column_padding(60000));", ["matrix-type-shape"]),
        ("typedef float X MATRIX(§lines, 2);", ["undeclared-identifier"]),
        # The clauses.
        ("typedef float X MATRIX(2, 2, §2);", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, §row_major);", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, §padding(2));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, §layout());", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, layout(§diagonal));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, layout(§0));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, §layout(row_major, 2));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, layout(row_major), §layout(row_major));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, column_padding(1), §column_padding(1));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, column_padding(§-1));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, column_padding(§1.0f));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, column_padding(§1 << 30));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, §row_padding(1));", ["matrix-type-clause"]),
        ("typedef float X MATRIX(2, 2, §column_padding(1), layout(row_major));", ["matrix-type-clause"]),
        # Declared again.
        ("typedef float M MATRIX(4, 4); typedef M M;", []),
        ("typedef float §M MATRIX(4, 5);", ["matrix-type-redeclaration"]),
        ("typedef int §M MATRIX(4, 4);", ["matrix-type-redeclaration"]),
        ("typedef float §M MATRIX(4, 4, layout(row_major));", ["matrix-type-redeclaration"]),
        ("typedef float §M MATRIX(4, 4, column_padding(1));", ["matrix-type-redeclaration"]),
        ("typedef const float §M MATRIX(4, 4);", ["matrix-type-redeclaration"]),
        ("typedef float §M;", ["matrix-type-redeclaration"]),
        ("typedef float X; typedef float §X MATRIX(4, 4);", ["matrix-type-redeclaration"]),
        ("void h() { typedef float M MATRIX(4, 5); M m; }", []),
        # A typedef that is wrong says nothing more where it is used.
        ("typedef float X MATRIX(§0, 2); X h(X x) { return x + x[1][1]; }", ["matrix-type-shape"]),
        # Kernels.
        ("kernel void k(M §m) { }", ["matrix-type-kernel-parameter"]),
        ("kernel void k(struct S §s) { }", ["matrix-type-kernel-parameter"]),
        ("kernel void k(global M *p, local R *r, constant struct S *s, global M (*a)[2]) { }", []),
        ("kernel M §k() { return (M)1; }", ["kernel-result"]),
        # Objects.
        ("constant M m = (M)1; global P p; global M q = (M)0.0f; constant struct S s = { (M)2, 1, { (M)3 } };", []),
        ("constant M §m;", ["address-space"]),
        ("constant M m = §g((M)1);", ["not-constant"]),
        ("constant M m = (M)1; constant M m2 = §m;", ["not-constant"]),
        ("constant M m = §1;", ["matrix-type-mismatch"]),
        ("typedef const float X MATRIX(2, 2); void h() { X x = (X)1; §x = x; §x[0][0] = 1; }", ["read-only"] * 2),
        ("kernel void k(global M *p) { local M m; static M s; local M a[2]; *p = m + s + a[1]; }", []),
        ("M §__builtin_matrix_add(M a, M b);", ["redefinition"]),
    ],
)
def test_declarations(source: str, codes: list[str]) -> None:
    expect(source, *codes, before=HEAD.partition("void f(")[0])


def test_a_half_matrix_needs_halves() -> None:
    source = (
        "typedef half H __attribute__((matrix_type(2, 2)));\n"
        "void f(global half *p) { __builtin_matrix_column_major_load(p, 2, 2); }"
    )
    for features, codes in (
        (Features.of(), []),
        (Features.of(extensions={"cl_khr_fp16": False}), ["extension-off"] * 2),
    ):
        diagnostics = Diagnostics(error_limit=0, warnings=("no-unused",))
        analyse(parse(preprocess(source, "m.cl", PreprocessOptions(), diagnostics), diagnostics), diagnostics, features)
        assert [item.code for item in diagnostics.items] == codes


TYPES = {
    "M": ConstantMatrixType(FLOAT, 4, 4),
    "I": ConstantMatrixType(INT, 4, 4),
    "R": ConstantMatrixType(FLOAT, 4, 4, ROW_MAJOR),
    "P": ConstantMatrixType(FLOAT, 4, 4, padding=2),
    "W": ConstantMatrixType(FLOAT, 4, 8),
    "T": ConstantMatrixType(FLOAT, 8, 4),
    "Row": ConstantMatrixType(FLOAT, 1, 4),
    "Column": ConstantMatrixType(FLOAT, 4, 1),
    "One": ConstantMatrixType(FLOAT, 1, 1),
    "C": ConstantMatrixType(CHAR, 2, 3),
    "H": ConstantMatrixType(HALF, 2, 3),
    "8x8": ConstantMatrixType(FLOAT, 8, 8),
    "8x1": ConstantMatrixType(FLOAT, 8, 1),
    "4x1 by rows": ConstantMatrixType(FLOAT, 4, 1, ROW_MAJOR),
}


# --- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m + m", "M"),
        ("m - g(m)", "M"),
        ("m * 2", "M"),
        ("2.5 * m", "M"),
        ("m + n", "M"),
        ("e - i", "I"),
        ("b + i", "I"),
        ("c + 1000L", "C"),
        ("h * 2.0", "H"),
        ("p + p * 2", "P"),
        ("m * m", "M"),
        ("m * w", "W"),
        ("w * t", "M"),
        ("t * w", "8x8"),
        ("row * column", "One"),
        ("column * row", "M"),
        ("p * p", "P"),
        ("p * m", "M"),
        ("r * r", "R"),
        ("(R)m", "R"),
        ("(P)r", "P"),
        ("(I)m + i", "I"),
        ("(M)i", "M"),
        ("(M)1", "M"),
        ("(C)2.5f", "C"),
        ("(Row)v", "Row"),
        ("(Column)v + column", "Column"),
        ("n ? m : g(m)", "M"),
        ("(n, m)", "M"),
        ("m = s.m", "M"),
        ("s.a[1] = u.m", "M"),
        ("*gm = gm[n]", "M"),
        ("m += gm[1]", "M"),
        ("*lm -= 1", "M"),
        ("m *= m", "M"),
        ("w *= 2.0f", "W"),
        ("m *= (M)2", "M"),
        ("(M)cm", "M"),
        ("pa[0][1]", "M"),
        ("(*pa)[n]", "M"),
        ("*(M *)pf", "M"),
        ("*(global M *)gf", "M"),
        ("_Generic(m, I: 1, M: m)", "M"),
        ("__builtin_matrix_transpose(w)", "T"),
        ("__builtin_matrix_transpose(r)", "R"),
        ("__builtin_matrix_transpose(p)", "P"),
        ("__builtin_matrix_column_major_load(gf, 4, 4)", "M"),
        ("__builtin_matrix_column_major_load(vf, 4, 8, n)", "W"),
        ("__builtin_matrix_column_major_load(kf, 8, 4, 9UL)", "T"),
        ("__builtin_matrix_row_major_load(lf, 4, 4, 4)", "R"),
        ("__builtin_matrix_column_load(pf, 1, 4, 1)", "Row"),
        ("__builtin_matrix_column_major_load(gc, 2, 3)", "C"),
        ("__builtin_matrix_row(m, n)", "Row"),
        ("__builtin_matrix_row(p, 3)", "Row"),
        ("__builtin_matrix_column(t, 3)", "8x1"),
        ("__builtin_matrix_column(r, 0)", "4x1 by rows"),
        ("__builtin_matrix_insert_row(m, 1, row)", "M"),
        ("__builtin_matrix_insert_row(r, n, (Row)v)", "R"),
        ("__builtin_matrix_insert_column(p, 1, column)", "P"),
        ("__builtin_matrix_insert(m, 1, n, 2)", "M"),
        ("__builtin_matrix_add(m, g(m))", "M"),
        ("__builtin_matrix_sub(i, i)", "I"),
        ("__builtin_matrix_multiply(w, t)", "M"),
        ("__builtin_matrix_scalar_multiply(c, 2.5)", "C"),
    ],
)
def test_types_of_expressions(text: str, expected: str) -> None:
    assert matrix(text) == TYPES[expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m[0][3]", "float"),
        ("m[n][e]", "float"),
        ("c[1][(1, 2)]", "char"),
        ("h[b][1]", "half"),
        ("g(m)[1][2]", "float"),
        ("(m + m)[n][1]", "float"),
        ("s.a[1][2][3]", "float"),
        ("gm[n][1][2]", "float"),
        ("(*km)[1][2]", "float"),
        ("pa[0][1][2][3]", "float"),
        ("m[1][1] = n", "float"),
        ("c[1][1] += 3.5f", "char"),
        ("(*gm)[n][n]++", "float"),
        ("s.m[1][2] *= 2", "float"),
        ("(float4)row", "float4"),
        ("(float4)(column)", "float4"),
        ("(float4)__builtin_matrix_row(m, 1)", "float4"),
        ("(float)one", "float"),
        ("&gm[1]", "global float matrix_type(4, 4) *"),
        ("&s.m", "private float matrix_type(4, 4) *"),
        ("(global float *)gm", "global float *"),
        ("gm - gm", "long"),
        ("__builtin_matrix_extract(m, n, 1)", "float"),
        ("__builtin_matrix_extract(g(m), 0, 1)", "float"),
        ("__builtin_matrix_column_major_store(m, gf)", "void"),
        ("__builtin_matrix_column_major_store(r, lf, n)", "void"),
        ("__builtin_matrix_row_major_store(m + m, vf, 5)", "void"),
        ("__builtin_matrix_column_store(i, gi, 4)", "void"),
        ("g(m)", "float matrix_type(4, 4)"),
        ("o(i)", "void"),
    ],
)
def test_types_of_what_is_no_matrix(text: str, expected: str) -> None:
    assert str(value(text).type) == expected


def test_an_element_is_an_object_where_the_matrix_is_one() -> None:
    assigned = value("gm[1][2][3] = 1.0f")
    assert isinstance(assigned, typed.Assign) and isinstance(assigned.target, typed.MatrixSubscript)
    assert str(assigned.target.place.space) == "global"
    read = value("vm[0][1][2]")
    assert isinstance(read, typed.Load) and read.operand.place.volatile
    temporary = value("g(m)[1][2]")
    assert isinstance(temporary, typed.Load) and isinstance(temporary.operand, typed.MatrixSubscript)
    assert isinstance(temporary.operand.matrix, typed.CompoundLiteral)


def test_a_product_of_a_matrix_of_equal_elements_is_no_scalar_product() -> None:
    by_scalar, by_matrix = value("m *= 2"), value("m *= (M)2")
    assert isinstance(by_scalar, typed.CompoundAssign) and isinstance(by_matrix, typed.CompoundAssign)
    assert (by_scalar.op, by_matrix.op) == ("mul", "product")
    assert isinstance(by_scalar.value, typed.MatrixBroadcast) and isinstance(by_matrix.value, typed.MatrixBroadcast)
    assert isinstance(value("m * 2"), typed.MatrixElementwise) and isinstance(value("m * (M)2"), typed.MatrixProduct)


def test_a_scalar_is_converted_before_it_is_spread() -> None:
    e = value("i + 2.75")
    assert isinstance(e, typed.MatrixElementwise) and isinstance(e.right, typed.MatrixBroadcast)
    assert isinstance(e.right.value, typed.IntConst) and (e.right.value.type, e.right.value.value) == (INT, 2)


def test_the_stride_is_the_length_of_a_column_or_row_where_none_is_given() -> None:
    for text, stride in (("column_major_load(gf, 4, 8)", 4), ("row_major_load(gf, 4, 8)", 8)):
        e = value(f"__builtin_matrix_{text}")
        assert isinstance(e, typed.MatrixMemoryLoad) and isinstance(e.stride, typed.IntConst)
        assert (e.stride.value, e.stride.type, e.row_major) == (stride, ULONG, stride == 8)
    for text, stride in (("column_major_store(w, gf)", 4), ("row_major_store(w, gf)", 8)):
        stored = value(f"__builtin_matrix_{text}")
        assert isinstance(stored, typed.MatrixMemoryStore) and isinstance(stored.stride, typed.IntConst)
        assert (stored.stride.value, stored.row_major) == (stride, stride == 8)


def test_the_older_spellings_are_the_operators() -> None:
    def shape(e: object) -> object:
        """A node without its place."""
        if isinstance(e, typed.VarRef):
            return e.decl.name
        if isinstance(e, typed.Expr):
            return type(e), *(shape(getattr(e, item.name)) for item in fields(e) if item.name != "span")
        return [shape(item) for item in e] if isinstance(e, list) else str(e)

    for old, new in (
        ("__builtin_matrix_add(m, g(m))", "m + g(m)"),
        ("__builtin_matrix_sub(m, m)", "m - m"),
        ("__builtin_matrix_multiply(w, t)", "w * t"),
        ("__builtin_matrix_scalar_multiply(m, x)", "m * x"),
        ("__builtin_matrix_extract(m, n, 2)", "m[n][2]"),
        ("__builtin_matrix_column_load(gf, 4, 4, n)", "__builtin_matrix_column_major_load(gf, 4, 4, n)"),
        ("__builtin_matrix_column_store(m, gf, n)", "__builtin_matrix_column_major_store(m, gf, n)"),
    ):
        assert shape(value(old)) == shape(value(new))


def test_a_stride_converts() -> None:
    for stride, known in (("5.5f", True), ("x", False), ("(half)6", True)):
        load = value(f"__builtin_matrix_column_major_load(gf, 4, 4, {stride})")
        assert isinstance(load, typed.MatrixMemoryLoad) and str(load.stride.type) == "ulong"
        assert isinstance(load.stride, typed.IntConst) == known


def test_objects_and_functions_of_matrices() -> None:
    right("""\
M local_m, many[3], nested[2][2];
M first = m, second = (M)0;
struct S made = { m, 1, { m, g(m) } }, zeros = { };
const M fixed = first * second;
local_m = fixed;
many[n] = local_m;
nested[1][n] = many[n];
made = s;
zeros.a[0] = made.m;
M (*where)[2] = &nested[1];
(*where)[0][1][2] = 3;
M *q = &local_m;
*q = *gm;
gm[1] = *q;
u.f[0] = u.m[0][0];
for (int k = 0; k < 4; ++k)
    many[0][k][k] = k;
s = n ? s : made;
volatile M vol;
vol = m;
m = vol;
M array[] = { m, m };
array[1] = m;""")
