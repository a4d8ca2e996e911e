// C = A B without cooperative matrices: square tiles staged through local memory. M, N and K are any.
//
// run: kernel=gemm_tiled global=(N, M) local=(T, T) M=64 N=96 K=80 T=16 -DT=16 -DM=64 -DN=96 -DK=80
//      flop=2*M*N*K
//      a=f32[M,K]:uniform(-1,1) b=f32[K,N]:uniform(-1,1) c=f32[M,N]:zeros
// check: c ~ a @ b   atol=1e-4
//
// run: kernel=gemm_tiled global=(ceil(N/T)*T, ceil(M/T)*T) local=(T, T) M=21 N=37 K=45 T=16 -DT=16 -DM=21 -DN=37 -DK=45
//      flop=2*M*N*K
//      a=f32[M,K]:uniform(-1,1) b=f32[K,N]:uniform(-1,1) c=f32[M,N]:zeros
// check: c ~ a @ b   atol=1e-4

// Whether an element is there: always, where all tiles are whole.
#if M % T || N % T || K % T
#define INSIDE(INDEX, COUNT) ((INDEX) < (COUNT))
#else
#define INSIDE(INDEX, COUNT) 1
#endif

kernel void gemm_tiled(const global float *a, const global float *b, global float *c)
{
    local float ta[T][T], tb[T][T];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;

    for (int k = 0; k < K; k += T) {
        ta[y][x] = INSIDE(row, M) && INSIDE(k + x, K) ? a[row * K + k + x] : 0.0f;
        tb[y][x] = INSIDE(k + y, K) && INSIDE(column, N) ? b[(k + y) * N + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < T; i++)
            sum = fma(ta[y][i], tb[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (INSIDE(row, M) && INSIDE(column, N))
        c[row * N + column] = sum;
}
