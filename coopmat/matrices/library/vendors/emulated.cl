// The common part of the emulated matrix instructions of vendors: the same functions in plain OpenCL C. This text
// precedes mma_emulated.cl and similar files, whose macros give the component that each register of a lane holds.
//
// CM_EMULATED(name, lanes, m, n, k, layout, a, A, a_count, b, B, b_count, c, C, c_count)
//
// defines `C name(A, B, C)`. a, b and c are component types. A, B and C are the OpenCL C types of the registers,
// a_count, b_count and c_count their numbers in a vector. Component i of an operand is counted over a lane's registers,
// the lowest bits first. layout##_A_ROW(lane, i) and layout##_A_COLUMN(lane, i) are its row and column in A, or outside
// of A; likewise for B and C. For A and B the macros may use `components`, the number of components of a lane. Each
// lane gathers all of A and B by broadcasts: slow, but easy to read.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// component type -> its width in bits; below, the number that component `part` of a word represents
#define CM_BITS_s4 4
#define CM_BITS_u4 4
#define CM_BITS_s8 8
#define CM_BITS_u8 8
#define CM_BITS_e4m3 8
#define CM_BITS_e5m2 8
#define CM_BITS_e4m3fnuz 8
#define CM_BITS_e5m2fnuz 8
#define CM_BITS_f16 16
#define CM_BITS_bf16 16
#define CM_BITS_tf32 32
#define CM_BITS_f32 32
#define CM_BITS_s32 32
#define CM_BITS_f64 64

#define CM_BYTE(word, part) ((uchar)((word) >> 8 * (part)))
#define CM_SHORT(word, part) ((ushort)((word) >> 16 * (part)))

#define CM_NUMBER_s4(word, part) (as_int((word) << (28 - 4 * (part))) >> 28)
#define CM_NUMBER_u4(word, part) ((word) >> 4 * (part) & 15)
#define CM_NUMBER_s8(word, part) as_char(CM_BYTE(word, part))
#define CM_NUMBER_u8(word, part) CM_BYTE(word, part)
#define CM_NUMBER_e4m3(word, part) cm_e4m3(CM_BYTE(word, part))
#define CM_NUMBER_e5m2(word, part) ((float)as_half((ushort)(CM_BYTE(word, part) << 8)))
#define CM_NUMBER_e4m3fnuz(word, part) cm_fnuz(CM_BYTE(word, part), 3, 8)
#define CM_NUMBER_e5m2fnuz(word, part) cm_fnuz(CM_BYTE(word, part), 2, 16)
#define CM_NUMBER_f16(word, part) ((float)as_half(CM_SHORT(word, part)))
#define CM_NUMBER_bf16(word, part) as_float((uint)CM_SHORT(word, part) << 16)
// A tf32 does not include the 13 lowest bits of the register.
#define CM_NUMBER_tf32(word, part) as_float((word) & 0xffffe000u)
#define CM_NUMBER_f64(word, part) (word)

// A float with 4 bits of exponent, 3 of mantissa and no infinities; OCP 8-bit Floating Point Specification, E4M3. Half
// has one more bit of exponent, so its bias is larger by 8.
static inline float cm_e4m3(uchar x)
{
    const ushort bits = (ushort)((x & 0x80) << 8 | (x & 0x7f) << 7);
    return (x & 0x7f) == 0x7f ? NAN : (float)as_half(bits) * 256.0f;
}

// A float of 8 bits without infinities and negative zero, whose pattern is a NaN; "AMD Instinct MI300 / CDNA3
// Instruction Set Architecture", the section on 8-bit floats
static inline float cm_fnuz(uchar x, int mantissa, int bias)
{
    const int exponent = (x & 0x7f) >> mantissa, fraction = x & ((1 << mantissa) - 1);
    const int significand = exponent ? fraction | 1 << mantissa : fraction;
    const float size = ldexp((float)significand, max(exponent, 1) - bias - mantissa);
    return x == 0x80 ? NAN : x & 0x80 ? -size : size;
}

// Vector types, and the names of functions on vectors
#define CM_VECTOR_1(t) t
#define CM_VECTOR_2(t) t##2
#define CM_VECTOR_4(t) t##4
#define CM_VECTOR_8(t) t##8
#define CM_VECTOR_16(t) t##16

