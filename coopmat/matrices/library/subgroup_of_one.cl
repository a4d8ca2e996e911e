// Cooperative matrices for a subgroup of one: a work-item holds whole matrices, row by row, in private memory.
//
// Other sections are in general.cl, which explains how sections are instantiated.
//
//   CM_T, CM_ROWS, CM_COLUMNS   the matrix's component type and shape
//   CM_WIDTH, CM_V              rows are accessed as vectors CM_V of CM_WIDTH components; CM_WIDTH divides CM_COLUMNS
//   CM_SPACE, CM_OFFSET(r, c)   the address space of the memory; the offset of component (r, c), a function of `stride`
//   CM_PLACE, CM_INSIDE(r, c)   the parameters that describe the memory; whether (r, c) is inside, in checked accesses
//   CM_UNCHECKED, CM_FROM_PACK  the same access without checks; whether a packed tile starts with a pack of rows
//   CM_VLOAD(p), CM_VSTORE(v, p)  load and store a CM_V in that memory, aligned to a component only
//   CM_MAP(x), CM_MAP(x, y)     the component-wise operation, on CM_V
//
// Matrices are aligned to a CM_V. They are only accessed at offsets that unrolling makes constant, and always in the
// same vectors. Therefore a compiler can keep them in registers. `out` may be any of the inputs.

#ifdef CM_PROLOGUE
#define CM_VECTOR(type, m, i) (*(__private type *)((m) + (i)))
#define CM_LANE 0
#define CM_BROADCAST(x, lane) (x)
#endif // CM_PROLOGUE

#ifdef CM_OP_LOAD_WHOLE_ROWM
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; c += CM_WIDTH)
            CM_VECTOR(CM_V, out, r * CM_COLUMNS + c) = CM_VLOAD(p + CM_OFFSET(r, c));
}
#endif // CM_OP_LOAD_WHOLE_ROWM

// Blocks of 16x16 are read column by column and transposed. Each of four steps interleaves the components of two
// vectors that are eight apart: CM_LOW(x, y) their lower halves, CM_HIGH(x, y) their upper halves. Then the vectors are
// rows.
#ifdef CM_OP_LOAD_WHOLE_COLM
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; r += 16)
        CM_EACH for (int c = 0; c < CM_COLUMNS; c += 16) {
            CM_V16 x[16], y[16];
            CM_UNROLL for (int i = 0; i < 16; ++i)
                x[i] = vload16(0, p + CM_OFFSET(r, c + i));
            CM_UNROLL for (int step = 0; step < 4; ++step) {
                CM_UNROLL for (int i = 0; i < 8; ++i) {
                    y[2 * i] = CM_LOW(x[i], x[i + 8]);
                    y[2 * i + 1] = CM_HIGH(x[i], x[i + 8]);
                }
                CM_UNROLL for (int i = 0; i < 16; ++i)
                    x[i] = y[i];
            }
            CM_UNROLL for (int i = 0; i < 16; ++i)
                CM_VECTOR(CM_V16, out, (r + i) * CM_COLUMNS + c) = x[i];
        }
}
#endif // CM_OP_LOAD_WHOLE_COLM

#ifdef CM_OP_LOAD_WHOLE_COLM_LINE // a single column, which is contiguous
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; r += 16) {
        const CM_V16 x = vload16(0, p + CM_OFFSET(r, 0));
        CM_UNROLL for (int i = 0; i < 16; ++i)
            out[r + i] = ((__private const CM_T *)&x)[i];
    }
}
#endif // CM_OP_LOAD_WHOLE_COLM_LINE

#ifdef CM_OP_LOAD_EACH // rows are not contiguous in memory, or each component must be accessed exactly once
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
            out[CM_SLOT(r, c)] = p[CM_OFFSET(r, c)];
}
#endif // CM_OP_LOAD_EACH

// Components of 4 bits, CM_WIDTH at a time: CM_NIBBLES(p) is a CM_V of those in the bytes from p on.
#ifdef CM_OP_LOAD_NIBBLES_WHOLE
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    if (stride % 2 == 0)
        CM_EACH for (int r = 0; r < CM_ROWS; ++r)
            CM_EACH for (int c = 0; c < CM_COLUMNS; c += CM_WIDTH)
                CM_VECTOR(CM_V, out, r * CM_COLUMNS + c) = CM_NIBBLES(p + CM_OFFSET(r, c) / 2);
    else
        CM_EACH for (int r = 0; r < CM_ROWS; ++r)
            CM_EACH for (int c = 0; c < CM_COLUMNS; ++c) {
                const size_t i = CM_OFFSET(r, c);
                out[CM_SLOT(r, c)] = CM_CODE(p[i / 2] >> i % 2 * 4);
            }
}
#endif // CM_OP_LOAD_NIBBLES_WHOLE

