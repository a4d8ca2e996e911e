"""Async copies between global and local memory: every element type, strides, several events, blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential import FLOATS, INTEGERS, NUMPY, PLAIN_AND_OPTIMISED, SIZES, Launch, compare, difference, execute

import coopmat
from coopmat.devices import DeviceInfo

COUNT = 8


@pytest.mark.parametrize("names", [INTEGERS[:4], INTEGERS[4:], FLOATS], ids=["small", "integers", "floats"])
def test_copies_of_every_type(device: DeviceInfo, names: tuple[str, ...]) -> None:
    """To local memory and back, by two work-items: plainly, with a stride at the source, with one at the target."""
    kernels, launches = [], []
    for name, size in ((name, size) for name in names for size in SIZES):
        t = name + (str(size) if size > 1 else "")
        kernels.append(
            f"""
            kernel void copy_{t}(global const {t} *x, global {t} *o) {{
                local {t} l[{2 * COUNT}];
                event_t first = async_work_group_copy(l, x, {COUNT}, 0);
                event_t second = async_work_group_strided_copy(l + {COUNT}, x + {COUNT}, {COUNT // 2}, 2, (event_t)0);
                wait_group_events(1, &first);
                wait_group_events(1, &second);
                event_t both[2];
                both[0] = async_work_group_copy(o, l, {COUNT + COUNT // 2}, 0);
                both[1] = async_work_group_strided_copy(o + {2 * COUNT}, l, {COUNT // 2}, 2, 0);
                wait_group_events(2, both);
            }}"""
        )
        width = 4 if size == 3 else size
        x = np.arange(1, 2 * COUNT * width + 1).astype(NUMPY[name])
        o = np.zeros(3 * COUNT * width, NUMPY[name])
        launches.append(Launch(f"copy_{t}", [x, o], (2,), (2,)))
    source = "\n".join(kernels)
    for route in PLAIN_AND_OPTIMISED:
        module = coopmat.compile(source, ["--matrices", route])
        for launch, found in zip(launches, execute(device, module.spirv, launches), strict=True):
            ours, wanted = (_written(launch, data) for data in (found[1], _copied(launch)))
            assert difference(ours, wanted) == "", (route, launch.kernel)
    compare(device, source, launches)


def _copied(launch: Launch) -> np.ndarray[Any, Any]:
    x, o = (np.asarray(a).reshape(n, -1) for a, n in zip(launch.arguments, (2 * COUNT, 3 * COUNT), strict=True))  # type: ignore[arg-type]
    local = np.concatenate([x[:COUNT], x[COUNT::2]])
    result = o.copy()
    result[: len(local)] = local
    result[2 * COUNT :: 2] = local[: COUNT // 2]
    return result.reshape(-1)


def _written(launch: Launch, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What says something: of a vector of three the fourth component may be copied or not."""
    return data.reshape(-1, 4)[:, :3] if launch.kernel.endswith("3") else data


def test_events_go_through_functions_and_chain(device: DeviceInfo) -> None:
    source = """
    void wait(event_t *events, int count) { wait_group_events(count, events); }
    void set(event_t *to, event_t value) { *to = value; }
    event_t tile(local float *to, global const float *from, event_t after) {
        return async_work_group_copy(to, from, 16, after);
    }
    kernel void k(global const float *x, global float *o) {
        local float a[16], b[16], c[32];
        event_t events[3];
        set(&events[0], tile(a, x, 0));
        events[1] = tile(b, x + 16, 0);
        event_t chain = 0;
        for (int i = 0; i < 2; i++) chain = tile(c + i * 16, x + i * 16, chain);
        events[2] = chain;
        event_t chosen = x[0] < 0 ? events[1] : events[0];
        wait(&chosen, 1);
        wait(events, 2);
        wait(events + 2, 1);
        prefetch(x, 32);
        int l = get_local_id(0);
        a[l] += b[l] + c[l] * c[l + 16];
        barrier(CLK_LOCAL_MEM_FENCE);
        event_t last = async_work_group_copy(o, a, 16, 0);
        wait(&last, 1);
    }"""
    x = np.arange(32, dtype=np.float32)
    launch = Launch("k", [x, np.zeros(16, np.float32)], (16,), (16,))
    compare(device, source, [launch], PLAIN_AND_OPTIMISED)
    wanted = (x[:16] + x[16:] + x[:16] * x[16:]).tolist()
    # The device's own compiler dies of arrays of null events, so that it has no say.
    for text in (source, source.replace("event_t events[3];", "event_t events[3] = { 0 };")):
        for route in PLAIN_AND_OPTIMISED:
            (found,) = execute(device, coopmat.compile(text, ["--matrices", route]).spirv, [launch])
            assert found[1].tolist() == wanted


def test_copies_through_pointers_of_another_type(device: DeviceInfo) -> None:
    source = """
    struct Pair { int a; float b; };
    kernel void k(global const int4 *x, global float *o, global struct Pair *pairs) {
        local int4 l[4];
        local struct Pair p[4];
        event_t e = async_work_group_copy((local int *)l, (global const int *)x, 12, 0);
        e = async_work_group_copy((local long *)p, (global const long *)pairs, 4, e);
        wait_group_events(1, &e);
        e = async_work_group_strided_copy((global float *)o, (local float *)l, 6, 2, 0);
        e = async_work_group_copy((global int2 *)pairs + 4, (local int2 *)p, 4, e);
        wait_group_events(1, &e);
    }"""
    pairs = np.zeros(8, np.dtype([("a", np.int32), ("b", np.float32)]))
    pairs["a"][:4], pairs["b"][:4] = range(4), 0.5
    launch = Launch("k", [np.arange(16, dtype=np.int32), np.zeros(12, np.float32), pairs])
    compare(device, source, [launch], PLAIN_AND_OPTIMISED)


def test_blocks(device: DeviceInfo) -> None:
    """cl_khr_extended_async_copies: offsets, lengths and areas in elements."""
    source = """
    kernel void two(global const ushort *x, global ushort *o, global const ulong *n) {
        local ushort l[64];
        event_t e = async_work_group_copy_2D2D(l, 3, x, 5, sizeof(ushort), 4, n[0], 10, 6, 0);
        wait_group_events(1, &e);
        e = async_work_group_copy_2D2D(o, 1, l, 3, sizeof(ushort), 4, n[0], 6, 8, 0);
        wait_group_events(1, &e);
    }
    kernel void three(global const float2 *x, global float2 *o) {
        local float2 l[64];
        event_t e = async_work_group_copy_3D3D(l, 1, x, 2, sizeof(float2), 3, 2, 3, 5, 20, 4, 12, 0);
        e = async_work_group_copy_3D3D(l, 40, x, 0, sizeof(float2), 3, 0, 3, 5, 20, 4, 12, e);
        wait_group_events(1, &e);
        e = async_work_group_copy_3D3D(o, 0, l, 1, sizeof(float2), 3, 2, 3, 4, 12, 3, 6, 0);
        wait_group_events(1, &e);
    }"""
    x, lines = np.arange(100, dtype=np.uint16), 5
    wanted = np.zeros(48, np.uint16)
    for line in range(lines):
        wanted[1 + 8 * line : 5 + 8 * line] = x[5 + 10 * line : 9 + 10 * line]
    y = np.arange(160, dtype=np.float32).reshape(-1, 2)
    block = np.concatenate([y[2 + 20 * p + 5 * line :][:3] for p in range(3) for line in range(2)])
    launches = [
        Launch("two", [x, np.zeros(48, np.uint16), np.array([lines], np.uint64)], (4,), (4,)),
        Launch("three", [y, np.zeros((18, 2), np.float32)], (4,), (4,)),
    ]
    for route in PLAIN_AND_OPTIMISED:
        two, three = execute(device, coopmat.compile(source, ["--matrices", route]).spirv, launches)
        assert difference(two[1], wanted) == ""
        assert difference(three[1], block) == ""
