// C = A W^T, where the n rows of W are k weights each, in blocks: formats of llama.cpp, and MXFP4.
//
// For few rows of A, the kernel `dot_rows` decodes weights and multiplies them at once. For more rows, the kernel `decode`
// writes weights to panels, or `decode_rows` to rows, which gemm.cl multiplies. These macros select the variant:
//
//   FORMAT                     Q4_0, Q8_0, Q4_K, Q6_K or MXFP4
//   DECODE                     1 for the kernels `decode` and `decode_rows`, 0 for `dot_rows`
//   CHUNK                      the weights of a column that are decoded at a time, a multiple of 32
//   SIDE                       of `decode`: the columns of a panel
//   ROW_HALF                   of `decode_rows`: 1 if it rounds weights to half, 0 if they are float
//   A_TYPE, D_TYPE             of `dot_rows`: the component types of A and C
//   A_HALF, D_HALF             of `dot_rows`: 1 if this type is half, 0 if it is float
//   ROWS, COLUMNS              of `dot_rows`: the rows of A and the rows of W that a work-item multiplies at a time
//   TILES                      of `dot_rows`: the most times that a work-item does so, for other rows of A
//   WORK_ITEMS                 of `dot_rows`: the work-items that share the sums along k; more than one only if TILES is 1

#define Q4_0 1
#define Q8_0 2
#define Q4_K 3
#define Q6_K 4
#define MXFP4 5

#ifndef FORMAT
#define FORMAT Q4_0
#define DECODE 1
#define SIDE 32
#define CHUNK 256
#endif

#define UNROLL __attribute__((opencl_unroll_hint))
#define RUN 32 // the weights that `decode_run` decodes

float half_at(const global uchar *bytes)
{
    const ushort bits = bytes[0] | bytes[1] << 8; // they may have an odd address
    return vload_half(0, (const private half *)&bits);
}