#ifdef CM_OP_LOAD_CHECKED
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    if (CM_FITS(CM_ROWS, row, rows) && CM_FITS(CM_COLUMNS, column, columns) && CM_FROM_PACK)
        CM_UNCHECKED(out, p + CM_OFFSET(0, 0), stride);
    else
        CM_EACH for (int r = 0; r < CM_ROWS; ++r)
            CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
                out[CM_SLOT(r, c)] = CM_INSIDE(r, c) ? p[CM_OFFSET(r, c)] : (CM_T)0;
}
#endif // CM_OP_LOAD_CHECKED

#ifdef CM_OP_STORE_WHOLE_ROWM
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; c += CM_WIDTH)
            CM_VSTORE(CM_VECTOR(const CM_V, m, r * CM_COLUMNS + c), p + CM_OFFSET(r, c));
}
#endif // CM_OP_STORE_WHOLE_ROWM

#ifdef CM_OP_STORE_EACH
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
            p[CM_OFFSET(r, c)] = m[CM_SLOT(r, c)];
}
#endif // CM_OP_STORE_EACH

#ifdef CM_OP_STORE_CHECKED
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    if (CM_FITS(CM_ROWS, row, rows) && CM_FITS(CM_COLUMNS, column, columns) && CM_FROM_PACK)
        CM_UNCHECKED(p + CM_OFFSET(0, 0), m, stride);
    else
        CM_EACH for (int r = 0; r < CM_ROWS; ++r)
            CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
                if (CM_INSIDE(r, c))
                    p[CM_OFFSET(r, c)] = m[CM_SLOT(r, c)];
}
#endif // CM_OP_STORE_CHECKED

#ifdef CM_OP_FILL
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_T value)
{
    CM_EACH for (int i = 0; i < CM_ROWS * CM_COLUMNS; i += CM_WIDTH)
        CM_VECTOR(CM_V, out, i) = (CM_V)(value);
}
#endif // CM_OP_FILL

#ifdef CM_OP_BINARY
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *a, __private const CM_T *b)
{
    CM_EACH for (int i = 0; i < CM_ROWS * CM_COLUMNS; i += CM_WIDTH)
        CM_VECTOR(CM_V, out, i) = CM_MAP(CM_VECTOR(const CM_V, a, i), CM_VECTOR(const CM_V, b, i));
}
#endif // CM_OP_BINARY

#ifdef CM_OP_SCALAR_MUL
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m, CM_T scalar)
{
    CM_EACH for (int i = 0; i < CM_ROWS * CM_COLUMNS; i += CM_WIDTH)
        CM_VECTOR(CM_V, out, i) = CM_MAP(CM_VECTOR(const CM_V, m, i), (CM_V)(scalar));
}
#endif // CM_OP_SCALAR_MUL

#ifdef CM_OP_UNARY // negation, and conversion from CM_FROM (vectors CM_FROM_V)
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_FROM *m)
{
    CM_EACH for (int i = 0; i < CM_ROWS * CM_COLUMNS; i += CM_WIDTH)
        CM_VECTOR(CM_V, out, i) = CM_MAP(CM_VECTOR(const CM_FROM_V, m, i));
}
#endif // CM_OP_UNARY

#ifdef CM_OP_COMPONENT_WISE
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_OPERANDS)
{
    CM_EACH for (int i = 0; i < CM_ROWS * CM_COLUMNS; i += CM_WIDTH)
        CM_VECTOR(CM_V, out, i) = CM_VALUE(i);
}
#endif // CM_OP_COMPONENT_WISE

// The function takes as many components of a row as a vector has; CM_VALUE(r, c, i) calls it for those from (r, c) on.
#ifdef CM_OP_MAP_WIDE
CM_FUNCTION void CM_NAME(__private CM_T *out CM_PARAMETERS)
{
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; c += CM_WIDTH)
            CM_VECTOR(CM_V, out, r * CM_COLUMNS + c) = CM_VALUE(r, c, r * CM_COLUMNS + c);
}
#endif // CM_OP_MAP_WIDE

// Rows are vectors: CM_F_WIDE combines two vectors, CM_HALVES(x) the components of one, with the result CM_HALVED.
#ifdef CM_OP_REDUCE_WIDE_ROW
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m)
{
    CM_EACH for (int r = 0; r < CM_ROWS; ++r) {
        CM_V x = CM_VECTOR(const CM_V, m, r * CM_COLUMNS);
        CM_EACH for (int c = CM_WIDTH; c < CM_COLUMNS; c += CM_WIDTH)
            x = CM_F_WIDE(x, CM_VECTOR(const CM_V, m, r * CM_COLUMNS + c));
        CM_HALVES(x)
        CM_EACH for (int c = 0; c < CM_R_COLUMNS; c += CM_R_WIDTH)
            CM_VECTOR(CM_R_V, out, r * CM_R_COLUMNS + c) = (CM_R_V)(CM_HALVED);
    }
}
#endif // CM_OP_REDUCE_WIDE_ROW

