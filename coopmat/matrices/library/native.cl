// Operations for which native cooperative matrices have no instruction: functions on the matrix types themselves.
//
// Each section is a template for one operation, as in subgroup_of_one.cl.
//
//   CM_MATRIX, CM_T             the matrix type and its component type
//   CM_BITS                     a type of the same size for copies of components: small floats have no operations
//   CM_ROWS, CM_COLUMNS         the matrix's shape
//   CM_PITCH, CM_ROW            components from a subgroup's tile to the next, and from row to row of a tile
//   CM_AT(r, c, i)              the index in a tile of component i, which is component (r, c)
//   CM_AND_ALLOWED(p)           `&& ...`: whether the device accepts the pointer p and the stride; may be empty
//   CM_POINTER, CM_ELEMENTS     pointers to CM_T and to CM_BITS, with address space and qualifiers
//   CM_OFFSET(r, c)             the offset of component (r, c) in memory, a function of `stride`
//   CM_LAYOUT                   the layout, if the instruction supports it; if undefined, every tile is staged
//   CM_FIRST, CM_STEP           the components that a work-item stores: a share, or all if the memory is private
//   CM_TO, CM_LEAST, CM_MOST    of a conversion: the resulting matrix type, and its bounds in the source's type
//   CM_ROUND(x), CM_WIDE        of a conversion: x rounded to a number of the resulting type, in the type CM_WIDE
//   CM_END                      of a conversion: the first integer above the resulting type, in the type CM_WIDE
//
// Staged tiles are in local memory, row after row. `tiles` has room for one tile of each subgroup in the work-group.
// The first barrier waits until the previous tile is no longer in use. All operands are uniform over the subgroup.

#ifdef CM_PROLOGUE
#define CM_FUNCTION static
#define CM_COUNT ((uint)CM_ROWS * CM_COLUMNS)
#define CM_STORE_TILE(tile, m) coop_mat_store(tile, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, (ulong)CM_ROW)
// The iterations of this work-item among `count`. Intel's CPU runtime (2026.2) omits barriers of a kernel in which a
// loop from the lane's number to 1 has the subgroup's size as its step.
#define CM_FOR_SHARE(i, count) \
    for (uint i = get_sub_group_local_id(); i < (count); i += (count) > 1 ? get_sub_group_size() : 1)
#define CM_INTERIOR(row, column, rows, columns) \
    (row <= rows && CM_ROWS <= rows - row && column <= columns && CM_COLUMNS <= columns - column)
// Avoid row + r, which may overflow a uint.
#define CM_INSIDE(r, c) (row < rows && (r) < rows - row && column < columns && (c) < columns - column)
#endif // CM_PROLOGUE

#ifdef CM_OP_LOAD
CM_FUNCTION CM_MATRIX CM_NAME(
    const CM_POINTER p, ulong stride, uint row, uint column, uint rows, uint columns, __local CM_T *tiles)
{
#ifdef CM_LAYOUT
    if (CM_INTERIOR(row, column, rows, columns) CM_AND_ALLOWED(p + CM_OFFSET(row, column)))
        return coop_mat_load(p + CM_OFFSET(row, column), CM_LAYOUT, stride);
#endif
    __local CM_T *tile = tiles + get_sub_group_id() * CM_PITCH;
    const CM_ELEMENTS from = (const CM_ELEMENTS)p;
    __local CM_BITS *to = (__local CM_BITS *)tile;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_FOR_SHARE(i, CM_COUNT) {
        const uint r = i / CM_COLUMNS, c = i % CM_COLUMNS;
        CM_BITS x = 0;
        if (CM_INSIDE(r, c))
            x = from[CM_OFFSET(row + r, column + c)];
        to[CM_AT(r, c, i)] = x;
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    return coop_mat_load(tile, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, (ulong)CM_ROW);
}
#endif // CM_OP_LOAD

#ifdef CM_OP_STORE
CM_FUNCTION void CM_NAME(
    CM_POINTER p, CM_MATRIX m, ulong stride, uint row, uint column, uint rows, uint columns, __local CM_T *tiles)
{
#ifdef CM_LAYOUT
    if (CM_INTERIOR(row, column, rows, columns) CM_AND_ALLOWED(p + CM_OFFSET(row, column))) {
        coop_mat_store(p + CM_OFFSET(row, column), m, CM_LAYOUT, stride);
        return;
    }
#endif
    __local CM_T *tile = tiles + get_sub_group_id() * CM_PITCH;
    const __local CM_BITS *from = (const __local CM_BITS *)tile;
    CM_ELEMENTS to = (CM_ELEMENTS)p;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    coop_mat_store(tile, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, (ulong)CM_ROW);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = CM_FIRST; i < CM_COUNT; i += CM_STEP) {
        const uint r = i / CM_COLUMNS, c = i % CM_COLUMNS;
        if (CM_INSIDE(r, c))
            to[CM_OFFSET(row + r, column + c)] = from[CM_AT(r, c, i)];
    }
}
#endif // CM_OP_STORE

