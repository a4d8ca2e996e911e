// softmax(Q K^T * scale) V in one pass over the keys: a maximum and a sum go along and rescale what is there.

#ifndef HEAD
#define HEAD 64             /* components of a head, a multiple of 4 */
#endif
#ifndef KEYS
#define KEYS 32             /* keys per tile = work-items per group */
#endif
#define HEAD4 (HEAD / 4)
#ifdef HALF_KV
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half kv_t; typedef half4 kv4_t;
#define LOAD_KV(p, i) vload_half4((i), (p))
#else
typedef float kv_t;
#define LOAD_KV(p, i) vload4((i), (p))
#endif

#define REDUCE(NAME, EXPR) \
    static float NAME(float mine, __local float *scratch) \
    { \
        const int lid = get_local_id(0); \
        scratch[lid] = mine; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        for (int s = KEYS / 2; s > 0; s >>= 1) { \
            if (lid < s) { const float a = scratch[lid], b = scratch[lid + s]; scratch[lid] = EXPR; } \
            barrier(CLK_LOCAL_MEM_FENCE); \
        } \
        float all = scratch[0]; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        return all; \
    }
REDUCE(group_max, fmax(a, b))
REDUCE(group_sum, a + b)
#undef REDUCE

// One group per query and head; q, out: [queries][heads][HEAD], k, v: [keys][heads][HEAD].
__kernel __attribute__((reqd_work_group_size(KEYS, 1, 1)))
void attention(__global const float *restrict q, __global const kv_t *restrict k, __global const kv_t *restrict v,
               __global float *restrict out, const int queries, const int keys, const int heads, const float scale,
               const int causal)
{
    const int query = get_group_id(0), head = get_group_id(1), lid = get_local_id(0);
    __local float4 shared_q[HEAD4];
    __local float p[KEYS], scratch[KEYS];
    float4 acc = (float4)0.0f;
    float m = -INFINITY, sum = 0.0f;

    if (lid < HEAD4) shared_q[lid] = vload4(lid, q + (query * heads + head) * HEAD) * scale;
    barrier(CLK_LOCAL_MEM_FENCE);

    const int visible = causal ? min(keys, query + keys - queries + 1) : keys;
    for (int first = 0; first < visible; first += KEYS) {
        const int key = first + lid;
        float score = -INFINITY;
        if (key < visible) {
            const __global kv_t *row = k + (key * heads + head) * HEAD;
            float4 part = 0.0f;
            #pragma unroll
            for (int i = 0; i < HEAD4; ++i) part = mad(shared_q[i], LOAD_KV(row, i), part);
            score = part.x + part.y + part.z + part.w;
        }
        const float m_new = fmax(m, group_max(score, scratch));
        const float weight = exp(score - m_new), old = m == m_new ? 1.0f : exp(m - m_new);
        p[lid] = weight;
        sum = sum * old + group_sum(weight, scratch);
        m = m_new;
        if (lid < HEAD4) {
            acc *= old;
            const int count = min(KEYS, visible - first);
            for (int j = 0; j < count; ++j)
                acc = mad((float4)(p[j]), LOAD_KV(v + ((first + j) * heads + head) * HEAD, lid), acc);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid < HEAD4) vstore4(acc / sum, lid, out + (query * heads + head) * HEAD);
}

// Rows of logits, one subgroup each.
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void softmax(__global const float *x, __global float *y, const int n)
{
    const size_t row = get_group_id(0);
    const uint lane = get_sub_group_local_id(), width = get_sub_group_size();
    float m = -FLT_MAX, sum = 0;
    for (int i = lane; i < n; i += width) {
        const float xi = x[row * n + i], up = fmax(m, xi);
        sum = sum * exp(m - up) + exp(xi - up);
        m = up;
    }
    const float top = sub_group_reduce_max(m);
    const float total = sub_group_reduce_add(sum * exp(m - top));
    for (int i = lane; i < n; i += width) y[row * n + i] = exp(x[row * n + i] - top) / total;
}
