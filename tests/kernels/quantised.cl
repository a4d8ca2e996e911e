// Rows of blocks of quantised weights times a quantised vector, and the conversions from and to float.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define QK 32
#define QSUPER 128
#define NSUB (QSUPER / QK)

// 18 bytes: a scale and 32 nibbles, the low ones first
typedef struct {
    half d;
    uchar qs[QK / 2];
} __attribute__((packed)) block_q4;

// 34 bytes
struct __attribute__ ((packed)) block_q8
{
    half d;
    char qs[QK];
};
typedef struct block_q8 block_q8;

// 72 bytes: sub-blocks with scales and minima of six bits
typedef struct block_q4s {
    half d;
    half dmin;
    uchar scales[NSUB];
    uchar qs[QSUPER / 2];
} __attribute__((packed, aligned(1))) block_q4s;

union q_word { uint word; uchar4 bytes; char4 signed_bytes; };

static inline int dot4(char4 a, char4 b)
{
    short4 p = convert_short4(a) * convert_short4(b);
    return p.s0 + p.s1 + p.s2 + p.s3;
}

inline char4 nibbles(const uchar4 v, const int high) {
    return as_char4((high ? v >> (uchar)4 : v & (uchar)0x0F)) - (char4)8;
}

void get_scale(int j, __global const uchar *q, uchar *d, uchar *m)
{
    *d = q[j] & 017;        // octal, on purpose
    *m = q[j] >> 4;
}

kernel void dequantise_q4(global const block_q4 *restrict x, global float *restrict y)
{
    const size_t i = get_global_id(0);
    const float d = vload_half(0, (global const half *)&x[i].d);
    for (int l = 0; l < QK / 2; ++l) {
        const uchar vi = x[i].qs[l];
        y[i * QK + l] = d * ((vi & 0xf) - 8);
        y[i * QK + l + QK / 2] = d * ((vi >> 4) - 8);
    }
}

__kernel void quantise_q8(__global const float4 *x, __global block_q8 *y)
{
    const size_t i = get_global_id(0);
    float4 v[QK / 4];
    float amax = 0.0f;
    for (int l = 0; l < QK / 4; l++) {
        v[l] = x[i * (QK / 4) + l];
        float4 a = fabs(v[l]);
        amax = fmax(amax, fmax(fmax(a.x, a.y), fmax(a.z, a.w)));
    }
    const float d = amax / ((1 << 7) - 1), id = d != 0 ? 1.0f / d : 0.0f;
    vstore_half(d, 0, &y[i].d);
    for (int l = 0; l < QK / 4; l++)
        vstore4(convert_char4_sat_rte(v[l] * id), l, y[i].qs);
}

// One work-group computes one row.
__kernel void mul_vec_q4_q8(
    __global const block_q4 * x,
    __global const block_q8 * y,
    __global float * dst,
    const int blocks,
    __local float * tmp
) {
    const int row = get_group_id(0), tid = get_local_id(0), width = get_local_size(0);
    x += row * blocks;
    float sum = 0;
    for (int ib = tid; ib < blocks; ib += width) {
        int si = 0;
        #pragma unroll 4
        for (int j = 0; j < QK / 8; ++j) {
            const uchar4 v = vload4(j, x[ib].qs);
            si += dot4(nibbles(v, 0), vload4(j, y[ib].qs));
            si += dot4(nibbles(v, 1), vload4(j + QK / 8, y[ib].qs));
        }
        sum += vload_half(0, &x[ib].d) * vload_half(0, &y[ib].d) * si;
    }
    tmp[tid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = width / 2; s > 0; s >>= 1) {
        if (tid < s) {
            tmp[tid] += tmp[tid + s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tid == 0) dst[row] = tmp[0];
}

// The same for blocks with sub-blocks; one subgroup computes one row.
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void mul_vec_q4s_q8(__global const block_q4s *x, __global const block_q8 *y, __global float *dst, int blocks)
{
    const int row = get_group_id(0), lane = get_sub_group_local_id();
    float sum = 0.0f;
    for (int n = lane; n < blocks * NSUB; n += get_max_sub_group_size()) {
        __global const block_q4s *b = x + row * blocks + n / NSUB;
        const int sub = n % NSUB;
        const float2 dd = vload_half2(0, (__global half*)b);
        uchar sc, m;
        get_scale(sub, b->scales, &sc, &m);
        int si = 0, total = 0;
        for (int j = 0; j < QK / 8; ++j) {
            union q_word q = { .bytes = vload4(j, b->qs + sub * (QK / 2)) }, low, high;
            low.word = q.word & 0x0F0F0F0Fu;
            high.word = (q.word >> 4) & 0x0F0F0F0Fu;
            const char4 y0 = vload4(j, y[n].qs), y1 = vload4(j + QK / 8, y[n].qs);
            si += dot4(low.signed_bytes, y0) + dot4(high.signed_bytes, y1);
            total += dot4((char4)(1), y0) + dot4((char4)(1), y1);
        }
        sum += vload_half(0, &y[n].d) * (dd.x * sc * si - dd.y * m * total);
    }
    sum = sub_group_reduce_add(sum);
    if (lane == 0) { dst[row] = sum; }
}
