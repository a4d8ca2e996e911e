// D = activation(alpha * scale_a * scale_b * (A B) + beta * D + bias) for few rows of A.
//
// A work-group computes TILE_M x TILE_N results with vectors of TILE_K components: 4, 8 or 16. If the components of B's
// columns are consecutive in memory (B_BY_COLUMNS), as those of A's rows must be then, its WORK_ITEMS work-items
// multiply vectors along k, in turns, and add up their sums at the end. Otherwise its single work-item adds up the rows
// of B's strip of TILE_N columns, multiplied by A's components. gemm.cl explains the other macros, and has the same
// arguments. As there are no matrices, the device's compiler takes this file, unless there is an activation: it has no
// bfloat16, whose type is called ushort here.

#ifndef A_TYPE
#define A_TYPE float
#define B_TYPE float
#define SUM_TYPE float
#define REAL_TYPE float
#define D_TYPE float
#define TILE_M 1
#define TILE_N 8
#define TILE_K 16
#define WORK_ITEMS 1
#define B_BY_COLUMNS 1
#endif

#define UNROLL __attribute__((opencl_unroll_hint))
#define JOINED(X, Y) X##Y
#define JOIN(X, Y) JOINED(X, Y)
#define VECTOR(TYPE) JOIN(TYPE, TILE_K)
#define ADDED 8 // rows of B that are added at a time
#if B_BY_COLUMNS
#define UNROLL_COLUMNS UNROLL
#else
#define UNROLL_COLUMNS // a strip is long
#endif
#define EACH_SUM \
    UNROLL for (uint i = 0; i < TILE_M; ++i) \
        UNROLL_COLUMNS for (uint j = 0; j < TILE_N; ++j)

// The number, or the vector of numbers, at P: of half and bfloat16 as float.
#define NUMBER_float(P) (*(P))
#define NUMBER_double(P) (*(P))
#define NUMBER_half(P) vload_half(0, P)
#define NUMBER_ushort(P) as_float((uint)*(P) << 16)
#define VECTOR_float(P) JOIN(vload, TILE_K)(0, P)
#define VECTOR_double(P) JOIN(vload, TILE_K)(0, P)
#define VECTOR_half(P) JOIN(vload_half, TILE_K)(0, P)
#define VECTOR_ushort(P) JOIN(as_float, TILE_K)(JOIN(convert_uint, TILE_K)(JOIN(vload, TILE_K)(0, P)) << 16)
#define NUMBER(TYPE, P) JOIN(NUMBER_, TYPE)(P)
#define NUMBERS(TYPE, P) JOIN(VECTOR_, TYPE)(P)

#define STORE_float(X, P) *(P) = X
#define STORE_double(X, P) *(P) = X
#define STORE_half(X, P) vstore_half(X, 0, P)

#if B_BY_COLUMNS
SUM_TYPE dot_sum_of(VECTOR(SUM_TYPE) x)
{
    const private SUM_TYPE *numbers = (const private SUM_TYPE *)&x;
    SUM_TYPE parts[4];
    UNROLL for (uint i = 0; i < 4; ++i) parts[i] = numbers[i];
    UNROLL for (uint i = 4; i < TILE_K; ++i) parts[i % 4] += numbers[i];
    return (parts[0] + parts[2]) + (parts[1] + parts[3]);
}
#else
// Add to the sums the first `count` components of consecutive rows of B, each multiplied by A's components of its row.
// The components of a row of A are `next` apart.
void add_rows(private SUM_TYPE (*sums)[TILE_N], const global A_TYPE *const *rows, ulong next, const global B_TYPE *b,
              ulong ldb, uint count, uint added)
{
    SUM_TYPE x[TILE_M][ADDED];
    UNROLL for (uint i = 0; i < TILE_M; ++i)
        UNROLL for (uint r = 0; r < added; ++r) x[i][r] = NUMBER(A_TYPE, rows[i] + r * next);
    for (uint j = 0; j < count / TILE_K; ++j)
        UNROLL for (uint i = 0; i < TILE_M; ++i) {
            VECTOR(SUM_TYPE) sum = JOIN(vload, TILE_K)(j, sums[i]);
            UNROLL for (uint r = 0; r < added; ++r)
                sum = fma(x[i][r], NUMBERS(B_TYPE, b + r * ldb + j * TILE_K), sum);
            JOIN(vstore, TILE_K)(sum, j, sums[i]);
        }
    for (uint j = count / TILE_K * TILE_K; j < count; ++j)
        UNROLL for (uint i = 0; i < TILE_M; ++i)
            UNROLL for (uint r = 0; r < added; ++r) sums[i][j] = fma(x[i][r], NUMBER(B_TYPE, b + r * ldb + j), sums[i][j]);
}
#endif

