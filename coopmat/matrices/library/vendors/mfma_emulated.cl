// The layouts of mfma.cl's operands, for emulated.cl. i counts components over a lane's VGPRs, the lowest bits first. K
// is divided among the groups of lanes that have the same row of A.
//
// "AMD Instinct MI300 / CDNA3 Instruction Set Architecture", "Matrix Arithmetic Instructions", the layouts of dense
// matrices of one block, and those of CDNA1 and CDNA2 before it.

// 16 x 16: lane l has row l % 16 of A and column l % 16 of B; its group l / 16 determines which components of K
#define MFMA_16_A_ROW(lane, i) ((lane) % 16)
#define MFMA_16_A_COLUMN(lane, i) (components * ((lane) / 16) + (i))
#define MFMA_16_B_ROW(lane, i) (components * ((lane) / 16) + (i))
#define MFMA_16_B_COLUMN(lane, i) ((lane) % 16)
#define MFMA_16_C_ROW(lane, i) (4 * ((lane) / 16) + (i))
#define MFMA_16_C_COLUMN(lane, i) ((lane) % 16)

// 32 x 32: the same with two groups of 32 lanes; four rows of C in one group alternate with four rows in the other
#define MFMA_32_A_ROW(lane, i) ((lane) % 32)
#define MFMA_32_A_COLUMN(lane, i) (components * ((lane) / 32) + (i))
#define MFMA_32_B_ROW(lane, i) (components * ((lane) / 32) + (i))
#define MFMA_32_B_COLUMN(lane, i) ((lane) % 32)
#define MFMA_32_C_ROW(lane, i) (8 * ((i) / 4) + 4 * ((lane) / 32) + (i) % 4)
#define MFMA_32_C_COLUMN(lane, i) ((lane) % 32)

// 16 x 16 doubles: of each four rows of C, every group has one
#define MFMA_F64_A_ROW MFMA_16_A_ROW
#define MFMA_F64_A_COLUMN MFMA_16_A_COLUMN
#define MFMA_F64_B_ROW MFMA_16_B_ROW
#define MFMA_F64_B_COLUMN MFMA_16_B_COLUMN
#define MFMA_F64_C_ROW(lane, i) (4 * (i) + (lane) / 16)
#define MFMA_F64_C_COLUMN(lane, i) ((lane) % 16)
