"""Two queues with events between them, and user events."""

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
first, second = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
prg = cl.Program(
    ctx,
    MATRICES + "kernel void add(global float *p, float v) { C m = coop_mat_load(p, ROW, 8);"
    " C n = coop_mat_init(v); coop_mat_store(p, m + n, ROW, 8); }",
).build()
values = np.zeros(64, np.float32)
buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
add, size = prg.add, prg.add.local_size_for_sub_groups(1)
event = None
for n, queue in enumerate((first, second) * 4):
    event = add(queue, size, size, buffer, np.float32(n), wait_for=[event] if event else None)
    queue.flush()
cl.enqueue_copy(second, values, buffer, wait_for=[event])
assert (values == sum(range(8))).all()
