// C = alpha * A * B + beta * C for column-major A (M x K), transposed B (N x K) and column-major C (M x N); every size is
// a multiple of its tile. All of the shape of the work is in the macros, as a tuner would set them.

#ifndef PRECISION
  #define PRECISION 32        // 16: half, 32: float, 64: double, 3232: complex float
#endif
#ifndef TILE_M
  #define TILE_M 32           // rows of C per work-group
#endif
#ifndef TILE_N
  #define TILE_N 32           // columns of C per work-group
#endif
#ifndef TILE_K
  #define TILE_K 16           // depth that is staged at once
#endif
#ifndef WG_M
  #define WG_M 8              // work-items over the rows
#endif
#ifndef WG_N
  #define WG_N 8              // work-items over the columns
#endif
#ifndef LOAD_A
  #define LOAD_A WG_M         // work-items over the rows while A is staged
#endif
#ifndef LOAD_B
  #define LOAD_B WG_N
#endif
#ifndef UNROLL_K
  #define UNROLL_K 2
#endif
#ifndef VEC_M
  #define VEC_M 4             // width of loads of A and C
#endif
#ifndef VEC_N
  #define VEC_N 2             // width of loads of B
#endif
#ifndef STRIDED_M
  #define STRIDED_M 0         // 1: a work-item's vectors lie WG_M apart
#endif
#ifndef STRIDED_N
  #define STRIDED_N 0
#endif
#ifndef CACHE_A
  #define CACHE_A 1           // 1: A goes through local memory
#endif
#ifndef CACHE_B
  #define CACHE_B 1
#endif
#ifndef PAD_A
  #define PAD_A 0             // unused elements after each staged row
#endif
#ifndef PAD_B
  #define PAD_B 0
#endif
#ifndef USE_MAD
  #define USE_MAD 0           // 0: a * b + c, 1: mad, 2: fma
#endif
#ifndef FENCE_GLOBAL
  #define FENCE_GLOBAL 0
#endif
#ifndef SWIZZLE_GROUPS
  #define SWIZZLE_GROUPS 0    // 1: groups go down the columns in pairs
#endif
#ifndef BETA_ZERO
  #define BETA_ZERO 0         // 1: C is not read
#endif
#ifndef FIX_WORKGROUP
  #define FIX_WORKGROUP 1
#endif
#ifndef UPLO
  #define UPLO 0              // 1: only tiles with row <= column, 2: only tiles with row >= column
#endif
#ifndef CONJUGATE_A
  #define CONJUGATE_A 0       // 1: complex A is conjugated
#endif
#ifndef CONJUGATE_B
  #define CONJUGATE_B 0
#endif
#ifndef ALPHA_ONE
  #define ALPHA_ONE 0         // 1: the product is not scaled
#endif
#ifndef UNROLL_STAGE
  #define UNROLL_STAGE 1      // 0: the loops that stage are left to the compiler
#endif
#ifndef RESTRICT
  #define RESTRICT restrict
#endif
#ifndef HELPER
  #define HELPER inline       // what a function that is no kernel starts with
#endif
#ifndef KERNEL_NAME
  #define KERNEL_NAME gemm
#endif

#if PRECISION == 16
  #ifdef cl_khr_fp16
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
  #else
    #error "half needs cl_khr_fp16"
  #endif
  typedef half  real;  typedef half2 real2;  typedef half4 real4;  typedef half8 real8;
  typedef float real_arg;      // halves are no kernel arguments everywhere
  #define ZERO 0.0h
#elif PRECISION == 32
  typedef float real;  typedef float2 real2;  typedef float4 real4;  typedef float8 real8;
  typedef real  real_arg;
  #define ZERO 0.0f
#elif PRECISION == 64
  #if __OPENCL_VERSION__ <= CL_VERSION_1_1
    #pragma OPENCL EXTENSION cl_khr_fp64 : enable
  #endif
  typedef double real;  typedef double2 real2;  typedef double4 real4;  typedef double8 real8;
  typedef real   real_arg;
  #define ZERO 0.0
#elif PRECISION == 3232
  typedef struct cfloat { float re, im; } real;
  typedef float2 real_arg;
  #if VEC_M != 1 || VEC_N != 1
    #error complex numbers come one by one
  #endif
#else
  #error unknown PRECISION
#endif

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#if VEC_M == 1
  typedef real realM;
#else
  typedef CAT(real, VEC_M) realM;
#endif
#if VEC_N == 1
  typedef real realN;
#elif VEC_N == 2
  typedef real2 realN;
#elif VEC_N == 4
  typedef real4 realN;
#elif (VEC_N == 8)
  typedef real8 realN;
#endif

