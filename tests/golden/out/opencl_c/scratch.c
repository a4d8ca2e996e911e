#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
#line 1 "<matrix library>"
struct cm_float_4x4_accumulator {
    float part[4];
};
#line 1 "<matrix library>"
struct cm_float_4x4_a {
    float part[4];
};
#line 1 "<matrix library>"
struct cm_float_4x4_b {
    float part[4];
};
#line 32 "<matrix library>"
static CM_INLINE void cm_fill_4x4_C_f32(__private float *out, float value)
{
    _Pragma("unroll") for (int s = 0; s < 4; ++s)
        out[s] = value;
}
#line 72 "<matrix library>"
static CM_INLINE void cm_load_4x4_A_f32_global_rowm(__private float *out, __global const float *p, ulong stride)
{
    const int lane = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) % 4;
    _Pragma("unroll") for (int s = 0; s < 4; ++s) {
        const int r = s % 4; const int c = s / 4 * 4 + lane;
        out[s] = 1 ? p[r * stride + c] : 0.0f;
    }
}
#line 121 "<matrix library>"
static CM_INLINE void cm_load_4x4_B_f32_global_rowm(__private float *out, __global const float *p, ulong stride)
{
    const int lane = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) % 4;
    _Pragma("unroll") for (int s = 0; s < 4; ++s) {
        const int r = s % 4; const int c = s / 4 * 4 + lane;
        out[s] = 1 ? p[r * stride + c] : 0.0f;
    }
}
#line 173 "<matrix library>"
static CM_INLINE void cm_mul_add_4x4x4_f32xf32_f32_0(__private float *out, __private const float *a, __private const float *b, __private const float *c, __local ulong *scratch)
{
    float sum[1][4];
    __local float *share = (__local float *)scratch + (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) / 4 * 4 * 4;
    const int lane = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) % 4;
    _Pragma("unroll") for (int s = 0; s < 1; ++s) {
        _Pragma("unroll") for (int i = 0; i < 4; ++i)
            sum[s][i] = c[s * 4 + i];
    }
#line 181 "<matrix library>"
    _Pragma("unroll") for (int first = 0; first < 4; first += 4) {
        _Pragma("unroll") for (int top = 0; top < 4; top += 4) {
            _Pragma("unroll") for (int i = top; i < top + 4 && i < 4; ++i)
                share[(i - top) * 4 + lane] = a[first / 4 * 4 + i];
            barrier(CLK_LOCAL_MEM_FENCE);
            _Pragma("unroll") for (int k = first; k < first + 4 && k < 4; ++k) {
                _Pragma("unroll") for (int i = top; i < top + 4 && i < 4; ++i) {
                    const float x = share[(i - top) * 4 + k - first];
                    _Pragma("unroll") for (int s = 0; s < 1; ++s)
                        sum[s][i] = fma(x, b[s * 4 + k], sum[s][i]);
                }
            }
#line 192 "<matrix library>"
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
#line 194 "<matrix library>"
    _Pragma("unroll") for (int s = 0; s < 1; ++s) {
        _Pragma("unroll") for (int i = 0; i < 4; ++i)
            out[s * 4 + i] = sum[s][i];
    }
}
#line 243 "<matrix library>"
static CM_INLINE void cm_store_4x4_C_f32_global_rowm(__global float *p, __private const float *m, ulong stride)
{
    const int lane = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) % 4;

    _Pragma("unroll") for (int s = 0; s < 4; ++s) {
        const int r = s % 4; const int c = s / 4 * 4 + lane;
        if (1)
            p[r * stride + c] = m[s];
    }
}
#line 285 "<matrix library>"
static CM_INLINE float cm_sub_group_reduce_add_f32(float x, __local ulong *scratch)
{
    __local float *share = (__local float *)scratch + (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) / 4 * 4 * 1;
    const uint lane = (int)((uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) % 4); const uint size = min(4u, (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)) - (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)) / 4 * 4);
    share[lane] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    float total = 0.0f;
    _Pragma("nounroll") for (uint i = 0; i < size; ++i)
        total = total + share[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}
#line 7 "scratch.cl"
static CM_INLINE struct cm_float_4x4_accumulator square(struct cm_float_4x4_accumulator sum, __global const float *p, __local ulong *cm_scratchpointer)
{
#line 8 "scratch.cl"
    struct cm_float_4x4_accumulator cm_t2;
    struct cm_float_4x4_a a; cm_load_4x4_A_f32_global_rowm(a.part, p, 4);
    struct cm_float_4x4_b b; cm_load_4x4_B_f32_global_rowm(b.part, p, 4);
    return cm_mul_add_4x4x4_f32xf32_f32_0(cm_t2.part, a.part, b.part, sum.part, cm_scratchpointer), cm_t2;
}

__kernel void program(__global const float *p, __global float *c)
{
#line 15 "scratch.cl"
    __local ulong cm_scratchmemory[512] __attribute__((aligned(16))); __local ulong *cm_scratchpointer = cm_scratchmemory;
    struct cm_float_4x4_accumulator sum; cm_fill_4x4_C_f32(sum.part, 0.0f);
    sum = square(sum, p, cm_scratchpointer);
    cm_store_4x4_C_f32_global_rowm(c, sum.part, 4);
    c[16] = cm_sub_group_reduce_add_f32(c[0], cm_scratchpointer);
}

__kernel void other(__global float *c)
{
    c[0] = 1.0f;
}
