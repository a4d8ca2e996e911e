// Cooperative matrices for devices without subgroups. A subgroup is CM_SG consecutive work-items of a work-group, by
// local linear id. Its lanes hold columns as in lanes.cl. Other sections are in general.cl.
//
//   scratch                     local memory for the whole work-group, unused between calls
//   CM_BLOCK                    the number of rows of A that are exchanged at a time
//
// All work-items of a work-group must call these functions together, because they contain barriers.

#ifdef CM_PROLOGUE
#define CM_LINEAR_ID \
    ((uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)))
#define CM_WORK_ITEMS ((uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)))
#define CM_LANE ((int)(CM_LINEAR_ID % CM_SG))
// This subgroup's part of `scratch`: `count` values of `type` for each lane.
#define CM_SHARE(type, count) ((__local type *)scratch + CM_LINEAR_ID / CM_SG * CM_SG * (count))
#define CM_SIZE min((uint)CM_SG, CM_WORK_ITEMS - CM_LINEAR_ID / CM_SG * CM_SG)
#define CM_BIT_IN(word, i) ((i) / 32 == (word) ? 1u << ((i) & 31) : 0u)
#define CM_BIT(i) ((uint4)(CM_BIT_IN(0, i), CM_BIT_IN(1, i), CM_BIT_IN(2, i), CM_BIT_IN(3, i)))
#define CM_EXCHANGE barrier(CLK_LOCAL_MEM_FENCE)
#endif // CM_PROLOGUE

// A store to private memory: every work-item stores the whole matrix.
#ifdef CM_OP_STORE_ALL
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE, __local ulong *scratch)
{
    __local CM_T *share = CM_SHARE(CM_T, 1);
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s) {
        share[lane] = m[s];
        CM_EXCHANGE;
        CM_EACH for (int i = 0; i < CM_SG; ++i)
            if (CM_HOLDS(i, s) && CM_INSIDE(CM_ROW(i, s), CM_COLUMN(i, s)))
                p[CM_OFFSET(CM_ROW(i, s), CM_COLUMN(i, s))] = share[i];
        CM_EXCHANGE;
    }
}
#endif // CM_OP_STORE_ALL

#ifdef CM_OP_STORE_NIBBLES // see general.cl
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE, __local ulong *scratch)
{
    __local CM_T *share = CM_SHARE(CM_T, 1);
    const int lane = CM_LANE;
    CM_BARRIER
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s) {
        share[lane] = m[s];
        CM_EXCHANGE;
        CM_EACH for (int n = 0; n < CM_SG; ++n) {
            const int r = CM_ROW(n, s), c = CM_COLUMN(n, s);
            const size_t i = CM_OFFSET(r, c);
            if (CM_HOLDS(n, s) && CM_INSIDE(r, c) && CM_STORES(CM_LINE(r, c)))
                CM_PUT_NIBBLE(p, i, share[n]);
        }
        CM_EXCHANGE;
    }
    CM_BARRIER
}
#endif // CM_OP_STORE_NIBBLES

// The operand has CM_FROM_SLOTS slots. The component in slot s of the operand's lane l becomes component (CM_TO_ROW(l,
// s), CM_TO_COLUMN(l, s)) of the result. For an empty slot, these are outside of the result.
#ifdef CM_OP_MOVE
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_FROM *m, __local ulong *scratch)
{
    CM_T t[CM_SLOTS];
    __local CM_FROM *share = CM_SHARE(CM_FROM, 1);
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_FROM_SLOTS; ++s) {
        share[lane] = m[s];
        CM_EXCHANGE;
        CM_EACH for (int i = 0; i < CM_SG; ++i) {
            const int r = CM_TO_ROW(i, s), c = CM_TO_COLUMN(i, s);
            if (r < CM_ROWS && c < CM_COLUMNS && CM_HOLDER(r, c) == lane)
                t[CM_SLOT(r, c)] = CM_MAP(share[i]);
        }
        CM_EXCHANGE;
    }
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        if (CM_HOLDS(lane, s))
            out[s] = t[s];
}
#endif // CM_OP_MOVE

