// Matrix types as Clang lowers them: layouts, padding, address spaces, elements.
// options: --dialect llvm -cl-std=CL1.2
typedef float square __attribute__((matrix_type(4, 4)));
typedef float wide __attribute__((matrix_type(4, 6)));
typedef half rows __attribute__((matrix_type(2, 3, layout(row_major), row_padding(1))));
typedef half turned __attribute__((matrix_type(3, 2, layout(row_major), row_padding(1))));
typedef float plain __attribute__((matrix_type(2, 3)));

square chosen(square a, square b, int c) { return c ? a : b; }

kernel void columns(global square *a, global wide *b, global float *p, ulong stride)
{
    #pragma OPENCL FP_CONTRACT OFF
    wide w = *a * *b;
    w += *b * 2.0f;
    w[1][2] -= w[0][5];
    *b = w;
    *a = chosen(*a, __builtin_matrix_transpose(*a), w[0][0] > 0);
    square s = __builtin_matrix_column_major_load(p, 4, 4, stride);
    float m[64];
    __builtin_matrix_column_major_store(s, m, 8);
    __builtin_matrix_column_major_store(__builtin_matrix_column_major_load(m, 4, 4, stride), p);
}

kernel void padded(global rows *r, global plain *p, global float3 *v, int i)
{
    rows x = *r;
    *p = (plain)(x * (*r)[1][0] + x);
    v[i] = (float3)__builtin_matrix_row(*p, i);
}
