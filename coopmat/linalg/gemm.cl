// D = activation(alpha * scale_a * scale_b * (A B) + beta * D + bias) for a batch of matrices.
//
// A is m x k, B is k x n and D is m x n. One subgroup computes one tile of D. If STAGED is 1, a work-group computes a
// block of BLOCK_M x BLOCK_N: it copies its part of A and B to local memory, DEPTH columns of A at a time, and loads the
// next part while it multiplies. If PANELS is 1, pack.cl has copied A and B into panels. These macros select the variant:
//
//   A_TYPE, B_TYPE, SUM_TYPE, D_TYPE   component types; products are added up in SUM_TYPE
//   REAL_TYPE                          the type of alpha, beta, the scales, the bias and the activation
//   TILE_M, TILE_N, TILE_K             the shape of a tile
//   STAGED                             1 if A and B are copied to local memory
//   PIECE                              the type that is copied: uint, uint2 or uint4. Rows of A and B (columns, if they
//                                      are consecutive) are aligned to it
//   BLOCK_M, BLOCK_N, DEPTH            multiples of the tile's shape
//   SUB_GROUP_SIZE                     the work-items of a subgroup; a work-group has a subgroup for each tile
//   PANELS                             1 if A and B are panels of TILE_M rows and TILE_N columns: lda and ldb are the
//                                      distances of panels, and k is a multiple of what pack.cl copies at a time
//   LINE, PACK, CHUNK                  as in pack.cl
//   A_IN_PLACE                         1 if A has not been copied, so that only B is in panels
//   A_FLIPPED, B_FLIPPED               1 if A's panels have 128 more than A, or B's have 128 less than B. To an A in
//                                      place, this kernel adds 128
//   A_BY_COLUMNS, B_BY_COLUMNS         1 if consecutive elements in memory are those of a column
//   WHOLE                              1 if m, n and k are multiples of the tile's
//   IS_LOW                             1 if m is less than the tile's: then most loads of A need checks, but few of B do
//   HAS_ALPHA, HAS_BETA                1 if alpha is not 1, if beta is not 0
//   CHECKS_BETA                        1 if the kernel must find out whether beta is 0, so that D must not be read
//   SCALE_A, SCALE_B                   1 if there is a factor for each row of A, for each column of B
//   BIAS_BY_ROWS, BIAS_BY_COLUMNS      1 if there is a value to be added to each row, to each column
//   ACTIVATION                         the name of a function from REAL_TYPE to REAL_TYPE, if there is one
//   ROUND                              1 if D is 8-bit integers: D is rounded to nearest even, and saturated

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#ifndef A_TYPE
#define A_TYPE float
#define B_TYPE float
#define SUM_TYPE float
#define REAL_TYPE float
#define D_TYPE float
#define TILE_M 8
#define TILE_N 16
#define TILE_K 8
#endif

#define UNROLL __attribute__((opencl_unroll_hint))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define MATRIX(TYPE, ROWS, COLUMNS, USE) \
    TYPE __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

typedef MATRIX(A_TYPE, TILE_M, TILE_K, A) A;
typedef MATRIX(B_TYPE, TILE_K, TILE_N, B) B;
typedef MATRIX(SUM_TYPE, TILE_M, TILE_N, ACCUMULATOR) Sum;
typedef MATRIX(REAL_TYPE, TILE_M, TILE_N, ACCUMULATOR) Real;
typedef MATRIX(D_TYPE, TILE_M, TILE_N, ACCUMULATOR) D;

#if A_BY_COLUMNS
#define LAYOUT_A COLUMN_MAJOR
#define A_AT(ROW, COLUMN) (a + (ROW) + (COLUMN) * lda)
#else
#define LAYOUT_A ROW_MAJOR
#define A_AT(ROW, COLUMN) (a + (ROW) * lda + (COLUMN))
#endif
#if B_BY_COLUMNS
#define LAYOUT_B COLUMN_MAJOR
#define B_AT(ROW, COLUMN) (b + (ROW) + (COLUMN) * ldb)
#else
#define LAYOUT_B ROW_MAJOR
#define B_AT(ROW, COLUMN) (b + (ROW) * ldb + (COLUMN))
#endif

// A vector as a matrix: memory with stride 0 is the same in each column (a value for each row), or in each row.
#define FOR_EACH_ROW(P) coop_mat_load_checked(P, COLUMN_MAJOR, 0, row, 0, m, TILE_N)
#define FOR_EACH_COLUMN(P) coop_mat_load_checked(P, ROW_MAJOR, 0, 0, column, TILE_M, n)

