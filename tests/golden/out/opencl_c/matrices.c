#line 1 "<matrix library>"
#define CM_UNROLL _Pragma("unroll")
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
typedef struct { char part[16] __attribute__((aligned(4))); } cm_char_4x4_a;
typedef struct { uchar part[16] __attribute__((aligned(4))); } cm_uchar_4x4_b;
typedef struct { int part[16] __attribute__((aligned(16))); } cm_int_4x4_accumulator;
typedef struct { float part[16] __attribute__((aligned(16))); } cm_float_4x4_accumulator;
static inline __attribute__((always_inline)) void cm_add_4x4_C_f32(__private float *out, __private const float *a, __private const float *b)
{
    CM_UNROLL for (int i = 0; i < 4 * 4; i += 4)
        (*(__private float4 *)((out) + (i))) = (((*(__private const float4 *)((a) + (i)))) + ((*(__private const float4 *)((b) + (i)))));
}
static inline __attribute__((always_inline)) void cm_fill_4x4_C_f32(__private float *out, float value)
{
    CM_UNROLL for (int i = 0; i < 4 * 4; i += 4)
        (*(__private float4 *)((out) + (i))) = (float4)(value);
}
static inline __attribute__((always_inline)) void cm_fill_4x4_C_s32(__private int *out, int value)
{
    CM_UNROLL for (int i = 0; i < 4 * 4; i += 4)
        (*(__private int4 *)((out) + (i))) = (int4)(value);
}
static inline __attribute__((always_inline)) float cm_get_4x4_C_f32(__private const float *m, uint i)
{
    return m[i];
}
static inline __attribute__((always_inline)) uint cm_get_sub_group_size(void)
{
    return 1;
}
static inline __attribute__((always_inline)) uint cm_length_4x4_C_f32(void)
{
    return 4 * 4;
}
static inline __attribute__((always_inline)) void cm_load_4x4_A_s8_global_rowm(__private char *out, __global const char *p, size_t stride)
{
    CM_UNROLL for (int r = 0; r < 4; ++r)
        CM_UNROLL for (int c = 0; c < 4; c += 4)
            (*(__private char4 *)((out) + (r * 4 + c))) = vload4(0, p + ((size_t)(r) * stride + (size_t)(c)));
}
static inline __attribute__((always_inline)) void cm_load_4x4_B_u8_global_rowm(__private uchar *out, __global const uchar *p, size_t stride)
{
    CM_UNROLL for (int r = 0; r < 4; ++r)
        CM_UNROLL for (int c = 0; c < 4; c += 4)
            (*(__private uchar4 *)((out) + (r * 4 + c))) = vload4(0, p + ((size_t)(r) * stride + (size_t)(c)));
}
static inline __attribute__((always_inline)) void cm_load_4x4_B_u8_global_rowm_checked(__private uchar *out, __global const uchar *p, size_t stride, uint row, uint column, uint rows, uint columns)
{
    if (((row) < (rows) && (uint)(4) <= (rows) - (row)) && ((column) < (columns) && (uint)(4) <= (columns) - (column)) && row % 1 == 0)
        cm_load_4x4_B_u8_global_rowm(out, p + (((size_t)row + (0)) * stride + ((size_t)column + (0))), stride);
    else
        CM_UNROLL for (int r = 0; r < 4; ++r)
            CM_UNROLL for (int c = 0; c < 4; ++c)
                out[r * 4 + c] = (((row) < (rows) && (uint)((r) + 1) <= (rows) - (row)) && ((column) < (columns) && (uint)((c) + 1) <= (columns) - (column))) ? p[(((size_t)row + (r)) * stride + ((size_t)column + (c)))] : (uchar)0;
}
static inline __attribute__((always_inline)) void cm_load_4x4_C_f32_global_rowm(__private float *out, __global const float *p, size_t stride)
{
    CM_UNROLL for (int r = 0; r < 4; ++r)
        CM_UNROLL for (int c = 0; c < 4; c += 4)
            (*(__private float4 *)((out) + (r * 4 + c))) = vload4(0, p + ((size_t)(r) * stride + (size_t)(c)));
}
static inline __attribute__((always_inline)) void cm_mul_add_4x4x4_s8xu8_s32_13(__private int *out, __private const char *a, __private const uchar *b, __private const int *c)
{
    uint4 sum[4][4 / 4];
    CM_UNROLL for (int i = 0; i < 4; ++i)
        CM_UNROLL for (int j = 0; j < 4 / 4; ++j)
            sum[i][j] = as_uint4((*(__private const int4 *)((c) + (i * 4 + j * 4))));
    CM_UNROLL for (int k = 0; k < 4; ++k) {
        uint4 y[4 / 4];
        CM_UNROLL for (int j = 0; j < 4 / 4; ++j)
            y[j] = convert_uint4((*(__private const uchar4 *)((b) + (k * 4 + j * 4))));
        CM_UNROLL for (int i = 0; i < 4; ++i) {
            const uint4 x = (uint4)(as_uint(convert_int(a[i * 4 + k])));
            CM_UNROLL for (int j = 0; j < 4 / 4; ++j)
                sum[i][j] = ((x) * (y[j]) + (sum[i][j]));
        }
    }
    CM_UNROLL for (int i = 0; i < 4; ++i)
        CM_UNROLL for (int j = 0; j < 4 / 4; ++j)
            (*(__private int4 *)((out) + (i * 4 + j * 4))) =
                as_int4(sum[i][j]);
}
static inline __attribute__((always_inline)) void cm_negate_4x4_C_f32(__private float *out, __private const float *m)
{
    CM_UNROLL for (int i = 0; i < 4 * 4; i += 4)
        (*(__private float4 *)((out) + (i))) = (-((*(__private const float4 *)((m) + (i)))));
}
static inline __attribute__((always_inline)) void cm_scalar_mul_4x4_C_f32(__private float *out, __private const float *m, float scalar)
{
    CM_UNROLL for (int i = 0; i < 4 * 4; i += 4)
        (*(__private float4 *)((out) + (i))) = (((*(__private const float4 *)((m) + (i)))) * ((float4)(scalar)));
}
static inline __attribute__((always_inline)) void cm_set_4x4_C_f32(__private float *m, uint i, float value)
{
    m[i] = value;
}
static inline __attribute__((always_inline)) void cm_store_4x4_C_f32_global_rowm(__global float *p, __private const float *m, size_t stride)
{
    CM_UNROLL for (int r = 0; r < 4; ++r)
        CM_UNROLL for (int c = 0; c < 4; c += 4)
            vstore4((*(__private const float4 *)((m) + (r * 4 + c))), 0, p + ((size_t)(r) * stride + (size_t)(c)));
}
static inline __attribute__((always_inline)) void cm_store_4x4_C_s32_global_rowm(__global int *p, __private const int *m, size_t stride)
{
    CM_UNROLL for (int r = 0; r < 4; ++r)
        CM_UNROLL for (int c = 0; c < 4; c += 4)
            vstore4((*(__private const int4 *)((m) + (r * 4 + c))), 0, p + ((size_t)(r) * stride + (size_t)(c)));
}
static inline __attribute__((always_inline)) void cm_sub_4x4_C_f32(__private float *out, __private const float *a, __private const float *b)
{
    CM_UNROLL for (int i = 0; i < 4 * 4; i += 4)
        (*(__private float4 *)((out) + (i))) = (((*(__private const float4 *)((a) + (i)))) - ((*(__private const float4 *)((b) + (i)))));
}
static inline __attribute__((always_inline)) int cm_sub_group_any(int predicate)
{
    return predicate != 0;
}
static CM_INLINE cm_char_4x4_a cm_load_4x4_A_s8_global_rowm_of(__global const char *p, size_t stride)
{
    cm_char_4x4_a result;
    cm_load_4x4_A_s8_global_rowm(result.part, p, stride);
    return result;
}
static CM_INLINE cm_uchar_4x4_b cm_load_4x4_B_u8_global_rowm_checked_of(__global const uchar *p, size_t stride, uint row, uint column, uint rows, uint columns)
{
    cm_uchar_4x4_b result;
    cm_load_4x4_B_u8_global_rowm_checked(result.part, p, stride, row, column, rows, columns);
    return result;
}
static CM_INLINE cm_int_4x4_accumulator cm_fill_4x4_C_s32_of(int value)
{
    cm_int_4x4_accumulator result;
    cm_fill_4x4_C_s32(result.part, value);
    return result;
}
static CM_INLINE cm_int_4x4_accumulator cm_mul_add_4x4x4_s8xu8_s32_13_of_c(__private const char *a, __private const uchar *b, cm_int_4x4_accumulator c)
{
    cm_int_4x4_accumulator result;
    cm_mul_add_4x4x4_s8xu8_s32_13(result.part, a, b, c.part);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_load_4x4_C_f32_global_rowm_of(__global const float *p, size_t stride)
{
    cm_float_4x4_accumulator result;
    cm_load_4x4_C_f32_global_rowm(result.part, p, stride);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_fill_4x4_C_f32_of(float value)
{
    cm_float_4x4_accumulator result;
    cm_fill_4x4_C_f32(result.part, value);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_sub_4x4_C_f32_of(__private const float *a, __private const float *b)
{
    cm_float_4x4_accumulator result;
    cm_sub_4x4_C_f32(result.part, a, b);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_scalar_mul_4x4_C_f32_of_m(cm_float_4x4_accumulator m, float scalar)
{
    cm_float_4x4_accumulator result;
    cm_scalar_mul_4x4_C_f32(result.part, m.part, scalar);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_negate_4x4_C_f32_of(__private const float *m)
{
    cm_float_4x4_accumulator result;
    cm_negate_4x4_C_f32(result.part, m);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_add_4x4_C_f32_of_a_b(cm_float_4x4_accumulator a, cm_float_4x4_accumulator b)
{
    cm_float_4x4_accumulator result;
    cm_add_4x4_C_f32(result.part, a.part, b.part);
    return result;
}
static CM_INLINE cm_float_4x4_accumulator cm_add_4x4_C_f32_of(__private const float *a, __private const float *b)
{
    cm_float_4x4_accumulator result;
    cm_add_4x4_C_f32(result.part, a, b);
    return result;
}
#line 6 "matrices.cl"
struct pair {
    cm_float_4x4_accumulator first;
    cm_float_4x4_accumulator second;
};
#line 8 "matrices.cl"
static CM_INLINE cm_float_4x4_accumulator halved(cm_float_4x4_accumulator m)
{
    for (uint i = 0; i < cm_length_4x4_C_f32(); i++)
        cm_set_4x4_C_f32(m.part, i, cm_get_4x4_C_f32(m.part, i) / 2.0f);
    return m;
}

__kernel void program(__global const char *a, __global const uchar *b, __global float *c, __global int *d, uint n)
{
    cm_char_4x4_a x = cm_load_4x4_A_s8_global_rowm_of(a, n);
    cm_uchar_4x4_b y = cm_load_4x4_B_u8_global_rowm_checked_of(b, n, 1, 2, 3, 4);
    cm_int_4x4_accumulator z = cm_mul_add_4x4x4_s8xu8_s32_13_of_c(x.part, y.part, cm_fill_4x4_C_s32_of(3));
    cm_store_4x4_C_s32_global_rowm(d, z.part, 4);
    struct pair p = {cm_load_4x4_C_f32_global_rowm_of(c, 4), cm_fill_4x4_C_f32_of(1.0f)};
    __private cm_float_4x4_accumulator *which = n ? &p.first : &p.second;
    *which = cm_add_4x4_C_f32_of_a_b(cm_scalar_mul_4x4_C_f32_of_m(halved(cm_sub_4x4_C_f32_of(p.first.part, p.second.part)), 0.5f), cm_negate_4x4_C_f32_of(p.second.part));
    p.second = cm_add_4x4_C_f32_of(p.second.part, (*which).part);
    cm_store_4x4_C_f32_global_rowm(c, p.second.part, cm_sub_group_any(n > 3) ? cm_get_sub_group_size() * 4 : 8u);
}
