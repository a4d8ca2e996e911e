// The layouts of wmma.cl's operands, for emulated.cl. i counts components over a lane's VGPRs, the lowest bits first.

// "RDNA3 Instruction Set Architecture", "Wave Matrix Multiply Accumulate (WMMA)": lane l has row l % 16 of A and column
// l % 16 of B; the lanes 16 to 31 repeat the lanes 0 to 15. VGPR i of C has row 2 * i in the lanes 0 to 15, row
// 2 * i + 1 in the others.
#define WMMA_GFX11_A_ROW(lane, i) ((lane) % 16)
#define WMMA_GFX11_A_COLUMN(lane, i) (i)
#define WMMA_GFX11_B_ROW(lane, i) (i)
#define WMMA_GFX11_B_COLUMN(lane, i) ((lane) % 16)
#define WMMA_GFX11_C_ROW(lane, i) (2 * (i) + (lane) / 16)
#define WMMA_GFX11_C_COLUMN(lane, i) ((lane) % 16)

// "RDNA4 Instruction Set Architecture", "Wave Matrix Multiply Accumulate (WMMA)", and AMD's "Using the Matrix Cores of
// AMD RDNA 4 architecture GPUs": lane l has half of row l % 16 of A and of column l % 16 of B, eight components. VGPR i
// of C has row i in the lanes 0 to 15, row i + 8 in the others. A and B have the same k in the same place. Which k that
// is does not affect the sum; here they are in order.
#define WMMA_GFX12_A_ROW(lane, i) ((lane) % 16)
#define WMMA_GFX12_A_COLUMN(lane, i) ((lane) / 16 * 8 + (i))
#define WMMA_GFX12_B_ROW(lane, i) ((lane) / 16 * 8 + (i))
#define WMMA_GFX12_B_COLUMN(lane, i) ((lane) % 16)
#define WMMA_GFX12_C_ROW(lane, i) ((i) + (lane) / 16 * 8)
#define WMMA_GFX12_C_COLUMN(lane, i) ((lane) % 16)