// On a CPU, a compiler must not make vectors of work-items, because each works with vectors: hence the work-groups of one.
__attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1)))
kernel void gemm(const global A_TYPE *a, const global B_TYPE *b, global D_TYPE *d, const global REAL_TYPE *bias,
                 ulong offset_bias, const global REAL_TYPE *scale_a, ulong offset_scale_a,
                 const global REAL_TYPE *scale_b, ulong offset_scale_b, REAL_TYPE alpha, REAL_TYPE beta, uint m, uint n,
                 uint k, ulong lda, ulong ldb, ulong ldd, ulong offset_a, ulong offset_b, ulong offset_d, ulong batch_a,
                 ulong batch_b, ulong batch_d)
{
    const size_t first_row = get_group_id(1) * TILE_M, first_column = get_group_id(0) * TILE_N;
    const size_t item = get_group_id(2);
    d += offset_d + item * batch_d;
#if A_BY_COLUMNS
    const ulong next_row = 1, next = lda;
#else
    const ulong next_row = lda, next = 1;
#endif
    const global A_TYPE *rows[TILE_M];
    // Beyond the matrices, the last row of A and the last column of B are multiplied again.
    UNROLL for (uint i = 0; i < TILE_M; ++i)
        rows[i] = a + offset_a + item * batch_a + min(first_row + i, (size_t)m - 1) * next_row;
    SUM_TYPE results[TILE_M][TILE_N];
#if B_BY_COLUMNS
    const global B_TYPE *columns[TILE_N];
    UNROLL for (uint j = 0; j < TILE_N; ++j)
        columns[j] = b + offset_b + item * batch_b + min(first_column + j, (size_t)n - 1) * ldb;

    VECTOR(SUM_TYPE) sums[TILE_M][TILE_N];
    EACH_SUM sums[i][j] = 0;
    const size_t whole = k / TILE_K * TILE_K;
    for (size_t place = get_local_id(0) * TILE_K; place < whole; place += WORK_ITEMS * TILE_K) {
        VECTOR(SUM_TYPE) y[TILE_N];
        UNROLL for (uint j = 0; j < TILE_N; ++j) y[j] = NUMBERS(B_TYPE, columns[j] + place);
        EACH_SUM sums[i][j] = fma(NUMBERS(A_TYPE, rows[i] + place), y[j], sums[i][j]);
    }
    EACH_SUM results[i][j] = dot_sum_of(sums[i][j]);
    for (size_t place = whole + get_local_id(0); place < k; place += WORK_ITEMS)
        EACH_SUM results[i][j] = fma(NUMBER(A_TYPE, rows[i] + place), NUMBER(B_TYPE, columns[j] + place), results[i][j]);
#if WORK_ITEMS > 1
    local SUM_TYPE parts[TILE_M][TILE_N][WORK_ITEMS];
    EACH_SUM parts[i][j][get_local_id(0)] = results[i][j];
    for (uint count = WORK_ITEMS / 2; count > 0; count /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) < count)
            EACH_SUM parts[i][j][get_local_id(0)] += parts[i][j][get_local_id(0) + count];
    }
    if (get_local_id(0) > 0)
        return;
    EACH_SUM results[i][j] = parts[i][j][0];
#endif
#else
    EACH_SUM results[i][j] = 0;
    const uint count = min((size_t)TILE_N, n - first_column);
    b += offset_b + item * batch_b + first_column;
    ulong place = 0;
    for (; place + ADDED <= k; place += ADDED) {
        add_rows(results, rows, next, b + place * ldb, ldb, count, ADDED);
        UNROLL for (uint i = 0; i < TILE_M; ++i) rows[i] += ADDED * next;
    }
    for (; place < k; ++place) {
        add_rows(results, rows, next, b + place * ldb, ldb, count, 1);
        UNROLL for (uint i = 0; i < TILE_M; ++i) rows[i] += next;
    }
#endif

    EACH_SUM {
        const size_t row = first_row + i, column = first_column + j;
        if (row < m && column < n) {
            global D_TYPE *place = d + row * ldd + column;
            REAL_TYPE result = results[i][j];
#if HAS_ALPHA
            result *= alpha;
#endif
#if SCALE_A
            result *= scale_a[offset_scale_a + row];
#endif
#if SCALE_B
            result *= scale_b[offset_scale_b + column];
#endif
#if CHECKS_BETA
            if (beta != 0)
                result += NUMBER(D_TYPE, place) * beta;
#elif HAS_BETA
            result += NUMBER(D_TYPE, place) * beta;
#endif
#if BIAS_BY_ROWS
            result += bias[offset_bias + row];
#elif BIAS_BY_COLUMNS
            result += bias[offset_bias + column];
#endif
#ifdef ACTIVATION
            result = ACTIVATION(result);
#endif
            JOIN(STORE_, D_TYPE)(result, place);
        }
    }
}