#if WHOLE
#define LOAD_D coop_mat_load(d + row * ldd + column, ROW_MAJOR, ldd)
#define STORE_D(TILE) coop_mat_store(d + row * ldd + column, TILE, ROW_MAJOR, ldd)
#else
#define LOAD_D coop_mat_load_checked(d, ROW_MAJOR, ldd, row, column, m, n)
#define STORE_D(TILE) \
    if (row + TILE_M <= m && column + TILE_N <= n) \
        coop_mat_store(d + row * ldd + column, TILE, ROW_MAJOR, ldd); \
    else \
        coop_mat_store_checked(d, TILE, ROW_MAJOR, ldd, row, column, m, n)
#endif

#ifdef ACTIVATION
REAL_TYPE activated(uint row, uint column, REAL_TYPE x)
{
    return ACTIVATION(x);
}
#endif

#if STAGED
// In global memory, A and B have lines, rows or columns, whichever are consecutive. So they have in local memory, where
// PAD spreads the lines over banks. But a work-item that computes a tile alone takes A by columns and B by rows: then
// neighbouring work-items read neighbouring numbers.
#define COUNT ((int)(sizeof(PIECE) / sizeof(A_TYPE)))
#define PAD (16 / (int)sizeof(A_TYPE))
#define WORK_ITEMS (BLOCK_M / TILE_M * (BLOCK_N / TILE_N) * SUB_GROUP_SIZE)
#define IS_ALONE (SUB_GROUP_SIZE == 1)
#if A_BY_COLUMNS
#define LINES_A DEPTH
#define LENGTH_A BLOCK_M
#define A_INSIDE(LINE, PLACE) (at + (LINE) < k && first_row + (PLACE) < m)
#define A_PIECE(LINE, PLACE) A_AT(first_row + (PLACE), at + (LINE))
#else
#define LINES_A BLOCK_M
#define LENGTH_A DEPTH
#define A_INSIDE(LINE, PLACE) (first_row + (LINE) < m && at + (PLACE) < k)
#define A_PIECE(LINE, PLACE) A_AT(first_row + (LINE), at + (PLACE))
#endif
#if A_BY_COLUMNS || IS_ALONE
#define LOCAL_LAYOUT_A COLUMN_MAJOR
#define LOCAL_LINES_A DEPTH
#define PITCH_A (BLOCK_M + PAD)
#define STAGED_A(PART, I) (PART + tile_row + (I) * PITCH_A)
#else
#define LOCAL_LAYOUT_A ROW_MAJOR
#define LOCAL_LINES_A BLOCK_M
#define PITCH_A (DEPTH + PAD)
#define STAGED_A(PART, I) (PART + tile_row * PITCH_A + (I))
#endif
#if B_BY_COLUMNS
#define LINES_B BLOCK_N
#define LENGTH_B DEPTH
#define B_INSIDE(LINE, PLACE) (first_column + (LINE) < n && at + (PLACE) < k)
#define B_PIECE(LINE, PLACE) B_AT(at + (PLACE), first_column + (LINE))
#else
#define LINES_B DEPTH
#define LENGTH_B BLOCK_N
#define B_INSIDE(LINE, PLACE) (at + (LINE) < k && first_column + (PLACE) < n)
#define B_PIECE(LINE, PLACE) B_AT(at + (LINE), first_column + (PLACE))
#endif
#if B_BY_COLUMNS && !IS_ALONE
#define LOCAL_LAYOUT_B COLUMN_MAJOR
#define LOCAL_LINES_B BLOCK_N
#define PITCH_B (DEPTH + PAD)
#define STAGED_B(PART, I) (PART + tile_column * PITCH_B + (I))
#else
#define LOCAL_LAYOUT_B ROW_MAJOR
#define LOCAL_LINES_B DEPTH
#define PITCH_B (BLOCK_N + PAD)
#define STAGED_B(PART, I) (PART + tile_column + (I) * PITCH_B)
#endif
#define PIECES_A (LINES_A * LENGTH_A / COUNT / WORK_ITEMS)
#define PIECES_B (LINES_B * LENGTH_B / COUNT / WORK_ITEMS)
#ifndef WHOLE
#define WHOLE 0
#endif
// Do something for each of this work-item's pieces: it begins at PLACE of LINE.
#define EACH_PIECE(PIECES, LENGTH) \
    UNROLL for (uint i = 0, p = get_local_id(0), line = p / (LENGTH / COUNT), place = p % (LENGTH / COUNT) * COUNT; \
                i < PIECES; ++i, p += WORK_ITEMS, line = p / (LENGTH / COUNT), place = p % (LENGTH / COUNT) * COUNT)
