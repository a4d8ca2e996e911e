"""set_scalar_arg_dtypes, and a kernel that is kept."""

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
prg = cl.Program(
    ctx,
    MATRICES
    + """
kernel void axpy(global float *y, float alpha, int times) {
  C m = coop_mat_load(y, ROW, 8);
  C s = coop_mat_init(0);
  for (int i = 0; i < times; ++i) s = s + m * alpha;
  coop_mat_store(y, s, ROW, 8);
}
""",
).build("-cl-mad-enable")
axpy = prg.axpy
axpy.set_scalar_arg_dtypes([None, np.float32, np.int32])
y = np.arange(64, dtype=np.float32)
y_g = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=y)
for _ in range(2):
    axpy(queue, (axpy.sub_group_size(),), None, y_g, 0.5, 4)
got = np.empty_like(y)
cl.enqueue_copy(queue, got, y_g)
assert np.array_equal(got, 4 * y)
