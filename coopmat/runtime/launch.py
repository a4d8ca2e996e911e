"""The runs of a kernel file: compilation, build, launch, checks and timing."""

from __future__ import annotations

import logging
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.devices import DeviceInfo, native_profile_for, route_for, unit_for
from coopmat.devices.sub_groups import usual_size
from coopmat.devices.variants import variants_for
from coopmat.diagnostics import CompileError
from coopmat.features import LANGUAGE_VERSIONS
from coopmat.matrices.routes import IN_SUB_GROUPS, LISTED_ROUTES, OPENCL_C_ONLY, ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.options import CompileOptions

from .checks import CheckResult, run_check
from .data import Array, integer_of, make_array, make_scalar, shape_of, sizes_of
from .evaluator import TYPES
from .executor import Launchable, LaunchSizes, LocalMemory
from .instruction_probe import code_for, instructions, likely_instructions
from .launch_rules import launch_error
from .program import Program
from .runheader import WORK, Argument, Piece, Run, header_error, parse_header, with_source

logger = logging.getLogger("coopmat.launch")

if TYPE_CHECKING:
    from coopmat.compiler import Module
    from coopmat.ir.kernel_info import KernelParameter

Names = Mapping[str, Any]
Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of one run.

    times: the seconds on the device, one value for each repetition.
    after: name -> value of each argument after the first launch.
    work: the number of operations of one launch, by the header's names (runheader.WORK).
    """

    kernel: str
    module: Module
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    sub_group_size: int
    checks: tuple[CheckResult, ...]
    times: tuple[float, ...]
    after: Mapping[str, Any]
    work: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def max_error(self) -> float:
        return max((check.max_error for check in self.checks), default=0.0)

    @property
    def median_time(self) -> float:
        return statistics.median(self.times)

    @property
    def speeds(self) -> dict[str, float]:
        """The number of operations by the median time, in their unit (GFLOP/s, GOP/s).

        If no work is stated or the time is 0, the result is empty.
        """
        if not self.median_time:
            return {}
        return {WORK[name]: count / self.median_time * 1e-9 for name, count in self.work.items()}


def compile_for(source: bytes, options: CompileOptions, device: DeviceInfo, *, name: str) -> Module:
    """Compile a source for a device, and return the module.

    The route `auto` becomes the device's route, and the SPIR-V version one that the device accepts. Raises CompileError
    if the device has no route, or if the source is wrong.
    """
    return compile_resolved(source, resolve_options(options, device), device, name=name)


def compile_resolved(
    source: str | bytes, options: CompileOptions, device: DeviceInfo, *, name: str, language: str = "cl"
) -> Module:
    """Compile a source with options from `resolve_options` for the device, and return the module.

    If the device has matrix instructions for the multiply-adds of the source, the route to them is used. Raises
    CompileError.
    """
    from coopmat import compiler

    if options.unit and device.handle is not None:
        # For the advice about products that no instruction multiplies; the probe below decides what is used.
        options = replace(options, instructions=likely_instructions(device, options.unit))
    module = compiler.compile(source, options, name=name, language=language)
    on_unit = replace(options, matrices=options.unit, unit="")
    if options.unit and device.handle is not None and module.multiplies_by(on_unit):
        available = instructions(device, options.unit)
        on_unit = resolve_options(replace(on_unit, instructions=available), device)
        if available and module.multiplies_by(on_unit):
            return compiler.compile(source, on_unit, name=name, language=language)
    return module


def with_advice(options: CompileOptions) -> CompileOptions:
    """Return the options with -Wmatrix-performance, which later options may turn off.

    The advice depends on the device, so -Werror alone does not make errors of it.
    """
    return replace(options, warnings=("matrix-performance", "no-error=matrix-performance", *options.warnings))


# Extensions that are turned off if the device lacks them, so that programs can test for their macro.
_RARE = ("cl_khr_kernel_clock",)


def resolve_options(options: CompileOptions, device: DeviceInfo) -> CompileOptions:
    """Return the options with every device-dependent choice made. Raises CompileError if a choice is impossible."""
    from .native_probe import proven

    if device.address_bits != 64:
        text = f"{device.label} has addresses of {device.address_bits} bits, which are not supported yet"
        raise launch_error(f"{text}: modules are for addresses of 64 bits", "not-supported")
    if device.target_env:
        if options.code == "c" or options.matrices in OPENCL_C_ONLY:
            text = f"{device.label} takes SPIR-V only: use --matrices native, one, lanes or scratch, without --code c"
            raise launch_error(text, "no-route")
        options = replace(options, target_env=device.target_env, code="spirv", spirv_version="1.6")
    if options.matrix_registers is None and device.vector_bits:
        options = replace(options, matrix_registers=device.vector_registers)
    route = route_for(device)
    if options.matrices == "auto" and options.code == "auto":
        options = _of_environment(replace(options, unit=unit_for(device)))
    if options.matrices in OPENCL_C_ONLY and device.handle is not None and options.instructions is None:
        options = _with_instructions(options, device)
    if options.code == "auto" and options.matrices in OPENCL_C_ONLY:
        options = replace(options, code=code_for(device, options.matrices))
    elif options.code == "auto" and route.code == "c":
        options = replace(options, code="c")
    if options.matrices == "auto":
        lowered = options.code == "c" and route.matrices == "native"
        options = replace(options, matrices="one" if lowered else route.matrices)
    options = replace(options, fma=route.fma, guarded_loads=route.guarded_loads)
    lacking = {name: False for name in _RARE if name not in device.extensions}
    options = replace(options, extensions={**lacking, **options.extensions})
    if options.matrices in IN_SUB_GROUPS and options.matrices not in OPENCL_C_ONLY:
        options = _in_sub_groups(options, device)
    if options.code == "c":
        return _for_own_compiler(options, device)
    if not device.takes_spirv:
        raise launch_error(f"{device.label} takes no SPIR-V; use --code c", "no-route")
    if options.native_profile is None and options.matrices == "native":
        options = replace(options, native_profile=native_profile_for(device))
    if options.variants is None and (variants := variants_for(device, options.sub_group_size)) is not None:
        names = tuple(variant.name for variant in variants)
        options = replace(options, variants=names, device=device.label)
    elif options.variants is None and options.matrices == "native" and (tried := proven(device)):
        options = replace(options, variants=tuple(variant.name for variant in tried), device=device.label)
    if options.pointer_alignment is None and options.stride_multiple is None:
        options = replace(options, pointer_alignment=device.pointer_alignment, stride_multiple=device.stride_multiple)
    newest = device.spirv_versions[-1]
    if _numbers(options.spirv_version) > _numbers(newest):
        if options.spirv_version != CompileOptions().spirv_version:
            raise launch_error(f"{device.label} takes SPIR-V up to {newest}, not {options.spirv_version}")
        options = replace(options, spirv_version=newest)
    return options


def _with_instructions(options: CompileOptions, device: DeviceInfo) -> CompileOptions:
    """Return the options with those instructions of the route that the device has.

    If it has none, select the device's own route, and log a warning that names the route.
    """
    available = instructions(device, options.matrices)
    if available:
        return replace(options, instructions=available)
    own = route_for(device).matrices
    text = "%s executes no instruction of --matrices %s correctly; --matrices %s is used instead"
    logger.warning(text, device.label, options.matrices, own)
    return replace(options, matrices=own)


def _of_environment(options: CompileOptions) -> CompileOptions:
    """Return the options with the route that COOPMAT_ROUTE names, if it is set, instead of the device's.

    Raises CompileError if the variable names no route.
    """
    name = os.environ.get("COOPMAT_ROUTE", "")
    if name and name not in ROUTES:
        raise launch_error(f"COOPMAT_ROUTE is one of {', '.join(LISTED_ROUTES)}, not '{name}'", "usage")
    if not name:
        return options
    is_unit = name in OPENCL_C_ONLY
    return replace(options, unit=name if is_unit else "", matrices="auto" if is_unit else name)


def _in_sub_groups(options: CompileOptions, device: DeviceInfo) -> CompileOptions:
    """Return the options with the usual subgroup size of the device.

    Raises CompileError if the device has no subgroups, or none of the requested size.
    """
    if device.handle is not None and not device.sub_groups:
        raise launch_error(f"{device.label} has no subgroups; use --matrices one or scratch", "no-route")
    sizes, size = device.sub_group_sizes, options.sub_group_size
    if size is not None and sizes and size not in sizes:
        # If the device does not report its sizes, the built kernel's size is checked.
        listing = ", ".join(map(str, sizes))
        raise launch_error(f"{device.label} has subgroups of {listing} work-items, not of {size}", "sub-group-size")
    return replace(options, usual_sub_group_size=usual_size(device))


def _for_own_compiler(options: CompileOptions, device: DeviceInfo) -> CompileOptions:
    """Return the options for lowering to OpenCL C that the device's own compiler accepts.

    The options limit the language version and the floating-point types to the device's. Raises CompileError for native
    matrices, because OpenCL C cannot express them.
    """
    if options.matrices == "native":
        takes_none = "" if device.takes_spirv else f"{device.label} takes no SPIR-V, and "
        text = f"{takes_none}OpenCL C has no native matrices: use --matrices one, lanes or scratch"
        raise launch_error(text, "no-route")
    oldest = min(options.cl_std, device.opencl_c, key=lambda name: LANGUAGE_VERSIONS[name])
    lacking = {name: False for name in ("cl_khr_fp16", "cl_khr_fp64") if name not in device.extensions}
    extensions = {**lacking, **options.extensions}
    route = route_for(device)
    hints = (*options.hints, *route.hints)
    own = replace(options, widest=route.widest, packed_members=route.packed_members, hints=hints)
    return replace(own, cl_std=oldest, extensions=extensions)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def run_file(
    path: Path, device: DeviceInfo, options: Sequence[str] = (), *, repeat: int = 1, matrices: str = "auto"
) -> list[RunResult]:
    """Execute every run of a kernel file on a device, and return the results in order.

    Raises CompileError, BuildError and OSError.
    """
    source = path.read_bytes()
    runs = parse_header(source.decode("utf-8", "replace"), str(path))
    if not runs:
        raise launch_error(f"{path} has no '// run:' line", "run-header")
    return [
        run_source(source, str(path), run, device, ["--matrices", matrices, *options], repeat=repeat) for run in runs
    ]


def run_source(
    source: bytes,
    name: str,
    run: Run,
    device: DeviceInfo,
    options: Sequence[str] = (),
    *,
    repeat: int = 1,
    arrays: Mapping[str, Array] | None = None,
) -> RunResult:
    """Execute one run of a source, and return the result.

    `arrays` replace the header's arguments of the same names. `options` follow the header's options. Raises
    CompileError and BuildError.
    """
    parsed = CompileOptions.from_arguments([*run.options, *options])
    module = compile_for(source, parsed, device, name=name)
    try:
        return launch(Program(module, device), run, repeat=repeat, arrays=arrays or {})
    except CompileError as error:
        raise with_source(error, name, source.decode("utf-8", "replace")) from None


def launch(
    program: Launchable,
    run: Run,
    *,
    repeat: int = 1,
    arrays: Mapping[str, Array] | None = None,
    starting: Callable[[str, str], None] | None = None,
) -> RunResult:
    """Launch a run's kernel once and check the results, then launch it `repeat - 1` times for the time only.

    Each repetition uses the buffers as the launch before left them. `starting` is called before the first launch with
    the kernel's name and a description of its sizes and arguments. Raises CompileError.
    """
    kernel = program.kernel(run.kernel.text if run.kernel is not None else None)
    names = _symbols(run, kernel)
    values = _argument_values(run, kernel, names, arrays or {})
    integers = {name: int(value) for name, value in values.items() if isinstance(value, np.integer)}
    program.module.advise(kernel.info.name, integers)
    global_size, local_size = _work_sizes(run, kernel, names)
    sizes = f"global size {global_size}, local size {local_size}"
    if starting is not None:
        starting(kernel.info.name, f"{sizes.replace('None', 'any')}, {_listing(values)}")
    try:
        with program.bind(kernel, values) as launched:
            times = [launched.run(global_size, local_size)]
            after = {name: launched.read(name) for name in values}
            checks = tuple(run_check(check, {**names, **values}, {**names, **after}) for check in run.checks)
            times += [launched.run(global_size, local_size) for _ in range(repeat - 1)]
    except program.errors as error:
        raise launch_error(f"kernel '{kernel.info.name}' with {sizes}: {error}") from error
    return RunResult(
        kernel.info.name,
        program.module,
        global_size,
        local_size,
        kernel.sub_group_size,
        checks,
        tuple(times),
        after,
        {name: integer_of(piece, names) for name, piece in run.work},
    )


def _listing(values: Names) -> str:
    """Return a text that lists the kernel's arguments with their types and shapes."""
    return ", ".join(
        f"{name}={value.size} bytes"
        if isinstance(value, LocalMemory)
        else f"{name}={value.dtype}{list(value.shape) or ''}"
        for name, value in values.items()
    )


