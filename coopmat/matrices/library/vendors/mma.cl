// NVIDIA's matrix instruction mma.sync as inline PTX, with a function for each shape and type. All 32 lanes of a warp
// must call a function together. Registers hold components in PTX's order, the first component in the lowest bits.
//
// PTX ISA, "Warp-level matrix instructions": "Multiply-and-Accumulate Instruction: mma" for the instructions and their
// registers, "Matrix Fragments for mma.m..." for the layouts, which mma_emulated.cl has. A is row-major, B
// column-major. The result has the accumulator's registers.

// In strict C modes clang lacks the keyword `asm`; some other compilers lack `__asm__`.
#ifdef __clang__
#define CM_ASM __asm__
#else
#define CM_ASM asm
#endif

// NVIDIA's OpenCL C has no subgroups. PTX ISA: "Special Registers: %laneid", "Data Movement and Conversion
// Instructions: shfl.sync".
#if !defined(cl_khr_subgroups) && !defined(__opencl_c_subgroups)
static inline uint cm_lane(void)
{
    uint lane;
    CM_ASM volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
#define CM_SHUFFLE_32(TYPE, REGISTER) \
static inline TYPE __attribute__((overloadable)) cm_broadcast(TYPE x, uint lane) \
{ \
    TYPE y; \
    CM_ASM volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=" REGISTER(y) : REGISTER(x), "r"(lane)); \
    return y; \
}
#define CM_SHUFFLE_64(TYPE, REGISTER) \
static inline TYPE __attribute__((overloadable)) cm_broadcast(TYPE x, uint lane) \
{ \
    TYPE y; \
    CM_ASM volatile("{ .reg .b32 low, high; mov.b64 {low, high}, %1;" \
                    " shfl.sync.idx.b32 low, low, %2, 0x1f, 0xffffffff;" \
                    " shfl.sync.idx.b32 high, high, %2, 0x1f, 0xffffffff; mov.b64 %0, {low, high}; }" \
                    : "=" REGISTER(y) : REGISTER(x), "r"(lane)); \
    return y; \
}
CM_SHUFFLE_32(int, "r")
CM_SHUFFLE_32(uint, "r")
CM_SHUFFLE_32(float, "f")
CM_SHUFFLE_64(long, "l")
CM_SHUFFLE_64(ulong, "l")
CM_SHUFFLE_64(double, "d")
#undef CM_SHUFFLE_32
#undef CM_SHUFFLE_64
static inline void cm_warp_barrier(uint fences)
{
    CM_ASM volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}
#define get_sub_group_local_id cm_lane
#define sub_group_broadcast cm_broadcast
#define sub_group_barrier cm_warp_barrier
// "Special Registers: %tid, %ntid": a warp is consecutive work-items.
#define CM_PLACE_IN_GROUP \
    ((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0))
#define CM_WORK_ITEMS (get_local_size(0) * get_local_size(1) * get_local_size(2))
#define get_max_sub_group_size() 32u
#define get_sub_group_id() ((uint)(CM_PLACE_IN_GROUP / 32))
#define get_num_sub_groups() ((uint)((CM_WORK_ITEMS + 31) / 32))
#define get_sub_group_size() min(32u, (uint)CM_WORK_ITEMS - get_sub_group_id() * 32)
#endif

#define CM_MMA_F32(NAME, LINE) \
static inline float4 NAME(uint4 a, uint2 b, float4 c) \
{ \
    float c0 = c.x, c1 = c.y, c2 = c.z, c3 = c.w; \
    CM_ASM volatile("mma.sync.aligned." LINE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                    : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) \
                    : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y)); \
    c.x = c0, c.y = c1, c.z = c2, c.w = c3; \
    return c; \
}

#define CM_MMA_F32_OF_HALF_K(NAME, LINE) \
static inline float4 NAME(uint2 a, uint b, float4 c) \
{ \
    float c0 = c.x, c1 = c.y, c2 = c.z, c3 = c.w; \
    CM_ASM volatile("mma.sync.aligned." LINE " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
                    : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) \
                    : "r"(a.x), "r"(a.y), "r"(b)); \
    c.x = c0, c.y = c1, c.z = c2, c.w = c3; \
    return c; \
}

#define CM_MMA_F16(NAME, LINE) \
static inline uint2 NAME(uint4 a, uint2 b, uint2 c) \
{ \
    uint c0 = c.x, c1 = c.y; \
    CM_ASM volatile("mma.sync.aligned." LINE " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" \
                    : "+r"(c0), "+r"(c1) \
                    : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y)); \
    c.x = c0, c.y = c1; \
    return c; \
}

#define CM_MMA_F16_OF_HALF_K(NAME, LINE) \
static inline uint2 NAME(uint2 a, uint b, uint2 c) \
{ \
    uint c0 = c.x, c1 = c.y; \
    CM_ASM volatile("mma.sync.aligned." LINE " {%0, %1}, {%2, %3}, {%4}, {%0, %1};" \
                    : "+r"(c0), "+r"(c1) \
                    : "r"(a.x), "r"(a.y), "r"(b)); \
    c.x = c0, c.y = c1; \
    return c; \
}

