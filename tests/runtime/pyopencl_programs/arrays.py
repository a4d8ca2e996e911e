"""pyopencl.array: arithmetic, slices, reductions, without a kernel of one's own."""

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
x = cl_array.to_device(queue, np.arange(1000, dtype=np.float32))
y = cl_array.arange(queue, 1000, dtype=np.float32)
z = (2 * x + y**2)[10:20]
i = np.arange(10, 20)
assert np.allclose(z.get(), 2 * i + i**2)
assert cl_array.sum(x).get() == 499500
assert cl_array.dot(x, y).get() > 3.3e8
