"""ReductionKernel and a scan."""

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
krnl = ReductionKernel(
    ctx,
    np.float32,
    neutral="0",
    reduce_expr="a+b",
    map_expr="x[i]*y[i]",
    arguments="__global float *x, __global float *y",
)
x = cl_array.arange(queue, 400, dtype=np.float32)
assert krnl(x, x).get() == sum(i * i for i in range(400))
scan = InclusiveScanKernel(ctx, np.int32, "a+b", neutral="0")
n = cl_array.to_device(queue, np.arange(1000, dtype=np.int32))
scan(n)
assert np.array_equal(n.get(), np.cumsum(np.arange(1000)))
