"""A product of matrices with matrix instructions, in the style of the first program."""

import numpy as np
import pyopencl as cl

MATRICES = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define USE(U) CLK_COOPERATIVE_MATRIX_##U
#define MATRIX(R, C, U) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, USE(U))))
typedef float A MATRIX(8, 8, A);
typedef float B MATRIX(8, 8, B);
typedef float C MATRIX(8, 8, ACCUMULATOR);
"""

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
n = 64
rng = np.random.default_rng(0)
a, b = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
c = np.empty_like(a)
mf = cl.mem_flags
a_g, b_g = (cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=x) for x in (a, b))
c_g = cl.Buffer(ctx, mf.WRITE_ONLY, c.nbytes)
prg = cl.Program(
    ctx,
    MATRICES
    + """
__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int n) {
  int row = get_group_id(1) * 8, column = get_group_id(0) * 8;
  C sum = coop_mat_init(0);
  for (int k = 0; k < n; k += 8) {
    A x = coop_mat_load(a + row * n + k, ROW, n);
    B y = coop_mat_load(b + k * n + column, ROW, n);
    sum = coop_mat_mulAdd(x, y, sum);
  }
  coop_mat_store(c + row * n + column, sum, ROW, n);
}
""",
).build()
gemm = prg.gemm
sg = gemm.sub_group_size(ctx.devices[0])
gemm(queue, (n // 8 * sg, n // 8), (sg, 1), a_g, b_g, c_g, np.int32(n))
cl.enqueue_copy(queue, c, c_g)
assert np.array_equal(c, a @ b)
