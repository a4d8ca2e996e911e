// Histograms of bytes with counts in local memory: OpenCL 1.x atomics, and those of C11.

#define BINS 256
#define BIN_OF(v, c) (((uint)(v) >> ((c) * 8)) & 0xFFu)

__kernel void histogram256(__global const uint *data, const uint count, __global uint *histogram)
{
    __local uint counts[BINS];
    const uint lid = get_local_id(0), lsize = get_local_size(0);
    for (uint b = lid; b < BINS; b += lsize)
        counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        const uint word = data[i];
        atomic_inc(&counts[BIN_OF(word, 0)]);
        atomic_inc(counts + BIN_OF(word, 1));
        (void)atomic_add(&counts[BIN_OF(word, 2)], 1u);
        atomic_add(&counts[BIN_OF(word, 3)], 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = lid; b < BINS; b += lsize)
        if (counts[b])
            atomic_add(&histogram[b], counts[b]);
}

// Colour pixels: three histograms, the least and the greatest luma.
__kernel void histogram_rgba(__global const uchar4 *pixels, uint count, volatile __global int *bins,
                             volatile __global int *range, __local int *counts)
{
    for (uint b = get_local_id(0); b < 3 * BINS; b += get_local_size(0)) counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = get_global_id(0);
    if (i < count) {
        uchar4 p = pixels[i];
        const int luma = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
        atomic_inc(counts + 0 * BINS + p.x);
        atomic_inc(counts + 1 * BINS + p.y);
        atomic_inc(counts + 2 * BINS + p.z);
        atomic_min(&range[0], luma);
        atomic_max(&range[1], luma);
        atomic_xor(range + 2, luma << (i % 24));
        atomic_or(&range[3], 1 << (luma / 8));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < 3 * BINS; b += get_local_size(0)) atomic_add(bins + b, counts[b]);
}

// Sums floats into bins the way that is written where float atomics are missing.
inline void atomic_add_f(volatile __global float *addr, const float value)
{
    union { uint u; float f; } old, new;
    do {
        old.f = *addr;
        new.f = old.f + value;
    } while (atomic_cmpxchg((volatile __global uint *)addr, old.u, new.u) != old.u);
}

__kernel void weighted(__global const uchar *which, __global const float *weight, volatile __global float *sums)
{
    const size_t i = get_global_id(0);
    atomic_add_f(&sums[which[i] & 7], weight[i]);
}
