// The layouts of dpas.cl's operands, for emulated.cl. i counts the components of an operand in a work-item: the
// components of the vectors in order, and packed components from the lowest bits on.
//
// "cl_intel_subgroup_matrix_multiply_accumulate", the section that describes the functions' arguments by the example of
// intel_sub_group_u8_i8_matrix_mad_k32: of each row of A, a component of the vector, each work-item contributes K / N
// columns; of B, it contributes one column, its K components packed; of the accumulator and the result, one column.

// N = 8, K = 16: two columns of A in an int
#define DPAS_N8_K16_A_ROW(lane, i) ((i) / 2)
#define DPAS_N8_K16_A_COLUMN(lane, i) ((lane) * 2 + (i) % 2)

// N = 8, K = 32: four columns of A in an int
#define DPAS_N8_K32_A_ROW(lane, i) ((i) / 4)
#define DPAS_N8_K32_A_COLUMN(lane, i) ((lane) * 4 + (i) % 4)

// N = 16, K = 16: a column of A is a short
#define DPAS_N16_K16_A_ROW(lane, i) (i)
#define DPAS_N16_K16_A_COLUMN(lane, i) (lane)

// N = 16, K = 32: two columns of A in a short
#define DPAS_N16_K32_A_ROW(lane, i) ((i) / 2)
#define DPAS_N16_K32_A_COLUMN(lane, i) ((lane) * 2 + (i) % 2)

// "cl_intel_subgroup_matrix_multiply_accumulate_tf32": K is 8. The first eight work-items contribute the even rows of
// A, the others the odd rows. If M is 1, A has no odd rows.
#define DPAS_N16_K8_A_ROW(lane, i) ((i) * 2 + (lane) / 8)
#define DPAS_N16_K8_A_COLUMN(lane, i) ((lane) % 8)

// B, the accumulator and the result, for all shapes
#define DPAS_B_ROW(lane, i) (i)
#define DPAS_B_COLUMN(lane, i) (lane)
#define DPAS_C_ROW(lane, i) (i)
#define DPAS_C_COLUMN(lane, i) (lane)
#define DPAS_N8_K16_B_ROW DPAS_B_ROW
#define DPAS_N8_K16_B_COLUMN DPAS_B_COLUMN
#define DPAS_N8_K16_C_ROW DPAS_C_ROW
#define DPAS_N8_K16_C_COLUMN DPAS_C_COLUMN
#define DPAS_N8_K32_B_ROW DPAS_B_ROW
#define DPAS_N8_K32_B_COLUMN DPAS_B_COLUMN
#define DPAS_N8_K32_C_ROW DPAS_C_ROW
#define DPAS_N8_K32_C_COLUMN DPAS_C_COLUMN
#define DPAS_N16_K16_B_ROW DPAS_B_ROW
#define DPAS_N16_K16_B_COLUMN DPAS_B_COLUMN
#define DPAS_N16_K16_C_ROW DPAS_C_ROW
#define DPAS_N16_K16_C_COLUMN DPAS_C_COLUMN
#define DPAS_N16_K32_B_ROW DPAS_B_ROW
#define DPAS_N16_K32_B_COLUMN DPAS_B_COLUMN
#define DPAS_N16_K32_C_ROW DPAS_C_ROW
#define DPAS_N16_K32_C_COLUMN DPAS_C_COLUMN
#define DPAS_N16_K8_B_ROW DPAS_B_ROW
#define DPAS_N16_K8_B_COLUMN DPAS_B_COLUMN
#define DPAS_N16_K8_C_ROW DPAS_C_ROW
#define DPAS_N16_K8_C_COLUMN DPAS_C_COLUMN