// Registers of A or B as words, which contain a register in their lowest bits
#define CM_WORD_uint uint
#define CM_WORD_int uint
#define CM_WORD_ushort uint
#define CM_WORD_short uint
#define CM_WORD_float uint
#define CM_WORD_double double
#define CM_WORDS_uint(n, x) (x)
#define CM_WORDS_int(n, x) CM_VECTOR_##n(as_uint)(x)
#define CM_WORDS_ushort(n, x) CM_VECTOR_##n(convert_uint)(x)
#define CM_WORDS_short(n, x) CM_VECTOR_##n(convert_uint)(CM_VECTOR_##n(as_ushort)(x))
#define CM_WORDS_float(n, x) CM_VECTOR_##n(as_uint)(x)
#define CM_WORDS_double(n, x) (x)

#define CM_STORE_1(x, p) (*(p) = (x))
#define CM_STORE_2(x, p) vstore2(x, 0, p)
#define CM_STORE_4(x, p) vstore4(x, 0, p)
#define CM_STORE_8(x, p) vstore8(x, 0, p)
#define CM_STORE_16(x, p) vstore16(x, 0, p)
#define CM_LOAD_1(p) (*(p))
#define CM_LOAD_2(p) vload2(0, p)
#define CM_LOAD_4(p) vload4(0, p)
#define CM_LOAD_8(p) vload8(0, p)
#define CM_LOAD_16(p) vload16(0, p)

// component type of the accumulator -> type of A's and B's components as numbers, and type of the sum. Sums of integers
// wrap.
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

#define CM_GATHER(matrix, rows, columns, Word, words, count, parts, number, lanes, row_of, column_of) \
    for (uint lane = 0; lane < (lanes); lane++) \
        for (uint w = 0; w < (count); w++) \
            for (uint part = 0; part < (parts); part++) { \
                const uint components = (count) * (parts), i = w * (parts) + part; \
                const uint row = row_of(lane, i), column = column_of(lane, i); \
                const Word word = sub_group_broadcast((words)[w], lane); \
                if (row < (rows) && column < (columns)) \
                    (matrix)[row * (columns) + column] = number(word, part); \
            }

#define CM_EMULATED(NAME, LANES, M, N, K, LAYOUT, a_type, A, A_COUNT, b_type, B, B_COUNT, c_type, C, C_COUNT) \
static inline CM_VECTOR_##C_COUNT(C) \
NAME(CM_VECTOR_##A_COUNT(A) a, CM_VECTOR_##B_COUNT(B) b, CM_VECTOR_##C_COUNT(C) c) \
{ \
    CM_WORD_##A a_words[A_COUNT]; \
    CM_WORD_##B b_words[B_COUNT]; \
    C c_words[C_COUNT]; \
    CM_STORE_##A_COUNT(CM_WORDS_##A(A_COUNT, a), a_words); \
    CM_STORE_##B_COUNT(CM_WORDS_##B(B_COUNT, b), b_words); \
    CM_STORE_##C_COUNT(c, c_words); \
    CM_FACTOR_##c_type a_matrix[M * K], b_matrix[K * N]; \
    CM_GATHER(a_matrix, M, K, CM_WORD_##A, a_words, A_COUNT, sizeof(A) * 8 / CM_BITS_##a_type, CM_NUMBER_##a_type, \
              LANES, LAYOUT##_A_ROW, LAYOUT##_A_COLUMN) \
    CM_GATHER(b_matrix, K, N, CM_WORD_##B, b_words, B_COUNT, sizeof(B) * 8 / CM_BITS_##b_type, CM_NUMBER_##b_type, \
              LANES, LAYOUT##_B_ROW, LAYOUT##_B_COLUMN) \
    const uint lane = get_sub_group_local_id(); \
    for (uint i = 0; i < (C_COUNT) * sizeof(C) * 8 / CM_BITS_##c_type; i++) { \
        const uint row = LAYOUT##_C_ROW(lane, i), column = LAYOUT##_C_COLUMN(lane, i); \
        CM_SUM_##c_type sum = CM_READ_##c_type(c_words, i); \
        for (uint k = 0; k < (K); k++) \
            sum += (CM_SUM_##c_type)(a_matrix[row * (K) + k] * b_matrix[k * (N) + column]); \
        CM_WRITE_##c_type(c_words, i, sum); \
    } \
    return CM_LOAD_##C_COUNT(c_words); \
}
