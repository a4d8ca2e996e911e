// Calls of every matrix builtin, and where their types come from.
#pragma clang diagnostic ignored "-Wcoop-mat-nonuniform"
#define MATRIX(r, c, use) __attribute__((coop_mat(memory_scope_sub_group, r, c, CLK_COOPERATIVE_MATRIX_##use)))
typedef bfloat16 A MATRIX(8, 16, A);
typedef float C MATRIX(8, 8, ACCUMULATOR);
typedef int I MATRIX(8, 8, ACCUMULATOR);
typedef struct { C c; I list[2]; } S;
__attribute__((overloadable)) C pick(C c, int n) { return n ? c : coop_mat_init(1); }
__attribute__((overloadable)) I pick(I i, global float *p) { return i; }
kernel void k(volatile global float3 *p, local bfloat16 *q, int n, ulong z)
{
    C c = coop_mat_load_checked(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 4, n, z, 100, 7);
    A a = coop_mat_load(q, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED, 0);
    S s = { coop_mat_init(n) - c, { coop_mat_convert_sat_rte(c), coop_mat_convert(c) } };
    c = pick(coop_mat_init(2), n) + (float)a[0] * coop_mat_init(3) + s.c;
    a[1] = q[0] + 1;
    s.list[0] += coop_mat_convert_rtz(c);
    n += coop_mat_coord(A, n).x + coop_mat_length(s.c);
    coop_mat_store_checked(p, c, 1, 4, 0, n, 8, 8);
}