#define LOAD_PART(COLUMN) \
    at = COLUMN; \
    EACH_PIECE(PIECES_A, LENGTH_A) \
        of_a[i] = WHOLE || A_INSIDE(line, place) ? *(const global PIECE *)A_PIECE(line, place) : (PIECE)0; \
    EACH_PIECE(PIECES_B, LENGTH_B) \
        of_b[i] = WHOLE || B_INSIDE(line, place) ? *(const global PIECE *)B_PIECE(line, place) : (PIECE)0;
#define ALONG(TO, TYPE, PITCH, FROM) *(local PIECE *)(TO + line * PITCH + place) = FROM
#define ACROSS(TO, TYPE, PITCH, FROM) \
    UNROLL for (uint j = 0; j < COUNT; ++j) TO[(place + j) * PITCH + line] = ((const private TYPE *)&FROM)[j]
#if IS_ALONE && !A_BY_COLUMNS
#define STORE_A ACROSS
#else
#define STORE_A ALONG
#endif
#if IS_ALONE && B_BY_COLUMNS
#define STORE_B ACROSS
#else
#define STORE_B ALONG
#endif
#define STORE_PART(PART) \
    EACH_PIECE(PIECES_A, LENGTH_A) { STORE_A(parts_a[PART], A_TYPE, PITCH_A, of_a[i]); } \
    EACH_PIECE(PIECES_B, LENGTH_B) { STORE_B(parts_b[PART], B_TYPE, PITCH_B, of_b[i]); }
#else
#define BLOCK_M TILE_M
#define BLOCK_N TILE_N
#endif

#if PANELS
// What pack.cl does to the bytes of A, for an A in place.
#if A_FLIPPED
#define FLIPPED(X) ((X) + (A)coop_mat_init(128))
#else
#define FLIPPED(X) (X)
#endif
// Consecutive work-groups share a panel of B, which is the larger matrix most often.
#define GROUP_M get_group_id(0)
#define GROUP_N get_group_id(1)
#define LAYOUT_OF_B (PACK > 1 ? CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED : ROW_MAJOR)
#if LINE > 1
#define STEP LINE
#else
#define STEP TILE_K
#endif
#else
#define GROUP_M get_group_id(1)
#define GROUP_N get_group_id(0)
#endif