#define CM_MMA_S32(NAME, LINE) \
static inline int4 NAME(uint4 a, uint2 b, int4 c) \
{ \
    int c0 = c.x, c1 = c.y, c2 = c.z, c3 = c.w; \
    CM_ASM volatile("mma.sync.aligned." LINE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                    : "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3) \
                    : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y)); \
    c.x = c0, c.y = c1, c.z = c2, c.w = c3; \
    return c; \
}

#define CM_MMA_S32_OF_8_ROWS(NAME, LINE) \
static inline int2 NAME(uint a, uint b, int2 c) \
{ \
    int c0 = c.x, c1 = c.y; \
    CM_ASM volatile("mma.sync.aligned." LINE " {%0, %1}, {%2}, {%3}, {%0, %1};" \
                    : "+r"(c0), "+r"(c1) \
                    : "r"(a), "r"(b)); \
    c.x = c0, c.y = c1; \
    return c; \
}

#define CM_MMA_F64(NAME, LINE) \
static inline double2 NAME(double a, double b, double2 c) \
{ \
    double c0 = c.x, c1 = c.y; \
    CM_ASM volatile("mma.sync.aligned." LINE " {%0, %1}, {%2}, {%3}, {%0, %1};" \
                    : "+d"(c0), "+d"(c1) \
                    : "d"(a), "d"(b)); \
    c.x = c0, c.y = c1; \
    return c; \
}

// Compute capability 7.5
CM_MMA_F32_OF_HALF_K(cm_mma_m16n8k8_f16_f32, "m16n8k8.row.col.f32.f16.f16.f32")
CM_MMA_F16_OF_HALF_K(cm_mma_m16n8k8_f16_f16, "m16n8k8.row.col.f16.f16.f16.f16")
CM_MMA_S32_OF_8_ROWS(cm_mma_m8n8k16_s8_s32, "m8n8k16.row.col.s32.s8.s8.s32")
CM_MMA_S32_OF_8_ROWS(cm_mma_m8n8k16_s8_u8_s32, "m8n8k16.row.col.s32.s8.u8.s32")
CM_MMA_S32_OF_8_ROWS(cm_mma_m8n8k16_u8_s8_s32, "m8n8k16.row.col.s32.u8.s8.s32")
CM_MMA_S32_OF_8_ROWS(cm_mma_m8n8k16_u8_s32, "m8n8k16.row.col.s32.u8.u8.s32")

// Compute capability 8.0; integers wrap instead of saturating
CM_MMA_F32(cm_mma_m16n8k16_f16_f32, "m16n8k16.row.col.f32.f16.f16.f32")
CM_MMA_F16(cm_mma_m16n8k16_f16_f16, "m16n8k16.row.col.f16.f16.f16.f16")
CM_MMA_F32(cm_mma_m16n8k16_bf16_f32, "m16n8k16.row.col.f32.bf16.bf16.f32")
CM_MMA_F32(cm_mma_m16n8k8_tf32_f32, "m16n8k8.row.col.f32.tf32.tf32.f32")
CM_MMA_F64(cm_mma_m8n8k4_f64_f64, "m8n8k4.row.col.f64.f64.f64.f64")
CM_MMA_S32(cm_mma_m16n8k32_s8_s32, "m16n8k32.row.col.s32.s8.s8.s32")
CM_MMA_S32(cm_mma_m16n8k32_s8_u8_s32, "m16n8k32.row.col.s32.s8.u8.s32")
CM_MMA_S32(cm_mma_m16n8k32_u8_s8_s32, "m16n8k32.row.col.s32.u8.s8.s32")
CM_MMA_S32(cm_mma_m16n8k32_u8_s32, "m16n8k32.row.col.s32.u8.u8.s32")

// Compute capability 8.9
CM_MMA_F32(cm_mma_m16n8k32_e4m3_f32, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
CM_MMA_F32(cm_mma_m16n8k32_e4m3_e5m2_f32, "m16n8k32.row.col.f32.e4m3.e5m2.f32")
CM_MMA_F32(cm_mma_m16n8k32_e5m2_e4m3_f32, "m16n8k32.row.col.f32.e5m2.e4m3.f32")
CM_MMA_F32(cm_mma_m16n8k32_e5m2_f32, "m16n8k32.row.col.f32.e5m2.e5m2.f32")

#undef CM_ASM
#undef CM_MMA_F32
#undef CM_MMA_F32_OF_HALF_K
#undef CM_MMA_F16
#undef CM_MMA_F16_OF_HALF_K
#undef CM_MMA_S32
#undef CM_MMA_S32_OF_8_ROWS
#undef CM_MMA_F64
