"""Local memory as an argument, beside matrices."""

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
kernel void through(global float *p, local float *tile) {
  A m = coop_mat_load(p, ROW, 8);
  coop_mat_store(tile, m, ROW, 8);
  barrier(CLK_LOCAL_MEM_FENCE);
  A n = coop_mat_load(tile, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 8);
  coop_mat_store(p, n, ROW, 8);
}
""",
).build()
values = np.arange(64, dtype=np.float32).reshape(8, 8)
buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
size = prg.through.sub_group_size()
prg.through(queue, (size,), (size,), buffer, cl.LocalMemory(values.nbytes))
got = np.empty_like(values)
cl.enqueue_copy(queue, got, buffer)
assert np.array_equal(got, values.T)