#if PRECISION == 3232
  #define SET_ZERO(x)          do { (x).re = 0.f; (x).im = 0.f; } while (0)
  #define SCALE(d, s, x)       (d).re = (s).re * (x).re - (s).im * (x).im; (d).im = (s).re * (x).im + (s).im * (x).re
  #if CONJUGATE_A
    #define IM_A(x) (-(x).im)
  #else
    #define IM_A(x) ((x).im)
  #endif
  #define IM_B(x) (CONJUGATE_B ? -(x).im : (x).im)
  #define MULTIPLY_ADD(c, a, b) \
    c.re += a.re * b.re - IM_A(a) * IM_B(b); \
    c.im += a.re * IM_B(b) + IM_A(a) * b.re
  #define ADD(d, x, y)         do { (d).re = (x).re + (y).re; (d).im = (x).im + (y).im; } while (0)
  HELPER real get_real_arg(const real_arg x) { real r; r.re = x.x; r.im = x.y; return r; }
#else
  #define SET_ZERO(x)          x = (realM)(ZERO)
  #define SCALE(d, s, x)       d = s * x
  #if USE_MAD == 1
    #define MULTIPLY_ADD(c, a, b) c = mad(a, (realM)(b), c)
  #elif USE_MAD == 2
    #define MULTIPLY_ADD(c, a, b) c = fma(a, (realM)(b), c)
  #else
    #define MULTIPLY_ADD(c, a, b) c += a * b
  #endif
  #define ADD(d, x, y)         d = x + y
  HELPER real get_real_arg(const real_arg x) { return (real)x; }
#endif

#if UNROLL_STAGE
  #define STAGE_LOOP _Pragma("unroll")
#else
  #define STAGE_LOOP
#endif

#define ITEMS_M (TILE_M / WG_M)
#define ITEMS_N (TILE_N / WG_N)
#define VECS_M (ITEMS_M / VEC_M)
#define VECS_N (ITEMS_N / VEC_N)
#define WG_SIZE (WG_M * WG_N)
#define LOAD_A_K (WG_SIZE / LOAD_A)
#define LOAD_B_K (WG_SIZE / LOAD_B)
#define ROW_A (TILE_M / VEC_M + PAD_A)
#define ROW_B (TILE_N / VEC_N + PAD_B)

#if (TILE_M % (WG_M * VEC_M)) || (TILE_N % (WG_N * VEC_N)) || TILE_K % UNROLL_K
  #error "tiles do not divide"
#endif
#if CACHE_A && (TILE_K % LOAD_A_K || (TILE_M / VEC_M) % LOAD_A)
  #error "A cannot be staged"
#endif

#if FENCE_GLOBAL
  #define FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
  #define FENCE CLK_LOCAL_MEM_FENCE
#endif

// Which vector of the tile is the i-th of work-item `id`.
#define VEC_AT(id, i, count, width, strided) ((strided) ? (id) + (i) * (width) : (id) * (count) + (i))

#if SWIZZLE_GROUPS == 1
  HELPER int GroupM() { const int flat = get_group_id(0) + get_num_groups(0) * get_group_id(1);
                        return (flat / 2) % get_num_groups(0); }
  HELPER int GroupN() { const int flat = get_group_id(0) + get_num_groups(0) * get_group_id(1);
                        return flat % 2 + 2 * (flat / (2 * (int)get_num_groups(0))); }
#else
  HELPER int GroupM() { return get_group_id(0); }
  HELPER int GroupN() { return get_group_id(1); }
#endif

#if CACHE_A == 1
HELPER void StageA(const __global realM* RESTRICT agm, __local realM* alm, const int lda, const int k0, const int row0) {
  const int tid = get_local_id(0) + WG_M * get_local_id(1);
  const int m0 = tid % LOAD_A, kk0 = tid / LOAD_A;
  STAGE_LOOP for (int kk = kk0; kk < TILE_K; kk += LOAD_A_K) {
    STAGE_LOOP for (int m = m0; m < TILE_M / VEC_M; m += LOAD_A)
      alm[kk * ROW_A + m] = agm[(k0 + kk) * (lda / VEC_M) + row0 + m];
  }
}
#endif

#if CACHE_B == 1
HELPER void StageB(const __global realN* RESTRICT bgm, __local realN* blm, const int ldb, const int k0, const int col0) {
  const int tid = get_local_id(0) + WG_M * get_local_id(1);
  const int n0 = tid % LOAD_B, kk0 = tid / LOAD_B;
  STAGE_LOOP for (int kk = kk0; kk < TILE_K; kk += LOAD_B_K) {
    STAGE_LOOP for (int n = n0; n < TILE_N / VEC_N; n += LOAD_B)
      blm[kk * ROW_B + n] = bgm[(k0 + kk) * (ldb / VEC_N) + col0 + n];
  }
}
#endif

