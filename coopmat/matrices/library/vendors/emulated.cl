// What the emulated forms of the vendors' matrix instructions share: the same functions in plain OpenCL C. They come
// before mma_emulated.cl and its like, whose layouts say which component each lane's registers hold.
//
// CM_EMULATED(name, lanes, m, n, k, layout, a, A, a_words, b, B, b_words, c, C, c_words)
//
// defines `C name(A, B, C)`: component types a, b, c; OpenCL C types A, B, C of so many registers, here words.
// Component i of an operand is counted over a lane's registers, the lowest bits first. layout##_A_ROW(lane, i) and
// layout##_A_COLUMN say where it lies in A; so for B and C. Each lane gathers all of A and B by broadcasts: slow, and
// easy to read.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// A component of a word: of how many bits, and what number
#define CM_BITS_s8 8
#define CM_BITS_u8 8
#define CM_BITS_e4m3 8
#define CM_BITS_e5m2 8
#define CM_BITS_f16 16
#define CM_BITS_bf16 16
#define CM_BITS_tf32 32
#define CM_BITS_f32 32
#define CM_BITS_s32 32
#define CM_BITS_f64 64

#define CM_BYTE(word, part) ((uchar)((word) >> 8 * (part)))
#define CM_SHORT(word, part) ((ushort)((word) >> 16 * (part)))

#define CM_NUMBER_s8(word, part) as_char(CM_BYTE(word, part))
#define CM_NUMBER_u8(word, part) CM_BYTE(word, part)
#define CM_NUMBER_e4m3(word, part) cm_e4m3(CM_BYTE(word, part))
#define CM_NUMBER_e5m2(word, part) ((float)as_half((ushort)(CM_BYTE(word, part) << 8)))
#define CM_NUMBER_f16(word, part) ((float)as_half(CM_SHORT(word, part)))
#define CM_NUMBER_bf16(word, part) as_float((uint)CM_SHORT(word, part) << 16)
// The 13 lowest bits of the register are none of a tf32.
#define CM_NUMBER_tf32(word, part) as_float((word) & 0xffffe000u)
#define CM_NUMBER_f64(word, part) (word)

// A float of 4 bits of exponent and 3 of mantissa with no infinities; OCP 8-bit Floating Point Specification, E4M3. A
// half has one more bit of exponent: its bias is larger by 8.
static inline float cm_e4m3(uchar x)
{
    const ushort bits = (ushort)((x & 0x80) << 8 | (x & 0x7f) << 7);
    return (x & 0x7f) == 0x7f ? NAN : (float)as_half(bits) * 256.0f;
}

// Registers as an array of words
#define CM_WORD_uint uint
#define CM_WORD_uint2 uint
#define CM_WORD_uint4 uint
#define CM_WORD_double double
#define CM_WORDS_uint(x) (x)
#define CM_WORDS_uint2(x) (x)
#define CM_WORDS_uint4(x) (x)
#define CM_WORDS_double(x) (x)

#define CM_ELEMENT_float4 float
#define CM_ELEMENT_int2 int
#define CM_ELEMENT_int4 int
#define CM_ELEMENT_uint2 uint
#define CM_ELEMENT_double2 double

#define CM_STORE_1(x, p) (*(p) = (x))
#define CM_STORE_2(x, p) vstore2(x, 0, p)
#define CM_STORE_4(x, p) vstore4(x, 0, p)
#define CM_LOAD_1(p) (*(p))
#define CM_LOAD_2(p) vload2(0, p)
#define CM_LOAD_4(p) vload4(0, p)

// By the accumulator's type: the type of A's and B's components as numbers, and that of the sum. Sums of integers wrap.
#define CM_FACTOR_s32 int
#define CM_FACTOR_f32 float
#define CM_FACTOR_f16 float
#define CM_FACTOR_f64 double
#define CM_SUM_s32 uint
#define CM_SUM_f32 float
#define CM_SUM_f16 float
#define CM_SUM_f64 double

#define CM_READ_s32(words, i) as_uint((words)[i])
#define CM_READ_f32(words, i) ((words)[i])
#define CM_READ_f64(words, i) ((words)[i])
#define CM_READ_f16(words, i) CM_NUMBER_f16((words)[(i) / 2], (i) % 2)
#define CM_WRITE_s32(words, i, x) ((words)[i] = as_int(x))
#define CM_WRITE_f32(words, i, x) ((words)[i] = (x))
#define CM_WRITE_f64(words, i, x) ((words)[i] = (x))
#define CM_WRITE_f16(words, i, x) \
    ((words)[(i) / 2] = ((words)[(i) / 2] & 0xffff0000u >> 16 * ((i) % 2)) | (uint)CM_HALF_BITS(x) << 16 * ((i) % 2))
#define CM_HALF_BITS(x) as_ushort(convert_half_rte(x))

#define CM_GATHER(matrix, columns, words, count, parts, number, lanes, row, column) \
    for (uint lane = 0; lane < (lanes); lane++) \
        for (uint w = 0; w < (count); w++) \
            for (uint part = 0; part < (parts); part++) { \
                const uint i = w * (parts) + part; \
                const uint at = row(lane, i) * (columns) + column(lane, i); \
                (matrix)[at] = number(sub_group_broadcast((words)[w], lane), part); \
            }

#define CM_EMULATED(NAME, LANES, M, N, K, LAYOUT, a_type, A, A_WORDS, b_type, B, B_WORDS, c_type, C, C_WORDS) \
static inline C NAME(A a, B b, C c) \
{ \
    CM_WORD_##A a_words[A_WORDS]; \
    CM_WORD_##B b_words[B_WORDS]; \
    CM_ELEMENT_##C c_words[C_WORDS]; \
    CM_STORE_##A_WORDS(CM_WORDS_##A(a), a_words); \
    CM_STORE_##B_WORDS(CM_WORDS_##B(b), b_words); \
    CM_STORE_##C_WORDS(c, c_words); \
    CM_FACTOR_##c_type a_matrix[M * K], b_matrix[K * N]; \
    CM_GATHER(a_matrix, K, a_words, A_WORDS, sizeof(A) * 8 / (A_WORDS) / CM_BITS_##a_type, CM_NUMBER_##a_type, LANES, \
              LAYOUT##_A_ROW, LAYOUT##_A_COLUMN) \
    CM_GATHER(b_matrix, N, b_words, B_WORDS, sizeof(B) * 8 / (B_WORDS) / CM_BITS_##b_type, CM_NUMBER_##b_type, LANES, \
              LAYOUT##_B_ROW, LAYOUT##_B_COLUMN) \
    const uint lane = get_sub_group_local_id(); \
    for (uint i = 0; i < sizeof(C) * 8 / CM_BITS_##c_type; i++) { \
        const uint row = LAYOUT##_C_ROW(lane, i), column = LAYOUT##_C_COLUMN(lane, i); \
        CM_SUM_##c_type sum = CM_READ_##c_type(c_words, i); \
        for (uint k = 0; k < (K); k++) \
            sum += (CM_SUM_##c_type)(a_matrix[row * (K) + k] * b_matrix[k * (N) + column]); \
        CM_WRITE_##c_type(c_words, i, sum); \
    } \
    return CM_LOAD_##C_WORDS(c_words); \
}
