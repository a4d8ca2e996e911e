// Conversions with rounding and saturation as decorations; to another sign by clamping each component; coordinates.
// options: --native-profile maint1
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define MATRIX(T, NAME) typedef T NAME __attribute__((coop_mat(SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
MATRIX(float, F)
MATRIX(half, H)
MATRIX(int, I)
MATRIX(uchar, U)

kernel void convert(global const float *p, global half *h, global uchar *u)
{
    F f = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16ul);
    H rounded = coop_mat_convert_rtz(f);
    I i = coop_mat_convert_sat_rtp(f);
    U clamped = coop_mat_convert_sat(i);
    F back = coop_mat_convert_rtn(i);
    back[0] += coop_mat_coord(back, 0u).y;
    rounded = rounded + (H)back;
    coop_mat_store(h, rounded, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16ul);
    coop_mat_store(u, clamped, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16ul);
}
