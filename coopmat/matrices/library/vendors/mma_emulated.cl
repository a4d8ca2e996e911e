// The layouts of mma.cl's operands, for emulated.cl: the fragments of PTX ISA's sections "Matrix Fragments for
// mma.m...". %laneid is the lane. i is the document's index of a component: ai, bi, ci.

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

// "Matrix Fragments for mma.m16n8k8", .tf32: a0 and a2 are in the first eight rows, a0 and a1 in the first four columns
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

// C and D of each m16n8k... above: all of these sections have the same layout
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
