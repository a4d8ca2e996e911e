#line 1 "<matrix library>"
#define CM_UNROLL _Pragma("unroll")
#define CM_ROLL _Pragma("nounroll")
#define CM_LINEAR_ID \
    ((uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)))
#define CM_WORK_ITEMS ((uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)))
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
typedef struct { float part[4] __attribute__((aligned(4))); } cm_float_4x4_accumulator;
typedef struct { float part[4] __attribute__((aligned(4))); } cm_float_4x4_a;
typedef struct { float part[4] __attribute__((aligned(4))); } cm_float_4x4_b;
static inline __attribute__((always_inline)) void cm_fill_4x4_C_f32(__private float *out, float value)
{
    CM_UNROLL for (int i = 0; i < 1 * 4; ++i)
        out[i] = value;
}
static inline __attribute__((always_inline)) void cm_load_4x4_A_f32_global_rowm(__private float *out, __global const float *p, size_t stride)
{
    CM_UNROLL for (int s = 0; s < 1; ++s)
        CM_UNROLL for (int r = 0; r < 4; ++r)
            out[s * 4 + r] =
                (4 % 4 == 0 || ((s) * 4 + ((int)(CM_LINEAR_ID % 4))) < 4) && 1 ? p[((size_t)(r) * stride + (size_t)(((s) * 4 + ((int)(CM_LINEAR_ID % 4)))))] : (float)0;
}
static inline __attribute__((always_inline)) void cm_load_4x4_B_f32_global_rowm(__private float *out, __global const float *p, size_t stride)
{
    CM_UNROLL for (int s = 0; s < 1; ++s)
        CM_UNROLL for (int r = 0; r < 4; ++r)
            out[s * 4 + r] =
                (4 % 4 == 0 || ((s) * 4 + ((int)(CM_LINEAR_ID % 4))) < 4) && 1 ? p[((size_t)(r) * stride + (size_t)(((s) * 4 + ((int)(CM_LINEAR_ID % 4)))))] : (float)0;
}
static inline __attribute__((always_inline)) void cm_mul_add_4x4x4_f32xf32_f32_0(__private float *out, __private const float *a, __private const float *b, __private const float *c, __local ulong *scratch)
{
    float sum[1][4];
    __local float *share = ((__local float *)scratch + CM_LINEAR_ID / 4 * 4 * (4));
    const int lane = ((int)(CM_LINEAR_ID % 4));
    CM_UNROLL for (int s = 0; s < 1; ++s)
        CM_UNROLL for (int i = 0; i < 4; ++i)
            sum[s][i] = c[s * 4 + i];
    CM_UNROLL for (int first = 0; first < 4; first += 4)
        CM_UNROLL for (int top = 0; top < 4; top += 4) {
            CM_UNROLL for (int i = top; i < top + 4 && i < 4; ++i)
                share[(i - top) * 4 + lane] = a[first / 4 * 4 + i];
            barrier(CLK_LOCAL_MEM_FENCE);
            CM_UNROLL for (int k = first; k < first + 4 && k < 4; ++k)
                CM_UNROLL for (int i = top; i < top + 4 && i < 4; ++i) {
                    const float x = share[(i - top) * 4 + k - first];
                    CM_UNROLL for (int s = 0; s < 1; ++s)
                        sum[s][i] = fma(x, b[s * 4 + k], sum[s][i]);
                }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    CM_UNROLL for (int s = 0; s < 1; ++s)
        CM_UNROLL for (int i = 0; i < 4; ++i)
            out[s * 4 + i] = sum[s][i];
}
static inline __attribute__((always_inline)) void cm_store_4x4_C_f32_global_rowm(__global float *p, __private const float *m, size_t stride)
{

    CM_UNROLL for (int s = 0; s < 1; ++s)
        if ((4 % 4 == 0 || ((s) * 4 + ((int)(CM_LINEAR_ID % 4))) < 4))
            CM_UNROLL for (int r = 0; r < 4; ++r)
                if (1)
                    p[((size_t)(r) * stride + (size_t)(((s) * 4 + ((int)(CM_LINEAR_ID % 4)))))] = m[s * 4 + r];

}
static inline __attribute__((always_inline)) float cm_sub_group_reduce_add_f32(float x, __local ulong *scratch)
{
    __local float *share = ((__local float *)scratch + CM_LINEAR_ID / 4 * 4 * (1));
    const uint lane = ((int)(CM_LINEAR_ID % 4)), size = min((uint)4, CM_WORK_ITEMS - CM_LINEAR_ID / 4 * 4);
    share[lane] = (x);
    barrier(CLK_LOCAL_MEM_FENCE);
    float total = 0;
    CM_ROLL for (uint i = 0; i < size; ++i)
        total = ((total) + (share[i]));
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}
static CM_INLINE cm_float_4x4_accumulator cm_fill_4x4_C_f32_of(float value)
{
    cm_float_4x4_accumulator result;
    cm_fill_4x4_C_f32(result.part, value);
    return result;
}
static CM_INLINE cm_float_4x4_a cm_load_4x4_A_f32_global_rowm_of(__global const float *p, size_t stride)
{
    cm_float_4x4_a result;
    cm_load_4x4_A_f32_global_rowm(result.part, p, stride);
    return result;
}
static CM_INLINE cm_float_4x4_b cm_load_4x4_B_f32_global_rowm_of(__global const float *p, size_t stride)
{
    cm_float_4x4_b result;
    cm_load_4x4_B_f32_global_rowm(result.part, p, stride);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_mul_add_4x4x4_f32xf32_f32_0_of(__private const float *a, __private const float *b, __private const float *c, __local ulong *scratch)
{
    cm_float_4x4_accumulator result;
    cm_mul_add_4x4x4_f32xf32_f32_0(result.part, a, b, c, scratch);
    return result;
}
#line 7 "scratch.cl"
static CM_INLINE cm_float_4x4_accumulator square(cm_float_4x4_accumulator sum, __global const float *p, __local ulong *cm_scratch)
{
    cm_float_4x4_a a = cm_load_4x4_A_f32_global_rowm_of(p, 4);
    cm_float_4x4_b b = cm_load_4x4_B_f32_global_rowm_of(p, 4);
    return cm_mul_add_4x4x4_f32xf32_f32_0_of(a.part, b.part, sum.part, cm_scratch);
}

__kernel void program(__global const float *p, __global float *c)
{
    __local ulong cm_scratch[512];
#line 16 "scratch.cl"
    cm_float_4x4_accumulator sum = cm_fill_4x4_C_f32_of(0.0f);
    sum = square(sum, p, cm_scratch);
    cm_store_4x4_C_f32_global_rowm(c, sum.part, 4);
    c[16] = cm_sub_group_reduce_add_f32(c[0], cm_scratch);
}

__kernel void other(__global float *c)
{
    c[0] = 1.0f;
}
