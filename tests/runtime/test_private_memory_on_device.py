"""Private memory that Intel's CPU runtime takes for unwritten (docs/backend.md)."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl

SIZE = 8
# Written in some lanes, read in all of them behind an exchange.
PARTLY = """
__attribute__((intel_reqd_sub_group_size(8))) kernel void f(global const long *p, global int *o)
{
    long t[8];
    int a[4], sum[4], lane = get_sub_group_local_id();
    for (int i = 0; i < 4; i++)
        a[i] = p[i] > -1000, sum[i] = 1;
    if (lane < 5)
        for (int i = 0; i < 8; i++)
            t[i] = p[lane + 5 * i];
    #pragma unroll 1
    for (int k = 0; k < 8; k++)
        #pragma unroll 1
        for (int i = 0; i < 4; i++)
            sum[i] += EXCHANGE(a[i], k) * (int)t[k];
    if (lane < 5)
        for (int i = 0; i < 4; i++)
            o[lane + 5 * i] = sum[i];
}
"""
FILLED = """
typedef uchar A __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 32, 16, CLK_COOPERATIVE_MATRIX_A)));
kernel void f(global uchar *o, global const uchar *p)
{
    A m = coop_mat_init((uchar)48);
    m = coop_mat_init((uchar)7);
    uchar bad = 0;
    for (uint i = 0; i < coop_mat_length(m); i++) {
        uint2 at = coop_mat_coord(m, i);
        bad |= p[at.x * 16 + at.y] != m[i];
    }
    if (bad)
        o[0] = 1;
}
"""


def _run(device: DeviceInfo, source: str, options: list[str], items: int, *arrays: np.ndarray) -> None:
    """Run the kernel of a source; the arrays become what is in its buffers then."""
    cl = opencl()
    context = cl.Context([device.handle])
    kernel = cl.Program(context, coopmat.compile(source, ["-w", *options]).spirv).build().f
    queue = cl.CommandQueue(context)
    buffers = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array) for array in arrays]
    kernel.set_args(*buffers)
    cl.enqueue_nd_range_kernel(queue, kernel, (items,), (items,))
    for array, buffer in zip(arrays, buffers, strict=True):
        cl.enqueue_copy(queue, array, buffer)


@pytest.mark.parametrize("exchange", ["sub_group_broadcast", "sub_group_shuffle"])
def test_memory_written_in_some_lanes(device: DeviceInfo, exchange: str) -> None:
    x = np.arange(40, dtype=np.int64) * 7 - 100
    result = np.full(20, 77, np.int32)
    _run(device, PARTLY, [f"-DEXCHANGE={exchange}"], SIZE, x, result)
    assert (result.reshape(4, 5) == x.reshape(8, 5).sum(0) + 1).all()


def test_memory_that_holds_only_constants(device: DeviceInfo) -> None:
    result, expected = np.zeros(1, np.uint8), np.full(32 * 16, 7, np.uint8)
    options = ["--matrices", "wmma:emulated@gfx11", "--sub-group-size", "32"]
    _run(device, FILLED, options, 32, result, expected)
    assert result[0] == 0
