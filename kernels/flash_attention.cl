// O = softmax(Q K^T / sqrt(D)) V for each head, in one kernel: the softmax goes along with the sums, and neither the
// products of Q and K nor their exponentials are ever in memory that work-items share. With -DCAUSAL a row attends to
// itself and to what precedes it; tiles that are masked as a whole are left out. LENGTH is a multiple of ROWS and of D.
//
// run: kernel=flash_attention global=(LENGTH/32*sg, HEADS) local=(sg, 1) HEADS=2 LENGTH=128 D=64
//      flop=4*HEADS*LENGTH*LENGTH*D
//      -DLENGTH=128 -DD=64 -DROWS=32
//      q=f16[HEADS,LENGTH,D]:uniform(-1,1) k=f16[HEADS,LENGTH,D]:uniform(-1,1) v=f16[HEADS,LENGTH,D]:uniform(-1,1)
//      o=f32[HEADS,LENGTH,D]:zeros
// check: o ~ (exp(q.astype(f32) @ k.astype(f32).swapaxes(1, 2) / 8) @ v.astype(f32)) / exp(q.astype(f32) @ k.astype(f32).swapaxes(1, 2) / 8).sum(2, keepdims=True)   atol=2e-3

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define EACH_ROW CLK_COOPERATIVE_MATRIX_REDUCE_ROW
#define MATRIX(ROWS, COLUMNS, USE) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

#ifndef ROWS
#define ROWS 32
#endif

typedef half Left MATRIX(ROWS, D, A);
typedef half Right MATRIX(D, D, B);
typedef float Sums MATRIX(ROWS, D, ACCUMULATOR);
typedef float Lines MATRIX(ROWS, 1, ACCUMULATOR);

float masked(uint r, uint c, float x, uint row, uint column)
{
    return column + c > row + r ? -INFINITY : x;
}

float sum(float x, float y)
{
    return x + y;
}

kernel void flash_attention(const global half *q, const global half *k, const global half *v, global float *o)
{
    const uint row = get_group_id(0) * ROWS;
    const size_t head = get_group_id(1) * LENGTH * D;
    const Left query = coop_mat_load(q + head + row * D, ROW_MAJOR, D);
    Sums out = coop_mat_init(0);
    Lines total = coop_mat_init(0), most = coop_mat_init(-INFINITY);

#ifdef CAUSAL
    const uint end = row + ROWS;
#else
    const uint end = LENGTH;
#endif
    for (uint column = 0; column < end; column += D) {
        const Right key = coop_mat_load(k + head + column * D, COLUMN_MAJOR, D);
        Sums x = coop_mat_mulAdd(query, key, (Sums)coop_mat_init(0)) * (M_LOG2E_F * rsqrt((float)D));
#ifdef CAUSAL
        if (column + D > row)
            x = coop_mat_map(x, masked, row, column);
#endif
        const Lines higher = fmax(most, (Lines)coop_mat_reduce(x, EACH_ROW, fmax)), fading = exp2(most - higher);
        const Sums part = exp2(x - (Sums)coop_mat_reduce(higher, EACH_ROW, fmax));
        const Right value = coop_mat_load(v + head + column * D, ROW_MAJOR, D);
        total = total * fading + (Lines)coop_mat_reduce(part, EACH_ROW, sum);
        out = coop_mat_mulAdd((Left)part, value, out * (Sums)coop_mat_reduce(fading, EACH_ROW, fmax));
        most = higher;
    }
    coop_mat_store(o + head + row * D, out / (Sums)coop_mat_reduce(total, EACH_ROW, fmax), ROW_MAJOR, D);
}
