// Lanes that exchange values through local memory, which functions get from their kernel.
// options: --matrices scratch --sub-group-size 4 -cl-std=CL1.2
#define MATRIX(USE) float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef MATRIX(ACCUMULATOR) C;

C square(C sum, const global float *p)
{
    MATRIX(A) a = coop_mat_load(p, ROW, 4);
    MATRIX(B) b = coop_mat_load(p, ROW, 4);
    return coop_mat_mulAdd(a, b, sum);
}

kernel void program(const global float *p, global float *c)
{
    C sum = coop_mat_init(0);
    sum = square(sum, p);
    coop_mat_store(c, sum, ROW, 4);
    c[16] = sub_group_reduce_add(c[0]);
}

kernel void other(global float *c)
{
    c[0] = 1;
}
