// Cooperative matrices in private memory for any lane layout: the sections that follow from the layout alone.
//
// Each section below is a template for one operation. To instantiate a section, define CM_OP_<section>, CM_NAME (the
// function's name) and the macros that the section reads, then include the section; matrices/lowering.py does that. A
// route's file may replace a section, and defines CM_LANE and CM_BROADCAST(x, lane) in its prologue.
//
//   CM_T, CM_ROWS, CM_COLUMNS     the matrix's component type and shape
//   CM_SG, CM_SLOTS               the subgroup's size; the number of slots of a lane, each for one component
//   CM_ROW, CM_COLUMN(l, s)       the row and the column of the component in slot s of lane l
//   CM_HOLDS(l, s)                whether slot s of lane l holds a component; the first CM_HELD slots of this lane do
//   CM_HOLDER, CM_SLOT(r, c)      the lane (if there are several, the first) and the slot that hold component (r, c)
//   CM_FIRST(l)                   the first of the lanes that hold the same components as lane l
//   CM_SPACE, CM_OFFSET(r, c)     the address space of the memory; the offset of component (r, c), a function of `stride`
//   CM_PLACE, CM_INSIDE(r, c)     the parameters that describe the memory; whether (r, c) is inside: 1 if not checked
//   CM_MAP(x), CM_MAP(x, y)       the component-wise operation
//   CM_BARRIER                    the barrier before and after a store: other lanes may read the memory before and after
//   CM_UNSET(t, n)                empty; in routes for tests, fills n components that must all be overwritten
//   CM_W_OF(x), CM_T_OF(x)        a component as the integer that is sent to other lanes, and the reverse conversion
//
// All lanes must call the multiply-add, a transpose and stores to private and local memory together. `out` may be any
// of the inputs. Functions read their lane id once. If the condition and the address of a store read it again after a
// component-wise operation, Intel's CPU compiler omits lanes in loops that are not unrolled (docs/backend.md).

#ifdef CM_PROLOGUE
#define CM_FUNCTION static inline __attribute__((always_inline))
#define CM_UNROLL __attribute__((opencl_unroll_hint))
#define CM_ROLL __attribute__((opencl_unroll_hint(1)))
#define CM_FITS(n, at, size) ((at) < (size) && (uint)(n) <= (size) - (at))
#define CM_PUT_NIBBLE(p, i, x) ((p)[(i) / 2] = (uchar)(((p)[(i) / 2] & 240 >> (i) % 2 * 4) | ((x) & 15) << (i) % 2 * 4))
#endif // CM_PROLOGUE

#ifdef CM_OP_LOAD
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s) {
        const int r = CM_ROW(lane, s), c = CM_COLUMN(lane, s);
        out[s] = CM_HOLDS(lane, s) && CM_INSIDE(r, c) ? p[CM_OFFSET(r, c)] : (CM_T)0;
    }
}
#endif // CM_OP_LOAD

#ifdef CM_OP_STORE
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    const int lane = CM_LANE;
    CM_BARRIER
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s) {
        const int r = CM_ROW(lane, s), c = CM_COLUMN(lane, s);
        if (CM_HOLDS(lane, s) && CM_INSIDE(r, c))
            p[CM_OFFSET(r, c)] = m[s];
    }
    CM_BARRIER
}
#endif // CM_OP_STORE

// Components of 4 bits: a byte of memory has two, the first in its low bits. CM_CODE(x) is a component from these bits.
#ifdef CM_OP_LOAD_NIBBLES
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_SPACE const CM_T *p, CM_PLACE)
{
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s) {
        const int r = CM_ROW(lane, s), c = CM_COLUMN(lane, s);
        const size_t i = CM_OFFSET(r, c);
        out[s] = CM_HOLDS(lane, s) && CM_INSIDE(r, c) ? CM_CODE(p[i / 2] >> i % 2 * 4) : (CM_T)0;
    }
}
#endif // CM_OP_LOAD_NIBBLES

// One lane stores all components of the same byte: CM_STORES(line) is true for that of this row or column.
#ifdef CM_OP_STORE_NIBBLES
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    const int lane = CM_LANE;
    CM_BARRIER
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; ++c) {
            const CM_T x = CM_T_OF(CM_BROADCAST(CM_W_OF(m[CM_SLOT(r, c)]), CM_HOLDER(r, c)));
            if (CM_INSIDE(r, c) && CM_STORES(CM_LINE(r, c))) {
                const size_t i = CM_OFFSET(r, c);
                CM_PUT_NIBBLE(p, i, x);
            }
        }
    CM_BARRIER
}
#endif // CM_OP_STORE_NIBBLES