kernel void gemm(const global A_TYPE *a, const global B_TYPE *b, global D_TYPE *d, const global REAL_TYPE *bias,
                 ulong offset_bias, const global REAL_TYPE *scale_a, ulong offset_scale_a,
                 const global REAL_TYPE *scale_b, ulong offset_scale_b, REAL_TYPE alpha, REAL_TYPE beta, uint m, uint n,
                 uint k, ulong lda, ulong ldb, ulong ldd, ulong offset_a, ulong offset_b, ulong offset_d, ulong batch_a,
                 ulong batch_b, ulong batch_d)
{
    const size_t first_row = GROUP_M * BLOCK_M, first_column = GROUP_N * BLOCK_N;
    const size_t item = get_group_id(2);
    a += offset_a + item * batch_a;
    b += offset_b + item * batch_b;
    d += offset_d + item * batch_d;
    Sum sum = coop_mat_init(0);

#if STAGED
    const uint sub_group = get_sub_group_id();
    const uint tile_row = sub_group % (BLOCK_M / TILE_M) * TILE_M, tile_column = sub_group / (BLOCK_M / TILE_M) * TILE_N;
    const size_t row = first_row + tile_row, column = first_column + tile_column;
    local A_TYPE parts_a[2][LOCAL_LINES_A * PITCH_A] __attribute__((aligned(16)));
    local B_TYPE parts_b[2][LOCAL_LINES_B * PITCH_B] __attribute__((aligned(16)));
    PIECE of_a[PIECES_A], of_b[PIECES_B];
    size_t at;
    LOAD_PART(0)
    STORE_PART(0)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t first = 0, part = 0; first < k; first += DEPTH, part = 1 - part) {
        const bool has_next = first + DEPTH < k;
        if (has_next) {
            LOAD_PART(first + DEPTH)
        }
        UNROLL for (uint i = 0; i < DEPTH; i += TILE_K) {
            A x = coop_mat_load(STAGED_A(parts_a[part], i), LOCAL_LAYOUT_A, PITCH_A);
            B y = coop_mat_load(STAGED_B(parts_b[part], i), LOCAL_LAYOUT_B, PITCH_B);
            sum = coop_mat_mulAdd(x, y, sum);
        }
        if (has_next) {
            STORE_PART(1 - part)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    const size_t row = first_row, column = first_column;
#if PANELS
    b += GROUP_N * ldb;
#if A_IN_PLACE
    const size_t unchecked = k / STEP * STEP, depth = (k + STEP - 1) / STEP * STEP;
#else
    a += GROUP_M * lda;
    const size_t unchecked = k, depth = k;
#endif
    for (size_t i = 0; i < unchecked; i += STEP)
        UNROLL for (uint j = 0; j < STEP; j += TILE_K) {
#if A_IN_PLACE
            A x = FLIPPED(coop_mat_load(A_AT(row, i + j), ROW_MAJOR, lda));
#else
            A x = coop_mat_load(a + i * TILE_M + j, LINE > 1 ? ROW_MAJOR : COLUMN_MAJOR, LINE > 1 ? LINE : TILE_M);
#endif
            B y = coop_mat_load(b + (i + j) * TILE_N, LAYOUT_OF_B, TILE_N * PACK);
            sum = coop_mat_mulAdd(x, y, sum);
        }
#if A_IN_PLACE
    for (size_t i = unchecked; i < k; i += TILE_K) {
        A x = FLIPPED(coop_mat_load_checked(a, ROW_MAJOR, lda, row, i, m, k));
        B y = coop_mat_load(b + i * TILE_N, LAYOUT_OF_B, TILE_N * PACK);
        sum = coop_mat_mulAdd(x, y, sum);
    }
#endif
    // With x = a + 128 and y = b - 128 in the panels, a b = x y - 128 y + 128 x - 128 * 128.
    for (size_t i = 0; i < (k + CHUNK - 1) / CHUNK; ++i) {
#if A_FLIPPED
        Sum sums_b = coop_mat_load((const global int *)(b + depth * TILE_N) + i * TILE_N, ROW_MAJOR, 0);
        sum -= sums_b * 128;
#endif
#if B_FLIPPED
        Sum sums_a = coop_mat_load((const global int *)(a + depth * TILE_M) + i * TILE_M, COLUMN_MAJOR, 0);
        sum += sums_a * 128;
#endif
    }
#if A_FLIPPED && B_FLIPPED
    sum -= (Sum)coop_mat_init(128 * 128 * (int)k);
#endif
#elif WHOLE
    for (size_t i = 0; i < k; i += TILE_K) {
        A x = coop_mat_load(A_AT(row, i), LAYOUT_A, lda);
        B y = coop_mat_load(B_AT(i, column), LAYOUT_B, ldb);
        sum = coop_mat_mulAdd(x, y, sum);
    }
#else
    // Loads without checks are faster: checks are for tiles that reach beyond the matrices.
#if IS_LOW
    const bool is_inside = column + TILE_N <= n;
#else
    const bool is_inside = row + TILE_M <= m && column + TILE_N <= n;
#endif
    const size_t unchecked = is_inside ? k / TILE_K * TILE_K : 0;
    for (size_t i = 0; i < unchecked; i += TILE_K) {
#if IS_LOW
        A x = coop_mat_load_checked(a, LAYOUT_A, lda, row, i, m, k);
#else
        A x = coop_mat_load(A_AT(row, i), LAYOUT_A, lda);
#endif
        B y = coop_mat_load(B_AT(i, column), LAYOUT_B, ldb);
        sum = coop_mat_mulAdd(x, y, sum);
    }
    for (size_t i = unchecked; i < k; i += TILE_K) {
        A x = coop_mat_load_checked(a, LAYOUT_A, lda, row, i, m, k);
        B y = coop_mat_load_checked(b, LAYOUT_B, ldb, i, column, k, n);
        sum = coop_mat_mulAdd(x, y, sum);
    }
#endif
#endif

    Real result = coop_mat_convert(sum);
#if HAS_ALPHA
    result *= alpha;
#endif
#if SCALE_A
    Real rows = FOR_EACH_ROW(scale_a + offset_scale_a);
    result *= rows;
#endif
#if SCALE_B
    Real columns = FOR_EACH_COLUMN(scale_b + offset_scale_b);
    result *= columns;
#endif
#if CHECKS_BETA
    if (beta != 0) {
        D old = LOAD_D;
        result += (Real)old * beta;
    }
#elif HAS_BETA
    D old = LOAD_D;
    result += (Real)old * beta;
#endif
#if BIAS_BY_ROWS
    Real bias_of_rows = FOR_EACH_ROW(bias + offset_bias);
    result += bias_of_rows;
#elif BIAS_BY_COLUMNS
    Real bias_of_columns = FOR_EACH_COLUMN(bias + offset_bias);
    result += bias_of_columns;
#endif
#ifdef ACTIVATION
    result = coop_mat_map(result, activated);
#endif
#if ROUND
    D rounded = coop_mat_convert_sat_rte(result);
#else
    D rounded = coop_mat_convert(result);
#endif
    STORE_D(rounded);
}