// Decode the weights RUN * i to RUN * i + 31 of a row: 16 to `first`, 16 to `last`.
#if FORMAT == Q4_0
// A half d, then 16 bytes q: d * (q - 8). Low nibbles come first.
#define ROW_BYTES(K) ((size_t)(K) / 32 * 18)
void decode_run(const global uchar *row, uint i, float16 *first, float16 *last)
{
    const global uchar *block = row + i * 18;
    const float d = half_at(block);
    const uint16 q = convert_uint16(vload16(0, block + 2));
    *first = fma(convert_float16(as_int16(q & 15)), d, -8 * d);
    *last = fma(convert_float16(as_int16(q >> 4)), d, -8 * d);
}
#elif FORMAT == Q8_0
// A half d, then 32 signed bytes q: d * q.
#define ROW_BYTES(K) ((size_t)(K) / 32 * 34)
void decode_run(const global uchar *row, uint i, float16 *first, float16 *last)
{
    const global uchar *block = row + i * 34;
    const float d = half_at(block);
    *first = convert_float16(as_char16(vload16(0, block + 2))) * d;
    *last = convert_float16(as_char16(vload16(1, block + 2))) * d;
}
#elif FORMAT == Q4_K
// Halves d and e, 12 bytes of eight scales s and eight minima t of 6 bits each, 128 bytes q: d * s * q - e * t. Of 32
// bytes, the low nibbles are a run, and the high nibbles the next one.
#define ROW_BYTES(K) ((size_t)(K) / 256 * 144)
void decode_run(const global uchar *row, uint i, float16 *first, float16 *last)
{
    const global uchar *block = row + i / 8 * 144, *scales = block + 4;
    const uint j = i % 8;
    const uint x = scales[j % 4], y = scales[j % 4 + 4], z = scales[j % 4 + 8];
    const uint s = j < 4 ? x & 63 : (z & 15) | x >> 6 << 4, t = j < 4 ? y & 63 : z >> 4 | y >> 6 << 4;
    const float scale = half_at(block) * s, least = half_at(block + 2) * t;
    const global uchar *q = block + 16 + j / 2 * 32;
    const uint shift = j % 2 * 4;
    *first = fma(convert_float16(as_int16(convert_uint16(vload16(0, q)) >> shift & 15)), scale, -least);
    *last = fma(convert_float16(as_int16(convert_uint16(vload16(1, q)) >> shift & 15)), scale, -least);
}
#elif FORMAT == Q6_K
// 128 bytes with the low 4 bits of q, 64 bytes with the high 2 bits, 16 signed bytes s, a half d: d * s * (q - 32) with
// an s for 16 weights. Each half of the block has four runs, whose bits are in the same bytes: run j has the high bits
// 2 * j of 32 bytes, and of the low bits nibble j / 2 of every second 32 bytes.
#define ROW_BYTES(K) ((size_t)(K) / 256 * 210)
void decode_run(const global uchar *row, uint i, float16 *first, float16 *last)
{
    const global uchar *block = row + i / 8 * 210;
    const uint part = i % 8 / 4, j = i % 4;
    const global uchar *low = block + part * 64 + j % 2 * 32, *high = block + 128 + part * 32;
    const global char *scales = (const global char *)(block + 192 + part * 8 + j * 2);
    const uint shift = j / 2 * 4, shift_high = j * 2;
    const float d = half_at(block + 208), scale = d * scales[0], scale_of_last = d * scales[1];
    const uint16 q = (convert_uint16(vload16(0, low)) >> shift & 15) |
                     (convert_uint16(vload16(0, high)) >> shift_high & 3) << 4;
    const uint16 r = (convert_uint16(vload16(1, low)) >> shift & 15) |
                     (convert_uint16(vload16(1, high)) >> shift_high & 3) << 4;
    *first = fma(convert_float16(as_int16(q)), scale, -32 * scale);
    *last = fma(convert_float16(as_int16(r)), scale_of_last, -32 * scale_of_last);
}
#else
// A byte e, then 16 bytes of numbers q of the type e2m1: 2^(e - 127) * q; NaN if e is 255. Low nibbles come first.
#define ROW_BYTES(K) ((size_t)(K) / 32 * 17)
// A sign, two bits of exponent, one of mantissa; the numbers of exponent 0 are denormal.
float16 e2m1(uint16 q)
{
    const uint16 size = q & 7;
    const float16 normal = as_float16((126 << 23) + (size << 22)), denormal = convert_float16(as_int16(size)) * 0.5f;
    return as_float16(as_uint16(select(normal, denormal, size < 2)) | (q & 8) << 28);
}
void decode_run(const global uchar *row, uint i, float16 *first, float16 *last)
{
    const global uchar *block = row + i * 17;
    const uint e = block[0];
    const float d = as_float(e == 255 ? 0x7fc00000 : max(e << 23, 0x400000u)); // 2^-127 is a denormal number
    const uint16 q = convert_uint16(vload16(0, block + 1));
    *first = e2m1(q & 15) * d;
    *last = e2m1(q >> 4) * d;
}
#endif

#if DECODE
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

typedef float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, RUN, SIDE, CLK_COOPERATIVE_MATRIX_B))) Part;

