// AMD's matrix instruction v_mfma_* of CDNA1 (gfx908), CDNA2 (gfx90a) and CDNA3 (gfx942), with a function for each
// shape and type. The functions use the builtins of clang, on which AMD's OpenCL C compiler is based. Waves have 64
// lanes. Registers are VGPRs of 32 bits; components are packed from the lowest bits on; a double takes two VGPRs. No
// block is broadcast and no lane pattern is changed: cbsz, abid and blgp are 0.
//
// "AMD Instinct MI100 / CDNA1 Instruction Set Architecture", "AMD Instinct MI200 / CDNA2 ..." and "AMD Instinct MI300 /
// CDNA3 Instruction Set Architecture", "Matrix Arithmetic Instructions".

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define CM_MFMA(NAME, MFMA, A, C, AS) \
static inline C NAME(A a, A b, C c) \
{ \
    return __builtin_amdgcn_mfma_##MFMA(AS(a), AS(b), c, 0, 0, 0); \
}

CM_MFMA(cm_mfma_m16n16k16_f16_f32, f32_16x16x16f16, uint2, float4, as_half4)
CM_MFMA(cm_mfma_m32n32k8_f16_f32, f32_32x32x8f16, uint2, float16, as_half4)

// CDNA1 and CDNA2
CM_MFMA(cm_mfma_m16n16k8_bf16_f32, f32_16x16x8bf16, uint, float4, as_short2)
CM_MFMA(cm_mfma_m32n32k4_bf16_f32, f32_32x32x4bf16, uint, float16, as_short2)
CM_MFMA(cm_mfma_m16n16k16_s8_s32, i32_16x16x16i8, uint, int4, as_int)
CM_MFMA(cm_mfma_m32n32k8_s8_s32, i32_32x32x8i8, uint, int16, as_int)

// From CDNA2 on
CM_MFMA(cm_mfma_m16n16k16_bf16_f32, f32_16x16x16bf16_1k, uint2, float4, as_short4)
CM_MFMA(cm_mfma_m32n32k8_bf16_f32, f32_32x32x8bf16_1k, uint2, float16, as_short4)
CM_MFMA(cm_mfma_m16n16k4_f64_f64, f64_16x16x4f64, double, double4, as_double)

// CDNA3. Its fp8 and bf8 have no infinities and no negative zero. Their exponent bias is larger by one than in the
// formats of the Open Compute Project.
CM_MFMA(cm_mfma_m16n16k32_s8_s32, i32_16x16x32_i8, uint2, int4, as_long)
CM_MFMA(cm_mfma_m32n32k16_s8_s32, i32_32x32x16_i8, uint2, int16, as_long)
CM_MFMA(cm_mfma_m16n16k32_e4m3fnuz_f32, f32_16x16x32_fp8_fp8, uint2, float4, as_long)
CM_MFMA(cm_mfma_m16n16k32_e4m3fnuz_e5m2fnuz_f32, f32_16x16x32_fp8_bf8, uint2, float4, as_long)
CM_MFMA(cm_mfma_m16n16k32_e5m2fnuz_e4m3fnuz_f32, f32_16x16x32_bf8_fp8, uint2, float4, as_long)
CM_MFMA(cm_mfma_m16n16k32_e5m2fnuz_f32, f32_16x16x32_bf8_bf8, uint2, float4, as_long)

#undef CM_MFMA
