// mfma.cl's functions in plain OpenCL C, after emulated.cl. i counts components over a lane's VGPRs, the lowest bits
// first; K is divided among the groups of lanes that have the same row of A.
//
// "AMD Instinct MI300 / CDNA3 Instruction Set Architecture", "Matrix Arithmetic Instructions", the layouts of dense
// matrices of one block, and those of CDNA1 and CDNA2 before it.

// 16 x 16: lane l has row l % 16 of A, column l % 16 of B; its group l / 16 tells which components of K
#define MFMA_16_A_ROW(lane, i) ((lane) % 16)
#define MFMA_16_A_COLUMN(lane, i) (components * ((lane) / 16) + (i))
#define MFMA_16_B_ROW(lane, i) (components * ((lane) / 16) + (i))
#define MFMA_16_B_COLUMN(lane, i) ((lane) % 16)
#define MFMA_16_C_ROW(lane, i) (4 * ((lane) / 16) + (i))
#define MFMA_16_C_COLUMN(lane, i) ((lane) % 16)

// 32 x 32: the same with groups of 32 lanes; C has four rows, then those of the other group
#define MFMA_32_A_ROW(lane, i) ((lane) % 32)
#define MFMA_32_A_COLUMN(lane, i) (components * ((lane) / 32) + (i))
#define MFMA_32_B_ROW(lane, i) (components * ((lane) / 32) + (i))
#define MFMA_32_B_COLUMN(lane, i) ((lane) % 32)
#define MFMA_32_C_ROW(lane, i) (8 * ((i) / 4) + 4 * ((lane) / 32) + (i) % 4)
#define MFMA_32_C_COLUMN(lane, i) ((lane) % 32)

// 16 x 16 doubles: C has its four rows one in each group
#define MFMA_F64_A_ROW MFMA_16_A_ROW
#define MFMA_F64_A_COLUMN MFMA_16_A_COLUMN
#define MFMA_F64_B_ROW MFMA_16_B_ROW
#define MFMA_F64_B_COLUMN MFMA_16_B_COLUMN
#define MFMA_F64_C_ROW(lane, i) (4 * (i) + (lane) / 16)
#define MFMA_F64_C_COLUMN(lane, i) ((lane) % 16)

#define CM_MFMA_16(NAME, K, a, b, COUNT, c, C) \
    CM_EMULATED(NAME, 64, 16, 16, K, MFMA_16, a, uint, COUNT, b, uint, COUNT, c, C, 4)
#define CM_MFMA_32(NAME, K, a, b, COUNT, c, C) \
    CM_EMULATED(NAME, 64, 32, 32, K, MFMA_32, a, uint, COUNT, b, uint, COUNT, c, C, 16)

CM_MFMA_16(cm_mfma_m16n16k16_f16_f32, 16, f16, f16, 2, f32, float)
CM_MFMA_32(cm_mfma_m32n32k8_f16_f32, 8, f16, f16, 2, f32, float)

CM_MFMA_16(cm_mfma_m16n16k8_bf16_f32, 8, bf16, bf16, 1, f32, float)
CM_MFMA_32(cm_mfma_m32n32k4_bf16_f32, 4, bf16, bf16, 1, f32, float)
CM_MFMA_16(cm_mfma_m16n16k16_s8_s32, 16, s8, s8, 1, s32, int)
CM_MFMA_32(cm_mfma_m32n32k8_s8_s32, 8, s8, s8, 1, s32, int)

CM_MFMA_16(cm_mfma_m16n16k16_bf16_f32, 16, bf16, bf16, 2, f32, float)
CM_MFMA_32(cm_mfma_m32n32k8_bf16_f32, 8, bf16, bf16, 2, f32, float)
#ifdef cl_khr_fp64
CM_EMULATED(cm_mfma_m16n16k4_f64_f64, 64, 16, 16, 4, MFMA_F64, f64, double, 1, f64, double, 1, f64, double, 4)
#endif

CM_MFMA_16(cm_mfma_m16n16k32_s8_s32, 32, s8, s8, 2, s32, int)
CM_MFMA_32(cm_mfma_m32n32k16_s8_s32, 16, s8, s8, 2, s32, int)
CM_MFMA_16(cm_mfma_m16n16k32_e4m3fnuz_f32, 32, e4m3fnuz, e4m3fnuz, 2, f32, float)
CM_MFMA_16(cm_mfma_m16n16k32_e4m3fnuz_e5m2fnuz_f32, 32, e4m3fnuz, e5m2fnuz, 2, f32, float)
CM_MFMA_16(cm_mfma_m16n16k32_e5m2fnuz_e4m3fnuz_f32, 32, e5m2fnuz, e4m3fnuz, 2, f32, float)
CM_MFMA_16(cm_mfma_m16n16k32_e5m2fnuz_f32, 32, e5m2fnuz, e5m2fnuz, 2, f32, float)
