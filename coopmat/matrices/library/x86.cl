// Cooperative matrices on CPUs that have dot-product instructions on vectors or tiles. A work-item holds whole
// matrices, as in subgroup_of_one.cl. Rows of B are interleaved in packs, as the instructions require (`Interleaved` in
// matrices/lane_layouts.py).
//
//   CM_PACK                     the rows of B in a pack, whose components of a column form a word
//   CM_JOIN(r, c)               a pack of rows in memory, as words for 16 columns
//   CM_FLIP, CM_DOT(c, x, y)    the mask that flips A's signs if A and B have the same signedness; the instruction
//   CM_A_WORDS                  CM_A_WIDTH components of A, in words
//
//   CM_TILE_DOT(tiles, n)       the instruction on tile n of C and its tiles of A and B
//
// Flipping the signs of A adds 128 or -128 times a column's sum to every component of this column of the result. This is
// subtracted again.

#ifdef CM_PROLOGUE
// The effect of the instructions as documented (Intel's SDM, volume 2: VPDPBUSD, VDPBF16PS). x86_prelude.cl has the
// instructions themselves.
CM_FUNCTION uint16 cm_vpdpbusd(uint16 c, uint16 u, uint16 s)
{
    for (int i = 0; i < 32; i += 8)
        c += (u >> (uint16)(i) & (uint16)(255)) * as_uint16(as_int16(s << (uint16)(24 - i)) >> (int16)(24));
    return c;
}
// Return words of one byte, or 16 bits, from each row, in the order of the rows.
CM_FUNCTION uint16 cm_interleave4(uint4 a, uint4 b, uint4 c, uint4 d)
{
    return convert_uint16(as_uchar16(a)) | convert_uint16(as_uchar16(b)) << (uint16)(8) |
           convert_uint16(as_uchar16(c)) << (uint16)(16) | convert_uint16(as_uchar16(d)) << (uint16)(24);
}
CM_FUNCTION uint16 cm_interleave2(uint8 a, uint8 b)
{
    return convert_uint16(as_ushort16(a)) | convert_uint16(as_ushort16(b)) << (uint16)(16);
}
// Interleave the words of two vectors, from the lower or the upper half of each quarter, by one word or by two.
CM_FUNCTION uint16 cm_vpunpckldq(uint16 a, uint16 b)
{
    return (uint16)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5, a.s8, b.s8, a.s9, b.s9, a.sc, b.sc, a.sd, b.sd);
}
CM_FUNCTION uint16 cm_vpunpckhdq(uint16 a, uint16 b)
{
    return (uint16)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7, a.sa, b.sa, a.sb, b.sb, a.se, b.se, a.sf, b.sf);
}
CM_FUNCTION uint16 cm_vpunpcklqdq(uint16 a, uint16 b)
{
    return (uint16)(a.s01, b.s01, a.s45, b.s45, a.s89, b.s89, a.scd, b.scd);
}
CM_FUNCTION uint16 cm_vpunpckhqdq(uint16 a, uint16 b)
{
    return (uint16)(a.s23, b.s23, a.s67, b.s67, a.sab, b.sab, a.sef, b.sef);
}
CM_FUNCTION float16 cm_vdpbf16ps(float16 c, uint16 a, uint16 b)
{
    c = fma(as_float16(a & (uint16)(0xffff0000u)), as_float16(b & (uint16)(0xffff0000u)), c);
    return fma(as_float16(a << (uint16)(16)), as_float16(b << (uint16)(16)), c);
}
// AMX as the same volume describes it: eight tiles of 16 rows of 64 bytes. The tiles 0 to 3 are a block of two by two
// tiles of C. Their rows of A are in the tiles 4 and 5, their columns of B in the tiles 6 and 7.
CM_FUNCTION void cm_tiles_begin(__private uint16 *tiles)
{
    for (int r = 0; r < 128; ++r)
        tiles[r] = (uint16)(0);
}
CM_FUNCTION void cm_tiles_end(__private uint16 *tiles)
{
}
CM_FUNCTION void cm_tile_load(__private uint16 *tiles, int n, __private const void *p, ulong stride)
{
    for (int r = 0; r < 16; ++r)
        tiles[n * 16 + r] = *(__private const uint16 *)((__private const uchar *)p + r * stride);
}
CM_FUNCTION void cm_tile_store(__private const uint16 *tiles, int n, __private void *p, ulong stride)
{
    for (int r = 0; r < 16; ++r)
        *(__private uint16 *)((__private uchar *)p + r * stride) = tiles[n * 16 + r];
}
CM_FUNCTION uint cm_tile_word(__private const uint16 *tiles, int n, int r, int k)
{
    return ((__private const uint *)(tiles + n * 16 + r))[k];
}
// A flip of 128 converts an unsigned byte to the signed number with the same bits.
CM_FUNCTION void cm_tile_bytes(__private uint16 *tiles, int n, uint flip_a, uint flip_b)
{
    for (int r = 0; r < 16; ++r)
        for (int k = 0; k < 16; ++k)
            for (int i = 0; i < 32; i += 8) {
                const uint x = ((cm_tile_word(tiles, 4 + n / 2, r, k) >> i & 255) ^ flip_a) - flip_a;
                const uint16 y = tiles[(6 + n % 2) * 16 + k] >> (uint16)(i) & (uint16)(255);
                tiles[n * 16 + r] += (uint16)(x) * ((y ^ (uint16)(flip_b)) - (uint16)(flip_b));
            }
}
CM_FUNCTION void cm_tdpbssd(__private uint16 *tiles, int n) { cm_tile_bytes(tiles, n, 128, 128); }
CM_FUNCTION void cm_tdpbsud(__private uint16 *tiles, int n) { cm_tile_bytes(tiles, n, 128, 0); }
CM_FUNCTION void cm_tdpbusd(__private uint16 *tiles, int n) { cm_tile_bytes(tiles, n, 0, 128); }
CM_FUNCTION void cm_tdpbuud(__private uint16 *tiles, int n) { cm_tile_bytes(tiles, n, 0, 0); }
// Even and odd components of K have separate sums, which are added at the end.
CM_FUNCTION void cm_tdpbf16ps(__private uint16 *tiles, int n)
{
    for (int r = 0; r < 16; ++r) {
        float16 even = (float16)(0.0f), odd = (float16)(0.0f);
        for (int k = 0; k < 16; ++k) {
            const uint x = cm_tile_word(tiles, 4 + n / 2, r, k);
            const uint16 y = tiles[(6 + n % 2) * 16 + k];
            even = fma((float16)(as_float(x << 16)), as_float16(y << (uint16)(16)), even);
            odd = fma((float16)(as_float(x & 0xffff0000u)), as_float16(y & (uint16)(0xffff0000u)), odd);
        }
        tiles[n * 16 + r] = as_uint16(as_float16(tiles[n * 16 + r]) + (even + odd));
    }
}
#endif // CM_PROLOGUE

