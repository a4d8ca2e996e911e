// O = softmax(scale * Q K^T) V for each head, in one kernel. The softmax is computed along with the sums: neither the
// products of Q and K nor their exponentials are in memory that work-items share.
//
// One subgroup computes ROWS rows of O. It reads COLUMNS rows of K and V at a time: for each, `most` has the largest
// score of a row so far, `total` the sum of the exponentials, and `sums` their products with V, both relative to `most`.
// These macros select the variant:
//
//   ROWS, COLUMNS   the rows of Q, and of K and V, in a tile
//   SIZE            the length of a row of Q, K, V and O
//   D               SIZE, or the next multiple of the vectors' length; a tile has zeros beyond SIZE
//   O_TYPE          the component type of O
//   TYPE            the component type of the factors; products are added up in float
//   PANELS          1 if the kernel `pack` has copied K and V: their tiles are contiguous, and have components of TYPE
//   CAUSAL          1 if a row attends to itself and to what precedes it

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#ifndef SIZE
#define ROWS 16
#define COLUMNS 16
#define SIZE 64
#define D 64
#define O_TYPE float
#define TYPE half
#endif

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define EACH_ROW CLK_COOPERATIVE_MATRIX_REDUCE_ROW
#define MATRIX(TYPE, ROWS, COLUMNS, USE) \
    TYPE __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

typedef MATRIX(half, ROWS, D, A) Query;
typedef MATRIX(half, D, COLUMNS, B) Key;
typedef MATRIX(half, COLUMNS, D, B) Value;
typedef MATRIX(TYPE, ROWS, D, A) QueryFactor;
typedef MATRIX(TYPE, D, COLUMNS, B) KeyFactor;
typedef MATRIX(TYPE, COLUMNS, D, B) ValueFactor;
typedef MATRIX(TYPE, ROWS, COLUMNS, A) Weights;
typedef MATRIX(float, ROWS, COLUMNS, ACCUMULATOR) Scores;
typedef MATRIX(float, ROWS, D, ACCUMULATOR) Sums;
typedef MATRIX(O_TYPE, ROWS, D, ACCUMULATOR) Output;
typedef MATRIX(float, ROWS, 1, ACCUMULATOR) Lines;

// A tile of a matrix in memory with rows of SIZE, and zeros beyond its COUNT rows.
#define LOAD(TILE, P, LINE, ROW, HEIGHT, COUNT) \
    if (D == SIZE && ROW + HEIGHT <= COUNT) \
        TILE = coop_mat_load(P + ROW * LINE, ROW_MAJOR, LINE); \
    else \
        TILE = coop_mat_load_checked(P, ROW_MAJOR, LINE, ROW, 0, COUNT, SIZE)
#define LOAD_TRANSPOSED(TILE, P, LINE, ROW, HEIGHT, COUNT) \
    if (D == SIZE && ROW + HEIGHT <= COUNT) \
        TILE = coop_mat_load(P + ROW * LINE, COLUMN_MAJOR, LINE); \
    else \
        TILE = coop_mat_load_checked(P, COLUMN_MAJOR, LINE, 0, ROW, SIZE, COUNT)

#if PANELS
#define K_TYPE TYPE
// A panel has COLUMNS rows of K, transposed, and then as many of V.
#define PANEL_SIZE (2 * D * COLUMNS)

kernel void pack(const global half *k, const global half *v, global TYPE *panels, ulong offset_k, ulong offset_v,
                 long head_k, long head_v, long line_k, long line_v, int columns)
{
    const int column = get_group_id(0) * COLUMNS;
    k += offset_k + get_group_id(1) * head_k;
    v += offset_v + get_group_id(1) * head_v;
    panels += (get_group_id(1) * get_num_groups(0) + get_group_id(0)) * PANEL_SIZE;
    Key key;
    LOAD_TRANSPOSED(key, k, line_k, column, COLUMNS, columns);
    coop_mat_store(panels, (KeyFactor)key, ROW_MAJOR, COLUMNS);
    Value value;
    LOAD(value, v, line_v, column, COLUMNS, columns);
    coop_mat_store(panels + D * COLUMNS, (ValueFactor)value, ROW_MAJOR, D);
}
#else
#define K_TYPE half
#endif

