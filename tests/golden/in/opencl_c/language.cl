// Records, vectors, constants, statements and builtins as plain OpenCL C 1.2.
// options: -cl-std=CL1.2
struct inner { char c; int2 v; };
typedef struct { struct inner in[2]; union { float f; uint u; }; } __attribute__((packed)) outer;
constant outer table = { .in = { { 'a', (int2)(1, 2) } }, .f = 0.1f };
constant float powers[] = { 1.5f, 0x1.8p-4f, -0.0f, 1e30f, INFINITY };
constant sampler_t nearest = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

int later(int x);

static uint mixed(char a, uint b, long c)
{
    return a + b * c + (a << 2) - ~b;
}

float4 __attribute__((overloadable)) twice(float4 v) { return v * 2; }
float __attribute__((overloadable)) twice(float v) { return v * 2; }

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void statements(global int *out, const global float4 *in, local int *tile, read_only image2d_t image, const outer o)
{
    local float scratch[16];
    const int x = get_global_id(0), last = get_global_size(0) - 1;
    float4 v = in[x], w = (float4)(v.xy, 1, 2);
    w.wz = v.s01;
    v = twice(w) + (float4)(0.5f);
    v.x += twice(v.y);
    if (x == last) out[x] = any(v < 0.0f); else if (x > 3) out[x] = -x; else { out[x] = INT_MIN; }
#pragma unroll 4
    for (int i = 0, j = 1; i < 16; i++, j *= 2) {
        scratch[i] = powers[i % 5];
        tile[i] = j & 0xff, out[i] += mixed(o.in[i & 1].c, x, j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    switch (later(x)) {
    case 1:
    case -2:
        out[0] = convert_int_sat(scratch[1]);
        break;
    default:
        do x > 0 ? out[1]-- : (out[1] = 3); while (out[1] > 5);
    }
    uint4 bits = as_uint4(select(v, w, isless(v, w)));
    *(global uint *)&out[2] = bits.s3 >> x;
    out[3] = (uchar)x == (short)3 || !x;
    out[4] = read_imageui(image, nearest, (float2)(0.25f, 0.5f)).x;
    printf("%d \"%s\" %v4hlf\n", x, "\x01\xff?""?/", v);
}

int later(int x)
{
    outer o = { .u = 7 };
    o.in[0] = (struct inner){ 1, 2 };
    const int size = sizeof(outer);
    return o.in[0].v.y * size + (x ? o.u : 1u);
}