#ifdef CM_OP_LOAD_WHOLE_ROWM_PIECES
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; c += CM_PIECE)
            CM_VECTOR(uint16, out, r * CM_COLUMNS + c) = CM_LOAD_PIECE(p + CM_OFFSET(r, c));
}
#endif // CM_OP_LOAD_WHOLE_ROWM_PIECES

#ifdef CM_OP_LOAD_INTERLEAVED_ROWM
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; r += CM_PACK)
        CM_EACH for (int c = 0; c < CM_COLUMNS; c += 16)
            CM_VECTOR(uint16, out, CM_SLOT(r, c)) = CM_JOIN(r, c);
}
#endif // CM_OP_LOAD_INTERLEAVED_ROWM

// 16 columns of four words each. A vector has the words of columns that are four apart. Four vectors are transposed
// within their quarters. If words were stored individually, the loads of whole vectors would wait for all of these
// stores.
#ifdef CM_OP_LOAD_INTERLEAVED_COLM
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
#if CM_ROWS % (4 * CM_PACK) == 0
    CM_EACH for (int c = 0; c < CM_COLUMNS; c += 16)
        CM_EACH for (int r = 0; r < CM_ROWS; r += 4 * CM_PACK) {
            uint16 x[4], y[4];
            CM_UNROLL for (int i = 0; i < 4; ++i)
                x[i] = (uint16)(CM_WORDS(r, c + i), CM_WORDS(r, c + i + 4),
                                CM_WORDS(r, c + i + 8), CM_WORDS(r, c + i + 12));
            CM_UNROLL for (int i = 0; i < 4; i += 2) {
                y[i] = cm_vpunpckldq(x[i], x[i + 1]);
                y[i + 1] = cm_vpunpckhdq(x[i], x[i + 1]);
            }
            CM_UNROLL for (int i = 0; i < 2; ++i) {
                CM_VECTOR(uint16, out, CM_SLOT(r + 2 * i * CM_PACK, c)) = cm_vpunpcklqdq(y[i], y[i + 2]);
                CM_VECTOR(uint16, out, CM_SLOT(r + (2 * i + 1) * CM_PACK, c)) = cm_vpunpckhqdq(y[i], y[i + 2]);
            }
        }
