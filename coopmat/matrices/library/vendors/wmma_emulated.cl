// wmma.cl's functions in plain OpenCL C, after emulated.cl. i counts components over a lane's VGPRs, the lowest bits
// first.

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
// AMD RDNA 4 architecture GPUs": lane l has half of row l % 16 of A and of column l % 16 of B, eight components; VGPR i
// of C has row i in the lanes 0 to 15, row i + 8 in the others. Which k a lane's eight components are is the same for A
// and B, and makes no difference to the sum otherwise: here they are in order.
#define WMMA_GFX12_A_ROW(lane, i) ((lane) % 16)
#define WMMA_GFX12_A_COLUMN(lane, i) ((lane) / 16 * 8 + (i))
#define WMMA_GFX12_B_ROW(lane, i) ((lane) / 16 * 8 + (i))
#define WMMA_GFX12_B_COLUMN(lane, i) ((lane) % 16)
#define WMMA_GFX12_C_ROW(lane, i) ((i) + (lane) / 16 * 8)
#define WMMA_GFX12_C_COLUMN(lane, i) ((lane) % 16)

#define CM_WMMA_GFX11(NAME, a, b, COUNT, c, C) \
    CM_EMULATED(NAME, 32, 16, 16, 16, WMMA_GFX11, a, uint, COUNT, b, uint, COUNT, c, C, 8)
CM_WMMA_GFX11(cm_wmma_gfx11_m16n16k16_f16_f32, f16, f16, 8, f32, float)
CM_WMMA_GFX11(cm_wmma_gfx11_m16n16k16_bf16_f32, bf16, bf16, 8, f32, float)
CM_WMMA_GFX11(cm_wmma_gfx11_m16n16k16_s8_s32, s8, s8, 4, s32, int)
CM_WMMA_GFX11(cm_wmma_gfx11_m16n16k16_s8_u8_s32, s8, u8, 4, s32, int)
CM_WMMA_GFX11(cm_wmma_gfx11_m16n16k16_u8_s8_s32, u8, s8, 4, s32, int)
CM_WMMA_GFX11(cm_wmma_gfx11_m16n16k16_u8_s32, u8, u8, 4, s32, int)

#define CM_WMMA_GFX12(NAME, a, b, COUNT, c, C) \
    CM_EMULATED(NAME, 32, 16, 16, 16, WMMA_GFX12, a, uint, COUNT, b, uint, COUNT, c, C, 8)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_f16_f32, f16, f16, 4, f32, float)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_bf16_f32, bf16, bf16, 4, f32, float)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_s8_s32, s8, s8, 2, s32, int)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_s8_u8_s32, s8, u8, 2, s32, int)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_u8_s8_s32, u8, s8, 2, s32, int)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_u8_s32, u8, u8, 2, s32, int)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_e4m3_f32, e4m3, e4m3, 2, f32, float)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_e4m3_e5m2_f32, e4m3, e5m2, 2, f32, float)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_e5m2_e4m3_f32, e5m2, e4m3, 2, f32, float)
CM_WMMA_GFX12(cm_wmma_gfx12_m16n16k16_e5m2_f32, e5m2, e5m2, 2, f32, float)
