"""The work inside a worker process: compile, build and launch the variants of a batch, and compare every buffer."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import coopmat.compiler as compiler
from coopmat.compiler import CompileOptions
from coopmat.devices import DeviceInfo, health
from coopmat.diagnostics import CompileError, InternalError
from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.routes import IN_SUB_GROUPS, LOWERED_ROUTES
from coopmat.runtime import driver
from coopmat.runtime.launch import resolve_options
from coopmat.spirv.tools import SpirvTools, ToolError, assemble, need_tools

from . import artifacts, comparison
from .executors import executor_for
from .experiment import Experiment
from .operations.base import Setting
from .outcome import Outcome, Status
from .schedule import Batch, Catalogue, Item, Settings
from .values import leave_out_subnormals
from .writers.assembly import AssemblyWriter
from .writers.base import KERNEL, Writer
from .writers.c import CWriter

Done = Callable[[Outcome], None]


class Refused(Exception):
    """Raised if variants that were compiled as one program fail to compile or build.

    The caller halves the batch to find the variant at fault.
    """


class Misfit(Exception):
    """Raised if the device runs the kernels in subgroups of several sizes or of an unknown size.

    Also raised if a launch has another subgroup size than the one for which the kernel was compiled.
    """


class Broken(Exception):
    """Raised after a failed launch: the context may be unusable."""


@dataclass(frozen=True)
class Prepared:
    """A variant that is ready to be compiled.

    source: the function that returns the kernel's source text, given the kernel's name.
    """

    item: Item
    experiment: Experiment
    source: Callable[[str], str]


@dataclass(frozen=True)
class Built:
    """A kernel of a built program.

    lanes: the subgroup size for which it was compiled, in work-items; None if the device chooses.
    in_sub_groups: False if all its matrices have the scope of a work-group, so that the device's subgroups do not
    matter.
    """

    kernel: Any
    lanes: int | None
    in_sub_groups: bool = True


@dataclass
class Runner:
    """The executor of batches on one device.

    report: a callback before each step, with the step's name ("build" or "launch") and the index of the item in the
    batch. The index is None for a step that concerns several items.
    """

    settings: Settings
    device: DeviceInfo
    report: Callable[[str, int | None], None] = lambda step, item: None
    catalogue: Catalogue = field(init=False)

    def __post_init__(self) -> None:
        self.catalogue = Catalogue(self.settings, self.device)
        self.executor = executor_for(self.device)
        if self.device.target_env:
            leave_out_subnormals()
        self._tools: SpirvTools | None = None

    def warm_up(self) -> None:
        """Compile and build a trivial kernel, so that the time of the first variant excludes loading libraries."""
        with suppress(Exception):
            batch = Batch("c", "one", None, ())
            module = compiler.compile("kernel void test(global int *p) { *p = 1; }", self._options(batch))
            self.executor.build(module, (), contained=True)

    # --- a batch

    def run(self, batch: Batch, done: Done) -> None:
        """Run a batch and pass the outcome of each variant to `done`, in order.

        Raises Refused if several variants were compiled as one program and the compilation or build failed. Raises
        Broken if a launch failed, after `done` got that variant's outcome.
        """
        if batch.mode == "c" and len(batch.items) > 1:
            self._run_together(batch, done)
        else:
            self._run_each(batch, done)

    def _run_together(self, batch: Batch, done: Done) -> None:
        """Compile all variants of the batch as one program, then run each.

        Raises Refused if compiling or building fails.
        """
        self.report("build", None)
        start = time.perf_counter()
        try:
            variants = [self.prepare(batch, item) for item in batch.items]
            built = self._build(self._compile(batch, variants), batch, variants)
            variants, built = self._fitted(batch, variants, built)
        except Exception as error:
            raise Refused from error
        share = (time.perf_counter() - start) / len(variants)
        for number, (variant, kernel) in enumerate(zip(variants, built, strict=True)):
            self._finish(batch, number, variant, kernel, share, done)

    def _run_each(self, batch: Batch, done: Done) -> None:
        """Compile and run each variant as a separate program; the matrix library is compiled once for all."""
        self.report("build", None if len(batch.items) > 1 else 0)
        start = time.perf_counter()
        compiled = [self._compile_alone(batch, item) for item in batch.items]
        modules = [entry[1] for entry in compiled if not isinstance(entry[1], Exception)]
        with suppress(Exception):  # an error is reported with its module below
            compiler.link_together(modules)
        share = (time.perf_counter() - start) / len(batch.items)
        for number, (variant, module) in enumerate(compiled):
            self.report("build", number)
            start = time.perf_counter()
            try:
                if isinstance(module, Exception):
                    raise module
                assert variant is not None
                built = self._build(module, batch, [variant])
                (variant,), (kernel,) = self._fitted(batch.part(number, number + 1), [variant], built)
            except Exception as error:
                seconds = share + time.perf_counter() - start
                refused = self._refused(batch, number, seconds, error)
                done(refused or self._failed(batch, batch.items[number], variant, seconds, _explain(error)))
                continue
            self._finish(batch, number, variant, kernel, share + time.perf_counter() - start, done)

    def _fitted(self, batch: Batch, variants: list[Prepared], built: list[Built]) -> tuple[list[Prepared], list[Built]]:
        """Recompile the kernels if the device chose a subgroup size other than the one they were compiled for.

        Return the variants and their kernels, which are unchanged if the size is right. Raises Misfit if the device
        runs the kernels in subgroups of several sizes or of an unknown size.
        """
        if batch.route not in IN_SUB_GROUPS or not self.executor.chooses_size:
            return variants, built
        sizes = {self.executor.size(b.kernel, b.lanes or 0) for b in built if b.in_sub_groups}
        if sizes <= {batch.sub_group_size}:
            return variants, built
        if len(sizes) > 1 or 0 in sizes:
            raise Misfit(f"the device runs its kernels in subgroups of {' and '.join(map(str, sorted(sizes)))}")
        other = batch.in_sub_groups_of(sizes.pop())
        variants = [self.prepare(other, item) for item in other.items]
        return variants, self._build(self._compile(other, variants), other, variants)

    def _compile_alone(self, batch: Batch, item: Item) -> tuple[Prepared | None, compiler.Module | Exception]:
        """Return a variant and its compiled module.

        If compiling fails, the module is replaced by the error, and the variant is None if already `prepare` failed.
        """
        variant = None
        try:
            variant = self.prepare(batch, item)
            return variant, self._compile(batch, [variant])
        except Exception as error:
            return variant, error

    def _finish(self, batch: Batch, number: int, variant: Prepared, built: Built, seconds: float, done: Done) -> None:
        """Launch one variant, compare its buffers, and pass the outcome to `done`. Raises Broken if the launch failed.

        `number` is the variant's index in the batch; `seconds` is the time spent on it before the launch.
        """
        self.report("launch", number)
        start = time.perf_counter()
        outputs: list[Array] | None = None
        broken = False
        try:
            outputs = self._launch(batch.route, variant.experiment, built)
            text = self._compare(variant, outputs)
        except self.executor.errors as error:
            text, broken = f"the launch failed: {error}", True
        except Exception as error:
            text = _explain(error)
            refused = self._refused(batch, number, seconds, error)
            if refused:
                done(refused)
                return
        seconds += time.perf_counter() - start
        item = batch.items[number]
        if text:
            done(self._failed(batch, item, variant, seconds, text, outputs))
        else:
            done(batch.outcome(item, Status.PASSED, seconds))
        if broken:
            raise Broken

    def _refused(self, batch: Batch, number: int, seconds: float, error: Exception) -> Outcome | None:
        """Return the outcome of a variant that a Vulkan device cannot have; None if the error is a failure."""
        refusal = _refusal(error) if self.device.target_env else ""
        return batch.outcome(batch.items[number], Status.NOT_SUPPORTED, seconds, refusal) if refusal else None

    def _failed(
        self,
        batch: Batch,
        item: Item,
        variant: Prepared | None,
        seconds: float,
        text: str,
        outputs: Sequence[Array] | None = None,
    ) -> Outcome:
        outcome = batch.outcome(item, Status.FAILED, seconds, text)
        if variant is None:
            return outcome
        return replace(outcome, directory=self._keep(batch, variant, text, outputs))

    def keep(self, batch: Batch, item: Item, text: str) -> str:
        """Write the files of a variant that killed another worker, and return their directory.

        Return "" if the kernel cannot be written.
        """
        try:
            return self._keep(batch, self.prepare(batch, item), text, None)
        except Exception:
            return ""

    def _keep(self, batch: Batch, variant: Prepared, text: str, outputs: Sequence[Array] | None) -> str:
        place = artifacts.place_of(self.settings.keep, batch.outcome(variant.item, Status.FAILED))
        command = self.settings.command(batch.test(variant.item), variant.item.variant, batch.route)
        source = variant.source(KERNEL).encode()
        name = f"{KERNEL}.{'cl' if batch.mode == 'c' else 'spvasm'}"
        try:
            # Write the source and the buffers first: the compilation below may be the step that hangs.
            artifacts.write(place, {name: source}, variant.experiment, outputs, command, text)
            artifacts.add(place, self._compiled(batch, variant))
        except OSError as error:
            return f"(not kept: {error})"
        return str(place)

    def _compiled(self, batch: Batch, variant: Prepared) -> dict[str, bytes]:
        """Return name -> contents of the variant's compiled files.

        In the mode "c" these are the LLVM IR and the module for the device. In the mode "spirv" there is only the
        module. Stages that fail are left out: the log has their errors.
        """
        files: dict[str, bytes] = {}
        with suppress(Exception):
            module = self._compile(batch, [variant])
            if batch.mode == "c":
                files[f"{KERNEL}.ll"] = module.llvm_ir.encode()
            if module.options.code == "c":
                files["device.cl"] = module.opencl_c.encode()
            else:
                files[f"{KERNEL}.spv"] = module.spirv
        return files

    # --- one variant

    def prepare(self, batch: Batch, item: Item) -> Prepared:
        operation = self.catalogue.operations[item.operation]
        setting = Setting(item.case, self.catalogue.profile(batch.route, item.selection), self.settings.seed)
        experiment = operation.experiment(setting)
        size, profile = item.case.sub_group_size, setting.profile
        writer: Writer
        if batch.mode == "c":
            writer = CWriter(experiment, size, lambda matrix: profile.copies(matrix, size))
        else:
            writer = AssemblyWriter(experiment, size)
        operation.write(setting, writer)
        return Prepared(item, experiment, writer.text)

    def _options(self, batch: Batch) -> CompileOptions:
        row = LOWERED_ROUTES.get(batch.route)
        size = None if row is None or row.has_one_work_item else batch.sub_group_size
        options = CompileOptions(matrices=batch.route, sub_group_size=size, code=self.settings.code)
        return resolve_options(options, self.device)

    def _build_options(self, batch: Batch) -> list[str]:
        """Return the build options for OpenCL.

        Intel's CPU runtime spends most of the time in its optimizer. It is turned off for lowered modules of the mode
        "spirv" whose route does not depend on subgroups; modules of the mode "c" test the optimizer.
        """
        plain = batch.mode == "spirv" and batch.route in LOWERED_ROUTES and batch.route not in IN_SUB_GROUPS
        # With -cl-opt-disable, PoCL 7.1 mixes up the private memory of work-items that meet a barrier inside a
        # function.
        plain = plain and self.device.platform.startswith("Intel")
        return ["-cl-opt-disable"] if plain else []

    def _build(self, module: compiler.Module, batch: Batch, variants: Sequence[Prepared]) -> list[Built]:
        """Build one program and return its kernels, one for each variant, in order. Raises any error of the build."""
        # Build several variants in this process (`contained`): if the compiler crashes, each of them is tried alone.
        # Build a single variant as for an application: first in a separate process, if the compiler may crash.
        contained = len(variants) > 1
        program = self.executor.build(module, self._build_options(batch), contained=contained)
        infos = module.kernels
        return [
            Built(self.executor.kernel(program, name), size or batch.sub_group_size, size is not None)
            for name in _kernel_names(variants)
            for size in (infos[name].sub_group_size,)
        ]

    def _compile(self, batch: Batch, variants: Sequence[Prepared]) -> compiler.Module:
        options = self._options(batch)
        if batch.mode == "c":
            names = _kernel_names(variants)
            text = "\n".join(v.source(name) for v, name in zip(variants, names, strict=True))
            return compiler.compile(text, options, name=f"{KERNEL}.cl")
        self._tools = self._tools or need_tools()
        binary = assemble(variants[0].source(KERNEL), f"spv{options.spirv_version}", self._tools)
        return compiler.compile(binary, options, name=f"{KERNEL}.spv", language="spv")

    def _launch(self, route: str, experiment: Experiment, built: Built) -> list[Array]:
        """Launch the kernel and return the buffers' contents after it, in the order of the arguments.

        The initial contents are returned for arguments in local memory, which the host cannot read. Raises Misfit if
        the device runs the kernel in subgroups of another size, and the executor's errors.
        """
        lanes = built.lanes if built.lanes is not None else self.executor.size(built.kernel, 64)
        local = experiment.sub_groups * lanes
        checked = built.in_sub_groups and route in IN_SUB_GROUPS
        if checked and (actual := self.executor.size(built.kernel, local)) != lanes:
            raise Misfit(f"compiled for subgroups of {lanes}, the device runs {local} in subgroups of {actual}")
        return self.executor.launch(built.kernel, experiment.arguments, experiment.groups * local, local)

    def _compare(self, variant: Prepared, outputs: Sequence[Array]) -> str:
        arguments = list(variant.experiment.arguments)
        if self.settings.tolerance == "upstream" and variant.item.operation != "div":
            arguments = [comparison.with_upstream_tolerance(argument) for argument in arguments]
        if self.device.target_env:
            arguments = [comparison.with_flushed_subnormals(argument) for argument in arguments]
        faults = [comparison.fault(a, actual) for a, actual in zip(arguments, outputs, strict=True)]
        return "\n".join(fault for fault in faults if fault)


def _kernel_names(variants: Sequence[Prepared]) -> list[str]:
    # No name is a prefix of another: Oclgrind takes the local memory of test10 for that of test1, too.
    return [KERNEL] if len(variants) == 1 else [f"{KERNEL}{number:02}" for number in range(len(variants))]


# The codes of diagnostics about what Vulkan, or a Vulkan device, lacks.
_REFUSALS = ("vulkan", "vulkan-device", "native-matrix", "coop-mat-target-type", "coop-mat-target-mul-add")
# class of an error -> the beginning of the log of a variant that did not run
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (CompileError, "it does not compile:\n"),
    (Misfit, ""),
    (InternalError, "internal error: "),
    (ToolError, "it does not assemble:\n"),
    (driver.DriverError, "the device does not build it:\n"),
)


def _refusal(error: Exception) -> str:
    """Return why a Vulkan device cannot have a variant; "" if the error is a failure of the variant.

    Vulkan lacks constructs of OpenCL C (docs/vulkan.md), and a device may lack what a module requires.
    """
    if not isinstance(error, CompileError) or any(item.code not in _REFUSALS for item in error.diagnostics):
        return ""
    return "; ".join(item.message for item in error.diagnostics)


def _explain(error: Exception) -> str:
    if isinstance(error, driver.DriverError) and error.device_failure is not None:
        return f"the device {health.CANNOT_BUILD}:\n{error.device_failure}"
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return f"{reason}{error}"
    return "internal error:\n" + "".join(traceback.format_exception(error, limit=-8))
