// O = softmax(scale * Q K^T) V for each head, in one kernel. The softmax is computed along with the sums: neither the
// products of Q and K nor their exponentials are in global memory.
//
// One subgroup computes BLOCKS times ROWS rows of O. It reads COLUMNS rows of K and V at a time. These macros select the
// variant:
//
//   ROWS, WIDTH, STEP   the shape of a product: ROWS x WIDTH sums, STEP products at a time
//   BLOCKS              the times ROWS rows for which K and V are used while they are in the cache
//   COLUMNS             a multiple of WIDTH and STEP
//   SIZE                the length of a row of Q, K, V and O
//   D                   SIZE, rounded up to a multiple of WIDTH and STEP; the tiles have zeros beyond SIZE
//   TYPE                the component type of Q and of the exponentials in products; sums are in float
//   O_TYPE              the component type of O
//   PANELS              1 if the kernel `pack` has copied K and V: then a product reads consecutive components
//   CAUSAL              1 if a row attends to itself and to what precedes it

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#ifndef SIZE
#define ROWS 16
#define WIDTH 16
#define STEP 16
#define BLOCKS 1
#define COLUMNS 32
#define SIZE 64
#define D 64
#define TYPE half
#define O_TYPE float
#endif

#define UNROLL __attribute__((opencl_unroll_hint))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define EACH_ROW CLK_COOPERATIVE_MATRIX_REDUCE_ROW
#define MATRIX(TYPE, ROWS, COLUMNS, USE) \
    TYPE __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

#if PANELS
#define K_TYPE float
#define LINE 16  // the rows of K, or their components, that are copied at a time
#define PANEL (2 * D * COLUMNS)
typedef MATRIX(half, LINE, WIDTH, B) Halves;
typedef MATRIX(float, LINE, WIDTH, B) Floats;

// Copy COLUMNS rows of K and V to a panel. It has the rows of K, transposed, and then those of V, both in blocks that
// are WIDTH wide, and zeros beyond the arrays.
kernel void pack(const global half *k, const global half *v, global float *panels, ulong offset_k, ulong offset_v,
                 long head_k, long head_v, long line_k, long line_v, int columns)
{
    const int column = get_group_id(0) * COLUMNS;
    k += offset_k + get_group_id(1) * head_k;
    v += offset_v + get_group_id(1) * head_v;
    panels += (get_group_id(1) * get_num_groups(0) + get_group_id(0)) * PANEL;
    for (int j = 0; j < COLUMNS; j += WIDTH)
        for (int i = 0; i < D; i += LINE) {
            Halves part = coop_mat_load_checked(k, COLUMN_MAJOR, line_k, i, column + j, SIZE, columns);
            coop_mat_store(panels + j * D + i * WIDTH, (Floats)part, ROW_MAJOR, WIDTH);
        }
    panels += COLUMNS * D;
    for (int j = 0; j < D; j += WIDTH)
        for (int i = 0; i < COLUMNS; i += LINE) {
            Halves part = coop_mat_load_checked(v, ROW_MAJOR, line_v, column + i, j, columns, SIZE);
            coop_mat_store(panels + j * COLUMNS + i * WIDTH, (Floats)part, ROW_MAJOR, WIDTH);
        }
}
#else
#define K_TYPE half
#endif

typedef MATRIX(TYPE, ROWS, STEP, A) Left;
typedef MATRIX(K_TYPE, STEP, WIDTH, B) Right;
typedef MATRIX(float, ROWS, WIDTH, ACCUMULATOR) Sums;
typedef MATRIX(TYPE, ROWS, WIDTH, ACCUMULATOR) Factors;
typedef MATRIX(O_TYPE, ROWS, WIDTH, ACCUMULATOR) Output;
typedef MATRIX(float, ROWS, 1, ACCUMULATOR) Lines;

// A matrix that has a line in each column.
#define SPREAD(LINES) ((Sums)coop_mat_reduce(LINES, EACH_ROW, fmax))

// Loads without checks are faster: checks are for tiles that reach beyond the array.
#define LOAD(TILE, IS_INSIDE, P, LAYOUT, STRIDE, I, J, HEIGHT, LENGTH) \
    if (IS_INSIDE) \
        TILE = coop_mat_load(P + (LAYOUT == ROW_MAJOR ? (I) * STRIDE + (J) : (I) + (J) * STRIDE), LAYOUT, STRIDE); \
    else \
        TILE = coop_mat_load_checked(P, LAYOUT, STRIDE, I, J, HEIGHT, LENGTH)

float masked(uint r, uint c, float x, int last, int count)
{
#if CAUSAL
    count = min(count, (int)r + last + 1);
#endif
    return (int)c < count ? x : -INFINITY;
}

float sum(float x, float y)
{
    return x + y;
}

