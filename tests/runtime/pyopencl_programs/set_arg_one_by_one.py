"""set_arg by index, and a global offset."""

import numpy as np
import pyopencl as cl

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
program = cl.Program(
    ctx, "kernel void put(global int *p, int v) { p[get_global_id(0)] = v + get_global_id(0); }"
).build()
put = program.put
out = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, 4 * 16)
cl.enqueue_fill_buffer(queue, out, np.int32(-1), 0, 64)
put.set_arg(0, out)
put.set_arg(1, np.int32(100))
cl.enqueue_nd_range_kernel(queue, put, (8,), None, (8,))
got = np.empty(16, np.int32)
cl.enqueue_copy(queue, got, out)
assert np.array_equal(got, [-1] * 8 + [100 + i for i in range(8, 16)])
