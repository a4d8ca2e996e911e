#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
#line 1 "<matrix library>"
struct cm_float_4x4_accumulator {
    float4 part[4];
};
#line 1 "<matrix library>"
struct cm_char_4x4_a {
    char4 part[4];
};
#line 1 "<matrix library>"
struct cm_uchar_4x4_b {
    uchar4 part[4];
};
#line 1 "<matrix library>"
struct cm_int_4x4_accumulator {
    int4 part[4];
};
#line 6 "matrices.cl"
struct pair {
    struct cm_float_4x4_accumulator first;
    struct cm_float_4x4_accumulator second;
};
#line 28 "<matrix library>"
static CM_INLINE void cm_add_4x4_C_f32(__private float *out, __private const float *a, __private const float *b)
{
    _Pragma("unroll") for (int i = 0; i < 16; i += 4)
        *(__private float4 *)(out + i) = *(__private const float4 *)(a + i) + *(__private const float4 *)(b + i);
}
#line 67 "<matrix library>"
static CM_INLINE void cm_fill_4x4_C_f32(__private float *out, float value)
{
    _Pragma("unroll") for (int i = 0; i < 16; i += 4)
        *(__private float4 *)(out + i) = (float4)(value);
}
#line 105 "<matrix library>"
static CM_INLINE void cm_fill_4x4_C_s32(__private int *out, int value)
{
    _Pragma("unroll") for (int i = 0; i < 16; i += 4)
        *(__private int4 *)(out + i) = (int4)(value);
}
#line 128 "<matrix library>"
static CM_INLINE uint cm_get_sub_group_size(void)
{
    return 1;
}
#line 150 "<matrix library>"
static CM_INLINE uint cm_length_4x4_C_f32(void)
{
    return 16;
}
#line 193 "<matrix library>"
static CM_INLINE void cm_load_4x4_A_s8_global_rowm(__private char *out, __global const char *p, ulong stride)
{
    _Pragma("unroll") for (int r = 0; r < 4; ++r) {
        _Pragma("unroll") for (int c = 0; c < 4; c += 4)
            *(__private char4 *)(out + (r * 4 + c)) = vload4(0, p + (r * stride + c));
    }
}
#line 244 "<matrix library>"
static CM_INLINE void cm_load_4x4_B_u8_global_rowm(__private uchar *out, __global const uchar *p, ulong stride)
{
    _Pragma("unroll") for (int r = 0; r < 4; ++r) {
        _Pragma("unroll") for (int c = 0; c < 4; c += 4)
            *(__private uchar4 *)(out + (r * 4 + c)) = vload4(0, p + (r * stride + c));
    }
}
#line 297 "<matrix library>"
static CM_INLINE void cm_load_4x4_B_u8_global_rowm_checked(__private uchar *out, __global const uchar *p, ulong stride, uint row, uint column, uint rows, uint columns)
{
    if (row < rows && 4 <= rows - row && (column < columns && 4 <= columns - column) && row % 1 == 0)
        cm_load_4x4_B_u8_global_rowm(out, p + ((row + 0UL) * stride + (column + 0UL)), stride);
    else {
        _Pragma("unroll") for (int r = 0; r < 4; ++r) {
            _Pragma("unroll") for (int c = 0; c < 4; ++c)
                out[r * 4 + c] = row < rows && r + 1 <= rows - row && (column < columns && c + 1 <= columns - column) ? (int)p[(row + (ulong)r) * stride + (column + (ulong)c)] : 0;
        }
    }
}
#line 353 "<matrix library>"
static CM_INLINE void cm_load_4x4_C_f32_global_rowm(__private float *out, __global const float *p, ulong stride)
{
    _Pragma("unroll") for (int r = 0; r < 4; ++r) {
        _Pragma("unroll") for (int c = 0; c < 4; c += 4)
            *(__private float4 *)(out + (r * 4 + c)) = vload4(0, p + (r * stride + c));
    }
}
#line 414 "<matrix library>"
static CM_INLINE void cm_mul_add_4x4x4_s8xu8_s32_13(__private int *out, __private const char *a, __private const uchar *b, __private const int *c)
{
    _Pragma("unroll") for (int down = 0; down < 1; ++down) {
        _Pragma("unroll") for (int along = 0; along < 1; ++along) {
            const int top = down * 4; const int left = along * 1;
            uint4 sum[4][1];
            _Pragma("unroll") for (int i = 0; i < 4; ++i) {
                _Pragma("unroll") for (int j = 0; j < 1; ++j)
                    sum[i][j] = as_uint4(*(__private const int4 *)(c + ((top + i) * 4 + (left + j) * 4)));
            }
#line 423 "<matrix library>"
            _Pragma("unroll") for (int k = 0; k < 4; ++k) {
                uint4 y[1];
                _Pragma("unroll") for (int j = 0; j < 1; ++j)
                    y[j] = convert_uint4(*(__private const uchar4 *)(b + (k * 4 + (left + j) * 4)));
                _Pragma("unroll") for (int i = 0; i < 4; ++i) {
                    const uint4 x = (uint4)(as_uint((int)a[(top + i) * 4 + k]));
                    _Pragma("unroll") for (int j = 0; j < 1; ++j)
                        sum[i][j] = x * y[j] + sum[i][j];
                }
            }
            _Pragma("unroll") for (int i = 0; i < 4; ++i) {
                _Pragma("unroll") for (int j = 0; j < 1; ++j) {
                    const int at = (top + i) * 4 + (left + j) * 4;
                    *(__private int4 *)(out + at) = as_int4(sum[i][j]);
                }
            }
        }
    }
}
#line 492 "<matrix library>"
static CM_INLINE void cm_negate_4x4_C_f32(__private float *out, __private const float *m)
{
    _Pragma("unroll") for (int i = 0; i < 16; i += 4)
        *(__private float4 *)(out + i) = -*(__private const float4 *)(m + i);
}
#line 534 "<matrix library>"
static CM_INLINE void cm_scalar_mul_4x4_C_f32(__private float *out, __private const float *m, float scalar)
{
    _Pragma("unroll") for (int i = 0; i < 16; i += 4)
        *(__private float4 *)(out + i) = *(__private const float4 *)(m + i) * scalar;
}
#line 580 "<matrix library>"
static CM_INLINE void cm_store_4x4_C_f32_global_rowm(__global float *p, __private const float *m, ulong stride)
{
    _Pragma("unroll") for (int r = 0; r < 4; ++r) {
        _Pragma("unroll") for (int c = 0; c < 4; c += 4)
            vstore4(*(__private const float4 *)(m + (r * 4 + c)), 0, p + (r * stride + c));
    }
}
#line 633 "<matrix library>"
static CM_INLINE void cm_store_4x4_C_s32_global_rowm(__global int *p, __private const int *m, ulong stride)
{
    _Pragma("unroll") for (int r = 0; r < 4; ++r) {
        _Pragma("unroll") for (int c = 0; c < 4; c += 4)
            vstore4(*(__private const int4 *)(m + (r * 4 + c)), 0, p + (r * stride + c));
    }
}
#line 680 "<matrix library>"
static CM_INLINE void cm_sub_4x4_C_f32(__private float *out, __private const float *a, __private const float *b)
{
    _Pragma("unroll") for (int i = 0; i < 16; i += 4)
        *(__private float4 *)(out + i) = *(__private const float4 *)(a + i) - *(__private const float4 *)(b + i);
}
#line 704 "<matrix library>"
static CM_INLINE int cm_sub_group_any(int predicate)
{
    return predicate != 0;
}
#line 8 "matrices.cl"
static CM_INLINE struct cm_float_4x4_accumulator halved(struct cm_float_4x4_accumulator m)
{
    for (uint i = 0; i < cm_length_4x4_C_f32(); i++)
        ((__private float *)m.part)[i] /= 2.0f;
    return m;
}

