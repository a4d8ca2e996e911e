// What x86.cl calls, by functions whose assembler labels are names of LLVM's intrinsics: Intel's CPU runtime takes them
// for these, on CPUs that have the instructions. With other types its process ends.
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
