// Sparse matrices in rows (CSR) times vectors: one work-item, one subgroup or one work-group per row.

#if defined(USE_DOUBLE)
typedef double value_t;
#else
typedef float value_t;
#endif
#ifndef INDEX
#define INDEX int
#endif
typedef INDEX index_t;

typedef struct csr { __global const index_t *rows, *columns; __global const value_t *values; } csr_t;

static inline value_t row_part(csr_t m, __global const value_t *x, index_t start, index_t end, index_t step)
{
    value_t sum = 0;
    for (index_t i = start; i < end; i += step) sum += m.values[i] * x[m.columns[i]];
    return sum;
}

__kernel void spmv_scalar(int n, __global const index_t *rows, __global const index_t *columns,
                          __global const value_t *values, __global const value_t *x, __global value_t *y)
{
    int row = get_global_id(0);
    if (row < n) {
        csr_t m = { rows, columns, values };
        y[row] = row_part(m, x, rows[row], rows[row + 1], 1);
    }
}

__attribute__((intel_reqd_sub_group_size(16)))
__kernel void spmv_subgroup(int n, __global const index_t *rows, __global const index_t *columns,
                            __global const value_t *values, __global const value_t *x, __global value_t *y)
{
    const int row = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();
    if (row >= n) return;
    const csr_t m = { .rows = rows, .columns = columns, .values = values };
    value_t sum = row_part(m, x, m.rows[row] + get_sub_group_local_id(), m.rows[row + 1], get_sub_group_size());
#ifdef SHUFFLE
    for (uint step = get_sub_group_size() / 2; step > 0; step /= 2) sum += sub_group_shuffle_xor(sum, step);
#else
    sum = sub_group_reduce_add(sum);
#endif
    if (get_sub_group_local_id() == 0) y[row] = sum;
}

// Rows of any length in one group: products in local memory, then segments are summed by whoever owns the row.
__kernel __attribute__((work_group_size_hint(64, 1, 1)))
void spmv_stream(__global const int *group_rows, __global const index_t *rows, __global const index_t *columns,
                 __global const value_t *values, __global const value_t *x, __global value_t *y,
                 __local value_t *products)
{
    const int first = group_rows[get_group_id(0)], last = group_rows[get_group_id(0) + 1];
    const index_t base = rows[first], count = rows[last] - base;
    for (index_t i = get_local_id(0); i < count; i += get_local_size(0))
        products[i] = values[base + i] * x[columns[base + i]];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int row = first + (int)get_local_id(0); row < last; row += get_local_size(0)) {
        value_t sum = 0;
        for (index_t i = rows[row]; i < rows[row + 1]; ++i) sum += products[i - base];
        y[row] = sum;
    }
}
