"""A campaign: many kernels of `kernels` on a device, in child processes, compared with results in Python."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ..workers import Batch, Finding, each
from .kernels import ELEMENTS, LIMITS, Kernel, Run, generate, readable, unwritten

# The number of kernels in a program: a fault may be in one, and have its effect in another.
BATCH = 12
ROUTES = ("native", "one")


def run(
    seeds: Sequence[int], jobs: int, say: Callable[[str], None] = lambda line: None
) -> Iterator[tuple[tuple[int, ...], Finding]]:
    """Yield the findings, each with the seeds of its program: the whole batch if the fault needs all of them."""
    start, count = time.monotonic(), 0
    suspects: list[Batch] = []
    batches = [Batch(tuple(seeds[at : at + BATCH])) for at in range(0, len(seeds), BATCH)]
    for batch, findings in each(iter(batches), jobs, serve):
        count += len(batch.programs)
        say(f"{count} of {len(seeds)} kernels, {time.monotonic() - start:.0f} s")
        if findings:
            suspects.append(batch)
            say(f"seen in seeds {batch.programs[0]} to {batch.programs[-1]}: {findings[0].stage}: {findings[0].text}")
    for batch in suspects:
        alone = [found for found in each((Batch((seed,)) for seed in batch.programs), jobs, serve) if found[1]]
        again = alone or [found for found in each(iter([batch]), 1, serve) if found[1]]
        for smaller, findings in again:
            yield tuple(int(seed) for seed in smaller.programs), findings[0]
        if not again:
            yield tuple(int(seed) for seed in batch.programs), Finding("once only", None, "not seen again")


def serve(pipe: Connection) -> None:
    """Check the batches from the pipe, with the device's vectorizer on, since it transforms loops."""
    from coopmat.devices import list_devices

    name = os.environ.get("COOPMAT_FUZZ_DEVICE", "")
    device = next(d for d in list_devices() if d.takes_spirv and name.casefold() in f"{d.platform} {d.name}".casefold())
    while True:
        try:
            batch = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(check(device, [generate(int(seed)) for seed in batch.programs], pipe.send))
        except Exception:
            pipe.send([Finding("exception", None, traceback.format_exc())])


def check(device: Any, kernels: Sequence[Kernel], stage: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Compile and run kernels as one program, on every route."""
    from differential import execute

    import coopmat

    source = "\n".join(kernel.text for kernel in kernels)
    launches = [(kernel, made, launch(kernel, made)) for kernel in kernels for made in kernel.runs]
    findings = []
    for route in ROUTES:
        stage(f"{route}: compile")
        try:
            binary = coopmat.compile(source, ["--matrices", route, "-w"], name="loops.cl").spirv
        except Exception as error:
            findings.append(Finding(f"{route}: compile", None, str(error)))
            continue
        stage(f"{route}: run")
        results = execute(device, binary, [item for _, _, item in launches])
        for (kernel, made, _), result in zip(launches, results, strict=True):
            if text := difference(made, result):
                findings.append(Finding(f"{route}: result", None, f"{kernel.name}: {text}\n{kernel.text}"))
    return findings


def launch(kernel: Kernel, made: Run) -> Any:
    from differential import Launch, Value

    out, rows = unwritten(kernel.total, made.items), unwritten(kernel.element, made.rows.size - 2 * 64)
    scalars = (Value(np.array(made.scalars[name], ELEMENTS[kind])) for name, kind in kernel.scalars.items())
    buffers = (readable(kernel.element, kernel.seed), np.array(LIMITS, np.int32), out, rows)
    return Launch(kernel.name, [*buffers, *scalars], (made.items,), (made.local_size,))


def difference(made: Run, result: dict[int, Any]) -> str:
    """Describe the difference in the buffers of a launch, guard zones included; "" if there is none."""
    for name, number, expected in (("out", 2, made.out), ("rows", 3, made.rows)):
        wrong = np.flatnonzero(result[number] != expected)
        if wrong.size:
            at = wrong[0]
            sizes = f"groups={made.groups} local={made.local_size} {made.scalars}"
            return f"{sizes}: {name}[{at - 64}] is {result[number][at]}, not {expected[at]} ({wrong.size} differ)"
    return ""
