"""Clang's matrix types: every error of expressions and statements, and its place."""

from __future__ import annotations

import pytest
from matrix_type_support import wrong

OPERATOR, OPERANDS, SHAPES = "matrix-type-operator", "matrix-type-operand-types", "matrix-type-shapes"
MISMATCH, CAST, INITIALIZER = "matrix-type-mismatch", "matrix-type-cast", "matrix-type-initializer"
CONDITION, SUBSCRIPT, INDEX = "matrix-type-condition", "matrix-type-subscript", "matrix-type-index"
POINTEE, CONST_STORE, STRIDE = "matrix-type-pointee", "matrix-type-const-store", "matrix-type-stride"
SHAPE, PART, NO_MATRIX = "matrix-type-shape", "matrix-type-part", "matrix-type-not-a-matrix"


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        # Operators that there are not.
        *((f"m §{op} m;", [OPERATOR]) for op in ("/", "%", "&", "|", "^", "<<", "==", "!=", "<", ">=", "&&", "||")),
        *((f"m §{op} 2;", [OPERATOR]) for op in ("/", "%", "<<", "==", "||")),
        *((f"1 §{op} m;", [OPERATOR]) for op in ("/", "<")),
        *((f"§{op}m;", [OPERATOR]) for op in ("-", "+", "~", "!", "++", "--")),
        *((f"§m{op};", [OPERATOR]) for op in ("++", "--")),
        *((f"m §{op}= m;", [OPERATOR]) for op in ("/", "%", "&", "|", "^", "<<", ">>")),
        *((f"m §{op} v;", [OPERATOR]) for op in ("+", "-", "*")),
        *((f"{e} §+ m;", [OPERATOR]) for e in ("gf", "s", "v", '"text"', "gm")),
        ("m §+ gm;", [OPERATOR]),
        ("x §+= m; n §*= m; v §-= m; gf §+= m;", [OPERATOR] * 4),
        ("m §+= v; m §*= gf; m §-= s;", [OPERATOR] * 3),
        ("§iv ? m : m;", [OPERATOR]),
        # Operands that do not fit.
        ("m §+ i;", [OPERANDS]),
        ("m §- r;", [OPERANDS]),
        ("m §+ p;", [OPERANDS]),
        ("m §+ w;", [OPERANDS]),
        ("m §* i;", [OPERANDS]),
        ("m §* r;", [OPERANDS]),
        ("m §+= i; m §-= w; m §+= r;", [OPERANDS] * 3),
        ("m §*= w;", [OPERANDS]),
        ("p §*= m;", [OPERANDS]),
        ("(§n ? m : i); (§n ? m : 1); (§n ? x : m);", [OPERANDS] * 3),
        ("w §* w;", [SHAPES]),
        ("m §* t;", [SHAPES]),
        ("w §*= m;", [SHAPES]),
        # Nothing converts by itself.
        ("M a1 = §1; M a2 = §i; M a3 = §r; M a4 = §v; M a5 = §gf;", [MISMATCH] * 5),
        ("m §= 0; m §= x; m §= i; m §= w; m §= gm; m §= s;", [MISMATCH] * 6),
        ("x §= m; n §= one; v §= row; b §= m; s §= m;", [MISMATCH] * 5),
        ("float y = §one; M a[2] = { m, §1 }; struct S s1 = { §1 }; struct S s2 = { .m = §v };", [MISMATCH] * 4),
        ("g(§1); g(§i); g(§v); §g(m, m);", [MISMATCH] * 3 + ["argument-count"]),
        ("n = __builtin_expect(§m, 1);", [MISMATCH]),
        ("row §= v; v §= column;", [MISMATCH] * 2),
        ("m[0][0] §= m;", [MISMATCH]),
        # Casts.
        ("§(M)w; §(W)m; §(Row)column; §(One)m;", [CAST] * 4),
        ("§(M)v; §(Row)v2; §(Row)iv; §(Row)gf; §(M)s; §(M)any;", [CAST] * 6),
        ("§(float)m; §(float4)m; §(float2)row; §(int4)row; §(float *)m; §(int)one; §(bool)m;", [CAST] * 7),
        ("§(struct S)m; (float8)(§row, row);", [CAST, "vector-literal"]),
        # Initial values.
        ("M a = §{ 1 };", [INITIALIZER]),
        ("M a = §{ m };", [INITIALIZER]),
        ("M a = §{ };", [INITIALIZER]),
        ("M a = §{ { 1, 2 }, { 3, 4 } };", [INITIALIZER]),
        ("M a[2] = { §{ 1 }, m };", [INITIALIZER]),
        ("struct S s1 = { §{ 0 }, 1 };", [INITIALIZER]),
        # Conditions.
        ("if (§m) n = 1; while (§m) n = 1; do { } while (§m); for (; §m; ) { }", [CONDITION] * 4),
        ("switch (§m) { }", [CONDITION]),
        ("n = §m ? 1 : 2;", [CONDITION]),
        ("n = n §&& m;", [OPERATOR]),
        # Elements.
        ("§m[1]; §m[n] = m; x = §s.m[1]; §(m + m)[0];", [SUBSCRIPT] * 4),
        ("(§m[1])[2];", [SUBSCRIPT]),
        ("§m[0];", [SUBSCRIPT]),
        ("m[§0, 1][2]; m[1][§2, 3];", [SUBSCRIPT] * 2),
        ("§m[1][2][3];", ["not-subscriptable"]),
        ("m[§4][0]; m[0][§4]; m[§-1][0]; m[3][§1 + 3]; w[§4][7]; w[3][§8];", [INDEX] * 6),
        ("m[§x][0]; m[0][§1.0f]; m[§v][0]; m[0][§gf]; m[§m][0]; m[§s][0];", [INDEX] * 6),
        ("pf = §&m[0][0]; gf = §&gm[1][2][3]; pf = §&s.a[0][1][2];", ["matrix-type-element-address"] * 3),
        ("§cm[0][0] = 1; §cgm[0][1][2] = 1; §(*km)[1][2]++; §cm += m;", ["read-only"] * 4),
        ("g(m)[1][2] §= 1; §(m + m)[1][2]++;", ["not-an-lvalue"] * 2),
        ("§1[m];", ["not-subscriptable"]),
        ("m.§x;", ["no-member"]),
        # Pointers.
        ("lm §= gm;", ["address-space"]),
        ("gf §= gm;", ["incompatible-pointer-types"]),
        # Calls.
        *((f"§{name};", ["argument-count"]) for name in ("__builtin_matrix_transpose()", "__builtin_matrix_add(m)")),
        ("§__builtin_matrix_column_major_load(gf, 4);", ["argument-count"]),
        ("§__builtin_matrix_column_load(gf, 4, 4);", ["argument-count"]),
        ("§__builtin_matrix_column_store(m, gf);", ["argument-count"]),
        ("§__builtin_matrix_transposed(m);", ["undeclared-identifier"]),
        *(
            (f"__builtin_matrix_{call};", [NO_MATRIX])
            for call in (
                *("transpose(§x)", "transpose(§gm)", "add(§1, m)", "add(m, §x)", "sub(§v, m)", "multiply(m, §2)"),
                *("scalar_multiply(§x, 2)", "extract(§v, 0, 0)", "insert(§gf, 0, 0, 1)", "row(§v, 0)"),
                *("column(§1, 0)", "insert_row(§v, 0, row)", "column_major_store(§x, gf)", "row_major_store(§gm, gf)"),
            )
        ),
        ("§__builtin_matrix_add(m, i); §__builtin_matrix_sub(m, r);", [OPERANDS] * 2),
        ("§__builtin_matrix_multiply(m, t);", [SHAPES]),
        ("__builtin_matrix_scalar_multiply(m, §m);", [MISMATCH]),
        ("__builtin_matrix_scalar_multiply(m, §v);", ["incompatible-types"]),
        ("__builtin_matrix_insert(m, 0, 0, §m);", [MISMATCH]),
        ("__builtin_matrix_insert(m, §4, 0, 1); __builtin_matrix_insert(m, 0, §-1, 1);", [INDEX] * 2),
        ("__builtin_matrix_extract(m, §x, 0); __builtin_matrix_extract(m, 0, §4);", [INDEX] * 2),
        ("__builtin_matrix_row(m, §4); __builtin_matrix_column(w, §8); __builtin_matrix_row(m, §v);", [INDEX] * 3),
        ("__builtin_matrix_insert_row(m, §-1, row);", [INDEX]),
        ("__builtin_matrix_insert_row(m, 0, §v); __builtin_matrix_insert_row(m, 0, §column);", [PART] * 2),
        ("__builtin_matrix_insert_column(m, 0, §row); __builtin_matrix_insert_row(i, 0, §row);", [PART] * 2),
        ("__builtin_matrix_insert_row(w, 0, §row); __builtin_matrix_insert_column(m, 0, §1);", [PART] * 2),
        # Memory.
        *((f"__builtin_matrix_column_major_load(§{p}, 4, 4);", [POINTEE]) for p in ("m", "x", "1", "gf4", "gm", "any")),
        ("__builtin_matrix_column_major_load(§gb, 4, 4);", ["matrix-type-element"]),
        ("__builtin_matrix_column_major_store(m, §gi); __builtin_matrix_row_major_store(i, §gf);", [POINTEE] * 2),
        ("__builtin_matrix_column_major_store(m, §x); __builtin_matrix_column_store(m, §gf4, 4);", [POINTEE] * 2),
        (
            "__builtin_matrix_column_major_store(m, §cf); __builtin_matrix_row_major_store(m, §kf, 4);",
            [CONST_STORE] * 2,
        ),
        (
            "__builtin_matrix_column_major_load(gf, §n, 4); __builtin_matrix_row_major_load(gf, 4, §x);",
            [SHAPE] * 2,
        ),
        ("__builtin_matrix_column_major_load(gf, §0, §-4);", [SHAPE] * 2),
        ("§__builtin_matrix_column_major_load(gf, 1024, 1024);", [SHAPE]),
        (
            "__builtin_matrix_column_major_load(gf, 4, 2, §3); __builtin_matrix_row_major_load(gf, 2, 4, §3);",
            [STRIDE] * 2,
        ),
        (
            "__builtin_matrix_column_major_load(gf, 4, 4, §-1); __builtin_matrix_column_load(gf, 4, 4, §gf);",
            [STRIDE] * 2,
        ),
        ("__builtin_matrix_column_major_store(m, gf, §3); __builtin_matrix_row_major_store(w, gf, §4);", [STRIDE] * 2),
        ("__builtin_matrix_column_major_store(m, gf, §gf);", [STRIDE]),
        (
            "__builtin_matrix_column_major_load(§x, §0, §n, §v);",
            [POINTEE, SHAPE, SHAPE, STRIDE],
        ),
        ("__builtin_matrix_column_major_store(§x, §y, §v);", [NO_MATRIX, "undeclared-identifier", STRIDE]),
        # Functions that know nothing of matrices.
        ("§sqrt(m); §convert_float(m); §as_float(one); §max(m, m); §o(r);", ["no-matching-function"] * 5),
        ('printf("%f", §m); §__builtin_astype(m, I);', ["no-matching-function"] * 2),
        ("§vec_step(m);", ["invalid-operands"]),
    ],
)
def test_errors(marked: str, codes: list[str]) -> None:
    wrong(marked, *codes)
