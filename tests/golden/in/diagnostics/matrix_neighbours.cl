// Functions of neighbours: vectors that do not divide the lines of the matrix, and vectors of other types.
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 12, CLK_COOPERATIVE_MATRIX_A)));
float8 eight(uint r, uint c);
float3 three(uint r, uint c);
int4 integers(uint r, uint c);
float4 mixed(uint r, uint c, float x);
float2 wrong(uint r, uint c, float4 x);

void f(M m)
{
    m = coop_mat_build(eight);
    m = coop_mat_build_columns(eight);
    m = coop_mat_build(three);
    m = coop_mat_build(integers);
    m = coop_mat_map(m, mixed);
    m = coop_mat_map(m, wrong);
}
