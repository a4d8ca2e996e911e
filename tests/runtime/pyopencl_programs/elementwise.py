"""ElementwiseKernel, with a preamble."""

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from pyopencl.elementwise import ElementwiseKernel

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
lin_comb = ElementwiseKernel(
    ctx,
    "float k1, float *a, float k2, float *b, float *c",
    "c[i] = twice(k1 * a[i] + k2 * b[i])",
    preamble="float twice(float x) { return 2 * x; }",
)
a, b = (cl_array.to_device(queue, np.arange(64, dtype=np.float32)) for _ in range(2))
c = cl_array.empty_like(a)
lin_comb(5, a, 6, b, c)
assert np.allclose(c.get(), 22 * np.arange(64))
