// Clang's matrix types in OpenCL C: records, stores straight to their targets, values by functions that wrap the trees.

typedef float m2 __attribute__((matrix_type(2, 2)));
typedef float padded __attribute__((matrix_type(2, 2, layout(row_major), row_padding(1))));
typedef float v2 __attribute__((matrix_type(2, 1)));
struct pair { m2 first; padded second; };

static m2 squared(m2 m) { return m * m; }

kernel void k(global const m2 *a, global struct pair *out, global const float *x, global float2 *v, int i)
{
    m2 m = a[i] + squared(a[0]) * 2;
    out->first = m;
    out->second = (padded)__builtin_matrix_transpose(m);
    m[i][1] += m[0][i];
    m -= __builtin_matrix_column_major_load(x, 2, 2, i);
    v[i] = (float2)(m * (v2)v[0]);
}
