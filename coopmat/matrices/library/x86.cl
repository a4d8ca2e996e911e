// Cooperative matrices on CPUs that have dot products of their own: a work-item holds whole matrices, as in
// subgroup_of_one.cl, and packs of rows of B (`Interleaved` in matrices/holdings.py) are what an instruction takes.
//
//   CM_PACK                     rows of B in a pack, whose components of a column are a word
//   CM_JOIN(r, c)               a pack of rows in memory, as words for 16 columns
//   CM_FLIP, CM_DOT(c, x, y)    what makes A's bytes of the other sign, where both are of the same, and the instruction
//
// What bytes of the other sign add to every component of a column is subtracted again: 128 times the column's sum.

#ifdef CM_PROLOGUE
// What the instructions are described to do (Intel's SDM, volume 2: VPDPBUSD, VDPBF16PS); x86_prelude.cl has them.
CM_FUNCTION uint16 cm_vpdpbusd(uint16 c, uint16 u, uint16 s)
{
    for (int i = 0; i < 32; i += 8)
        c += (u >> (uint16)(i) & (uint16)(255)) * as_uint16(as_int16(s << (uint16)(24 - i)) >> (int16)(24));
    return c;
}
CM_FUNCTION float16 cm_vdpbf16ps(float16 c, uint16 a, uint16 b)
{
    c = fma(as_float16(a & (uint16)(0xffff0000u)), as_float16(b & (uint16)(0xffff0000u)), c);
    return fma(as_float16(a << (uint16)(16)), as_float16(b << (uint16)(16)), c);
}
#endif // CM_PROLOGUE

#ifdef CM_OP_LOAD_INTERLEAVED_ROWM
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; r += CM_PACK)
        CM_EACH for (int c = 0; c < CM_COLUMNS; c += 16)
            CM_VECTOR(uint16, out, CM_SLOT(r, c)) = CM_JOIN(r, c);
}
#endif // CM_OP_LOAD_INTERLEAVED_ROWM

#ifdef CM_OP_LOAD_INTERLEAVED_COLM
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; r += CM_PACK)
        CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
            CM_VECTOR(uint, out, CM_SLOT(r, c)) = CM_WORD(p + CM_OFFSET(r, c));
}
#endif // CM_OP_LOAD_INTERLEAVED_COLM

#ifdef CM_OP_LOAD_INTERLEAVED_PACKED
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; r += CM_PACK)
        CM_EACH for (int i = 0; i < CM_COLUMNS * CM_PACK; i += 16)
            CM_VECTOR(CM_V, out, CM_SLOT(r, 0) + i) = vload16(0, p + CM_OFFSET(r, 0) + i);
}
#endif // CM_OP_LOAD_INTERLEAVED_PACKED

#ifdef CM_OP_MUL_ADD_BYTES
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    uint16 sum[CM_M][CM_N / 16], extra[CM_N / 16];
    CM_EACH for (int i = 0; i < CM_M; ++i)
        CM_EACH for (int j = 0; j < CM_N / 16; ++j)
            sum[i][j] = CM_BEGIN(CM_VECTOR(const CM_C_V, c, i * CM_N + j * 16));
    CM_EACH for (int j = 0; j < CM_N / 16; ++j)
        extra[j] = (uint16)(0);
    CM_EACH_K for (int k = 0; k < CM_K; k += 4) {
        uint16 y[CM_N / 16];
        CM_EACH for (int j = 0; j < CM_N / 16; ++j) {
            y[j] = CM_VECTOR(const uint16, b, k * CM_N + j * 64);
            if (CM_FLIP)
                extra[j] = CM_DOT(extra[j], (uint16)(CM_FLIP), y[j]);
        }
        CM_EACH for (int i = 0; i < CM_M; ++i) {
            const uint16 x = (uint16)(CM_VECTOR(const uint, a, i * CM_K + k) ^ CM_FLIP);
            CM_EACH for (int j = 0; j < CM_N / 16; ++j)
                sum[i][j] = CM_DOT(sum[i][j], x, y[j]);
        }
    }
    CM_EACH for (int i = 0; i < CM_M; ++i)
        CM_EACH for (int j = 0; j < CM_N / 16; ++j)
            CM_VECTOR(CM_C_V, out, i * CM_N + j * 16) =
                CM_END((sum[i][j] - extra[j]), CM_VECTOR(const CM_C_V, c, i * CM_N + j * 16));
}
#endif // CM_OP_MUL_ADD_BYTES

#ifdef CM_OP_MUL_ADD_BFLOAT16
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    float16 sum[CM_M][CM_N / 16];
    CM_EACH for (int i = 0; i < CM_M; ++i)
        CM_EACH for (int j = 0; j < CM_N / 16; ++j)
            sum[i][j] = CM_VECTOR(const float16, c, i * CM_N + j * 16);
    CM_EACH_K for (int k = 0; k < CM_K; k += 2) {
        uint16 y[CM_N / 16];
        CM_EACH for (int j = 0; j < CM_N / 16; ++j)
            y[j] = CM_VECTOR(const uint16, b, k * CM_N + j * 32);
        CM_EACH for (int i = 0; i < CM_M; ++i) {
            const uint16 x = (uint16)(CM_VECTOR(const uint, a, i * CM_K + k));
            CM_EACH for (int j = 0; j < CM_N / 16; ++j)
                sum[i][j] = cm_vdpbf16ps(sum[i][j], x, y[j]);
        }
    }
    CM_EACH for (int i = 0; i < CM_M; ++i)
        CM_EACH for (int j = 0; j < CM_N / 16; ++j)
            CM_VECTOR(float16, out, i * CM_N + j * 16) = sum[i][j];
}
#endif // CM_OP_MUL_ADD_BFLOAT16