#else
    CM_EACH for (int r = 0; r < CM_ROWS; r += CM_PACK)
        CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
            CM_VECTOR(uint, out, CM_SLOT(r, c)) = CM_WORD(p + CM_OFFSET(r, c));
#endif
}
#endif // CM_OP_LOAD_INTERLEAVED_COLM

#ifdef CM_OP_LOAD_INTERLEAVED_PACKED
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; r += CM_PACK)
        CM_EACH for (int i = 0; i < CM_COLUMNS * CM_PACK; i += CM_PIECE)
            CM_VECTOR(uint16, out, CM_SLOT(r, 0) + i) = CM_LOAD_PIECE(p + CM_OFFSET(r, 0) + i);
}
#endif // CM_OP_LOAD_INTERLEAVED_PACKED

// A block of CM_BLOCK_M rows and CM_BLOCK_N vectors of C fits the registers. If C has several blocks (not CM_ALONE),
// the columns' sums are computed once in advance.
#ifdef CM_OP_MUL_ADD_BYTES
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    uint16 extra[CM_N / 16];
    CM_EACH_COLUMN for (int j = 0; j < CM_N / 16; ++j)
        extra[j] = (uint16)(0);
    if (CM_FLIP && !CM_ALONE)
        CM_EACH_K for (int k = 0; k < CM_K; k += 4)
            CM_EACH_COLUMN for (int j = 0; j < CM_N / 16; ++j)
                extra[j] = CM_DOT(extra[j], (uint16)(CM_FLIP), CM_VECTOR(const uint16, b, k * CM_N + j * 64));
    CM_EACH_REGISTER_BLOCK for (int down = 0; down < CM_M / CM_BLOCK_M; ++down) {
        const int top = down * CM_BLOCK_M;
#if CM_FLIP
        // In advance, so that each word can be broadcast from memory to all components of a vector.
        uint words[CM_BLOCK_M * CM_K / 4] __attribute__((aligned(64)));
        CM_EACH_A for (int i = 0; i < CM_BLOCK_M * CM_K; i += CM_A_WIDTH)
            CM_VECTOR(CM_A_WORDS, words, i / 4) =
                CM_VECTOR(const CM_A_WORDS, a, top * CM_K + i) ^ (CM_A_WORDS)(CM_FLIP);
#else
        __private const uint *const words = (__private const uint *)(a + top * CM_K);
#endif
        CM_EACH_REGISTER_BLOCK for (int along = 0; along < CM_N / 16 / CM_BLOCK_N; ++along) {
            const int left = along * CM_BLOCK_N;
            uint16 sum[CM_BLOCK_M][CM_BLOCK_N];
            CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                    sum[i][j] =
                        CM_BEGIN(CM_VECTOR(const CM_C_V, c, (top + i) * CM_N + (left + j) * 16)) - extra[left + j];
            CM_EACH_K for (int k = 0; k < CM_K; k += 4) {
                uint16 y[CM_BLOCK_N];
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j) {
                    y[j] = CM_VECTOR(const uint16, b, k * CM_N + (left + j) * 64);
                    if (CM_FLIP && CM_ALONE)
                        extra[j] = CM_DOT(extra[j], (uint16)(CM_FLIP), y[j]);
                }
                CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i) {
                    const uint16 x = (uint16)(words[(i * CM_K + k) / 4]);
                    CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                        sum[i][j] = CM_DOT(sum[i][j], x, y[j]);
                }
            }
            CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j) {
                    const int at = (top + i) * CM_N + (left + j) * 16;
                    sum[i][j] -= CM_ALONE ? extra[left + j] : (uint16)(0);
                    CM_VECTOR(CM_C_V, out, at) = CM_END(sum[i][j], CM_VECTOR(const CM_C_V, c, at));
                }
        }
    }
}
#endif // CM_OP_MUL_ADD_BYTES

