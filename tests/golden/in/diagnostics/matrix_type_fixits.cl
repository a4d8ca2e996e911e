// What Clang's matrix types refuse, and the text that would mend it.
typedef float M __attribute__((matrix_type(4, 4)));
typedef float R __attribute__((matrix_type(4, 4, layout(row_major))));
typedef int I __attribute__((matrix_type(4, 4, column_padding(2))));
typedef float Row __attribute__((matrix_type(1, 4)));
M g(M m) { return 1; }
void f(M m, R r, I i, float4 v, Row row, global M *p, global const float *q, global int *n) {
    m = i;
    m = r + r;
    m = g(i);
    m = m - r;
    m += i;
    row = v;
    v = row;
    M a = { 1.5f }, b = { m[0][0] + 1 }, c = { 1, 2 };
    p[1] = 0;
    m = m * row;
    m[0] = row;
    m[1, 2] = 1;
    m[(int)(1 , 2), 3] = 1;
    __builtin_matrix_column_major_store(m, q);
    __builtin_matrix_column_major_store(m, n);
    m = __builtin_matrix_column_major_load(p + 1, 4, 4);
}
