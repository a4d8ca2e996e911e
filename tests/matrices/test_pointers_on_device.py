"""Pointers that matrix instructions do not take, through every lowering: private, volatile, generic; and bfloat16."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_programs import TARGETS, Kernel, Target, equal, run
from repeats import slow_where

from coopmat.devices import DeviceInfo
from coopmat.matrices.numpy_reference import Array

# Sizes that 7 and 13 do not divide by, and one that is no power of two.
EVERY = (*TARGETS, Target("lanes", 4), Target("lanes", 64), Target("scratch", 5))
BODY = """
    typedef COOP(float, 7, 13, A) M; typedef COOP(bfloat16, 7, 13, A) H;
    local float l[91]; float p[91], q[91];
    for (int i = 0; i < 91; ++i) p[i] = p0[i];
    for (int i = get_local_id(0); i < 91; i += get_local_size(0)) l[i] = p0[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    M x = coop_mat_load(p, ROW, (size_t)13), y = coop_mat_load((volatile local float *)l, ROW, (size_t)13);
    float *from = get_global_size(0) > 1000 ? (float *)l : (float *)p0, *to = from == l ? (float *)l : (float *)p1;
    M z = coop_mat_load(from, ROW, (size_t)13);
    x = x + y + z;
    coop_mat_store(to, x, COLUMN, (size_t)7);
    coop_mat_store(q, x, ROW, (size_t)13);
    if (get_local_id(0) == get_local_size(0) - 1) for (int i = 0; i < 91; ++i) p2[i] = q[i];
    H h = coop_mat_convert(x);
    coop_mat_store((global bfloat16 *)p3, h * 2, ROW, (size_t)13);
"""


def widened(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("target", slow_where(lambda t: t.sub_group_size not in (1, 5, 16), EVERY), ids=str)
def test_pointers(device: DeviceInfo, target: Target) -> None:
    if target.route == "lanes" and target.sub_group_size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {target.sub_group_size}")
    a = np.random.default_rng(0).integers(-9, 9, (7, 13)).astype(np.float32)
    k = Kernel("pointers")
    for array, name in ((a.ravel(), "float"), (np.zeros(91, np.float32), "float"), (np.zeros(91, np.float32), "float")):
        k.buffer(array, name)
    k.buffer(np.zeros(91, np.uint16), "ushort")
    k.line(BODY)
    k.checks.append(lambda results, _: equal(results[1].reshape(13, 7).T, a * 3, what="generic"))
    k.checks.append(lambda results, _: equal(results[2], (a * 3).ravel(), what="private"))

    k.checks.append(lambda results, _: equal(widened(results[3]), (a * 6).ravel(), what="bfloat16"))
    run(device, target, [k.case()])