// A store to private memory: every lane stores the whole matrix.
#ifdef CM_OP_STORE_ALL
CM_FUNCTION void CM_NAME(CM_SPACE CM_T *p, __private const CM_T *m, CM_PLACE)
{
    CM_EACH for (int c = 0; c < CM_COLUMNS; ++c)
        CM_EACH for (int r = 0; r < CM_ROWS; ++r) {
            const CM_T x = CM_T_OF(CM_BROADCAST(CM_W_OF(m[CM_SLOT(r, c)]), CM_HOLDER(r, c)));
            if (CM_INSIDE(r, c))
                p[CM_OFFSET(r, c)] = x;
        }
}
#endif // CM_OP_STORE_ALL

#ifdef CM_OP_FILL
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_T value)
{
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        out[s] = value;
}
#endif // CM_OP_FILL

#ifdef CM_OP_BINARY // skip empty slots: an integer division must not read undefined values
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *a, __private const CM_T *b)
{
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        if (CM_HOLDS(lane, s))
            out[s] = CM_MAP(a[s], b[s]);
}
#endif // CM_OP_BINARY

#ifdef CM_OP_SCALAR_MUL
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m, CM_T scalar)
{
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        out[s] = CM_MAP(m[s], scalar);
}
#endif // CM_OP_SCALAR_MUL

#ifdef CM_OP_UNARY // negation, and conversion from CM_FROM
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_FROM *m)
{
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        out[s] = CM_MAP(m[s]);
}
#endif // CM_OP_UNARY

// Move components to other lanes and slots: component (r, c) of the result is in slot CM_FROM_SLOT(r, c) of lane
// CM_FROM_HOLDER(r, c) of the operand. CM_BEFORE(x) converts each slot before lanes send it as a CM_SENT, or CM_AFTER(x)
// each component that they receive.
#ifdef CM_OP_MOVE
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_FROM *m)
{
    const int lane = CM_LANE, first = CM_FIRST(lane);
    CM_SENT sent[CM_FROM_SLOTS];
    CM_T t[CM_SLOTS];
    CM_UNSET(t, CM_SLOTS)
    CM_EACH for (int s = 0; s < CM_FROM_SLOTS; ++s)
        sent[s] = CM_BEFORE(m[s]);
    CM_EACH for (int r = 0; r < CM_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_COLUMNS; ++c) {
            const CM_SENT x = CM_T_OF(CM_BROADCAST(CM_W_OF(sent[CM_FROM_SLOT(r, c)]), CM_FROM_HOLDER(r, c)));
            if (CM_HOLDER(r, c) == first)
                t[CM_SLOT(r, c)] = CM_AFTER(x);
        }
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        if (CM_HOLDS(lane, s))
            out[s] = t[s];
}
#endif // CM_OP_MOVE

// Apply a builtin to each component of CM_OPERANDS: CM_VALUE(s) is the result for slot s.
#ifdef CM_OP_COMPONENT_WISE
CM_FUNCTION void CM_NAME(__private CM_T *out, CM_OPERANDS)
{
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        out[s] = CM_VALUE(s);
}
#endif // CM_OP_COMPONENT_WISE

// Apply a function of the program: CM_VALUE(r, c, s) calls it for component (r, c), in slot s, of the matrices that
// CM_PARAMETERS declares. The value is a component, or a vector of neighbours, which CM_SET(s, x) assigns.
// CM_BEGINS(s): whether slot s has the first component of a vector. CM_STEP: the distance of slots that may have it.
#ifdef CM_OP_MAP
CM_FUNCTION void CM_NAME(__private CM_T *out CM_PARAMETERS)
{
    const int lane = CM_LANE;
    CM_EACH for (int s = 0; s < CM_SLOTS; s += CM_STEP)
        if (CM_BEGINS(s) && CM_HOLDS(lane, s)) {
            const CM_V x = CM_VALUE(CM_ROW(lane, s), CM_COLUMN(lane, s), s);
            CM_SET(s, x)
        }
}
#endif // CM_OP_MAP

