// C = A B in float, written by hand without matrices: the baseline for gemm_f32.cl. As there, the first group index
// selects the rows.

#ifdef VECTORS
// One work-item computes ROWS x 16 TN components: rows of C as vectors.
__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void gemm_plain(const global float *restrict a, const global float *restrict b, global float *restrict c)
{
    const int row = get_group_id(0) * ROWS, column = get_group_id(1) * 16 * TN;
    float16 sum[ROWS][TN];

    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        #pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = 0.0f;
    for (int k = 0; k < K; k++) {
        float16 part[TN];
        #pragma unroll
        for (int j = 0; j < TN; j++)
            part[j] = vload16(0, b + k * LDB + column + j * 16);
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float16 scale = a[(row + i) * LDA + k];
            #pragma unroll
            for (int j = 0; j < TN; j++)
                sum[i][j] = fma(scale, part[j], sum[i][j]);
        }
    }
    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        #pragma unroll
        for (int j = 0; j < TN; j++)
            vstore16(sum[i][j], 0, c + (row + i) * LDC + column + j * 16);
}
#else
// A work-group of 16 computes ROWS x 16 TN components: one column of each tile per work-item.
__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void gemm_plain(const global float *restrict a, const global float *restrict b, global float *restrict c)
{
    const int row = get_group_id(0) * ROWS, column = get_group_id(1) * 16 * TN + get_local_id(0);
    float sum[ROWS][TN];

    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        #pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = 0.0f;
    for (int k = 0; k < K; k++) {
        float part[TN];
        #pragma unroll
        for (int j = 0; j < TN; j++)
            part[j] = b[k * LDB + column + j * 16];
        #pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float scale = a[(row + i) * LDA + k];
            #pragma unroll
            for (int j = 0; j < TN; j++)
                sum[i][j] = fma(scale, part[j], sum[i][j]);
        }
    }
    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        #pragma unroll
        for (int j = 0; j < TN; j++)
            c[(row + i) * LDC + column + j * 16] = sum[i][j];
}
#endif
