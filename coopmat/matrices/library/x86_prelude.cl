// The instructions that x86.cl calls, as functions whose assembler labels are names of LLVM's intrinsics. Intel's CPU
// runtime takes them for these intrinsics, on CPUs that have the instructions. With other types its process crashes.
typedef char cm_char64 __attribute__((ext_vector_type(64)));
typedef __bf16 cm_bfloat32 __attribute__((ext_vector_type(32)));
int16 cm_llvm_vpdpbusd(int16, cm_char64, cm_char64) __asm__("llvm.x86.avx512.vpdpbusd.512");
float16 cm_llvm_dpbf16ps(float16, cm_bfloat32, cm_bfloat32) __asm__("llvm.x86.avx512bf16.dpbf16ps.512");
static inline uint16 cm_vpdpbusd(uint16 c, uint16 u, uint16 s)
{
    return as_uint16(cm_llvm_vpdpbusd(as_int16(c), __builtin_astype(u, cm_char64), __builtin_astype(s, cm_char64)));
}
static inline float16 cm_vdpbf16ps(float16 c, uint16 a, uint16 b)
{
    return cm_llvm_dpbf16ps(c, __builtin_astype(a, cm_bfloat32), __builtin_astype(b, cm_bfloat32));
}
// A single permutation of bytes; shifts and ors of the rows take three times as many instructions.
static inline uint16 cm_interleave4(uint4 a, uint4 b, uint4 c, uint4 d)
{
    const cm_char64 rows = __builtin_astype((uint16)(a, b, c, d), cm_char64);
    return __builtin_astype(
        __builtin_shufflevector(rows, rows, 0, 16, 32, 48, 1, 17, 33, 49, 2, 18, 34, 50, 3, 19, 35, 51, 4, 20, 36, 52,
                                5, 21, 37, 53, 6, 22, 38, 54, 7, 23, 39, 55, 8, 24, 40, 56, 9, 25, 41, 57, 10, 26, 42,
                                58, 11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63),
        uint16);
}
static inline uint16 cm_interleave2(uint8 a, uint8 b)
{
    return convert_uint16(as_ushort16(a)) | convert_uint16(as_ushort16(b)) << (uint16)(16);
}
static inline uint16 cm_vpunpckldq(uint16 a, uint16 b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
}
static inline uint16 cm_vpunpckhdq(uint16 a, uint16 b)
{
    return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
}
static inline uint16 cm_vpunpcklqdq(uint16 a, uint16 b)
{
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}
static inline uint16 cm_vpunpckhqdq(uint16 a, uint16 b)
{
    return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}
// AMX. The numbers of tiles are part of the instructions, so each number needs a case; the number is known after
// inlining. A compiler may crash on instructions that the processor lacks. Modules without tiles therefore define
// CM_NO_TILES.
#ifndef CM_NO_TILES
void cm_llvm_ldtilecfg(__private const void *) __asm__("llvm.x86.ldtilecfg");
void cm_llvm_tilerelease(void) __asm__("llvm.x86.tilerelease");
void cm_llvm_tileloadd(uchar, __private const void *, ulong) __asm__("llvm.x86.tileloadd64");
void cm_llvm_tilestored(uchar, __private void *, ulong) __asm__("llvm.x86.tilestored64");
void cm_llvm_tdpbssd(uchar, uchar, uchar) __asm__("llvm.x86.tdpbssd");
void cm_llvm_tdpbsud(uchar, uchar, uchar) __asm__("llvm.x86.tdpbsud");
void cm_llvm_tdpbusd(uchar, uchar, uchar) __asm__("llvm.x86.tdpbusd");
void cm_llvm_tdpbuud(uchar, uchar, uchar) __asm__("llvm.x86.tdpbuud");
void cm_llvm_tdpbf16ps(uchar, uchar, uchar) __asm__("llvm.x86.tdpbf16ps");
#define CM_TILE_CASE(n, call) case n: call; break;
#define CM_TILES_OF_C(instruction, n) \
    switch (n) { \
        CM_TILE_CASE(0, instruction(0, 4, 6)) \
        CM_TILE_CASE(1, instruction(1, 4, 7)) \
        CM_TILE_CASE(2, instruction(2, 5, 6)) \
        CM_TILE_CASE(3, instruction(3, 5, 7)) \
    }
// The configuration: palette 1, 64 bytes in each row of the eight tiles (from byte 16), 16 rows (from byte 48).
static inline void cm_tiles_begin(__private uint16 *tiles)
{
    const uint bytes = 0x00400040u, rows = 0x10101010u;
    tiles[0] = (uint16)(1, 0, 0, 0, bytes, bytes, bytes, bytes, 0, 0, 0, 0, rows, rows, 0, 0);
    cm_llvm_ldtilecfg(tiles);
}
static inline void cm_tiles_end(__private uint16 *tiles)
{
    cm_llvm_tilerelease();
}
static inline void cm_tile_load(__private uint16 *tiles, int n, __private const void *p, ulong stride)
{
    switch (n) {
        CM_TILE_CASE(0, cm_llvm_tileloadd(0, p, stride))
        CM_TILE_CASE(1, cm_llvm_tileloadd(1, p, stride))
        CM_TILE_CASE(2, cm_llvm_tileloadd(2, p, stride))
        CM_TILE_CASE(3, cm_llvm_tileloadd(3, p, stride))
        CM_TILE_CASE(4, cm_llvm_tileloadd(4, p, stride))
        CM_TILE_CASE(5, cm_llvm_tileloadd(5, p, stride))
        CM_TILE_CASE(6, cm_llvm_tileloadd(6, p, stride))
        CM_TILE_CASE(7, cm_llvm_tileloadd(7, p, stride))
    }
}
static inline void cm_tile_store(__private const uint16 *tiles, int n, __private void *p, ulong stride)
{
    switch (n) {
        CM_TILE_CASE(0, cm_llvm_tilestored(0, p, stride))
        CM_TILE_CASE(1, cm_llvm_tilestored(1, p, stride))
        CM_TILE_CASE(2, cm_llvm_tilestored(2, p, stride))
        CM_TILE_CASE(3, cm_llvm_tilestored(3, p, stride))
    }
}
static inline void cm_tdpbssd(__private uint16 *tiles, int n)
{
    CM_TILES_OF_C(cm_llvm_tdpbssd, n)
}
static inline void cm_tdpbsud(__private uint16 *tiles, int n)
{
    CM_TILES_OF_C(cm_llvm_tdpbsud, n)
}
static inline void cm_tdpbusd(__private uint16 *tiles, int n)
{
    CM_TILES_OF_C(cm_llvm_tdpbusd, n)
}
static inline void cm_tdpbuud(__private uint16 *tiles, int n)
{
    CM_TILES_OF_C(cm_llvm_tdpbuud, n)
}
static inline void cm_tdpbf16ps(__private uint16 *tiles, int n)
{
    CM_TILES_OF_C(cm_llvm_tdpbf16ps, n)
}
#endif // CM_NO_TILES
