// C = A B, compiled when the program is built: one tile of C for each subgroup.
#include "tile.h"

#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define TILE(R, C, USE) __attribute__((coop_mat(SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##USE)))

kernel void multiply(global const float *a, global const float *b, global float *c)
{
    size_t row = get_group_id(1) * ROWS, column = get_group_id(0) * COLUMNS;
    float TILE(ROWS, COLUMNS, ACCUMULATOR) sum = coop_mat_init(0.0f);
    for (size_t k = 0; k < SIZE; k += 16) {
        float TILE(ROWS, 16, A) left = coop_mat_load(a + row * SIZE + k, ROW_MAJOR, SIZE);
        float TILE(16, COLUMNS, B) right = coop_mat_load(b + k * SIZE + column, ROW_MAJOR, SIZE);
        sum = coop_mat_mulAdd(left, right, sum);
    }
    coop_mat_store(c + row * SIZE + column, sum, ROW_MAJOR, SIZE);
}
