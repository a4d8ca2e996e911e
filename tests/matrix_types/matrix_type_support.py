"""What the tests of Clang's matrix types have at hand."""

from __future__ import annotations

from sema_support import expect, good

from coopmat.frontend import typed

# What the statements of the tables below have at hand. Matrices: M and I differ in their elements, M and R in their
# layout, M and P in their padding.
HEAD = """\
#define MATRIX(...) __attribute__((matrix_type(__VA_ARGS__)))
typedef float M MATRIX(4, 4);
typedef int I MATRIX(4, 4);
typedef float R MATRIX(4, 4, layout(row_major));
typedef float P MATRIX(4, 4, column_padding(2));
typedef float W MATRIX(4, 8);
typedef float T MATRIX(8, 4);
typedef float Row MATRIX(1, 4);
typedef float Column MATRIX(4, 1);
typedef float One MATRIX(1, 1);
typedef char C MATRIX(2, 3);
typedef half H MATRIX(2, 3);
struct S { M m; int n; M a[2]; };
union U { M m; float f[16]; };
enum E { FIRST, SECOND };
M g(M m) { return m; }
void __attribute__((overloadable)) o(M m) { }
void __attribute__((overloadable)) o(I i) { }
void f(M m, I i, R r, P p, W w, T t, Row row, Column column, One one, C c, H h, const M cm, struct S s, union U u,
       enum E e, int n, float x, double d, bool b, float4 v, int4 iv, float2 v2, global M *gm, local M *lm,
       constant M *km, const global M *cgm, volatile global M *vm, global float *gf, const global float *cf,
       constant float *kf, local float *lf, private float *pf, volatile global float *vf, global float4 *gf4,
       global int *gi, global char *gc, global bool *gb, void *any, M (*pa)[2])
{
"""


def wrong(marked: str, *codes: str) -> None:
    expect(f"{marked}\n}}", *codes, before=HEAD)


def right(statements: str) -> typed.Unit:
    return good(f"{HEAD}{statements}\n}}")
