// mma.cl's functions in plain OpenCL C, after emulated.cl: the fragments of PTX ISA's sections "Matrix Fragments for
// mma.m...", %laneid being the lane. i is the document's index of a component: ai, bi, ci.

#define groupID(lane) ((lane) >> 2)
#define threadID_in_group(lane) ((lane) % 4)

// "Matrix Fragments for mma.m8n8k4 with .f64 floating point type"
#define MMA_M8N8K4_A_ROW(lane, i) groupID(lane)
#define MMA_M8N8K4_A_COLUMN(lane, i) threadID_in_group(lane)
#define MMA_M8N8K4_B_ROW(lane, i) threadID_in_group(lane)
#define MMA_M8N8K4_B_COLUMN(lane, i) groupID(lane)
#define MMA_M8N8K4_C_ROW(lane, i) groupID(lane)
#define MMA_M8N8K4_C_COLUMN(lane, i) (threadID_in_group(lane) * 2 + ((i) & 0x1))

// "Matrix Fragments for mma.m8n8k16"
#define MMA_M8N8K16_A_ROW(lane, i) groupID(lane)
#define MMA_M8N8K16_A_COLUMN(lane, i) (threadID_in_group(lane) * 4 + (i))
#define MMA_M8N8K16_B_ROW(lane, i) (threadID_in_group(lane) * 4 + (i))
#define MMA_M8N8K16_B_COLUMN(lane, i) groupID(lane)
#define MMA_M8N8K16_C_ROW(lane, i) groupID(lane)
#define MMA_M8N8K16_C_COLUMN(lane, i) (threadID_in_group(lane) * 2 + (i))

// "Matrix Fragments for mma.m16n8k8", .f16 and .bf16
#define MMA_M16N8K8_A_ROW(lane, i) ((i) < 2 ? groupID(lane) : groupID(lane) + 8)
#define MMA_M16N8K8_A_COLUMN(lane, i) (threadID_in_group(lane) * 2 + ((i) & 0x1))
#define MMA_M16N8K8_B_ROW(lane, i) (threadID_in_group(lane) * 2 + (i))
#define MMA_M16N8K8_B_COLUMN(lane, i) groupID(lane)

// "Matrix Fragments for mma.m16n8k8", .tf32: a0 and a2 are of the first eight rows, a0 and a1 of the first four columns
#define MMA_M16N8K8_TF32_A_ROW(lane, i) ((i) == 0 || (i) == 2 ? groupID(lane) : groupID(lane) + 8)
#define MMA_M16N8K8_TF32_A_COLUMN(lane, i) ((i) < 2 ? threadID_in_group(lane) : threadID_in_group(lane) + 4)
#define MMA_M16N8K8_TF32_B_ROW(lane, i) ((i) == 0 ? threadID_in_group(lane) : threadID_in_group(lane) + 4)
#define MMA_M16N8K8_TF32_B_COLUMN(lane, i) groupID(lane)

// "Matrix Fragments for mma.m16n8k16 with floating point type", .f16 and .bf16
#define MMA_M16N8K16_A_ROW(lane, i) ((i) < 2 || (4 <= (i) && (i) < 6) ? groupID(lane) : groupID(lane) + 8)
#define MMA_M16N8K16_A_COLUMN(lane, i) (threadID_in_group(lane) * 2 + ((i) & 0x1) + ((i) >= 4 ? 8 : 0))
#define MMA_M16N8K16_B_ROW(lane, i) (threadID_in_group(lane) * 2 + ((i) & 0x1) + ((i) >= 2 ? 8 : 0))
#define MMA_M16N8K16_B_COLUMN(lane, i) groupID(lane)

// "Matrix Fragments for mma.m16n8k32", .s8, .u8, .e4m3 and .e5m2
#define MMA_M16N8K32_A_ROW(lane, i) ((i) < 4 || (8 <= (i) && (i) < 12) ? groupID(lane) : groupID(lane) + 8)
#define MMA_M16N8K32_A_COLUMN(lane, i) (threadID_in_group(lane) * 4 + ((i) & 0x3) + ((i) >= 8 ? 16 : 0))
#define MMA_M16N8K32_B_ROW(lane, i) (threadID_in_group(lane) * 4 + ((i) & 0x3) + ((i) >= 4 ? 16 : 0))
#define MMA_M16N8K32_B_COLUMN(lane, i) groupID(lane)

