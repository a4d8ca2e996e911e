"""clGetKernelSubGroupInfo of kernels with matrices: what the route means, whatever the driver knows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opencl_devices import find

import coopmat
from coopmat.cache import CACHE_DIRECTORY
from coopmat.devices import opencl

SOURCE = """
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void free(global float *p) { M m = coop_mat_load(p, ROW, 8); coop_mat_store(p, m + m, ROW, 8); }
__attribute__((reqd_work_group_size(32, 1, 1)))
kernel void fixed(global float *p) { M m = coop_mat_load(p, ROW, 8); coop_mat_store(p, m + m, ROW, 8); }
__attribute__((reqd_work_group_size(8, 4, 1)))
kernel void flat(global float *p) { M m = coop_mat_load(p, ROW, 8); coop_mat_store(p, m + m, ROW, 8); }
"""
QUERIES = ("MAX_SUB_GROUP_SIZE_FOR_NDRANGE", "SUB_GROUP_COUNT_FOR_NDRANGE", "LOCAL_SIZE_FOR_SUB_GROUP_COUNT")
ROUTES = {"one": ("--matrices one", 1), "lanes": ("--matrices lanes", 16)}
ROUTES |= {f"scratch{size}": (f"--matrices scratch --sub-group-size {size}", size) for size in (8, 5)}
PLATFORMS = ("Intel(R) OpenCL", "Portable Computing Language", "Oclgrind")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path))


def built(platform: str, route: str) -> tuple[Any, Any]:
    """The device and the program."""
    cl = opencl()
    found = find(lambda d: d.platform == platform and d.kind == "CPU", platform)
    if route == "lanes" and ROUTES[route][1] not in found.sub_group_sizes:
        pytest.skip(f"{platform} has no subgroups")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        return found.handle, coopmat.Program(cl.Context([found.handle]), SOURCE).build(ROUTES[route][0])


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_answers_are_the_routes(platform: str, route: str) -> None:
    device, program = built(platform, route)
    size, infos = ROUTES[route][1], opencl().kernel_sub_group_info

    def ask(kernel: Any, query: str, value: Any = None) -> Any:
        return kernel.get_sub_group_info(device, getattr(infos, query), value)

    free = program.free
    assert ask(free, QUERIES[0], [size * 4]) == ask(free, QUERIES[0], [size, 2, 2]) == size
    assert [ask(free, QUERIES[1], value) for value in ([size], [size * 2, 2], [size, 1, 3])] == [1, 4, 3]
    assert [ask(free, QUERIES[2], count) for count in (1, 3)] == [[size, 1, 1], [size * 3, 1, 1]]
    assert ask(free, QUERIES[2], 10**6) == [0, 0, 0]
    most = free.get_work_group_info(opencl().kernel_work_group_info.WORK_GROUP_SIZE, device)
    most = min(most, 256) if route.startswith("scratch") else most
    assert ask(free, "MAX_NUM_SUB_GROUPS") == most // size
    assert ask(free, "COMPILE_NUM_SUB_GROUPS") == 0


@pytest.mark.parametrize("route", ["one", "lanes", "scratch8"])
def test_work_groups_that_a_kernel_requires(route: str) -> None:
    device, program = built(PLATFORMS[0], route)
    size, query = ROUTES[route][1], opencl().kernel_sub_group_info.LOCAL_SIZE_FOR_SUB_GROUP_COUNT
    assert program.fixed.get_sub_group_info(device, query, 32 // size) == [32, 1, 1]
    assert program.fixed.get_sub_group_info(device, query, 1) == [0, 0, 0]
    assert program.flat.get_sub_group_info(device, query, 32 // size) == [0, 0, 0]


def test_subgroups_that_a_driver_says_nothing_of_make_a_launch() -> None:
    """As upstream's tests launch: the local size that is told for one subgroup is the global size."""
    device, program = built(PLATFORMS[0], "scratch8")
    cl = opencl()
    queue = cl.CommandQueue(program.context)
    values = np.arange(64, dtype=np.float32)
    buffer = cl.Buffer(program.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    size = program.free.get_sub_group_info(device, cl.kernel_sub_group_info.LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 1)
    program.free(queue, size, None, buffer)
    doubled = np.empty_like(values)
    cl.enqueue_copy(queue, doubled, buffer)
    assert (doubled == 2 * values).all()
