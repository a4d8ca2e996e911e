// Lanes hold columns: a function of neighbours in a row is called for each component, one of those in a column once.
// options: --matrices lanes --sub-group-size 8
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 8, CLK_COOPERATIVE_MATRIX_A)));
static float2 g(uint r, uint c, global const float *p) { return (float2)(p[r], p[c]); }
kernel void f(global float *p)
{
    coop_mat_store(p, (M)coop_mat_build(g, p), 0, 8ul);
    coop_mat_store(p + 16, (M)coop_mat_build_columns(g, p), 0, 8ul);
}
