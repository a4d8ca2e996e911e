// C = A B without cooperative matrices: square tiles staged through local memory.
//
// run: kernel=gemm_tiled global=(N, M) local=(T, T) M=64 N=96 K=80 T=16 -DT=16 -DN=96 -DK=80
//      flop=2*M*N*K
//      a=f32[M,K]:uniform(-1,1) b=f32[K,N]:uniform(-1,1) c=f32[M,N]:zeros
// check: c ~ a @ b   atol=1e-4

kernel void gemm_tiled(const global float *a, const global float *b, global float *c)
{
    local float ta[T][T], tb[T][T];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;

    for (int k = 0; k < K; k += T) {
        ta[y][x] = a[row * K + k + x];
        tb[y][x] = b[(k + y) * N + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < T; i++)
            sum = fma(ta[y][i], tb[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * N + column] = sum;
}
