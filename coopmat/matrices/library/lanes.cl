// Cooperative matrices over the lanes of the device's subgroups. In A, B and C, lane l holds the columns c with c %
// CM_SG == l, in order (`Columns` in matrices/lane_layouts.py). Other sections are in general.cl.

#ifdef CM_PROLOGUE
#define CM_LANE ((int)get_sub_group_local_id())
#define CM_BROADCAST(x, lane) sub_group_broadcast(x, lane)
#endif // CM_PROLOGUE

// A is CM_M x CM_K of CM_A, B is CM_K x CM_N of CM_B, C and the result are CM_M x CM_N of CM_C. A lane has CM_OWN
// columns of B and C. The sum has the type CM_SUM: floating point of at least C's precision, integers modulo 2^bits.
// CM_WIDEN_A and CM_WIDEN_B convert to this type. CM_BEGIN(c) is the initial sum, CM_END(sum, c) the result.
#ifdef CM_OP_MUL_ADD
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    CM_SUM sum[CM_OWN][CM_M];
    CM_EACH for (int s = 0; s < CM_OWN; ++s)
        CM_EACH for (int i = 0; i < CM_M; ++i)
            sum[s][i] = CM_BEGIN(c[s * CM_M + i]);
    CM_EACH_K for (int k = 0; k < CM_K; ++k)
        CM_EACH for (int i = 0; i < CM_M; ++i) {
            const CM_SUM x = sub_group_broadcast(CM_WIDEN_A(a[k / CM_SG * CM_M + i]), k % CM_SG);
            CM_EACH for (int s = 0; s < CM_OWN; ++s)
                sum[s][i] = CM_FMA(x, CM_WIDEN_B(b[s * CM_K + k]), sum[s][i]);
        }
    CM_EACH for (int s = 0; s < CM_OWN; ++s)
        CM_EACH for (int i = 0; i < CM_M; ++i)
            out[s * CM_M + i] = CM_END(sum[s][i], c[s * CM_M + i]);
}
#endif // CM_OP_MUL_ADD