def _symbols(run: Run, kernel: LaunchSizes) -> dict[str, Any]:
    """Return name -> value of the symbols of a run, with `sg`."""
    names: dict[str, Any] = {"sg": kernel.sub_group_size}
    for name, piece in run.symbols:
        names[name] = integer_of(piece, names)
    return names


def _work_sizes(run: Run, kernel: LaunchSizes, names: Names) -> tuple[Sizes, Sizes | None]:
    """Return the global size and the checked local size of a run. Raises CompileError."""
    if run.global_size is None:
        raise header_error("the run has no global=", run.whole)
    global_size = sizes_of(run.global_size, names, "global size")
    local_size = sizes_of(run.local_size, names, "local size") if run.local_size is not None else None
    if local_size is not None and len(local_size) != len(global_size):
        raise header_error(f"the global size has {len(global_size)} dimensions, not {len(local_size)}", run.local_size)
    return global_size, kernel.local_size_for(global_size, local_size)


def _argument_values(run: Run, kernel: LaunchSizes, names: Names, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return name -> value of every parameter, in the kernel's order: an array, a scalar or LocalMemory.

    Raises CompileError if an argument is missing, has no parameter, or does not match its parameter.
    """
    by_name = {argument.name.text: argument for argument in run.arguments}
    parameters = {parameter.name: parameter for parameter in kernel.info.parameters}
    for name in (*by_name, *arrays):
        if name not in parameters:
            where = by_name[name].name if name in by_name else None
            listing = f"its parameters are: {', '.join(parameters) or 'none'}"
            raise header_error(f"kernel '{kernel.info.name}' has no parameter '{name}'; {listing}", where)
    values: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.is_handle:
            what = f"parameter '{name}' is {parameter.type_name}"
            raise header_error(f"{what}: images and samplers as arguments are not supported yet", run.whole)
        if name in arrays:
            values[name] = np.ascontiguousarray(arrays[name])
        elif name in by_name:
            values[name] = _value(by_name[name], parameter, names)
        else:
            label = f"'{name}' ({parameter.type_name})"
            raise header_error(f"kernel '{kernel.info.name}' needs an argument {label}", run.whole)
        _require_type(values[name], parameter, by_name[name].name if name in by_name else None)
    return values


# OpenCL C scalar type -> its name in a run header.
_TYPES = {row.opencl_c: row.name.replace("s", "i") for row in COMPONENT_TYPES.values() if not row.is_bits}


def _require_type(value: Any, parameter: KernelParameter, where: Piece | None) -> None:
    """Raise CompileError if a value does not have the type and size of its parameter.

    The kernel would otherwise interpret the bytes of a buffer as another type.
    """
    if isinstance(value, LocalMemory):
        return
    type_name = _TYPES.get(parameter.scalar or "")
    if type_name is not None and value.dtype != TYPES[type_name]:
        message = f"parameter '{parameter.name}' is {parameter.type_name}: it needs {type_name}, not {value.dtype.name}"
        raise header_error(message, where)
    if not parameter.is_pointer and value.nbytes != parameter.size:
        message = f"parameter '{parameter.name}' has {parameter.size} bytes, and its value has {value.nbytes}"
        raise header_error(message, where)


def _value(argument: Argument, parameter: KernelParameter, names: Names) -> Any:
    """Return the value of an argument; the parameter decides whether it is an array, a scalar or LocalMemory.

    Raises CompileError if the argument has another form.
    """
    wants_local = parameter.is_pointer and parameter.address_space == "local"
    kind = f"parameter '{parameter.name}' is {parameter.type_name}"
    if wants_local:
        if argument.shape is None or argument.fill is not None:
            raise header_error(f"{kind} in local memory: give its size only, NAME=TYPE[SHAPE]", argument.name)
        shape = shape_of(argument.shape, names)
        return LocalMemory(int(np.prod(shape)) * TYPES[argument.type].itemsize)
    if argument.fill is None:
        raise header_error(f"{kind}: its array needs a fill such as ':zeros'", argument.name)
    if parameter.is_pointer:
        if argument.shape is None:
            raise header_error(f"{kind}: give an array, NAME=TYPE[SHAPE]:FILL", argument.name)
        return make_array(argument, names)
    return make_scalar(argument, names) if argument.shape is None else make_array(argument, names)
