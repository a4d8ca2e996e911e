// Filters on images: separable blur, edges, bilinear resizing, and a general kernel out of constant memory.

#ifndef RADIUS
#define RADIUS 2
#endif
__constant sampler_t clamped = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
const sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__constant float gauss[2 * RADIUS + 1] = { 1.f / 16, 4.f / 16, 6.f / 16, 4.f / 16, 1.f / 16 };

#define BLUR(NAME, OFFSET) \
__kernel void NAME(__read_only image2d_t src, __write_only image2d_t dst) \
{ \
    const int2 pos = (int2)(get_global_id(0), get_global_id(1)); \
    float4 sum = (float4)(0.0f); \
    for (int i = -RADIUS; i <= RADIUS; i++) \
        sum += gauss[i + RADIUS] * read_imagef(src, clamped, pos + OFFSET); \
    write_imagef(dst, pos, sum); \
}
BLUR(blur_rows, (int2)(i, 0))
BLUR(blur_columns, (int2)(0, i))

__kernel void sobel(read_only image2d_t src, write_only image2d_t dst)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= get_image_width(src) || y >= get_image_height(src)) return;
    float3 p[3][3];
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) p[j][i] = read_imagef(src, bordered, (int2)(x + i - 1, y + j - 1)).xyz;
    const float3 gx = (p[0][2] + 2.0f * p[1][2] + p[2][2]) - (p[0][0] + 2.0f * p[1][0] + p[2][0]);
    const float3 gy = (p[2][0] + 2.0f * p[2][1] + p[2][2]) - (p[0][0] + 2.0f * p[0][1] + p[0][2]);
    write_imagef(dst, (int2)(x, y), (float4)(gx, dot(gy, (float3)(1.0f))));
}

// The sampler comes from the host: normalised coordinates, linear filter.
kernel void resize(read_only image2d_t src, sampler_t sampler, global float4 *dst, int2 size)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const float2 uv = (convert_float2(at) + 0.5f) / convert_float2(size);
    dst[at.y * size.x + at.x] = read_imagef(src, sampler, uv);
}

// Integer pixels and any odd square kernel.
__kernel void convolve(__read_only image2d_t src, __global uint4 *dst, __constant int *taps, int side, int shift)
{
    const int2 at = { get_global_id(0), get_global_id(1) };
    int4 sum = 0;
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++)
            sum += taps[j * side + i] * as_int4(read_imageui(src, clamped, at + (int2)(i, j) - side / 2));
    const int2 size = get_image_dim(src);
    dst[at.y * size.x + at.x] = convert_uint4(clamp(sum >> shift, 0, 255));
}
