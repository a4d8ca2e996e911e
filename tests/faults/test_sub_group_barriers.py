"""Barriers of subgroups that only some of a work-group's subgroups reach."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, Value, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.devices.sub_groups import sub_group_sizes
from coopmat.faults.sub_group_barriers import call_barrier_builtin
from coopmat.runtime.driver import spirv_for
from coopmat.spirv.module import OP, Module
from coopmat.spirv.tools import validate

SIZE, GROUPS = 16, 3
# condition -> the subgroups that take the branch.
CONDITIONS = {"g == 0": {0}, "g & 1": {1}, "g != 0": {1, 2}, "g == 2": {2}, "!(g & 1)": {0, 2}, "n == 3": {0, 1, 2}}
SWAP = """a[i] = y; sub_group_barrier(CLK_LOCAL_MEM_FENCE); y = a[i ^ 1];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);"""
KERNEL = f"""__attribute__((intel_reqd_sub_group_size({SIZE}), reqd_work_group_size({SIZE * GROUPS}, 1, 1)))
kernel void f%d(global int *o, int n) {{
    local int a[{SIZE * GROUPS}];
    uint g = get_sub_group_id(), i = get_local_id(0);
    int y = i * 3;
    if (%s) {{ {SWAP} y += 1000; }}
    o[i] = y;
}}
"""


def sources() -> str:
    return "".join(KERNEL % (number, condition) for number, condition in enumerate(CONDITIONS))


@pytest.mark.parametrize("options", [[], ["-O0"]])
def test_some_subgroups_reach_a_barrier(device: DeviceInfo, options: list[str]) -> None:
    if SIZE not in sub_group_sizes(device):
        pytest.skip(f"no subgroups of {SIZE}")
    module = coopmat.compile(sources(), ["-w", *options])
    items = np.arange(SIZE * GROUPS, dtype=np.int32)
    launches = [
        Launch(f"f{number}", [np.zeros_like(items), Value(np.int32(GROUPS))], (len(items),), (len(items),))
        for number in range(len(CONDITIONS))
    ]
    results = execute(device, spirv_for(module, device), launches)
    for (condition, takes), result in zip(CONDITIONS.items(), results, strict=True):
        swapped = np.isin(items // SIZE, list(takes))
        assert result[0].tolist() == np.where(swapped, (items ^ 1) * 3 + 1000, items * 3).tolist(), condition


def test_modules_with_calls_are_valid() -> None:
    binary = coopmat.compile(sources(), ["-w"]).spirv
    changed = call_barrier_builtin(binary)
    assert not validate(changed, "spv1.4")
    assert call_barrier_builtin(changed) == changed
    assert OP["OpControlBarrier"] not in {item.opcode for item in Module.parse(changed).instructions}


def test_other_barriers_stay() -> None:
    source = "kernel void f(global int *o) { local int a[2]; a[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); o[0] = a[0]; }"
    binary = coopmat.compile(source).spirv
    assert call_barrier_builtin(binary) == binary
