"""A record, matched to the device, in a buffer."""

import numpy as np
import pyopencl as cl
import pyopencl.cltypes
import pyopencl.tools

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
dtype = np.dtype([("at", cl.cltypes.float4), ("count", np.int32), ("weight", np.float32)])
dtype, text = cl.tools.match_dtype_to_c_struct(ctx.devices[0], "particle", dtype)
dtype = cl.tools.get_or_register_dtype("particle", dtype)
host = np.zeros(8, dtype)
host["count"] = np.arange(8)
buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=host)
prg = cl.Program(
    ctx,
    text
    + """
kernel void move(global particle *p) {
  int i = get_global_id(0);
  p[i].at = (float4)(i, 2 * i, 0, 1); p[i].weight = p[i].count / 2.0f;
}""",
).build()
prg.move(queue, (8,), None, buffer)
cl.enqueue_copy(queue, host, buffer)
assert np.array_equal(host["weight"], np.arange(8) / 2) and host["at"]["y"][3] == 6
