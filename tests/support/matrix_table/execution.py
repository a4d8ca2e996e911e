"""Execution of rows on a target, many kernels in a program; a program that does not build is halved down to one row."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import library_names
import numpy as np
import optimizer
from matrix_programs import PRELUDE, Target

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.diagnostics import InternalError
from coopmat.matrices.numpy_reference import Array

from . import native
from .axes import LOWERED_WORK_ITEMS, NATIVE
from .rows import Key, Plan, Row

# The compiler's option that selects OpenCL C as output.
IN_C = "--code=c"


@dataclass(frozen=True)
class Finding:
    target: Target
    row: str
    case: Key | None
    text: str

    def __str__(self) -> str:
        return f"{self.target}: {self.row}{f': {self.case}' if self.case else ''}: {self.text}"


class Runner:
    """An OpenCL context and queue of a device, for use in one process."""

    def __init__(self, device: DeviceInfo, seed: int) -> None:
        self.cl = opencl()
        self.seed = seed
        self.context = self.cl.Context([device.handle])
        self.queue = self.cl.CommandQueue(self.context)
        warnings.simplefilter("ignore", self.cl.CompilerWarning)

    def run(self, target: Target, rows: Sequence[Row]) -> list[Finding]:
        """Run rows on a target, and return all faults."""
        plans = [row.plan(target, self.seed) for row in rows]
        try:
            module = compile_plans(target, plans)
            if target.is_native:
                faults = native.faults(module)
                if not faults or len(rows) == 1:
                    return [Finding(target, rows[0].name, None, fault) for fault in faults]
                return self._halves(target, rows)
            program = self._build(module, self._options(target, rows))
        except (coopmat.CompileError, InternalError, self.cl.RuntimeError) as error:
            if len(rows) > 1:
                return self._halves(target, rows)
            return [Finding(target, rows[0].name, None, f"{type(error).__name__}: {str(error)[:1500]}")]
        findings = []
        for number, (row, plan) in enumerate(zip(rows, plans, strict=True)):
            info = module.kernels[f"t{number}"]
            assert info.uses_matrices and info.sub_group_size == target.sub_group_size, info
            size = LOWERED_WORK_ITEMS if target.through else target.sub_group_size * row.sub_groups
            results = self._launch(getattr(program, f"t{number}"), plan, size)
            faults = [(check.key, check.fault(results[check.number])) for check in plan.checks]
            findings += [Finding(target, row.name, case, fault) for case, fault in faults if fault]
        return findings

    def _halves(self, target: Target, rows: Sequence[Row]) -> list[Finding]:
        middle = len(rows) // 2
        return self.run(target, rows[:middle]) + self.run(target, rows[middle:])

    @staticmethod
    def _options(target: Target, rows: Sequence[Row]) -> list[str]:
        """Return the build options for a batch.

        On the routes `one` and `scratch`, three of four batches are built without the device's optimizer, which takes
        most of the time; the other routes depend on it. With --all, batches of operators always use it: it has
        miscompiled negations in local memory.
        """
        is_sampled = zlib.crc32(rows[0].name.encode()) % 4 == 0 or (
            optimizer.ALWAYS and rows[0].name.startswith("operators")
        )
        without = target.route in ("one", "scratch") and not is_sampled
        return ["-cl-opt-disable"] if without else []

    def _build(self, module: coopmat.Module, options: Sequence[str]) -> Any:
        if module.code == "c":
            words = [*module.opencl_c_options, *options]
            return self.cl.Program(self.context, module.opencl_c).build(words, cache_dir=False)
        return self.cl.Program(self.context, module.spirv).build(list(options))

    def _launch(self, kernel: Any, plan: Plan, size: int) -> list[Array]:
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        buffers = [self.cl.Buffer(self.context, flags, hostbuf=array) for array in plan.buffers]
        kernel(self.queue, (size,), (size,), *buffers)
        results = {check.number: np.empty_like(plan.buffers[check.number]) for check in plan.checks}
        for number, array in results.items():
            self.cl.enqueue_copy(self.queue, array, buffers[number], is_blocking=False)
        self.queue.finish()
        return [results.get(number, np.empty(0)) for number in range(len(buffers))]


def compile_plans(target: Target, plans: Sequence[Plan]) -> coopmat.Module:
    """Compile plans to one module with the kernels t0, t1, ...

    For OpenCL C as output, programs declare names of the library's texts.
    """
    kernels = [f"t{number}" for number in range(len(plans))]
    text = "\n".join(plan.named(name) for name, plan in zip(kernels, plans, strict=True))
    if IN_C in target.more:
        text = library_names.renamed(text, target.route, zlib.crc32(text.encode()), kernels)
    text = PRELUDE + text
    if target.through:
        sized = f"kernel __attribute__((reqd_work_group_size({LOWERED_WORK_ITEMS}, 1, 1))) void"
        made = coopmat.compile(text.replace("kernel void", sized), NATIVE.options, name="table.cl")
        code = made.spirv if target.through == "spv" else made.llvm_ir
        module = coopmat.compile(code, ["-w", *target.options], name="table", language=target.through)
    else:
        module = coopmat.compile(text, target.options, name="table.cl")
    # Compile now, so that errors are raised here.
    _ = module.opencl_c if module.code == "c" else module.spirv
    return module
