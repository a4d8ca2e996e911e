// Tiles through local memory with the copies of the work-group, two buffers in turn.

#define TILE 16

kernel void scale_rows(global const float *in, global const float *factors, global float *out, int rows, int columns,
                       local float *buffer)
{
    local float *current = buffer, *next = buffer + columns;
    event_t ready = async_work_group_copy(current, in + get_group_id(0) * rows * columns, columns, 0);
    for (int r = 0; r < rows; ++r) {
        const size_t row = get_group_id(0) * rows + r;
        wait_group_events(1, &ready);
        if (r + 1 < rows) ready = async_work_group_copy(next, &in[(row + 1) * columns], (size_t)columns, (event_t)0);
        const float factor = factors[row];
        for (int i = get_local_id(0); i < columns; i += get_local_size(0)) current[i] *= factor;
        barrier(CLK_LOCAL_MEM_FENCE);
        event_t written = async_work_group_copy(out + row * columns, (const local float *)current, columns, 0);
        wait_group_events(1, &written);
        local float *t = current; current = next; next = t;
    }
}

kernel void transpose(global const float4 *in, global float4 *out, int width, int height)
{
    local float4 tile[TILE * (TILE + 1)];
    const int x0 = get_group_id(0) * TILE, y0 = get_group_id(1) * TILE;
    event_t e[TILE];
    for (int j = 0; j < TILE; j++) e[j] = async_work_group_copy(tile + j * (TILE + 1), in + (y0 + j) * width + x0, TILE, 0);
    wait_group_events(TILE, e);
    out[(x0 + get_local_id(1)) * height + y0 + get_local_id(0)] = tile[get_local_id(0) * (TILE + 1) + get_local_id(1)];
}
