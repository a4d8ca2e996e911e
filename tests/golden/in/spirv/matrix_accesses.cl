// Loads and stores that are more than an instruction: checked ones branch to a tile staged through local memory, packed
// and private ones always take it; volatile pointers make volatile instructions.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float C __attribute__((coop_mat(SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef char B __attribute__((coop_mat(SUBGROUP, 32, 16, CLK_COOPERATIVE_MATRIX_B)));

kernel __attribute__((reqd_work_group_size(64, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void checked(global const float *p, global float *q, uint row, uint rows)
{
    C m = coop_mat_load_checked(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 100ul, row, 0u, rows, 100u);
    coop_mat_store_checked(q, m, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 100ul, row, 0u, rows, 100u);
}

kernel __attribute__((reqd_work_group_size(16, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void others(global const char *p, volatile global float *q)
{
    B b = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED, 64ul);
    C m = coop_mat_load(q, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16ul);
    float own[128];
    coop_mat_store(own, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16ul);
    q[0] = own[3] + b[0];
}
