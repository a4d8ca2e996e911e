#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
// Intel GPUs' matrix instruction dpas, with a function for each shape and type, by the built-in functions of their
// compiler. N is the smallest subgroup size of the device: 8 on DG2 and similar devices, 16 on Ponte Vecchio,
// Battlemage and Lunar Lake. Registers are the arguments that the documents list: each work-item has equally many bits
// of each row of A, and one column of B.
//
// "cl_intel_subgroup_matrix_multiply_accumulate" and, for tf32, "cl_intel_subgroup_matrix_multiply_accumulate_tf32",
// both in "New OpenCL C Functions".

// The compilers of some drivers implement these functions without declaring them.
#define CM_DPAS(NAME, MAD, A, B, C) \
C __attribute__((overloadable, convergent)) intel_sub_group_##MAD(A, B, C); \
static inline C NAME(A a, B b, C c) \
{ \
    return intel_sub_group_##MAD(a, b, c); \
}

#define CM_DPAS_OF_SHAPE(M, N, S, U, F, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k16_f16_f32, f16_f16_matrix_mad_k16, S, int8, F) \
    CM_DPAS(cm_dpas_m##M##n##N##k16_bf16_f32, bf16_bf16_matrix_mad_k16, S, int8, F) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_s8_s32, i8_i8_matrix_mad_k32, S, int8, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_s8_u8_s32, i8_u8_matrix_mad_k32, S, uint8, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_u8_s8_s32, u8_i8_matrix_mad_k32, U, int8, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_u8_s32, u8_u8_matrix_mad_k32, U, uint8, I)

CM_DPAS_OF_SHAPE(1, 8, int, uint, float, int)
CM_DPAS_OF_SHAPE(2, 8, int2, uint2, float2, int2)
CM_DPAS_OF_SHAPE(4, 8, int4, uint4, float4, int4)
CM_DPAS_OF_SHAPE(8, 8, int8, uint8, float8, int8)

CM_DPAS_OF_SHAPE(1, 16, short, ushort, float, int)
CM_DPAS_OF_SHAPE(2, 16, short2, ushort2, float2, int2)
CM_DPAS_OF_SHAPE(4, 16, short4, ushort4, float4, int4)
CM_DPAS_OF_SHAPE(8, 16, short8, ushort8, float8, int8)

// Only on devices with subgroups of 16
CM_DPAS(cm_dpas_m1n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float, float8, float)
CM_DPAS(cm_dpas_m2n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float, float8, float2)
CM_DPAS(cm_dpas_m4n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float2, float8, float4)
CM_DPAS(cm_dpas_m8n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float4, float8, float8)

#undef CM_DPAS
#undef CM_DPAS_OF_SHAPE
#line 1 "<matrix library>"
struct cm_float_8x16_accumulator {
    float part[8];
} __attribute__((aligned(32)));
#line 1 "<matrix library>"
struct cm_floate4m3_t_8x64_a {
    uchar part[32];
};
#line 1 "<matrix library>"
struct cm_floate5m2_t_64x16_b {
    uchar part[64];
};
#line 1 "<matrix library>"
struct cm_bfloat16_8x64_a {
    ushort part[32];
} __attribute__((aligned(32)));
#line 1 "<matrix library>"
struct cm_bfloat16_64x16_b {
    ushort part[64];
} __attribute__((aligned(32)));
#line 1 "<matrix library>"
struct cm_bfloat16_8x32_a {
    ushort part[16];
} __attribute__((aligned(32)));
#line 1 "<matrix library>"
struct cm_bfloat16_32x16_b {
    ushort part[32];
} __attribute__((aligned(32)));
#line 228 "<matrix library>"
static CM_INLINE ushort cm_bf16_from_float_rte_1(float x)
{
    const uint u = as_uint(x); const uint cm_v_sign = as_uint(as_int(x) >> 31);
    return select((u + 32767 + ((u >> 16) & 1)) >> 16, u >> 16 | 64, (u & 2147483647) > 2139095040);
}
#line 255 "<matrix library>"
static CM_INLINE float cm_e5m2_to_float_1(uchar x)
{
    const uint u = x; const uint a = u & 127; const uint digits = a << 21;
    const uint normal = digits + 939524096; const uint tiny = as_uint(a * 0x1p-16f);
    const uint number = select(normal, tiny, a < 4);
    return as_float(select(number, digits | 2139095040, a > 123) | (u >> 7) << 31);
}
#line 293 "<matrix library>"
static CM_INLINE void cm_convert_64x16_B_e5m2_bf16(__private ushort *out, __private const uchar *m)
{
    _Pragma("unroll") for (int s = 0; s < 64; ++s)
        out[s] = cm_bf16_from_float_rte_1(cm_e5m2_to_float_1(m[s]));
}
#line 329 "<matrix library>"
static CM_INLINE float cm_e4m3_to_float_1(uchar x)
{
    const uint u = x; const uint a = u & 127; const uint digits = a << 20;
    const uint normal = digits + 1006632960; const uint tiny = as_uint(a * 0.001953125f);
    const uint number = select(normal, tiny, a < 8);
    return as_float(select(number, digits | 2139095040, a > 126) | (u >> 7) << 31);
}
#line 367 "<matrix library>"
static CM_INLINE void cm_convert_8x64_A_e4m3_bf16(__private ushort *out, __private const uchar *m)
{
    _Pragma("unroll") for (int s = 0; s < 32; ++s)
        out[s] = cm_bf16_from_float_rte_1(cm_e4m3_to_float_1(m[s]));
}
#line 404 "<matrix library>"
static CM_INLINE void cm_fill_8x16_C_f32(__private float *out, float value)
{
    _Pragma("unroll") for (int s = 0; s < 8; ++s)
        out[s] = value;
}
#line 444 "<matrix library>"
static CM_INLINE void cm_load_32x16_B_bf16_private_rowm(__private ushort *out, __private const ushort *p, ulong stride)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 32; ++s) {
        const int r = s / 16 % 2 * 16 + s % 16; const int c = s / 16 / 2 * 16 + lane;
        out[s] = 1 ? (int)p[r * stride + c] : 0;
    }
}
#line 493 "<matrix library>"
static CM_INLINE void cm_load_64x16_B_e5m2_global_rowm(__private uchar *out, __global const uchar *p, ulong stride)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 64; ++s) {
        const int r = s % 64; const int c = s / 64 * 16 + lane;
        out[s] = 1 ? (int)p[r * stride + c] : 0;
    }
}
#line 542 "<matrix library>"
static CM_INLINE void cm_load_8x32_A_bf16_private_rowm(__private ushort *out, __private const ushort *p, ulong stride)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 16; ++s) {
        const int r = s % 8; const int c = s / 8 * 16 + lane;
        out[s] = 1 ? (int)p[r * stride + c] : 0;
    }
}
#line 591 "<matrix library>"
static CM_INLINE void cm_load_8x64_A_e4m3_global_rowm(__private uchar *out, __global const uchar *p, ulong stride)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 32; ++s) {
        const int r = s % 8; const int c = s / 8 * 16 + lane;
        out[s] = 1 ? (int)p[r * stride + c] : 0;
    }
}
#line 13 "<matrix library>"
static float cm_scaled_0_add(uint r, uint c, float sum, float x, __constant const uchar *sa, ulong stride_a, __constant const uchar *sb, ulong stride_b);
#line 645 "<matrix library>"
static CM_INLINE void cm_map_8x16_C_f32_cm_operand_0_cm_scaled_0_add(__private float *out, __private const float *x0, __private const float *x1, __constant const uchar *cm_further0, ulong cm_further1, __constant const uchar *cm_further2, ulong cm_further3)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 8; s += 1) {
        if (1) {
            const float x = cm_scaled_0_add(s % 8, s / 8 * 16 + lane, x0[s], x1[s], cm_further0, cm_further1, cm_further2, cm_further3);
            out[s + 0] = x;
        }
    }
}
#line 709 "<matrix library>"
static CM_INLINE void cm_mul_add_8x16x32_bf16xbf16_f32_0(__private float *out, __private const ushort *a, __private const ushort *b, __private const float *c)
{
    float8 sum[1];
    _Pragma("unroll") for (int t = 0; t < 1; ++t)
        sum[t] = *(__private const float8 *)(c + t * 8);
    _Pragma("unroll") for (int k = 0; k < 2; ++k) {
        _Pragma("unroll") for (int i = 0; i < 1; ++i) {
            const short8 x = (short8)(as_short((a + (k * 1 + i) * 8)[0]), as_short((a + (k * 1 + i) * 8)[1]), as_short((a + (k * 1 + i) * 8)[2]), as_short((a + (k * 1 + i) * 8)[3]), as_short((a + (k * 1 + i) * 8)[4]), as_short((a + (k * 1 + i) * 8)[5]), as_short((a + (k * 1 + i) * 8)[6]), as_short((a + (k * 1 + i) * 8)[7]));
            _Pragma("unroll") for (int j = 0; j < 1; ++j) {
                const int8 y = (int8)(as_int((ushort2)((b + (j * 2 + k) * 16)[0], (b + (j * 2 + k) * 16)[1])), as_int((ushort2)((b + (j * 2 + k) * 16)[2], (b + (j * 2 + k) * 16)[3])), as_int((ushort2)((b + (j * 2 + k) * 16)[4], (b + (j * 2 + k) * 16)[5])), as_int((ushort2)((b + (j * 2 + k) * 16)[6], (b + (j * 2 + k) * 16)[7])), as_int((ushort2)((b + (j * 2 + k) * 16)[8], (b + (j * 2 + k) * 16)[9])), as_int((ushort2)((b + (j * 2 + k) * 16)[10], (b + (j * 2 + k) * 16)[11])), as_int((ushort2)((b + (j * 2 + k) * 16)[12], (b + (j * 2 + k) * 16)[13])), as_int((ushort2)((b + (j * 2 + k) * 16)[14], (b + (j * 2 + k) * 16)[15])));
                sum[j * 1 + i] = cm_dpas_m8n16k16_bf16_f32(x, y, sum[j * 1 + i]);
            }
        }
    }
#line 722 "<matrix library>"
    _Pragma("unroll") for (int t = 0; t < 1; ++t)
        *(__private float8 *)(out + t * 8) = sum[t];
}
#line 781 "<matrix library>"
static CM_INLINE void cm_store_64x16_B_bf16_private_rowm(__private ushort *p, __private const ushort *m, ulong stride)
{
    _Pragma("nounroll") for (int c = 0; c < 16; ++c) {
        _Pragma("nounroll") for (int r = 0; r < 64; ++r) {
            const ushort x = sub_group_broadcast((uint)m[(c / 16 * 4 + r / 16) * 16 + r % 16 % 16], c % 16 % 16);
            if (1)
                p[r * stride + c] = x;
        }
    }
}
#line 834 "<matrix library>"
static CM_INLINE void cm_store_8x16_C_f32_global_rowm(__global float *p, __private const float *m, ulong stride)
{
    const int lane = get_sub_group_local_id();

    _Pragma("unroll") for (int s = 0; s < 8; ++s) {
        const int r = s % 8; const int c = s / 8 * 16 + lane;
        if (1)
            p[r * stride + c] = m[s];
    }
}
#line 889 "<matrix library>"
static CM_INLINE void cm_store_8x64_A_bf16_private_rowm(__private ushort *p, __private const ushort *m, ulong stride)
{
    _Pragma("unroll") for (int c = 0; c < 64; ++c) {
        _Pragma("unroll") for (int r = 0; r < 8; ++r) {
            const ushort x = sub_group_broadcast((uint)m[(c / 16 + r / 8) * 8 + r % 8 % 8], c % 16 % 16);
            if (1)
                p[r * stride + c] = x;
        }
    }
}
#line 9 "<matrix library>"
static float cm_scaled_0_power(int exponent)
{
    return as_float((max(exponent, -126) + 127) << 23);
}
static float cm_scaled_0_add(uint r, uint c, float sum, float x, __constant const uchar *sa, ulong stride_a, __constant const uchar *sb, ulong stride_b)
{
    const int i = sa[r * stride_a]; const int j = sb[c * stride_b]; const int exponent = i + j - 254;
    x = x * cm_scaled_0_power(exponent >> 1) * cm_scaled_0_power(exponent - (exponent >> 1));
    return i == 255 || j == 255 ? NAN : sum + x;
}
static CM_INLINE struct cm_float_8x16_accumulator cm_scaled_0(struct cm_floate4m3_t_8x64_a a, struct cm_floate5m2_t_64x16_b b, struct cm_float_8x16_accumulator c, __constant const uchar *sa, ulong stride_a, __constant const uchar *sb, ulong stride_b)
{
    struct cm_bfloat16_8x64_a x; cm_convert_8x64_A_e4m3_bf16(x.part, a.part);
    struct cm_bfloat16_64x16_b y; cm_convert_64x16_B_e5m2_bf16(y.part, b.part);
    struct cm_float_8x16_accumulator block; struct cm_float_8x16_accumulator sums = c;
    ushort all_x[512];
    cm_store_8x64_A_bf16_private_rowm((__private ushort *)all_x, x.part, 64);
    ushort all_y[1024];
    cm_store_64x16_B_bf16_private_rowm((__private ushort *)all_y, y.part, 16);
    struct cm_bfloat16_8x32_a x_0; cm_load_8x32_A_bf16_private_rowm(x_0.part, (__private const ushort *)(all_x + 0), 64);
    struct cm_bfloat16_32x16_b y_0; cm_load_32x16_B_bf16_private_rowm(y_0.part, (__private const ushort *)(all_y + 0), 16);
    cm_fill_8x16_C_f32(block.part, 0.0f);
    cm_mul_add_8x16x32_bf16xbf16_f32_0(block.part, x_0.part, y_0.part, block.part);
    cm_map_8x16_C_f32_cm_operand_0_cm_scaled_0_add(sums.part, sums.part, block.part, sa + 0, stride_a, sb + 0, stride_b);
    struct cm_bfloat16_8x32_a x_1; cm_load_8x32_A_bf16_private_rowm(x_1.part, (__private const ushort *)(all_x + 32), 64);
    struct cm_bfloat16_32x16_b y_1; cm_load_32x16_B_bf16_private_rowm(y_1.part, (__private const ushort *)(all_y + 512), 16);
    cm_fill_8x16_C_f32(block.part, 0.0f);
    cm_mul_add_8x16x32_bf16xbf16_f32_0(block.part, x_1.part, y_1.part, block.part);
    cm_map_8x16_C_f32_cm_operand_0_cm_scaled_0_add(sums.part, sums.part, block.part, sa + 1, stride_a, sb + 1, stride_b);
    return sums;
}
#line 7 "scaled.cl"
__kernel __attribute__((intel_reqd_sub_group_size(16))) void k(__global const uchar *p, __global const uchar *q, __constant uchar *s, __global float *out)
{
#line 8 "scaled.cl"
    struct cm_float_8x16_accumulator cm_t3;
    struct cm_floate4m3_t_8x64_a a; cm_load_8x64_A_e4m3_global_rowm(a.part, (__global const uchar *)p, 64);
    struct cm_floate5m2_t_64x16_b b; cm_load_64x16_B_e5m2_global_rowm(b.part, (__global const uchar *)q, 16);
    struct cm_float_8x16_accumulator c; cm_fill_8x16_C_f32(c.part, 0.0f);
    cm_t3 = cm_scaled_0(a, b, c, (__constant uchar *)s, 2, (__constant uchar *)(s + 16), 2), cm_store_8x16_C_f32_global_rowm(out, cm_t3.part, 16);
}