HELPER void OuterProduct(realM acc[ITEMS_N][VECS_M], const realM* a, const realN* b) {
  #pragma unroll
  for (int n = 0; n < VECS_N; ++n) {
    #pragma unroll
    for (int m = 0; m < VECS_M; ++m) {
      const realM am = a[m];
      const realN bn = b[n];
      #if VEC_N == 1
        MULTIPLY_ADD(acc[n][m], am, bn);
      #elif VEC_N == 2
        MULTIPLY_ADD(acc[2 * n + 0][m], am, bn.x);
        MULTIPLY_ADD(acc[2 * n + 1][m], am, bn.y);
      #elif VEC_N == 4
        MULTIPLY_ADD(acc[4 * n + 0][m], am, bn.x);
        MULTIPLY_ADD(acc[4 * n + 1][m], am, bn.y);
        MULTIPLY_ADD(acc[4 * n + 2][m], am, bn.z);
        MULTIPLY_ADD(acc[4 * n + 3][m], am, bn.w);
      #else
        MULTIPLY_ADD(acc[8 * n + 0][m], am, bn.s0); MULTIPLY_ADD(acc[8 * n + 1][m], am, bn.s1);
        MULTIPLY_ADD(acc[8 * n + 2][m], am, bn.s2); MULTIPLY_ADD(acc[8 * n + 3][m], am, bn.s3);
        MULTIPLY_ADD(acc[8 * n + 4][m], am, bn.s4); MULTIPLY_ADD(acc[8 * n + 5][m], am, bn.s5);
        MULTIPLY_ADD(acc[8 * n + 6][m], am, bn.s6); MULTIPLY_ADD(acc[8 * n + 7][m], am, bn.s7);
      #endif
    }
  }
}

#if FIX_WORKGROUP
__kernel __attribute__((reqd_work_group_size(WG_M, WG_N, 1)))
#else
__kernel
#endif
void KERNEL_NAME(const int kSizeM, const int kSizeN, const int kSizeK,
          const real_arg arg_alpha, const real_arg arg_beta,
          const __global realM* RESTRICT agm, const int lda,
          const __global realN* RESTRICT bgm, const int ldb,
          __global realM* cgm, const int ldc) {
  const real alpha = get_real_arg(arg_alpha);
  const real beta = get_real_arg(arg_beta);
  const int lm = get_local_id(0), ln = get_local_id(1);
  const int group_m = GroupM(), group_n = GroupN();

  #if UPLO == 1
    if (group_m * TILE_M >= (group_n + 1) * TILE_N) { return; }
  #elif UPLO == 2
    if ((group_m + 1) * TILE_M <= group_n * TILE_N) { return; }
  #endif

  #if CACHE_A == 1
    __local realM alm[TILE_K * ROW_A];
  #endif
  #if CACHE_B == 1
    __local realN blm[TILE_K * ROW_B];
  #endif

  realM acc[ITEMS_N][VECS_M];
  #pragma unroll
  for (int n = 0; n < ITEMS_N; ++n)
    #pragma unroll
    for (int m = 0; m < VECS_M; ++m) { SET_ZERO(acc[n][m]); }

  for (int k0 = 0; k0 < kSizeK; k0 += TILE_K) {
    #if CACHE_A == 1
      StageA(agm, alm, lda, k0, group_m * (TILE_M / VEC_M));
    #endif
    #if CACHE_B == 1
      StageB(bgm, blm, ldb, k0, group_n * (TILE_N / VEC_N));
    #endif
    #if CACHE_A == 1 || CACHE_B == 1
      barrier(FENCE);
    #endif

    for (int kk = 0; kk < TILE_K; kk += UNROLL_K) {
      #pragma unroll UNROLL_K
      for (int ku = 0; ku < UNROLL_K; ++ku) {
        realM a[VECS_M];
        realN b[VECS_N];
        #pragma unroll
        for (int m = 0; m < VECS_M; ++m) {
          const int at = VEC_AT(lm, m, VECS_M, WG_M, STRIDED_M);
          #if CACHE_A == 1
            a[m] = alm[(kk + ku) * ROW_A + at];
          #else
            a[m] = agm[(k0 + kk + ku) * (lda / VEC_M) + group_m * (TILE_M / VEC_M) + at];
          #endif
        }
        #pragma unroll
        for (int n = 0; n < VECS_N; ++n) {
          const int at = VEC_AT(ln, n, VECS_N, WG_N, STRIDED_N);
          #if CACHE_B == 1
            b[n] = blm[(kk + ku) * ROW_B + at];
          #else
            b[n] = bgm[(k0 + kk + ku) * (ldb / VEC_N) + group_n * (TILE_N / VEC_N) + at];
          #endif
        }
        OuterProduct(acc, a, b);
      }
    }
    #if CACHE_A == 1 || CACHE_B == 1
      barrier(FENCE);
    #endif
  }

  #pragma unroll
  for (int n = 0; n < ITEMS_N; ++n) {
    const int vec = VEC_AT(ln, n / VEC_N, VECS_N, WG_N, STRIDED_N);
    const int column = group_n * TILE_N + vec * VEC_N + n % VEC_N;
    #pragma unroll
    for (int m = 0; m < VECS_M; ++m) {
      const int row = group_m * (TILE_M / VEC_M) + VEC_AT(lm, m, VECS_M, WG_M, STRIDED_M);
      const int index = column * (ldc / VEC_M) + row;
      realM result;
      #if ALPHA_ONE
        result = acc[n][m];
      #else
        SCALE(result, alpha, acc[n][m]);
      #endif
      #if !BETA_ZERO
        realM before = cgm[index], scaled;
        SCALE(scaled, beta, before);
        ADD(result, result, scaled);
      #endif
      cgm[index] = result;
    }
  }
}
