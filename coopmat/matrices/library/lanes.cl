// Cooperative matrices over the lanes of a subgroup: lane l holds the columns c with c % CM_SG == l, of A, B and C alike.
//
// Each section below is a template for one operation; subgroup_of_one.cl tells how they are instantiated. A lane's
// columns are numbered by slots s = c / CM_SG, CM_SLOTS of them, and lie one after the other: component (r, c) is at
// s * CM_ROWS + r. Where CM_SG does not divide CM_COLUMNS, some lanes hold a column less: CM_HOLDS(s) is false there.
//
//   CM_T, CM_ROWS, CM_COLUMNS   the matrix's component type and shape
//   CM_SG, CM_SLOTS             the subgroup's size; slots of the matrix: CM_COLUMNS / CM_SG, rounded up
//   CM_SPACE, CM_OFFSET(r, c)   address space of the memory; where component (r, c) lies in it, from `stride`
//   CM_PLACE, CM_INSIDE(r, c)   the parameters that tell of the memory; whether (r, c) is inside, 1 where not checked
//   CM_MAP(x), CM_MAP(x, y)     the component-wise operation
//   CM_BARRIER                  around a store that other lanes may see: they must not read too late, or too early
//
// All lanes must call the multiply-add, and stores to private and local memory, together. `out` may be any of the
// inputs.

#ifdef CM_PROLOGUE
#define CM_FUNCTION static inline __attribute__((always_inline))
#define CM_UNROLL __attribute__((opencl_unroll_hint))
#define CM_ROLL __attribute__((opencl_unroll_hint(1)))
#define CM_FITS(n, at, size) ((at) < (size) && (uint)(n) <= (size) - (at))
#define CM_LANE ((int)get_sub_group_local_id())
#define CM_COLUMN(s) ((s) * CM_SG + CM_LANE)
#define CM_HOLDS(s) (CM_COLUMNS % CM_SG == 0 || CM_COLUMN(s) < CM_COLUMNS)
#endif // CM_PROLOGUE

#ifdef CM_OP_LOAD
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        CM_EACH for (int r = 0; r < CM_ROWS; ++r)
            out[s * CM_ROWS + r] =
                CM_HOLDS(s) && CM_INSIDE(r, CM_COLUMN(s)) ? p[CM_OFFSET(r, CM_COLUMN(s))] : (CM_T)0;
}
#endif // CM_OP_LOAD

#ifdef CM_OP_STORE
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    CM_BARRIER
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        if (CM_HOLDS(s))
            CM_EACH for (int r = 0; r < CM_ROWS; ++r)
                if (CM_INSIDE(r, CM_COLUMN(s)))
                    p[CM_OFFSET(r, CM_COLUMN(s))] = m[s * CM_ROWS + r];
    CM_BARRIER
}
#endif // CM_OP_STORE

// To private memory, where every lane stores all of the matrix; values travel as CM_W. The lanes call it together.
#ifdef CM_OP_STORE_ALL
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
        CM_EACH for (int r = 0; r < CM_ROWS; ++r) {
            const CM_T x = CM_T_OF(sub_group_broadcast(CM_W_OF(m[c / CM_SG * CM_ROWS + r]), c % CM_SG));
            if (CM_INSIDE(r, c))
                p[CM_OFFSET(r, c)] = x;
        }
}
#endif // CM_OP_STORE_ALL

#ifdef CM_OP_FILL
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_T value)
{
    CM_EACH for (int i = 0; i < CM_SLOTS * CM_ROWS; ++i)
        out[i] = value;
}
#endif // CM_OP_FILL

#ifdef CM_OP_BINARY // only where a component is held: an integer division must not see what lies elsewhere
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *a, __private const CM_T *b)
{
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        if (CM_HOLDS(s))
            CM_EACH for (int i = s * CM_ROWS; i < (s + 1) * CM_ROWS; ++i)
                out[i] = CM_MAP(a[i], b[i]);
}
#endif // CM_OP_BINARY

#ifdef CM_OP_SCALAR_MUL
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m, CM_T scalar)
{
    CM_EACH for (int i = 0; i < CM_SLOTS * CM_ROWS; ++i)
        out[i] = CM_MAP(m[i], scalar);
}
#endif // CM_OP_SCALAR_MUL

#ifdef CM_OP_UNARY // negation, and conversion from CM_FROM
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_FROM *m)
{
    CM_EACH for (int i = 0; i < CM_SLOTS * CM_ROWS; ++i)
        out[i] = CM_MAP(m[i]);
}
#endif // CM_OP_UNARY

// CM_ROWS and CM_COLUMNS are the result's: its row r was a column, which lane r % CM_SG holds. The lanes call it
// together.
#ifdef CM_OP_TRANSPOSE
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m)
{
    CM_T t[CM_SLOTS * CM_ROWS];
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; ++c) {
            const CM_T x = CM_T_OF(sub_group_broadcast(CM_W_OF(m[r / CM_SG * CM_COLUMNS + c]), r % CM_SG));
            if (c % CM_SG == CM_LANE)
                t[c / CM_SG * CM_ROWS + r] = x;
        }
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        if (CM_HOLDS(s))
            CM_EACH for (int i = s * CM_ROWS; i < (s + 1) * CM_ROWS; ++i)
                out[i] = t[i];
}
#endif // CM_OP_TRANSPOSE

// A is CM_M x CM_K of CM_A, B is CM_K x CM_N of CM_B, C and the result are CM_M x CM_N of CM_C; CM_SLOTS are those of
// B and C. The sum is kept as CM_SUM: floating point at C's precision or better, integers modulo 2^bits. CM_WIDEN_A, _B
// convert to that; CM_BEGIN(c) starts a sum, CM_END(sum, c) is the result.
#ifdef CM_OP_MUL_ADD
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    CM_SUM sum[CM_SLOTS][CM_M];
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        CM_EACH for (int i = 0; i < CM_M; ++i)
            sum[s][i] = CM_BEGIN(c[s * CM_M + i]);
    CM_EACH_K for (int k = 0; k < CM_K; ++k)
        CM_EACH for (int i = 0; i < CM_M; ++i) {
            const CM_SUM x = sub_group_broadcast(CM_WIDEN_A(a[k / CM_SG * CM_M + i]), k % CM_SG);
            CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
                sum[s][i] = CM_FMA(x, CM_WIDEN_B(b[s * CM_K + k]), sum[s][i]);
        }
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        CM_EACH for (int i = 0; i < CM_M; ++i)
            out[s * CM_M + i] = CM_END(sum[s][i], c[s * CM_M + i]);
}
#endif // CM_OP_MUL_ADD

#ifdef CM_OP_LENGTH // of this lane: the first slots are full, so what it holds comes first
CM_FUNCTION uint CM_NAME(void)
{
    return (CM_COLUMNS + CM_SG - 1 - CM_LANE) / CM_SG * CM_ROWS;
}
#endif // CM_OP_LENGTH

#ifdef CM_OP_GET
CM_FUNCTION CM_T CM_NAME(__private const CM_T *m, uint i)
{
    return m[i];
}
#endif // CM_OP_GET

#ifdef CM_OP_SET
CM_FUNCTION void CM_NAME(__private CM_T *out, uint i, CM_T value)
{
    out[i] = value;
}
#endif // CM_OP_SET

#ifdef CM_OP_COORD // x is the row, y the column
CM_FUNCTION uint2 CM_NAME(uint i)
{
    return (uint2)(i % CM_ROWS, i / CM_ROWS * CM_SG + CM_LANE);
}
#endif // CM_OP_COORD
