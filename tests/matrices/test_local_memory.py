"""A subgroup stores a matrix to local memory, and its work-items read the components of others without a barrier.

On devices with matrix instructions the work-items of a subgroup run the store together; lowered, they must seem to.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from matrix_programs import PRELUDE, Target, equal
from opencl_devices import find
from repeats import slow_where

import coopmat
from coopmat.compiler import Module
from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices.numpy_reference import Array
from coopmat.options import CompileOptions
from coopmat.runtime import resolve_options

ROWS, COLUMNS = 8, 16
SIZE = ROWS * COLUMNS
SUB_GROUPS = 2
ROUTES = (
    Target("one", 1),
    *(Target("lanes", size) for size in (4, 16, 32)),
    *(Target("scratch", size) for size in (1, 5, 16, 32)),
)
# `how` says what the stores go through; a subgroup's share of `tile` is never another one's.
SOURCE = (
    PRELUDE
    + """
typedef COOP(int, 8, 16, ACCUMULATOR) M;
void put(@pointer p, M m) { coop_mat_store(p, m, ROW, (size_t)16); }

kernel void exchange(global const int *x, global int *reversed, global int *turned, global int *sums)
{
    local int tile[2 * 128];
    const uint first = get_sub_group_id() * 128, lane = get_sub_group_local_id(), lanes = get_sub_group_size();
    @pointer own = (@pointer)(tile + first);
    put(own, coop_mat_load(x + first, ROW, (size_t)16));
    for (uint i = lane; i < 128; i += lanes) reversed[first + i] = tile[first + 127 - i];
    // In place, transposed: what is overwritten has been read by then.
    put(own, coop_mat_load(tile + first, COLUMN, (size_t)8));
    for (uint i = lane; i < 128; i += lanes) turned[first + i] = tile[first + (i ^ 1)];
    int sum = 0;
    for (int turn = 1; turn < 4; ++turn) {
        M m = coop_mat_load(tile + first, ROW, (size_t)16);
        put(own, m + coop_mat_init(turn));
        // Of one work-item it could be read ahead of the loop.
        sum += tile[first + lane + 1] * turn;
    }
    sums[get_local_id(0)] = sum;
}
"""
)
POINTERS = {"local": "local int *", "volatile": "volatile local int *", "generic": "int *"}


def source(pointer: str) -> str:
    return SOURCE.replace("@pointer", POINTERS[pointer])


def expected(x: Array, target: Target) -> list[Array]:
    """Of `reversed`, `turned` and `sums`."""
    turned = x.reshape(SUB_GROUPS, COLUMNS, ROWS).transpose(0, 2, 1).reshape(SUB_GROUPS, SIZE)
    swapped = turned.reshape(SUB_GROUPS, -1, 2)[..., ::-1]
    next_ones = turned[:, 1 : target.sub_group_size + 1]
    sums = sum((next_ones + added) * turn for turn, added in ((1, 1), (2, 3), (3, 6)))
    return [x[:, ::-1].ravel(), swapped.ravel(), np.ravel(sums)]


def check(device: DeviceInfo, module: Module, target: Target) -> None:
    cl = opencl()
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        # The device's compiler tells how it vectorised each kernel.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        if module.code == "c":
            program = cl.Program(context, module.opencl_c).build(list(module.opencl_c_options), cache_dir=False)
        else:
            program = cl.Program(context, module.spirv).build(cache_dir=False)
    x = np.random.default_rng(3).integers(-999, 999, (SUB_GROUPS, SIZE)).astype(np.int32)
    items = SUB_GROUPS * target.sub_group_size
    results = [np.zeros(count, np.int32) for count in (x.size, x.size, items)]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (x, *results)]
    program.exchange(queue, (items,), (items,), *buffers)
    for array, buffer in zip(results, buffers[1:], strict=True):
        cl.enqueue_copy(queue, array, buffer)
    for what, got, wanted in zip(("reversed", "turned", "sums"), results, expected(x, target), strict=True):
        equal(got, wanted, what=f"{target}: {what}")


def skip_without_sub_groups(device: DeviceInfo, target: Target) -> None:
    if target.route == "lanes" and target.sub_group_size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {target.sub_group_size}")


# One work-item, and subgroups whose size divides the work-group's, and does not; the other sizes repeat these.
EACH_ROUTE = slow_where(lambda target: target.sub_group_size not in (5, 16) and target.route != "one", ROUTES)


@pytest.mark.covering
@pytest.mark.parametrize("target", ROUTES, ids=str)
@pytest.mark.parametrize("pointer", POINTERS)
def test_from_opencl_c(device: DeviceInfo, pointer: str, target: Target) -> None:
    skip_without_sub_groups(device, target)
    check(device, coopmat.compile(source(pointer), target.options), target)


@pytest.mark.covering
@pytest.mark.parametrize("target", ROUTES, ids=str)
@pytest.mark.parametrize("pointer", ("local", "volatile"))
def test_from_spirv(device: DeviceInfo, pointer: str, target: Target) -> None:
    skip_without_sub_groups(device, target)
    native = coopmat.compile(source(pointer), ["--matrices", "native"])
    check(device, coopmat.compile(native.spirv, target.options, language="spv"), target)


@pytest.mark.covering
@pytest.mark.parametrize(
    "target", (ROUTES[0], Target("lanes", 16), Target("scratch", 5), Target("scratch", 16)), ids=str
)
@pytest.mark.parametrize("platform", ("Intel(R) OpenCL", "Portable Computing Language", "Oclgrind"))
def test_as_opencl_c(platform: str, target: Target) -> None:
    device = find(lambda d: d.platform == platform and d.kind == "CPU", platform)
    if target.route == "lanes" and target.sub_group_size not in device.sub_group_sizes:
        pytest.skip(f"{platform} has no subgroups of {target.sub_group_size}")
    options = CompileOptions.from_arguments(["--code", "c", *target.options])
    check(device, coopmat.compile(source("local"), resolve_options(options, device)), target)