// A subgroup decodes CHUNK weights of SIDE rows of W, which are columns of a panel. The panels begin with the row of W
// at `offset_blocks`; n is the number of rows from there, and columns of panels beyond them are zeros.
kernel void decode(const global uchar *blocks, global float *panels, ulong offset_blocks, ulong offset_panels, uint n,
                   uint k)
{
    local float lines[SIDE * RUN];
    const size_t column = get_group_id(0) * SIDE;
    blocks += offset_blocks + column * ROW_BYTES(k);
    panels += offset_panels + column * k;
    const uint begin = get_group_id(1) * CHUNK, end = min(begin + CHUNK, k);
    for (uint i = begin; i < end; i += RUN) {
        for (uint line = get_local_id(0); line < SIDE; line += get_local_size(0)) {
            float16 first = 0, last = 0;
            if (column + line < n)
                decode_run(blocks + line * ROW_BYTES(k), i / RUN, &first, &last);
            vstore16(first, 2 * line, lines);
            vstore16(last, 2 * line + 1, lines);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        Part part = coop_mat_load(lines, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, RUN);
        coop_mat_store(panels + (size_t)i * SIDE, part, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, SIDE);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#if ROW_HALF
typedef half Weight;
#define STORE_16 vstore_half16
#else
typedef float Weight;
#define STORE_16 vstore16
#endif

// A work-item decodes RUN weights.
kernel void decode_rows(const global uchar *blocks, global Weight *rows, ulong offset_blocks, uint k)
{
    const size_t row = get_global_id(1), run = get_global_id(0);
    float16 first, last;
    decode_run(blocks + offset_blocks + row * ROW_BYTES(k), run, &first, &last);
    STORE_16(first, 0, rows + row * k + run * RUN);
    STORE_16(last, 1, rows + row * k + run * RUN);
}
#else
#if A_HALF
#define LOAD_16 vload_half16
#else
#define LOAD_16 vload16
#endif
#if D_HALF
#define STORE(X, PLACE) vstore_half(X, PLACE, d)
#else
#define STORE(X, PLACE) d[PLACE] = X
#endif

#define EACH_SUM \
    UNROLL for (uint i = 0; i < ROWS; ++i) \
        UNROLL for (uint j = 0; j < COLUMNS; ++j)

float sum_16(float16 x)
{
    const float8 y = x.lo + x.hi;
    const float4 z = y.lo + y.hi;
    return (z.x + z.z) + (z.y + z.w);
}

// A work-group computes COLUMNS columns of ROWS * TILES rows of C, ROWS rows at a time. A work-item decodes CHUNK weights
// of each column, and multiplies them by all these rows of A; in between, the sums of other rows are in memory. It works
// with vectors along k, so that a CPU's compiler must not make vectors of work-items: hence the work-groups of one there.
__attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1)))
kernel void dot_rows(const global A_TYPE *a, const global uchar *blocks, global D_TYPE *d, ulong offset_a, ulong lda,
                     ulong offset_blocks, ulong offset_d, ulong ldd, uint m, uint n, uint k)
{
    const uint column = get_group_id(0) * COLUMNS;
    const size_t row = get_group_id(1) * ROWS * TILES;
    m = min((uint)(m - row), (uint)(ROWS * TILES));
    const uint tiles = TILES == 1 ? 1 : (m + ROWS - 1) / ROWS;
    a += offset_a + row * lda;
    d += offset_d + row * ldd;
    blocks += offset_blocks;
    const global uchar *w[COLUMNS];
    float16 sums[TILES][ROWS][COLUMNS];
    // Beyond the matrices, the last row of A or W is multiplied again.
    UNROLL for (uint j = 0; j < COLUMNS; ++j) w[j] = blocks + min(column + j, n - 1) * ROW_BYTES(k);
    for (uint tile = 0; tile < tiles; ++tile)
        EACH_SUM sums[tile][i][j] = 0;
    for (uint begin = get_local_id(0) * CHUNK; begin < k; begin += WORK_ITEMS * CHUNK) {
        const uint vectors = CHUNK == RUN ? RUN / 16 : min((uint)CHUNK, k - begin) / 16;
        float16 weights[CHUNK / 16][COLUMNS];
        for (uint v = 0; v < vectors; v += 2)
            UNROLL for (uint j = 0; j < COLUMNS; ++j)
                decode_run(w[j], begin / RUN + v / 2, &weights[v][j], &weights[v + 1][j]);
        for (uint tile = 0; tile < tiles; ++tile) {
            const global A_TYPE *x[ROWS];
            float16 part[ROWS][COLUMNS];
            UNROLL for (uint i = 0; i < ROWS; ++i) x[i] = a + min(tile * ROWS + i, m - 1) * lda + begin;
            EACH_SUM part[i][j] = sums[tile][i][j];
            for (uint v = 0; v < vectors; ++v)
                EACH_SUM part[i][j] = fma(LOAD_16(v, x[i]), weights[v][j], part[i][j]);
            EACH_SUM sums[tile][i][j] = part[i][j];
        }
    }
#if WORK_ITEMS > 1
    local float parts[ROWS][COLUMNS][WORK_ITEMS];
    EACH_SUM parts[i][j][get_local_id(0)] = sum_16(sums[0][i][j]);
    for (uint count = WORK_ITEMS / 2; count > 0; count /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) < count)
            EACH_SUM parts[i][j][get_local_id(0)] += parts[i][j][get_local_id(0) + count];
    }
    if (get_local_id(0) > 0)
        return;
#define SUM(TILE, I, J) parts[I][J][0]
#else
#define SUM(TILE, I, J) sum_16(sums[TILE][I][J])
#endif
    for (uint tile = 0; tile < tiles; ++tile)
        EACH_SUM {
            const uint line = tile * ROWS + i;
            if (line < m && column + j < n)
                STORE(SUM(tile, i, j), line * ldd + column + j);
        }
}
#endif
