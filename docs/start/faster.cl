// run: kernel=multiply global=(1024/N*sg, 1024/M) local=(sg, 1) M=16 N=16 K=16 STRIDE=1024 flop=2*1024*1024*1024
//      -DT=half -DM=16 -DN=16 -DK=16 -DSTRIDE=1024
//      a=f16[1024,STRIDE]:uniform(-1,1) b=f16[1024,STRIDE]:uniform(-1,1) bias=f32[1024]:uniform(-1,1) c=f32[1024,1024]:zeros
// check: c ~ a[:, :1024].astype(f32) @ b[:, :1024].astype(f32)   atol=1e-3
#define TILE(R, C, USE) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define PAIRS CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED

float relu(uint row, uint column, float x) { return fmax(x, 0.0f); }

kernel void multiply(global const T *a, global const T *b, global const float *bias, global float *c)
{
    size_t row = get_group_id(1) * M, column = get_group_id(0) * N;
    float TILE(M, N, ACCUMULATOR) sum = coop_mat_init(0.0f);
#ifdef EPILOGUE
    sum = coop_mat_load(bias + column, ROW_MAJOR, 0); // a stride of 0: all rows are the same
#endif
    for (size_t k = 0; k < 1024; k += K) {
        T TILE(M, K, A) left = coop_mat_load(a + row * STRIDE + k, ROW_MAJOR, STRIDE);
#ifdef PACKED
        T TILE(K, N, B) right = coop_mat_load(b + k * STRIDE + column * 2, PAIRS, STRIDE * 2);
#else
        T TILE(K, N, B) right = coop_mat_load(b + k * STRIDE + column, ROW_MAJOR, STRIDE);
#endif
        sum = coop_mat_mulAdd(left, right, sum);
    }
#ifdef EPILOGUE
    sum = coop_mat_map(sum, relu);
#endif
    coop_mat_store(c + row * 1024 + column, sum, ROW_MAJOR, 1024);
}

// A second kernel for what comes after the product.
kernel void add_bias(global const float *bias, global float *c)
{
    size_t i = get_global_id(0);
    c[i] = fmax(c[i] + bias[i % 1024], 0.0f);
}