__kernel void program(__global const char *a, __global const uchar *b, __global float *c, __global int *d, uint n)
{
#line 16 "matrices.cl"
    struct cm_int_4x4_accumulator cm_t2; struct cm_float_4x4_accumulator cm_t4; struct cm_float_4x4_accumulator cm_t5; struct cm_float_4x4_accumulator cm_t6; struct cm_float_4x4_accumulator cm_t7; struct cm_float_4x4_accumulator cm_t8; struct cm_float_4x4_accumulator cm_t9; struct cm_float_4x4_accumulator cm_t10;
    struct cm_char_4x4_a x; cm_load_4x4_A_s8_global_rowm((__private char *)x.part, a, n);
    struct cm_uchar_4x4_b y; cm_load_4x4_B_u8_global_rowm_checked((__private uchar *)y.part, b, n, 1, 2, 3, 4);
    struct cm_int_4x4_accumulator z; cm_fill_4x4_C_s32((__private int *)cm_t2.part, 3), cm_mul_add_4x4x4_s8xu8_s32_13((__private int *)z.part, (__private const char *)x.part, (__private const uchar *)y.part, (__private const int *)cm_t2.part);
    cm_store_4x4_C_s32_global_rowm(d, (__private const int *)z.part, 4);
    struct pair p = {(cm_load_4x4_C_f32_global_rowm((__private float *)cm_t4.part, c, 4), cm_t4), (cm_fill_4x4_C_f32((__private float *)cm_t5.part, 1.0f), cm_t5)};
    __private struct cm_float_4x4_accumulator *which = n ? &p.first : &p.second;
    *which = (cm_t7 = halved((cm_sub_4x4_C_f32((__private float *)cm_t6.part, (__private const float *)p.first.part, (__private const float *)p.second.part), cm_t6)), cm_scalar_mul_4x4_C_f32((__private float *)cm_t8.part, (__private const float *)cm_t7.part, 0.5f), cm_negate_4x4_C_f32((__private float *)cm_t9.part, (__private const float *)p.second.part), cm_add_4x4_C_f32((__private float *)cm_t10.part, (__private const float *)cm_t8.part, (__private const float *)cm_t9.part), cm_t10);
    cm_add_4x4_C_f32((__private float *)p.second.part, (__private const float *)p.second.part, (__private const float *)which->part);
    cm_store_4x4_C_f32_global_rowm(c, (__private const float *)p.second.part, cm_sub_group_any(n > 3) ? cm_get_sub_group_size() * 4 : 8u);
}