#ifdef CM_OP_MUL_ADD_BFLOAT16
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    CM_EACH_REGISTER_BLOCK for (int down = 0; down < CM_M / CM_BLOCK_M; ++down)
        CM_EACH_REGISTER_BLOCK for (int along = 0; along < CM_N / 16 / CM_BLOCK_N; ++along) {
            const int top = down * CM_BLOCK_M, left = along * CM_BLOCK_N;
            float16 sum[CM_BLOCK_M][CM_BLOCK_N];
            CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                    sum[i][j] = CM_VECTOR(const float16, c, (top + i) * CM_N + (left + j) * 16);
            CM_EACH_K for (int k = 0; k < CM_K; k += 2) {
                uint16 y[CM_BLOCK_N];
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                    y[j] = CM_VECTOR(const uint16, b, k * CM_N + (left + j) * 32);
                CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i) {
                    const uint16 x = (uint16)(CM_VECTOR(const uint, a, (top + i) * CM_K + k));
                    CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                        sum[i][j] = cm_vdpbf16ps(sum[i][j], x, y[j]);
                }
            }
            CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                    CM_VECTOR(float16, out, (top + i) * CM_N + (left + j) * 16) = sum[i][j];
        }
}
#endif // CM_OP_MUL_ADD_BFLOAT16

// Loop over all of K for each block of two by two tiles of C; blocks at the edges may have fewer tiles.
#ifdef CM_OP_MUL_ADD_TILES
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    const ulong row_of_a = CM_K * sizeof(CM_A), row_of_c = CM_N * sizeof(CM_C);
    const ulong row_of_b = CM_N * CM_PACK * sizeof(CM_B);
    uint16 tiles[128];
    cm_tiles_begin(tiles);
    CM_ROLL for (int i = 0; i < CM_M; i += 32)
        CM_ROLL for (int j = 0; j < CM_N; j += 32) {
            const int at = i * CM_N + j, below = at + 16 * CM_N;
            const bool two_down = CM_M % 32 == 0 || i + 16 < CM_M, two_along = CM_N % 32 == 0 || j + 16 < CM_N;
            cm_tile_load(tiles, 0, c + at, row_of_c);
            if (two_along)
                cm_tile_load(tiles, 1, c + at + 16, row_of_c);
            if (two_down)
                cm_tile_load(tiles, 2, c + below, row_of_c);
            if (two_down && two_along)
                cm_tile_load(tiles, 3, c + below + 16, row_of_c);
            CM_ROLL for (int k = 0; k < CM_K; k += 16 * CM_PACK) {
                cm_tile_load(tiles, 4, a + i * CM_K + k, row_of_a);
                cm_tile_load(tiles, 6, b + k * CM_N + j * CM_PACK, row_of_b);
                CM_TILE_DOT(tiles, 0);
                if (two_along) {
                    cm_tile_load(tiles, 7, b + k * CM_N + (j + 16) * CM_PACK, row_of_b);
                    CM_TILE_DOT(tiles, 1);
                }
                if (two_down) {
                    cm_tile_load(tiles, 5, a + (i + 16) * CM_K + k, row_of_a);
                    CM_TILE_DOT(tiles, 2);
                }
                if (two_down && two_along)
                    CM_TILE_DOT(tiles, 3);
            }
            cm_tile_store(tiles, 0, out + at, row_of_c);
            if (two_along)
                cm_tile_store(tiles, 1, out + at + 16, row_of_c);
            if (two_down)
                cm_tile_store(tiles, 2, out + below, row_of_c);
            if (two_down && two_along)
                cm_tile_store(tiles, 3, out + below + 16, row_of_c);
        }
    cm_tiles_end(tiles);
}
#endif // CM_OP_MUL_ADD_TILES
