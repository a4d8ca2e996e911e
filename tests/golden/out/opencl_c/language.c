#line 3 "language.cl"
struct inner {
    char c;
    int2 v;
};
#line 4 "language.cl"
union union_1 {
    float f;
    uint u;
};
#line 4 "language.cl"
struct struct_2 {
    struct inner in[2];
    union union_1 cm_unnamed1;
} __attribute__((packed));
#line 5 "language.cl"
__constant struct struct_2 table = {{{97, (int2)(1, 2)}}, {0x1.99999ap-4f}};
__constant float powers[5] = {1.5f, 0.09375f, -0.0f, 0x1.93e594p+99f, INFINITY};
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;



static uint mixed(char a, uint b, long c)
{
    return a + b * c + (a << 2) - ~b;
}

static float4 twice(float4 v)
{
#line 16 "language.cl"
    return v * 2.0f;
}
#line 17 "language.cl"
static float cm_u2_twice(float v)
{
#line 17 "language.cl"
    return v * 2.0f;
}
#line 50 "language.cl"
static int later(int x);
#line 20 "language.cl"
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void statements(__global int *out, __global const float4 *in, __local int *tile, read_only image2d_t image, const struct struct_2 o)
{
    __local float scratch[16];
    const int x = get_global_id(0); const int last = get_global_size(0) - 1;
    float4 v = in[x]; float4 w = (float4)(v.xy, 1.0f, 2.0f);
    w.wz = v.xy;
    v = twice(w) + 0.5f;
    v.x += cm_u2_twice(v.y);
    if (x == last) out[x] = any(v < 0.0f);
    else if (x > 3)
#line 28 "language.cl"
        out[x] = -x;
    else {
#line 28 "language.cl"
        out[x] = (-2147483647 - 1);
    }
    _Pragma("unroll 4") for (int i = 0, j = 1; i < 16; i++, j *= 2) {
        scratch[i] = powers[i % 5];
        tile[i] = j & 255, out[i] += mixed(o.in[i & 1].c, x, j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    switch (later(x)) {
        case 1:
        case -2:
        out[0] = convert_int_sat(scratch[1]);
        break;
        default:
        do {
#line 41 "language.cl"
            x > 0 ? out[1]-- : (out[1] = 3);
        } while (out[1] > 5);
    }
#line 43 "language.cl"
    uint4 bits = as_uint4(select(v, w, isless(v, w)));
    *(__global uint *)(out + 2) = bits.w >> x;
    out[3] = (uchar)x == 3 || !x;
    out[4] = read_imageui(image, nearest, (float2)(0.25f, 0.5f)).x;
    printf("%d \"%s\" %v4hlf\n", x, "\001\377?\?/", v);
}

static int later(int x)
{
    struct struct_2 o = {.cm_unnamed1 = {.u = 7}};
    o.in[0] = (struct inner){1, (int2)(2)};
    const int size = 36;
    return o.in[0].v.y * 36 + (x ? o.cm_unnamed1.u : 1u);
}
