"""The texts before the programs, by which one text is OpenCL C and C."""

from .matrices import FAMILIES

OPENCL = """\
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SHAPE(USE) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_##USE)))
#define LOAD(T, p) ((T)coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16))
#define LOADT(T, p) ((T)coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 16))
#define STORE(T, p, m) coop_mat_store(p, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16)
#define INIT(T, x) ((T)coop_mat_init(x))
#define MULADD(T, a, b, c) coop_mat_mulAdd(a, b, c)
#define ADD(T, a, b) ((a) + (b))
#define SUB(T, a, b) ((a) - (b))
#define NEG(T, a) (-(a))
#define SCALE(T, a, x) ((a) * (x))
#define FAMILY(F, TF, TS) typedef TF F##A SHAPE(A); typedef TF F##B SHAPE(B); typedef TS F##C SHAPE(ACCUMULATOR);
"""
C = """\
#include <stddef.h>
#define kernel static
#define global
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
static size_t current;
#define get_global_id(d) current
#define get_group_id(d) (current / GROUP)
#define LOAD(T, p) load_##T(p, 16, 1)
#define LOADT(T, p) load_##T(p, 1, 16)
#define STORE(T, p, m) store_##T(p, m)
#define INIT(T, x) init_##T(x)
#define MULADD(T, a, b, c) multiply_##T(a, b, c)
#define ADD(T, a, b) add_##T(a, b, 1)
#define SUB(T, a, b) add_##T(a, b, -1)
#define NEG(T, a) scale_##T(a, -1)
#define SCALE(T, a, x) scale_##T(a, x)
#define EACH for (int i = 0; i < 64; i++)
#define MATRIX(M, T) typedef struct { T x[64]; } M; \\
    static M load_##M(const T *p, int r, int c) { M m; EACH m.x[i] = p[i / 8 * r + i % 8 * c]; return m; } \\
    static M init_##M(T x) { M m; EACH m.x[i] = x; return m; }
#define FAMILY(F, TF, TS) MATRIX(F##A, TF) MATRIX(F##B, TF) MATRIX(F##C, TS) \\
    static void store_##F##C(TS *p, F##C m) { EACH p[i / 8 * 16 + i % 8] = m.x[i]; } \\
    static F##C add_##F##C(F##C a, F##C b, int s) { EACH a.x[i] += (TS)s * b.x[i]; return a; } \\
    static F##C scale_##F##C(F##C a, int s) { EACH a.x[i] *= (TS)s; return a; } \\
    static F##C multiply_##F##C(F##A a, F##B b, F##C c) { \\
        EACH for (int k = 0; k < 8; k++) c.x[i] += (TS)a.x[i / 8 * 8 + k] * (TS)b.x[k * 8 + i % 8]; return c; }
"""
TYPES = "".join(f"FAMILY({f.name}, {f.factor}, {f.sum})\n" for f in FAMILIES)
