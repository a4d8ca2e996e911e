"""A program that builds the conformance runner's modules, in SPIR-V with matrices, as any program does, and checks what
they compute: `module_application.py COUNT` prints the failures and the milliseconds of each build as JSON.

The runner only has the modules and the expected values here; pyopencl gets them as they are, through the layer.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import pyopencl as cl

from coopmat.cts.execution import KERNEL, Built, Prepared, Runner
from coopmat.cts.run import select_items
from coopmat.cts.schedule import Batch, Item, Settings, schedule
from coopmat.devices import list_devices
from coopmat.spirv.tools import assemble, need_tools

ROUTE = "one"


def selected(runner: Runner, count: int) -> list[tuple[Batch, Item]]:
    """So many variants, spread over all tests."""
    plan = schedule(runner.catalogue, select_items(runner.catalogue, ["spirv_*"], [ROUTE], []))
    items = [(batch, item) for batch in plan.batches for item in batch.items]
    return [items[number * len(items) // count] for number in range(min(count, len(items)))]


def fault(runner: Runner, binary: bytes, variant: Prepared, times: list[float]) -> str:
    """What is wrong with a module's result, "" if nothing is."""
    program = cl.Program(runner.executor.context, binary)
    start = time.perf_counter()
    program.build(["-cl-opt-disable"])
    times.append(1000 * (time.perf_counter() - start))
    kernel = cl.Kernel(program, KERNEL)
    device = runner.executor.context.devices[0]
    (size, *_) = kernel.get_sub_group_info(device, cl.kernel_sub_group_info.LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 1)
    outputs = runner._launch(ROUTE, variant.experiment, Built(kernel, size, False))
    return runner._compare(variant, outputs)


def main(count: int) -> dict[str, Any]:
    device = next(device for device in list_devices() if device.platform.startswith("Intel"))
    runner = Runner(Settings("0:0", ROUTE, selection="default"), device)
    tools = need_tools()
    faults: dict[str, str] = {}
    times: list[float] = []
    for batch, item in selected(runner, count):
        variant = runner.prepare(batch, item)
        version = runner._options(batch).spirv_version
        binary = assemble(variant.source(KERNEL), f"spv{version}", tools)
        try:
            text = fault(runner, binary, variant, times)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        if text:
            faults[f"{batch.test(item)} {item.variant}"] = text
    return {"modules": len(times), "faults": faults, "milliseconds": times}


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)  # a sanitizer is for this process, and not for the tools that it runs
    print(json.dumps(main(int(sys.argv[1]))))
