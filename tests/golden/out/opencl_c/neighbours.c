#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif

#line 1 "<matrix library>"
struct cm_float_2x8_a {
    float part[2];
};
#line 4 "neighbours.cl"
static CM_INLINE float cm_u_g_column(uint x0, uint x1, __global const float *x2);
#line 35 "<matrix library>"
static CM_INLINE void cm_map_2x8_A_f32_cm_operand_0_g_column(__private float *out, __global const float *cm_further0)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 2; s += 1) {
        if (1) {
            const float x = cm_u_g_column(s % 2, s / 2 * 8 + lane, cm_further0);
            out[s + 0] = x;
        }
    }
}
#line 4 "neighbours.cl"
static float2 cm_u_g(uint r, uint c, __global const float *p);
#line 90 "<matrix library>"
static CM_INLINE void cm_map_2x8_A_f32_cm_operand_1_g_down(__private float *out, __global const float *cm_further0)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 2; s += 2) {
        if (1) {
            const float2 x = cm_u_g(s % 2, s / 2 * 8 + lane, cm_further0);
            out[s + 0] = x.x; out[s + 1] = x.y;
        }
    }
}
#line 141 "<matrix library>"
static CM_INLINE void cm_store_2x8_A_f32_global_rowm(__global float *p, __private const float *m, ulong stride)
{
    const int lane = get_sub_group_local_id();

    _Pragma("unroll") for (int s = 0; s < 2; ++s) {
        const int r = s % 2; const int c = s / 2 * 8 + lane;
        if (1)
            p[r * stride + c] = m[s];
    }
}
#line 4 "neighbours.cl"
static float2 cm_u_g(uint r, uint c, __global const float *p)
{
#line 4 "neighbours.cl"
    return (float2)(p[r], p[c]);
}
#line 5 "neighbours.cl"
__kernel __attribute__((intel_reqd_sub_group_size(8))) void f(__global float *p)
{
#line 6 "neighbours.cl"
    struct cm_float_2x8_a cm_t0; struct cm_float_2x8_a cm_t1;
    cm_map_2x8_A_f32_cm_operand_0_g_column(cm_t0.part, (__global const float *)p), cm_store_2x8_A_f32_global_rowm(p, cm_t0.part, 8);
    cm_map_2x8_A_f32_cm_operand_1_g_down(cm_t1.part, (__global const float *)p), cm_store_2x8_A_f32_global_rowm(p + 16, cm_t1.part, 8);
}
#line 4 "neighbours.cl"
static CM_INLINE float cm_u_g_column(uint x0, uint x1, __global const float *x2)
{
#line 4 "neighbours.cl"
    float2 of2 = cm_u_g(x0, x1 & 4294967294u, x2); return x1 & 1 ? of2.y : of2.x;
}
