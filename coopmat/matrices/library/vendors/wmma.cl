// AMD's matrix instruction v_wmma_* of RDNA3 (gfx11) and RDNA4 (gfx12), with a function for each type. The functions
// use the builtins of clang, on which AMD's OpenCL C compiler is based. Waves have 32 lanes. Registers are VGPRs of 32
// bits; components are packed from the lowest bits on. On RDNA3, two lanes, l and l + 16, have each row of A and column
// of B.
//
// "RDNA3 Instruction Set Architecture", "Wave Matrix Multiply Accumulate (WMMA)"; "RDNA4 Instruction Set Architecture",
// the section of the same name.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

static inline float8 cm_wmma_gfx11_m16n16k16_f16_f32(uint8 a, uint8 b, float8 c)
{
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(as_half16(a), as_half16(b), c);
}

static inline float8 cm_wmma_gfx11_m16n16k16_bf16_f32(uint8 a, uint8 b, float8 c)
{
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(as_short16(a), as_short16(b), c);
}

static inline float8 cm_wmma_gfx12_m16n16k16_f16_f32(uint4 a, uint4 b, float8 c)
{
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(as_half8(a), as_half8(b), c);
}

static inline float8 cm_wmma_gfx12_m16n16k16_bf16_f32(uint4 a, uint4 b, float8 c)
{
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(as_short8(a), as_short8(b), c);
}

// The flags: whether A and B are signed, and at the end whether the result saturates.
#define CM_WMMA_IU8_GFX11(NAME, A_SIGNED, B_SIGNED) \
static inline int8 NAME(uint4 a, uint4 b, int8 c) \
{ \
    return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(A_SIGNED, as_int4(a), B_SIGNED, as_int4(b), c, 0); \
}
CM_WMMA_IU8_GFX11(cm_wmma_gfx11_m16n16k16_s8_s32, 1, 1)
CM_WMMA_IU8_GFX11(cm_wmma_gfx11_m16n16k16_s8_u8_s32, 1, 0)
CM_WMMA_IU8_GFX11(cm_wmma_gfx11_m16n16k16_u8_s8_s32, 0, 1)
CM_WMMA_IU8_GFX11(cm_wmma_gfx11_m16n16k16_u8_s32, 0, 0)

#define CM_WMMA_IU8_GFX12(NAME, A_SIGNED, B_SIGNED) \
static inline int8 NAME(uint2 a, uint2 b, int8 c) \
{ \
    return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(A_SIGNED, as_int2(a), B_SIGNED, as_int2(b), c, 0); \
}
CM_WMMA_IU8_GFX12(cm_wmma_gfx12_m16n16k16_s8_s32, 1, 1)
CM_WMMA_IU8_GFX12(cm_wmma_gfx12_m16n16k16_s8_u8_s32, 1, 0)
CM_WMMA_IU8_GFX12(cm_wmma_gfx12_m16n16k16_u8_s8_s32, 0, 1)
CM_WMMA_IU8_GFX12(cm_wmma_gfx12_m16n16k16_u8_s32, 0, 0)

#define CM_WMMA_IU4_GFX11(NAME, A_SIGNED, B_SIGNED) \
static inline int8 NAME(uint2 a, uint2 b, int8 c) \
{ \
    return __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(A_SIGNED, as_int2(a), B_SIGNED, as_int2(b), c, 0); \
}
CM_WMMA_IU4_GFX11(cm_wmma_gfx11_m16n16k16_s4_s32, 1, 1)
CM_WMMA_IU4_GFX11(cm_wmma_gfx11_m16n16k16_s4_u4_s32, 1, 0)
CM_WMMA_IU4_GFX11(cm_wmma_gfx11_m16n16k16_u4_s4_s32, 0, 1)
CM_WMMA_IU4_GFX11(cm_wmma_gfx11_m16n16k16_u4_s32, 0, 0)

#define CM_WMMA_IU4_GFX12(NAME, A_SIGNED, B_SIGNED) \
static inline int8 NAME(uint a, uint b, int8 c) \
{ \
    return __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32_gfx12(A_SIGNED, as_int(a), B_SIGNED, as_int(b), c, 0); \
}
CM_WMMA_IU4_GFX12(cm_wmma_gfx12_m16n16k16_s4_s32, 1, 1)
CM_WMMA_IU4_GFX12(cm_wmma_gfx12_m16n16k16_s4_u4_s32, 1, 0)
CM_WMMA_IU4_GFX12(cm_wmma_gfx12_m16n16k16_u4_s4_s32, 0, 1)
CM_WMMA_IU4_GFX12(cm_wmma_gfx12_m16n16k16_u4_s32, 0, 0)

// fp8 is E4M3, bf8 is E5M2, both in the formats of the Open Compute Project.
#define CM_WMMA_FP8_GFX12(NAME, TYPES) \
static inline float8 NAME(uint2 a, uint2 b, float8 c) \
{ \
    return __builtin_amdgcn_wmma_f32_16x16x16_##TYPES##_w32_gfx12(as_int2(a), as_int2(b), c); \
}
CM_WMMA_FP8_GFX12(cm_wmma_gfx12_m16n16k16_e4m3_f32, fp8_fp8)
CM_WMMA_FP8_GFX12(cm_wmma_gfx12_m16n16k16_e4m3_e5m2_f32, fp8_bf8)
CM_WMMA_FP8_GFX12(cm_wmma_gfx12_m16n16k16_e5m2_e4m3_f32, bf8_fp8)
CM_WMMA_FP8_GFX12(cm_wmma_gfx12_m16n16k16_e5m2_f32, bf8_bf8)

#undef CM_WMMA_IU8_GFX11
#undef CM_WMMA_IU8_GFX12
#undef CM_WMMA_IU4_GFX11
#undef CM_WMMA_IU4_GFX12
#undef CM_WMMA_FP8_GFX12
