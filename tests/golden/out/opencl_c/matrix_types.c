#line 1 "<matrix library>"
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
typedef struct { float e[4]; } cm_float_2x2;
typedef struct { float e[2]; } cm_float_2x1;
typedef struct { float e[6]; } cm_float_2x2_row_major_padded1;
static CM_INLINE void cm_tree_f32_2x2_a268d157f591(__private float *out, __global const float *p0, __private const float *p1, float p2)
{
    typedef struct __attribute__((packed, aligned(4))) { float4 v; } at_float4;
    const float4 v1 = ((__private const at_float4 *)(p1))->v;
    const float4 v2 = (float4)(p2);
    const float4 v3 = ((v1) * (v2));
    const float4 v4 = vload4(0, p0);
    const float4 v5 = ((v4) + (v3));
    ((__private at_float4 *)(out))->v = v5;
}
static CM_INLINE void cm_tree_f32_2x2_7a7c391ceae3(__global float *out, __private const float *p0)
{
    typedef struct __attribute__((packed, aligned(4))) { float2 v; } at_float2;
    const float2 v1 = ((__private const at_float2 *)(p0))->v;
    const float2 v2 = ((__private const at_float2 *)(p0 + 2))->v;
    vstore2(v1, 0, out);
    vstore2(v2, 0, out + 3);
}
static CM_INLINE void cm_tree_f32_2x2_8521a107c06b(__private float *out, __private const float *p0, __global const float *p1, ulong p1_stride)
{
    typedef struct __attribute__((packed, aligned(4))) { float2 v; } at_float2;
    const float2 v1 = ((__private const at_float2 *)(p0))->v;
    const float2 v2 = vload2(0, p1);
    const float2 v3 = ((v1) - (v2));
    const float2 v4 = ((__private const at_float2 *)(p0 + 2))->v;
    const float2 v5 = vload2(0, p1 + p1_stride);
    const float2 v6 = ((v4) - (v5));
    ((__private at_float2 *)(out))->v = v3;
    ((__private at_float2 *)(out + 2))->v = v6;
}
static CM_INLINE void cm_tree_f32_2x1_14ba71f614e5(__private float *out, __private const float *p0, __private const float *p1)
{
    typedef struct __attribute__((packed, aligned(4))) { float2 v; } at_float2;
    const float2 v1 = ((__private const at_float2 *)(p0))->v;
    const float2 v2 = ((__private const at_float2 *)(p1))->v;
    const float2 v3 = (float2)(v2.s0);
    const float2 v4 = v1 * v3;
    const float2 v5 = ((__private const at_float2 *)(p0 + 2))->v;
    const float2 v6 = (float2)(v2.s1);
    const float2 v7 = v4 + v5 * v6;
    ((__private at_float2 *)(out))->v = v7;
}
static CM_INLINE void cm_tree_f32_2x2_c0ad1cb5ebca(__private float *out, __private const float *p0, __private const float *p1)
{
    typedef struct __attribute__((packed, aligned(4))) { float2 v; } at_float2;
    const float2 v1 = ((__private const at_float2 *)(p0))->v;
    const float2 v2 = ((__private const at_float2 *)(p1))->v;
    const float2 v3 = (float2)(v2.s0);
    const float2 v4 = v1 * v3;
    const float2 v5 = ((__private const at_float2 *)(p1 + 2))->v;
    const float2 v6 = (float2)(v5.s0);
    const float2 v7 = v1 * v6;
    const float2 v8 = ((__private const at_float2 *)(p0 + 2))->v;
    const float2 v9 = (float2)(v2.s1);
    const float2 v10 = v4 + v8 * v9;
    const float2 v11 = (float2)(v5.s1);
    const float2 v12 = v7 + v8 * v11;
    ((__private at_float2 *)(out))->v = v10;
    ((__private at_float2 *)(out + 2))->v = v12;
}
static CM_INLINE void cm_tree_f32_2x2_a268d157f591_p1(__private float *out, __global const float *p0, cm_float_2x2 p1, float p2)
{
    cm_tree_f32_2x2_a268d157f591(out, p0, p1.e, p2);
}
static CM_INLINE float2 cm_float_2x1_to_vector(cm_float_2x1 m)
{
    return (float2)(m.e[0], m.e[1]);
}
static CM_INLINE cm_float_2x1 cm_float_2x1_of_vector(float2 v)
{
    cm_float_2x1 result;
    result.e[0] = v.s0;
    result.e[1] = v.s1;
    return result;
}
static CM_INLINE cm_float_2x1 cm_tree_f32_2x1_14ba71f614e5_of_p1(__private const float *p0, cm_float_2x1 p1)
{
    cm_float_2x1 result;
    cm_tree_f32_2x1_14ba71f614e5(result.e, p0, p1.e);
    return result;
}
static CM_INLINE cm_float_2x2 cm_tree_f32_2x2_c0ad1cb5ebca_of(__private const float *p0, __private const float *p1)
{
    cm_float_2x2 result;
    cm_tree_f32_2x2_c0ad1cb5ebca(result.e, p0, p1);
    return result;
}
#line 6 "matrix_types.cl"
struct pair {
    cm_float_2x2 first;
    cm_float_2x2_row_major_padded1 second;
};
#line 8 "matrix_types.cl"
static cm_float_2x2 squared(cm_float_2x2 m)
{
#line 8 "matrix_types.cl"
    return cm_tree_f32_2x2_c0ad1cb5ebca_of(m.e, m.e);
}
__kernel void k(__global const cm_float_2x2 *a, __global struct pair *out, __global const float *x, __global float2 *v, int i)
{
    cm_float_2x2 m; cm_tree_f32_2x2_a268d157f591_p1(m.e, a[i].e, squared(a[0]), 2.0f);
    out->first = m;
    cm_tree_f32_2x2_7a7c391ceae3(out->second.e, m.e);
    m.e[i + 2] += m.e[i * 2];
    cm_tree_f32_2x2_8521a107c06b(m.e, m.e, x, i);
    v[i] = cm_float_2x1_to_vector(cm_tree_f32_2x1_14ba71f614e5_of_p1(m.e, cm_float_2x1_of_vector(v[0])));
}
