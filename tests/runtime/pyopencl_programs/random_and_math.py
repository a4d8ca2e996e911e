"""clrandom and clmath."""

import numpy as np
import pyopencl as cl
import pyopencl.clmath as clmath
import pyopencl.clrandom as clrandom

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
x = clrandom.rand(queue, 1000, np.float32)
assert np.allclose(clmath.sqrt(x).get() ** 2, x.get(), atol=1e-5)
assert 0.4 < x.get().mean() < 0.6