// As in general.cl.
#ifdef CM_OP_REDUCE
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m, __local ulong *scratch)
{
    __local CM_T *share = CM_SHARE(CM_T, 1);
    const int lane = CM_LANE;
    CM_T value[CM_LINES];
    bool begun[CM_LINES];
    CM_EACH for (int l = 0; l < CM_LINES; ++l) {
        value[l] = 0;
        begun[l] = false;
    }
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        if (CM_HOLDS(lane, s)) {
            const int l = CM_LINE(CM_ROW(lane, s), CM_COLUMN(lane, s));
            value[l] = begun[l] ? CM_F(value[l], m[s]) : m[s];
            begun[l] = true;
        }
    CM_EACH for (int l = 0; l < CM_LINES; ++l) {
        share[lane] = value[l];
        CM_EXCHANGE;
        CM_T x = share[CM_FIRST_LANE(l)];
        CM_EACH for (int i = 1; i < CM_PARTS; ++i)
            x = CM_F(x, share[CM_FIRST_LANE(l) + i * CM_STEP]);
        value[l] = x;
        CM_EXCHANGE;
    }
    CM_EACH for (int s = 0; s < CM_R_SLOTS; ++s)
        if (CM_R_HOLDS(lane, s))
            out[s] = value[CM_LINE(CM_R_ROW(lane, s), CM_R_COLUMN(lane, s))];
}
#endif // CM_OP_REDUCE

// As in general.cl, but components are combined in the order in which they are exchanged.
#ifdef CM_OP_REDUCE_BLOCKS
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m, __local ulong *scratch)
{
    CM_T t[CM_R_SLOTS];
    bool begun[CM_R_SLOTS];
    __local CM_T *share = CM_SHARE(CM_T, 1);
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_R_SLOTS; ++s)
        begun[s] = false;
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s) {
        share[lane] = m[s];
        CM_EXCHANGE;
        CM_EACH for (int i = 0; i < CM_SG; ++i) {
            const int r = CM_ROW(i, s) / 2, c = CM_COLUMN(i, s) / 2;
            if (CM_HOLDS(i, s) && CM_R_HOLDER(r, c) == lane) {
                const int at = CM_R_SLOT(r, c);
                t[at] = begun[at] ? CM_F(t[at], share[i]) : share[i];
                begun[at] = true;
            }
        }
        CM_EXCHANGE;
    }
    CM_EACH for (int s = 0; s < CM_R_SLOTS; ++s)
        if (CM_R_HOLDS(lane, s))
            out[s] = t[s];
}
#endif // CM_OP_REDUCE_BLOCKS

// As in lanes.cl.
#ifdef CM_OP_MUL_ADD
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c, __local ulong *scratch)
{
    CM_SUM sum[CM_OWN][CM_M];
    __local CM_SUM *share = CM_SHARE(CM_SUM, CM_BLOCK);
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_OWN; ++s)
        CM_EACH for (int i = 0; i < CM_M; ++i)
            sum[s][i] = CM_BEGIN(c[s * CM_M + i]);
    CM_EACH_K for (int first = 0; first < CM_K; first += CM_SG)
        CM_EACH_BLOCK for (int top = 0; top < CM_M; top += CM_BLOCK) {
            CM_EACH for (int i = top; i < top + CM_BLOCK && i < CM_M; ++i)
                share[(i - top) * CM_SG + lane] = CM_WIDEN_A(a[first / CM_SG * CM_M + i]);
            CM_EXCHANGE;
            CM_EACH_K for (int k = first; k < first + CM_SG && k < CM_K; ++k)
                CM_EACH for (int i = top; i < top + CM_BLOCK && i < CM_M; ++i) {
                    const CM_SUM x = share[(i - top) * CM_SG + k - first];
                    CM_EACH for (int s = 0; s < CM_OWN; ++s)
                        sum[s][i] = CM_FMA(x, CM_WIDEN_B(b[s * CM_K + k]), sum[s][i]);
                }
            CM_EXCHANGE;
        }
    CM_EACH for (int s = 0; s < CM_OWN; ++s)
        CM_EACH for (int i = 0; i < CM_M; ++i)
            out[s * CM_M + i] = CM_END(sum[s][i], c[s * CM_M + i]);
}
#endif // CM_OP_MUL_ADD
