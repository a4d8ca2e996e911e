// Clang's matrix types: every node that they become.
typedef float M __attribute__((matrix_type(4, 4)));
typedef float W __attribute__((matrix_type(4, 2)));
typedef half R __attribute__((matrix_type(2, 3, layout(row_major), row_padding(1))));
typedef int Row __attribute__((matrix_type(1, 4)));
struct S { M m; int n; };
constant struct S s = { (M)2, 1 };

M scaled(M m, float x) { return 2 * m - m * x; }

kernel void k(global M *p, global struct S *q, global float *f, global half *h, constant M *c, local W *l, int n) {
    M m = scaled(p[n], 0.5f), sum = (M)0;
    m += *c;
    m -= 1;
    m *= m;
    m *= 3.0f;
    m *= (M)3.0f;
    m[1][n] = m[n][2] + scaled(m, 1)[0][3];
    q->m[0][0]++;
    sum = n ? __builtin_matrix_transpose(m) : s.m;
    *l = sum * *l;
    R r = (R)__builtin_matrix_row_major_load(h, 2, 3, n);
    typedef double D __attribute__((matrix_type(2, 3)));
    D d = (D)r + 1;
    __builtin_matrix_row_major_store(r, h + 6);
    Row row = (Row)(int4)(1, 2, 3, n);
    row = __builtin_matrix_insert(row, 0, n, 7);
    int4 v = (int4)row;
    m = __builtin_matrix_insert_row(m, n, __builtin_matrix_row(sum, 2));
    m = __builtin_matrix_insert_column(m, 3, __builtin_matrix_column(sum, n));
    __builtin_matrix_column_major_store(m, f, 8);
    f[n] = d[1][2] + v.x;
}
