#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif
#line 1 "<matrix library>"
struct cm_float_2x2 {
    float e[4];
};
#line 1 "<matrix library>"
struct cm_float_2x2_row_major_padded1 {
    float e[6];
};
#line 1 "<matrix library>"
struct cm_float_2x1 {
    float e[2];
};
#line 13 "<matrix library>"
struct cm_struct_3 {
    float2 v;
} __attribute__((packed)) __attribute__((aligned(4)));
#line 26 "<matrix library>"
struct cm_struct_4 {
    float2 v;
} __attribute__((packed)) __attribute__((aligned(4)));
#line 35 "<matrix library>"
struct cm_struct_5 {
    float2 v;
} __attribute__((packed)) __attribute__((aligned(4)));
#line 48 "<matrix library>"
struct cm_struct_6 {
    float4 v;
} __attribute__((packed)) __attribute__((aligned(4)));
#line 59 "<matrix library>"
struct cm_struct_7 {
    float2 v;
} __attribute__((packed)) __attribute__((aligned(4)));
#line 6 "matrix_types.cl"
struct pair {
    struct cm_float_2x2 first;
    struct cm_float_2x2_row_major_padded1 second;
};
#line 11 "<matrix library>"
static CM_INLINE void cm_tree_f32_2x1_14ba71f614e5(__private float *out, __private const float *p0, __private const float *p1)
{

    const float2 v1 = ((__private const struct cm_struct_3 *)p0)->v;
    const float2 v2 = ((__private const struct cm_struct_3 *)p1)->v;
    const float2 v3 = (float2)(v2.x);
    const float2 v4 = v1 * v3;
    const float2 v5 = ((__private const struct cm_struct_3 *)(p0 + 2))->v;
    const float2 v6 = (float2)(v2.y);
    const float2 v7 = v4 + v5 * v6;
    ((__private struct cm_struct_3 *)out)->v = v7;
}

static CM_INLINE void cm_tree_f32_2x2_7a7c391ceae3(__global float *out, __private const float *p0)
{

    const float2 v1 = ((__private const struct cm_struct_4 *)p0)->v;
    const float2 v2 = ((__private const struct cm_struct_4 *)(p0 + 2))->v;
    vstore2(v1, 0, out);
    vstore2(v2, 0, out + 3);
}

static CM_INLINE void cm_tree_f32_2x2_8521a107c06b(__private float *out, __private const float *p0, __global const float *p1, ulong p1_stride)
{

    const float2 v1 = ((__private const struct cm_struct_5 *)p0)->v;
    const float2 v2 = vload2(0, p1);
    const float2 v3 = v1 - v2;
    const float2 v4 = ((__private const struct cm_struct_5 *)(p0 + 2))->v;
    const float2 v5 = vload2(0, p1 + p1_stride);
    const float2 v6 = v4 - v5;
    ((__private struct cm_struct_5 *)out)->v = v3;
    ((__private struct cm_struct_5 *)(out + 2))->v = v6;
}

static CM_INLINE void cm_tree_f32_2x2_a268d157f591(__private float *out, __global const float *p0, __private const float *p1, float p2)
{

    const float4 v1 = ((__private const struct cm_struct_6 *)p1)->v;
    const float4 v2 = (float4)(p2);
    const float4 v3 = v1 * v2;
    const float4 v4 = vload4(0, p0);
    const float4 v5 = v4 + v3;
    ((__private struct cm_struct_6 *)out)->v = v5;
}

static CM_INLINE void cm_tree_f32_2x2_c0ad1cb5ebca(__private float *out, __private const float *p0, __private const float *p1)
{

    const float2 v1 = ((__private const struct cm_struct_7 *)p0)->v;
    const float2 v2 = ((__private const struct cm_struct_7 *)p1)->v;
    const float2 v3 = (float2)(v2.x);
    const float2 v4 = v1 * v3;
    const float2 v5 = ((__private const struct cm_struct_7 *)(p1 + 2))->v;
    const float2 v6 = (float2)(v5.x);
    const float2 v7 = v1 * v6;
    const float2 v8 = ((__private const struct cm_struct_7 *)(p0 + 2))->v;
    const float2 v9 = (float2)(v2.y);
    const float2 v10 = v4 + v8 * v9;
    const float2 v11 = (float2)(v5.y);
    const float2 v12 = v7 + v8 * v11;
    ((__private struct cm_struct_7 *)out)->v = v10;
    ((__private struct cm_struct_7 *)(out + 2))->v = v12;
}
#line 8 "matrix_types.cl"
static struct cm_float_2x2 squared(struct cm_float_2x2 m)
{
#line 8 "matrix_types.cl"
    struct cm_float_2x2 cm_t0; return cm_tree_f32_2x2_c0ad1cb5ebca(cm_t0.e, m.e, m.e), cm_t0;
}
__kernel void k(__global const struct cm_float_2x2 *a, __global struct pair *out, __global const float *x, __global float2 *v, int i)
{
#line 11 "matrix_types.cl"
    struct cm_float_2x2 cm_t0; struct cm_float_2x1 cm_t2; struct cm_float_2x1 cm_t3;
    struct cm_float_2x2 m; cm_t0 = squared(a[0]), cm_tree_f32_2x2_a268d157f591(m.e, a[i].e, cm_t0.e, 2.0f);
    out->first = m;
    cm_tree_f32_2x2_7a7c391ceae3(out->second.e, m.e);
    m.e[2 + (ulong)i] += m.e[i * 2UL];
    cm_tree_f32_2x2_8521a107c06b(m.e, m.e, x, i);
    v[i] = (cm_t2.e[0] = v[0].x, cm_t2.e[1] = v[0].y, cm_tree_f32_2x1_14ba71f614e5(cm_t3.e, m.e, cm_t2.e), (float2)(cm_t3.e[0], cm_t3.e[1]));
}