// C and D of each m16n8k... above: the same in all of these sections
#define MMA_M16N8_C_ROW(lane, i) ((i) < 2 ? groupID(lane) : groupID(lane) + 8)
#define MMA_M16N8_C_COLUMN(lane, i) (threadID_in_group(lane) * 2 + ((i) & 0x1))
#define MMA_M16N8K8_C_ROW MMA_M16N8_C_ROW
#define MMA_M16N8K8_C_COLUMN MMA_M16N8_C_COLUMN
#define MMA_M16N8K8_TF32_C_ROW MMA_M16N8_C_ROW
#define MMA_M16N8K8_TF32_C_COLUMN MMA_M16N8_C_COLUMN
#define MMA_M16N8K16_C_ROW MMA_M16N8_C_ROW
#define MMA_M16N8K16_C_COLUMN MMA_M16N8_C_COLUMN
#define MMA_M16N8K32_C_ROW MMA_M16N8_C_ROW
#define MMA_M16N8K32_C_COLUMN MMA_M16N8_C_COLUMN

#define CM_M16N8K8(NAME, c, C, C_COUNT) \
    CM_EMULATED(NAME, 32, 16, 8, 8, MMA_M16N8K8, f16, uint, 2, f16, uint, 1, c, C, C_COUNT)
CM_M16N8K8(cm_mma_m16n8k8_f16_f32, f32, float, 4)
CM_M16N8K8(cm_mma_m16n8k8_f16_f16, f16, uint, 2)

#define CM_M8N8K16(NAME, a, b) CM_EMULATED(NAME, 32, 8, 8, 16, MMA_M8N8K16, a, uint, 1, b, uint, 1, s32, int, 2)
CM_M8N8K16(cm_mma_m8n8k16_s8_s32, s8, s8)
CM_M8N8K16(cm_mma_m8n8k16_s8_u8_s32, s8, u8)
CM_M8N8K16(cm_mma_m8n8k16_u8_s8_s32, u8, s8)
CM_M8N8K16(cm_mma_m8n8k16_u8_s32, u8, u8)

#define CM_M16N8K16(NAME, a, c, C, C_COUNT) \
    CM_EMULATED(NAME, 32, 16, 8, 16, MMA_M16N8K16, a, uint, 4, a, uint, 2, c, C, C_COUNT)
CM_M16N8K16(cm_mma_m16n8k16_f16_f32, f16, f32, float, 4)
CM_M16N8K16(cm_mma_m16n8k16_f16_f16, f16, f16, uint, 2)
CM_M16N8K16(cm_mma_m16n8k16_bf16_f32, bf16, f32, float, 4)

CM_EMULATED(cm_mma_m16n8k8_tf32_f32, 32, 16, 8, 8, MMA_M16N8K8_TF32, tf32, uint, 4, tf32, uint, 2, f32, float, 4)

#ifdef cl_khr_fp64
CM_EMULATED(cm_mma_m8n8k4_f64_f64, 32, 8, 8, 4, MMA_M8N8K4, f64, double, 1, f64, double, 1, f64, double, 2)
#endif

#define CM_M16N8K32(NAME, a, b, c, C) CM_EMULATED(NAME, 32, 16, 8, 32, MMA_M16N8K32, a, uint, 4, b, uint, 2, c, C, 4)
CM_M16N8K32(cm_mma_m16n8k32_s8_s32, s8, s8, s32, int)
CM_M16N8K32(cm_mma_m16n8k32_s8_u8_s32, s8, u8, s32, int)
CM_M16N8K32(cm_mma_m16n8k32_u8_s8_s32, u8, s8, s32, int)
CM_M16N8K32(cm_mma_m16n8k32_u8_s32, u8, u8, s32, int)
CM_M16N8K32(cm_mma_m16n8k32_e4m3_f32, e4m3, e4m3, f32, float)
CM_M16N8K32(cm_mma_m16n8k32_e4m3_e5m2_f32, e4m3, e5m2, f32, float)
CM_M16N8K32(cm_mma_m16n8k32_e5m2_e4m3_f32, e5m2, e4m3, f32, float)
CM_M16N8K32(cm_mma_m16n8k32_e5m2_f32, e5m2, e5m2, f32, float)

#undef groupID
#undef threadID_in_group
