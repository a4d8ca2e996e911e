#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#ifndef CM_INLINE
#define CM_INLINE inline __attribute__((always_inline))
#endif

#line 1 "<matrix library>"
struct cm_bfloat16_8x20_a {
    ushort part[24];
};
#line 1 "<matrix library>"
struct cm_ulong_8x8_accumulator {
    ulong part[8];
};
#line 16 "<matrix library>"
static CM_INLINE float cm_bf16_to_float_1(ushort x)
{
    return as_float((uint)x << 16);
}
#line 25 "<matrix library>"
static CM_INLINE void cm_add_8x8_C_u64(__private ulong *out, __private const ulong *a, __private const ulong *b)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 8; ++s) {
        if (1)
            out[s] = a[s] + b[s];
    }
}
#line 62 "<matrix library>"
static CM_INLINE uint2 cm_coord_8x8_C_u64(uint i)
{
    return (uint2)(i % 8, i / 8 * 8 + (int)get_sub_group_local_id());
}
#line 95 "<matrix library>"
static CM_INLINE void cm_fill_8x8_C_u64(__private ulong *out, ulong value)
{
    _Pragma("unroll") for (int s = 0; s < 8; ++s)
        out[s] = value;
}
#line 129 "<matrix library>"
static CM_INLINE uint cm_length_8x8_C_u64(void)
{
    return (15 - (int)get_sub_group_local_id()) / 8 * 8;
}
#line 168 "<matrix library>"
static CM_INLINE void cm_load_8x20_A_bf16_global_rowm(__private ushort *out, __global const ushort *p, ulong stride)
{
    const int lane = get_sub_group_local_id();
    _Pragma("unroll") for (int s = 0; s < 24; ++s) {
        const int r = s % 8; const int c = s / 8 * 8 + lane;
        out[s] = s % 8 < 8 && s / 8 * 8 + lane < 20 && 1 ? (int)p[r * stride + c] : 0;
    }
}
#line 219 "<matrix library>"
static CM_INLINE void cm_store_8x20_A_bf16_private_rowm(__private ushort *p, __private const ushort *m, ulong stride)
{
    _Pragma("unroll") for (int c = 0; c < 20; ++c) {
        _Pragma("unroll") for (int r = 0; r < 8; ++r) {
            const ushort x = sub_group_broadcast((uint)m[c / 8 * 8 + r], c % 8);
            if (1)
                p[r * stride + c] = x;
        }
    }
}
#line 273 "<matrix library>"
static CM_INLINE void cm_store_8x8_C_u64_private_rowm(__private ulong *p, __private const ulong *m, ulong stride)
{
    _Pragma("unroll") for (int c = 0; c < 8; ++c) {
        _Pragma("unroll") for (int r = 0; r < 8; ++r) {
            const ulong x = sub_group_broadcast(m[c / 8 * 8 + r], c % 8);
            if (1)
                p[r * stride + c] = x;
        }
    }
}
#line 3 "<matrix library>"
static CM_INLINE void cm_print_0(struct cm_bfloat16_8x20_a m)
{
    ushort x[160];
    cm_store_8x20_A_bf16_private_rowm((__private ushort *)x, m.part, 20);
    if (get_sub_group_local_id() == 0) {
        printf("a [8 x 20 bfloat16 A]\n");
        for (uint r = 0; r < 8; ++r) {
            printf("%10g %10g %10g %10g %10g %10g %10g %10g %10g %10g %10g %10g %10g %10g %10g %10g ", cm_bf16_to_float_1(x[r * 20 + 0]), cm_bf16_to_float_1(x[r * 20 + 1]), cm_bf16_to_float_1(x[r * 20 + 2]), cm_bf16_to_float_1(x[r * 20 + 3]), cm_bf16_to_float_1(x[r * 20 + 4]), cm_bf16_to_float_1(x[r * 20 + 5]), cm_bf16_to_float_1(x[r * 20 + 6]), cm_bf16_to_float_1(x[r * 20 + 7]), cm_bf16_to_float_1(x[r * 20 + 8]), cm_bf16_to_float_1(x[r * 20 + 9]), cm_bf16_to_float_1(x[r * 20 + 10]), cm_bf16_to_float_1(x[r * 20 + 11]), cm_bf16_to_float_1(x[r * 20 + 12]), cm_bf16_to_float_1(x[r * 20 + 13]), cm_bf16_to_float_1(x[r * 20 + 14]), cm_bf16_to_float_1(x[r * 20 + 15]));
            printf("%10g %10g %10g %10g\n", cm_bf16_to_float_1(x[r * 20 + 16]), cm_bf16_to_float_1(x[r * 20 + 17]), cm_bf16_to_float_1(x[r * 20 + 18]), cm_bf16_to_float_1(x[r * 20 + 19]));
        }
    }
}



static CM_INLINE void cm_print_1(struct cm_ulong_8x8_accumulator m)
{
    ulong x[64];
    cm_store_8x8_C_u64_private_rowm(x, m.part, 8);
    if (get_sub_group_local_id() == 0) {
        printf("50 %% of \"c\" [8 x 8 ulong accumulator]\n");
        for (uint r = 0; r < 8; ++r) {
            printf("%8lu %8lu %8lu %8lu %8lu %8lu %8lu %8lu\n", x[r * 8 + 0], x[r * 8 + 1], x[r * 8 + 2], x[r * 8 + 3], x[r * 8 + 4], x[r * 8 + 5], x[r * 8 + 6], x[r * 8 + 7]);
        }
    }
}



static CM_INLINE void cm_print_2(struct cm_ulong_8x8_accumulator m)
{
    const uint lane = get_sub_group_local_id();
    for (uint i = 0; i < cm_length_8x8_C_u64(); ++i) {
        const uint2 at = cm_coord_8x8_C_u64(i);
        printf("%u %u %u %u %lu\n", lane, i, at.x, at.y, m.part[i]);
    }
}
#line 6 "print.cl"
__kernel __attribute__((intel_reqd_sub_group_size(8))) void k(__global const ushort *p)
{
#line 7 "print.cl"
    struct cm_ulong_8x8_accumulator cm_t2;
    struct cm_bfloat16_8x20_a a; cm_load_8x20_A_bf16_global_rowm(a.part, (__global const ushort *)p, 20);
    cm_print_0(a);
    struct cm_ulong_8x8_accumulator c; cm_fill_8x8_C_u64(c.part, 7);
    cm_print_1((cm_add_8x8_C_u64(cm_t2.part, c.part, c.part), cm_t2));
    cm_print_2(c);
}