// a change of use, or a transposition: CM_LAYOUT is the layout in which the result is loaded from the tile
#ifdef CM_OP_MOVE
CM_FUNCTION CM_TO CM_NAME(CM_MATRIX m, __local CM_T *tiles)
{
    __local CM_T *tile = tiles + get_sub_group_id() * CM_PITCH;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_STORE_TILE(tile, m);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#ifdef CM_TO_TILE
    CM_FOR_SHARE(i, CM_COUNT) {
        const uint r = i / CM_COLUMNS, c = i % CM_COLUMNS;
        tile[CM_TO_TILE + c * CM_TO_ROW + r] = tile[r * CM_ROW + c];
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    return coop_mat_load(tile + CM_TO_TILE, CM_LAYOUT, (ulong)CM_TO_ROW);
#else
    return coop_mat_load(tile, CM_LAYOUT, (ulong)CM_ROW);
#endif
}
#endif // CM_OP_MOVE

// CM_STORE stores the operands to tiles; CM_VALUE(r, c, at) is the function of their components at index `at`
#ifdef CM_OP_MAP
CM_FUNCTION CM_MATRIX CM_NAME(CM_PARAMETERS __local CM_T *tiles)
{
    __local CM_T *tile = tiles + get_sub_group_id() * CM_PITCH;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_STORE
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_FOR_SHARE(i, CM_COUNT) {
        const uint r = i / CM_COLUMNS, c = i % CM_COLUMNS, at = CM_AT(r, c, i);
        tile[at] = CM_VALUE(r, c, at);
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    return coop_mat_load(tile, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, (ulong)CM_ROW);
}
#endif // CM_OP_MAP

// A work-item combines the CM_DOWN x CM_ALONG components of each of its lines, which begin at CM_FROM(l). It writes the
// value to the CM_TO_DOWN x CM_TO_ALONG components of the result from CM_INTO(l) on.
#ifdef CM_OP_REDUCE
CM_FUNCTION CM_TO CM_NAME(CM_MATRIX m, __local CM_T *tiles)
{
    __local CM_T *tile = tiles + get_sub_group_id() * CM_PITCH;
    __local CM_T *to = tile + CM_TO_TILE;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_STORE_TILE(tile, m);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_FOR_SHARE(l, CM_LINES) {
        CM_T x = tile[CM_FROM(l)];
        for (uint i = 1; i < CM_DOWN * CM_ALONG; ++i)
            x = CM_F(x, tile[CM_FROM(l) + i / CM_ALONG * CM_ROW + i % CM_ALONG]);
        for (uint i = 0; i < CM_TO_DOWN * CM_TO_ALONG; ++i)
            to[CM_INTO(l) + i / CM_TO_ALONG * CM_TO_ROW + i % CM_TO_ALONG] = x;
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    return coop_mat_load(to, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, (ulong)CM_TO_ROW);
}
#endif // CM_OP_REDUCE

// Reduce the whole matrix: first each row, into the row's first component; then every work-item combines these values.
#ifdef CM_OP_REDUCE_ALL
CM_FUNCTION CM_TO CM_NAME(CM_MATRIX m, __local CM_T *tiles)
{
    __local CM_T *tile = tiles + get_sub_group_id() * CM_PITCH;
    __local CM_T *to = tile + CM_TO_TILE;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_STORE_TILE(tile, m);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_FOR_SHARE(r, CM_ROWS) {
        CM_T x = tile[r * CM_ROW];
        for (uint c = 1; c < CM_COLUMNS; ++c)
            x = CM_F(x, tile[r * CM_ROW + c]);
        tile[r * CM_ROW] = x;
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    CM_T x = tile[0];
    for (uint r = 1; r < CM_ROWS; ++r)
        x = CM_F(x, tile[r * CM_ROW]);
    CM_FOR_SHARE(i, CM_TO_ROWS * CM_TO_COLUMNS)
        to[i / CM_TO_COLUMNS * CM_TO_ROW + i % CM_TO_COLUMNS] = x;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    return coop_mat_load(to, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, (ulong)CM_TO_ROW);
}
#endif // CM_OP_REDUCE_ALL

#ifdef CM_OP_COMPONENT_WISE // apply a builtin, CM_VALUE(i); the result replaces an operand, CM_RESULT
CM_FUNCTION CM_MATRIX CM_NAME(CM_PARAMETERS)
{
    for (uint i = 0; i < coop_mat_length(CM_RESULT); ++i)
        CM_RESULT[i] = CM_VALUE(i);
    return CM_RESULT;
}
#endif // CM_OP_COMPONENT_WISE

#ifdef CM_OP_CLAMP // clamp to the bounds of another integer type, so that the conversion that follows is exact
CM_FUNCTION CM_TO CM_NAME(CM_MATRIX m)
{
    for (uint i = 0; i < coop_mat_length(m); ++i)
        m[i] = clamp(m[i], CM_LEAST, CM_MOST);
    return (CM_TO)m;
}
#endif // CM_OP_CLAMP

#ifdef CM_OP_ROUND // round, so that the conversion that follows is exact
CM_FUNCTION CM_TO CM_NAME(CM_MATRIX m)
{
    for (uint i = 0; i < coop_mat_length(m); ++i)
        m[i] = (CM_T)CM_ROUND((CM_WIDE)m[i]);
    return (CM_TO)m;
}
#endif // CM_OP_ROUND

// The two matrix types may divide their components differently among work-items, and floats may have no number CM_MOST.
// So too large numbers become 0 + CM_MOST, and too small ones -1 - CM_MOST (0 if unsigned), in the resulting type.
#ifdef CM_OP_SATURATE // round floats and saturate to the integers from CM_LEAST to CM_MOST; NaN becomes 0
CM_FUNCTION CM_TO CM_NAME(CM_MATRIX m)
{
    CM_MATRIX ends = m;
    for (uint i = 0; i < coop_mat_length(m); ++i) {
        const CM_WIDE x = CM_ROUND((CM_WIDE)m[i]);
        const bool is_low = x < CM_LEAST, is_high = x >= CM_END;
        const CM_WIDE low = CM_LEAST < 0 ? -1 : 0;
        m[i] = (CM_T)(is_low ? low : x < CM_END ? x : 0);
        ends[i] = (CM_T)(is_low ? low : is_high ? 1 : 0);
    }
    return (CM_TO)m + (CM_TO)ends * CM_MOST;
}
#endif // CM_OP_SATURATE
