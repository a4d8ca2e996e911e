// Kernels: function words, attributes, qualifiers of pointers, pragmas that stay in the tree.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void k(__global const float *restrict in, volatile global float *out, local int *scratch)
{
#pragma unroll 4
    for (int i = 0; i < 4; i++) out[i] = in[i];
}
