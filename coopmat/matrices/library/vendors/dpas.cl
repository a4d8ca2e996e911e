// Intel GPUs' matrix instruction dpas, with a function for each shape and type, by the built-in functions of their
// compiler. N is the smallest subgroup size of the device: 8 on DG2 and similar devices, 16 on Ponte Vecchio,
// Battlemage and Lunar Lake. Registers are the arguments that the documents list: each work-item has equally many bits
// of each row of A, and one column of B.
//
// "cl_intel_subgroup_matrix_multiply_accumulate" and, for tf32, "cl_intel_subgroup_matrix_multiply_accumulate_tf32",
// both in "New OpenCL C Functions".

// The compilers of some drivers implement these functions without declaring them.
#define CM_DPAS(NAME, MAD, A, B, C) \
C __attribute__((overloadable, convergent)) intel_sub_group_##MAD(A, B, C); \
static inline C NAME(A a, B b, C c) \
{ \
    return intel_sub_group_##MAD(a, b, c); \
}

#define CM_DPAS_OF_SHAPE(M, N, S, U, F, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k16_f16_f32, f16_f16_matrix_mad_k16, S, int8, F) \
    CM_DPAS(cm_dpas_m##M##n##N##k16_bf16_f32, bf16_bf16_matrix_mad_k16, S, int8, F) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_s8_s32, i8_i8_matrix_mad_k32, S, int8, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_s8_u8_s32, i8_u8_matrix_mad_k32, S, uint8, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_u8_s8_s32, u8_i8_matrix_mad_k32, U, int8, I) \
    CM_DPAS(cm_dpas_m##M##n##N##k32_u8_s32, u8_u8_matrix_mad_k32, U, uint8, I)

CM_DPAS_OF_SHAPE(1, 8, int, uint, float, int)
CM_DPAS_OF_SHAPE(2, 8, int2, uint2, float2, int2)
CM_DPAS_OF_SHAPE(4, 8, int4, uint4, float4, int4)
CM_DPAS_OF_SHAPE(8, 8, int8, uint8, float8, int8)

CM_DPAS_OF_SHAPE(1, 16, short, ushort, float, int)
CM_DPAS_OF_SHAPE(2, 16, short2, ushort2, float2, int2)
CM_DPAS_OF_SHAPE(4, 16, short4, ushort4, float4, int4)
CM_DPAS_OF_SHAPE(8, 16, short8, ushort8, float8, int8)

// Only on devices with subgroups of 16
CM_DPAS(cm_dpas_m1n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float, float8, float)
CM_DPAS(cm_dpas_m2n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float, float8, float2)
CM_DPAS(cm_dpas_m4n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float2, float8, float4)
CM_DPAS(cm_dpas_m8n16k8_tf32_f32, tf32_tf32_matrix_mad_k8, float4, float8, float8)

#undef CM_DPAS
#undef CM_DPAS_OF_SHAPE
