"""set_args, then enqueue_nd_range_kernel, with events and their profiles."""

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
queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
prg = cl.Program(
    ctx,
    MATRICES + "kernel void negate(global float *p) { A m = coop_mat_load(p, ROW, 8); coop_mat_store(p, -m, ROW, 8); }",
).build(options=["-cl-std=CL2.0"])
values = np.arange(64, dtype=np.float32)
buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, values.nbytes)
first = cl.enqueue_copy(queue, buffer, values, is_blocking=False)
kernel = cl.Kernel(prg, "negate")
kernel.set_args(buffer)
size = prg.negate.local_size_for_sub_groups(1)
event = cl.enqueue_nd_range_kernel(queue, kernel, size, size, wait_for=[first])
event.wait()
assert event.profile.end >= event.profile.start
result = np.empty_like(values)
cl.enqueue_copy(queue, result, buffer, wait_for=[event])
assert np.array_equal(result, -values)