// Reduce each of CM_LINES lines (rows, columns or the whole matrix) to one value by CM_F(x, y). Component (r, c)
// belongs to line CM_LINE(r, c). Each lane first combines its own components. Then the partial results of a line are
// combined: CM_PARTS lanes have one, from CM_FIRST_LANE(line) in steps of CM_STEP. Macros with the prefix CM_R_
// describe the result.
#ifdef CM_OP_REDUCE
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m)
{
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
        CM_T x = CM_T_OF(CM_BROADCAST(CM_W_OF(value[l]), CM_FIRST_LANE(l)));
        CM_EACH for (int i = 1; i < CM_PARTS; ++i) {
            const CM_T y = CM_T_OF(CM_BROADCAST(CM_W_OF(value[l]), CM_FIRST_LANE(l) + i * CM_STEP));
            x = CM_F(x, y);
        }
        value[l] = x;
    }
    CM_EACH for (int s = 0; s < CM_R_SLOTS; ++s)
        if (CM_R_HOLDS(lane, s))
            out[s] = value[CM_LINE(CM_R_ROW(lane, s), CM_R_COLUMN(lane, s))];
}
#endif // CM_OP_REDUCE

// Reduce each block of 2x2 to one component.
#ifdef CM_OP_REDUCE_BLOCKS
#define CM_AT(r, c) CM_T_OF(CM_BROADCAST(CM_W_OF(m[CM_SLOT(r, c)]), CM_HOLDER(r, c)))
CM_FUNCTION void CM_NAME(__private CM_T *out, __private const CM_T *m)
{
    const int lane = CM_LANE, first = CM_R_FIRST(lane);
    CM_T t[CM_R_SLOTS];
    CM_UNSET(t, CM_R_SLOTS)
    CM_EACH for (int r = 0; r < CM_R_ROWS; ++r)
        CM_EACH for (int c = 0; c < CM_R_COLUMNS; ++c) {
            const CM_T upper = CM_F(CM_AT(2 * r, 2 * c), CM_AT(2 * r, 2 * c + 1));
            const CM_T lower = CM_F(CM_AT(2 * r + 1, 2 * c), CM_AT(2 * r + 1, 2 * c + 1));
            const CM_T x = CM_F(upper, lower);
            if (CM_R_HOLDER(r, c) == first)
                t[CM_R_SLOT(r, c)] = x;
        }
    CM_EACH for (int s = 0; s < CM_R_SLOTS; ++s)
        if (CM_R_HOLDS(lane, s))
            out[s] = t[s];
}
#undef CM_AT
#endif // CM_OP_REDUCE_BLOCKS

// A multiply-add for any lane layouts of A, B and C: every lane gathers a column of A and a row of B at a time. A is
// CM_M x CM_K, B is CM_K x CM_N. Macros with the prefixes CM_A_ and CM_B_ are as above. lanes.cl describes the sum.
#ifdef CM_OP_MUL_ADD_MIXED
CM_FUNCTION void CM_NAME(__private CM_C *out, __private const CM_A *a, __private const CM_B *b, __private const CM_C *c)
{
    const int lane = CM_LANE;
    CM_SUM sum[CM_SLOTS];
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        sum[s] = CM_BEGIN(c[s]);
    CM_EACH_K for (int k = 0; k < CM_K; ++k) {
        CM_SUM x[CM_M], y[CM_N];
        CM_EACH for (int r = 0; r < CM_M; ++r) {
            const CM_A entry = CM_A_T_OF(CM_BROADCAST(CM_A_W_OF(a[CM_A_SLOT(r, k)]), CM_A_HOLDER(r, k)));
            x[r] = CM_WIDEN_A(entry);
        }
        CM_EACH for (int c = 0; c < CM_N; ++c) {
            const CM_B entry = CM_B_T_OF(CM_BROADCAST(CM_B_W_OF(b[CM_B_SLOT(k, c)]), CM_B_HOLDER(k, c)));
            y[c] = CM_WIDEN_B(entry);
        }
        CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
            if (CM_HOLDS(lane, s))
                sum[s] = CM_FMA(x[CM_ROW(lane, s)], y[CM_COLUMN(lane, s)], sum[s]);
    }
    CM_EACH for (int s = 0; s < CM_SLOTS; ++s)
        out[s] = CM_END(sum[s], c[s]);
}
#endif // CM_OP_MUL_ADD_MIXED

#ifdef CM_OP_LENGTH
CM_FUNCTION uint CM_NAME(void)
{
    return CM_HELD;
}
#endif // CM_OP_LENGTH

#ifdef CM_OP_COORD // x is the row, y the column
CM_FUNCTION uint2 CM_NAME(uint i)
{
    return (uint2)(CM_ROW(CM_LANE, i), CM_COLUMN(CM_LANE, i));
}
#endif // CM_OP_COORD