float masked(uint r, uint c, float x, int first, int count)
{
#if CAUSAL
    return (int)c >= count || (int)c > (int)r + first ? -INFINITY : x;
#else
    return (int)c >= count ? -INFINITY : x;
#endif
}

float sum(float x, float y)
{
    return x + y;
}

// length: the columns of each head, unless `lengths` has them. last: the last column of row 0, if CAUSAL.
// group: the heads that share K and V. scale: the scores' factor, for powers of 2.
kernel void attention(const global half *q, const global K_TYPE *k, const global K_TYPE *v, global O_TYPE *o,
                      const global int *lengths, ulong offset_q, ulong offset_k, ulong offset_v, ulong offset_o,
                      ulong offset_lengths, long head_q, long head_k, long head_v, long head_o, long head_lengths,
                      long line_q, long line_k, long line_v, long line_o, int rows, int columns, int length, int last,
                      uint group, float scale)
{
    const int row = get_group_id(0) * ROWS;
    const size_t head = get_group_id(1);
    q += offset_q + head * head_q;
    k += offset_k + head / group * head_k;
    v += offset_v + head / group * head_v;
    o += offset_o + head * head_o;
    if (lengths)
        length = clamp(lengths[offset_lengths + head * head_lengths], 0, columns);
#if CAUSAL
    const int end = min(length, last + min(row + ROWS, rows));
#else
    const int end = length;
#endif

    Query query;
    LOAD(query, q, line_q, row, ROWS, rows);
    const QueryFactor factor = (QueryFactor)query;
    Sums sums = coop_mat_init(0);
    Lines total = coop_mat_init(0), most = coop_mat_init(-FLT_MAX);
    for (int column = 0; column < end; column += COLUMNS) {
#if PANELS
        const global TYPE *const panel = k + (size_t)column * (2 * D);
        KeyFactor key = coop_mat_load(panel, ROW_MAJOR, COLUMNS);
#else
        Key halves_of_key;
        LOAD_TRANSPOSED(halves_of_key, k, line_k, column, COLUMNS, length);
        const KeyFactor key = (KeyFactor)halves_of_key;
#endif
        Scores x = coop_mat_mulAdd(factor, key, (Scores)coop_mat_init(0)) * scale;
        if (column + COLUMNS > length || (CAUSAL && column + COLUMNS - 1 > row + last))
            x = coop_mat_map(x, masked, row + last - column, length - column);
        const Lines higher = fmax(most, (Lines)coop_mat_reduce(x, EACH_ROW, fmax)), fading = exp2(most - higher);
        const Scores part = exp2(x - (Scores)coop_mat_reduce(higher, EACH_ROW, fmax));
        total = total * fading + (Lines)coop_mat_reduce(part, EACH_ROW, sum);
        most = higher;
        // Zeros in place of what is beyond the length: it may be no number.
        ValueFactor value;
#if PANELS
        if (column + COLUMNS <= length)
            value = coop_mat_load(panel + D * COLUMNS, ROW_MAJOR, D);
        else
            value = coop_mat_load_checked(panel + D * COLUMNS, ROW_MAJOR, D, 0, 0, length - column, D);
#else
        Value halves;
        LOAD(halves, v, line_v, column, COLUMNS, length);
        value = (ValueFactor)halves;
#endif
        sums = coop_mat_mulAdd((Weights)part, value, sums * (Sums)coop_mat_reduce(fading, EACH_ROW, fmax));
    }
    // The total of a row that attends to nothing is 0, and so are its sums. Of other rows, it is at least 1.
    sums /= (Sums)coop_mat_reduce(fmax(total, 0.5f), EACH_ROW, fmax);
    const Output out = (Output)sums;
    if (D == SIZE && row + ROWS <= rows)
        coop_mat_store(o + row * line_o, out, ROW_MAJOR, line_o);
    else
        coop_mat_store_checked(o, out, ROW_MAJOR, line_o, row, 0, rows, SIZE);
}
