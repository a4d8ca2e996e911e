// Attention in three kernels with the tiles of kernels/flash_attention.cl, and buffers between them: the baseline for
// that kernel. Tiles that are completely masked are left out here, too. S has floats, P halves, LENGTH x LENGTH a head.

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define MATRIX(ROWS, COLUMNS, USE) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

typedef half Left MATRIX(ROWS, D, A);
typedef half Right MATRIX(D, D, B);
typedef float Sums MATRIX(ROWS, D, ACCUMULATOR);

#ifdef CAUSAL
#define END(ROW) ((ROW) + ROWS)
#else
#define END(ROW) LENGTH
#endif

float masked(uint r, uint c, float x, uint row, uint column)
{
    return column + c > row + r ? -INFINITY : x;
}

float sum(float x, float y)
{
    return x + y;
}

kernel void scores(const global half *q, const global half *k, global float *s)
{
    const uint row = get_group_id(0) * ROWS;
    const size_t head = get_group_id(1) * LENGTH * D;
    const Left query = coop_mat_load(q + head + row * D, ROW_MAJOR, D);

    for (uint column = 0; column < END(row); column += D) {
        const Right key = coop_mat_load(k + head + column * D, COLUMN_MAJOR, D);
        Sums x = coop_mat_mulAdd(query, key, (Sums)coop_mat_init(0)) * (M_LOG2E_F * rsqrt((float)D));
#ifdef CAUSAL
        if (column + D > row)
            x = coop_mat_map(x, masked, row, column);
#endif
        coop_mat_store(s + (get_group_id(1) * LENGTH + row) * LENGTH + column, x, ROW_MAJOR, LENGTH);
    }
}

kernel void softmax(const global float *s, global half *p)
{
    const uint row = get_group_id(0) * ROWS;
    const size_t first = (get_group_id(1) * LENGTH + row) * LENGTH;
    Sums most = coop_mat_init(-INFINITY), total = coop_mat_init(0);

    for (uint column = 0; column < END(row); column += D)
        most = fmax(most, (Sums)coop_mat_load(s + first + column, ROW_MAJOR, LENGTH));
    most = coop_mat_reduce(most, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, fmax);
    for (uint column = 0; column < END(row); column += D)
        total += exp2((Sums)coop_mat_load(s + first + column, ROW_MAJOR, LENGTH) - most);
    total = coop_mat_reduce(total, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, sum);
    for (uint column = 0; column < END(row); column += D) {
        const Sums part = exp2((Sums)coop_mat_load(s + first + column, ROW_MAJOR, LENGTH) - most) / total;
        coop_mat_store(p + first + column, (Left)part, ROW_MAJOR, LENGTH);
    }
}

kernel void weighted(const global half *p, const global half *v, global float *o)
{
    const uint row = get_group_id(0) * ROWS;
    const size_t head = get_group_id(1) * LENGTH * D, first = (get_group_id(1) * LENGTH + row) * LENGTH;
    Sums out = coop_mat_init(0);

    for (uint column = 0; column < END(row); column += D) {
        const Left part = coop_mat_load(p + first + column, ROW_MAJOR, LENGTH);
        const Right value = coop_mat_load(v + head + column * D, ROW_MAJOR, D);
        out = coop_mat_mulAdd(part, value, out);
    }
    coop_mat_store(o + head + row * D, out, ROW_MAJOR, D);
}
