// Matrices for a subgroup of one: records of parts, calls of the library, values and objects as operands.
// options: --matrices one
#define MATRIX(T, USE) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef MATRIX(float, ACCUMULATOR) C;
struct pair { C first, second; };

C halved(C m)
{
    for (uint i = 0; i < coop_mat_length(C); i++)
        m[i] /= 2;
    return m;
}

kernel void program(global const char *a, global const uchar *b, global float *c, global int *d, uint n)
{
    MATRIX(char, A) x = coop_mat_load(a, ROW, n);
    MATRIX(uchar, B) y = coop_mat_load_checked(b, ROW, n, 1, 2, 3, 4);
    MATRIX(int, ACCUMULATOR) z = coop_mat_mulAdd(x, y, (MATRIX(int, ACCUMULATOR))coop_mat_init(3));
    coop_mat_store(d, z, ROW, 4);
    struct pair p = { coop_mat_load(c, ROW, 4), coop_mat_init(1) };
    C *which = n ? &p.first : &p.second;
    *which = halved(p.first - p.second) * 0.5f + -p.second;
    p.second += *which;
    coop_mat_store(c, p.second, ROW, sub_group_any(n > 3) ? get_sub_group_size() * 4 : 8);
}
