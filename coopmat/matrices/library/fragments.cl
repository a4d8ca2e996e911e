// Cooperative matrices in the lane layout of a matrix instruction's operands (`Fragments` in matrices/lane_layouts.py).
// Tiles are ordered down the columns, so that a lane's registers are consecutive components. Everything else is as in
// lanes.cl.
//
//   CM_TILES_M, _N, _K          the number of tiles along A's rows, along B's columns, and along K
//   CM_A_TILE, _B_TILE, _C_TILE the components of a tile in a lane, which are a vector CM_A_REGISTERS, ...
//   CM_A_JOINED(p), _B_         this vector, of the components at p
//   CM_INSTRUCTION(a, b, c)     the product of a tile of A and a tile of B, plus a tile of C

#ifdef CM_PROLOGUE
#define CM_REGISTERS(type, m, i) (*(__private type *)((m) + (i)))
#endif // CM_PROLOGUE

#ifdef CM_OP_MUL_ADD_FRAGMENTS
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    CM_C_REGISTERS sum[CM_TILES_M * CM_TILES_N];
    CM_EACH for (int t = 0; t < CM_TILES_M * CM_TILES_N; ++t)
        sum[t] = CM_BEGIN(CM_REGISTERS(const CM_C_REGISTERS, c, t * CM_C_TILE));
    CM_EACH_K for (int k = 0; k < CM_TILES_K; ++k)
        CM_EACH for (int i = 0; i < CM_TILES_M; ++i) {
            const CM_A_REGISTERS x = CM_A_JOINED(a + (k * CM_TILES_M + i) * CM_A_TILE);
            CM_EACH for (int j = 0; j < CM_TILES_N; ++j) {
                const CM_B_REGISTERS y = CM_B_JOINED(b + (j * CM_TILES_K + k) * CM_B_TILE);
                sum[j * CM_TILES_M + i] = CM_INSTRUCTION(x, y, sum[j * CM_TILES_M + i]);
            }
        }
    CM_EACH for (int t = 0; t < CM_TILES_M * CM_TILES_N; ++t)
        CM_REGISTERS(CM_C_REGISTERS, out, t * CM_C_TILE) =
            CM_END(sum[t], CM_REGISTERS(const CM_C_REGISTERS, c, t * CM_C_TILE));
}
#endif // CM_OP_MUL_ADD_FRAGMENTS