#ifdef CM_OP_REDUCE_WIDE_COLUMN
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m)
{
    CM_EACH for (int c = 0; c < CM_COLUMNS; c += CM_WIDTH) {
        CM_V x = CM_VECTOR(const CM_V, m, c);
        CM_EACH for (int r = 1; r < CM_ROWS; ++r)
            x = CM_F_WIDE(x, CM_VECTOR(const CM_V, m, r * CM_COLUMNS + c));
        CM_EACH for (int r = 0; r < CM_R_ROWS; ++r)
            CM_VECTOR(CM_V, out, r * CM_COLUMNS + c) = x;
    }
}
#endif // CM_OP_REDUCE_WIDE_COLUMN

#ifdef CM_OP_REDUCE_WIDE_ALL
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m)
{
    CM_V x = CM_VECTOR(const CM_V, m, 0);
    CM_EACH for (int i = CM_WIDTH; i < CM_ROWS * CM_COLUMNS; i += CM_WIDTH)
        x = CM_F_WIDE(x, CM_VECTOR(const CM_V, m, i));
    CM_HALVES(x)
    CM_EACH for (int i = 0; i < CM_R_ROWS * CM_R_COLUMNS; i += CM_R_WIDTH)
        CM_VECTOR(CM_R_V, out, i) = (CM_R_V)(CM_HALVED);
}
#endif // CM_OP_REDUCE_WIDE_ALL

// A is CM_M x CM_K of CM_A, B is CM_K x CM_N of CM_B, C and the result are CM_M x CM_N of CM_C. Rows of B and C are
// accessed as CM_B_V and CM_C_V. The sum has vectors CM_SUM_V: floating point of at least C's precision, integers
// modulo 2^bits. CM_WIDEN_A and CM_WIDEN_B convert to this type. CM_BEGIN(c) is the initial sum, CM_END(sum, c) the
// result.
#ifdef CM_OP_MUL_ADD // a block of CM_BLOCK_M rows and CM_BLOCK_N vectors of C fits the registers
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    CM_EACH_REGISTER_BLOCK for (int down = 0; down < CM_M / CM_BLOCK_M; ++down)
        CM_EACH_REGISTER_BLOCK for (int along = 0; along < CM_N / CM_WIDTH / CM_BLOCK_N; ++along) {
            const int top = down * CM_BLOCK_M, left = along * CM_BLOCK_N;
            CM_SUM_V sum[CM_BLOCK_M][CM_BLOCK_N];
            CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                    sum[i][j] = CM_BEGIN(CM_VECTOR(const CM_C_V, c, (top + i) * CM_N + (left + j) * CM_WIDTH));
            CM_EACH_K for (int k = 0; k < CM_K; ++k) {
                CM_SUM_V y[CM_BLOCK_N];
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                    y[j] = CM_WIDEN_B(CM_B_ROW(k, left + j));
                CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i) {
                    const CM_SUM_V x = (CM_SUM_V)(CM_WIDEN_A(a[(top + i) * CM_K + k]));
                    CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j)
                        sum[i][j] = CM_FMA(x, y[j], sum[i][j]);
                }
            }
            CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
                CM_UNROLL for (int j = 0; j < CM_BLOCK_N; ++j) {
                    const int at = (top + i) * CM_N + (left + j) * CM_WIDTH;
                    CM_VECTOR(CM_C_V, out, at) = CM_END(sum[i][j], CM_VECTOR(const CM_C_V, c, at));
                }
        }
}
#endif // CM_OP_MUL_ADD

// B is a column: CM_BLOCK_M sums at a time are computed along K, in vectors of CM_DEPTH, whose components CM_HALVES(x)
// adds.
#ifdef CM_OP_MUL_ADD_COLUMN
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    CM_EACH for (int top = 0; top < CM_M; top += CM_BLOCK_M) {
        CM_SUM_V sum[CM_BLOCK_M];
        CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
            sum[i] = (CM_SUM_V)(0);
        CM_EACH_K for (int k = 0; k < CM_K; k += CM_DEPTH) {
            CM_B_V part; // a column is aligned to a component only
            CM_UNROLL for (int i = 0; i < CM_DEPTH; ++i)
                ((__private CM_B *)&part)[i] = b[k + i];
            const CM_SUM_V y = CM_WIDEN_B(part);
            CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i)
                sum[i] = CM_FMA(CM_WIDEN_A(CM_VECTOR(const CM_A_V, a, (top + i) * CM_K + k)), y, sum[i]);
        }
        CM_UNROLL for (int i = 0; i < CM_BLOCK_M; ++i) {
            const CM_SUM_V x = sum[i];
            CM_HALVES(x)
            out[top + i] = CM_END(CM_HALVED + CM_BEGIN(c[top + i]), c[top + i]);
        }
    }
}
#endif // CM_OP_MUL_ADD_COLUMN

// A's CM_COUNT components are converted in vectors beforehand, instead of individually when used
#ifdef CM_OP_MUL_ADD_WIDENED
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    CM_SUM wide[CM_COUNT] __attribute__((aligned(CM_ALIGNMENT)));
    CM_CONVERT(wide, a);
    CM_MUL_ADD(out, wide, b, c);
}
#endif // CM_OP_MUL_ADD_WIDENED