// length: the columns of each head, unless `lengths` has them. last: the last column of row 0, if CAUSAL.
// group: the heads that share K and V. scale: the factor of the scores, which are exponents of 2.
kernel void attention(const global half *q, const global K_TYPE *k, const global K_TYPE *v, global O_TYPE *o,
                      const global int *lengths, ulong offset_q, ulong offset_k, ulong offset_v, ulong offset_o,
                      ulong offset_lengths, long head_q, long head_k, long head_v, long head_o, long head_lengths,
                      long line_q, long line_k, long line_v, long line_o, int rows, int columns, int length, int last,
                      uint group, float scale)
{
    local TYPE query[BLOCKS * ROWS * D] __attribute__((aligned(64)));
    local TYPE weights[ROWS * COLUMNS] __attribute__((aligned(64)));
    const int first_row = get_group_id(0) * (BLOCKS * ROWS), last_row = min(first_row + BLOCKS * ROWS, rows) - 1;
    const size_t head = get_group_id(1);
    q += offset_q + head * head_q;
    k += offset_k + head / group * head_k;
    v += offset_v + head / group * head_v;
    o += offset_o + head * head_o;
    if (lengths)
        length = clamp(lengths[offset_lengths + head * head_lengths], 0, columns);
    const int end = CAUSAL ? min(length, last_row + last + 1) : length;

    // For each block of rows: the largest score so far, and relative to it the exponentials' sum and products with V.
    Lines largest[BLOCKS], totals[BLOCKS];
    Sums sums[BLOCKS][D / WIDTH];
    for (int block = 0; block < BLOCKS; ++block) {
        largest[block] = coop_mat_init(-FLT_MAX);
        totals[block] = coop_mat_init(0);
        for (int j = 0; j < D / WIDTH; ++j) {
            const int row = first_row + block * ROWS;
            MATRIX(half, ROWS, WIDTH, ACCUMULATOR) part;
            LOAD(part, D == SIZE && row + ROWS <= rows, q, ROW_MAJOR, line_q, row, j * WIDTH, rows, SIZE);
            coop_mat_store(query + block * ROWS * D + j * WIDTH, (Factors)part, ROW_MAJOR, D);
            sums[block][j] = coop_mat_init(0);
        }
    }

    for (int column = 0; column < end; column += COLUMNS) {
#if PANELS
        const global float *const keys = k + (size_t)column * (2 * D), *const values = keys + COLUMNS * D;
#else
        const bool is_inside = D == SIZE && column + COLUMNS <= length;
#endif
        for (int block = 0; block < BLOCKS; ++block) {
            const int row = first_row + block * ROWS;
            const int count = min(COLUMNS, (CAUSAL ? min(end, row + ROWS + last) : end) - column);
            if (count <= 0)
                continue;

            Sums scores[COLUMNS / WIDTH];
            const Lines before = largest[block];
            Lines most = before;
            UNROLL for (int j = 0; j < COLUMNS / WIDTH; ++j) {
                Sums x = coop_mat_init(0);
                for (int i = 0; i < D; i += STEP) {
                    Left left = coop_mat_load(query + block * ROWS * D + i, ROW_MAJOR, D);
                    Right right;
#if PANELS
                    right = coop_mat_load(keys + (j * D + i) * WIDTH, ROW_MAJOR, WIDTH);
#else
                    LOAD(right, is_inside, k, COLUMN_MAJOR, line_k, i, column + j * WIDTH, SIZE, length);
#endif
                    x = coop_mat_mulAdd(left, right, x);
                }
                x *= scale;
                const int first = column + j * WIDTH;
                if (first + WIDTH > length || (CAUSAL && first + WIDTH - 1 > row + last))
                    x = coop_mat_map(x, masked, row + last - first, length - first);
                scores[j] = x;
                most = fmax(most, (Lines)coop_mat_reduce(x, EACH_ROW, fmax));
            }

            const Lines fading = exp2(before - most);
            Lines total = totals[block] * fading;
            UNROLL for (int j = 0; j < COLUMNS / WIDTH; ++j) {
                const Sums part = native_exp2(scores[j] - SPREAD(most));
                total += (Lines)coop_mat_reduce(part, EACH_ROW, sum);
                coop_mat_store(weights + j * WIDTH, (Factors)part, ROW_MAJOR, COLUMNS);
            }
            largest[block] = most;
            totals[block] = total;

            for (int j = 0; j < D / WIDTH; ++j) {
                Sums x = sums[block][j] * SPREAD(fading);
                for (int i = 0; i < count; i += STEP) {
                    Left left = coop_mat_load(weights + i, ROW_MAJOR, COLUMNS);
                    Right right;
#if PANELS
                    right = coop_mat_load(values + (j * COLUMNS + i) * WIDTH, ROW_MAJOR, WIDTH);
#else
                    LOAD(right, is_inside, v, ROW_MAJOR, line_v, column + i, j * WIDTH, length, SIZE);
#endif
                    x = coop_mat_mulAdd(left, right, x);
                }
                sums[block][j] = x;
            }
        }
    }

    for (int block = 0; block < BLOCKS; ++block) {
        // The total of a row that attends to nothing is 0, and so are its sums. That of another row is about 1, or more.
        const Lines factor = 1 / fmax(totals[block], 0.5f);
        const int row = first_row + block * ROWS;
        for (int j = 0; j < D / WIDTH; ++j) {
            const Output out = (Output)(sums[block][j] * SPREAD(factor));
            if (D == SIZE && row + ROWS <= rows)
                coop_mat_store(o + row * line_o + j * WIDTH, out, ROW_MAJOR, line_o);
            else
                coop_mat_store_checked(o, out, ROW_MAJOR, line_o, row, j * WIDTH, rows, SIZE);
        }
    }
}
