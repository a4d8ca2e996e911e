"""Objects of pyopencl programs: compiled here if they have matrices, and linked by the driver with all others."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from coopmat.devices import DeviceInfo, opencl
from coopmat.devices.query import describe
from coopmat.diagnostics import CompileError, Diagnostic, Severity, render_text
from coopmat.frontend.kernel_info import KernelInfo
from coopmat.options import LINKED, CompileOptions

from . import driver
from .device_build import UNNAMED, Built, DeviceBuild, split_options
from .launch import compile_resolved, resolve_options


@contextmanager
def header_directory(headers: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """Write headers (name, text) to a temporary directory, and yield the path of the directory.

    The directory is removed at the end of the context. A header whose name refers to another directory is left out.
    """
    with tempfile.TemporaryDirectory(prefix="coopmat-headers-") as directory:
        root = Path(directory).resolve()
        for name, text in headers:
            path = (root / name).resolve()
            if path.is_relative_to(root):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
        yield directory


def compile_objects(
    context: Any,
    handles: Sequence[Any],
    source: str,
    options: Sequence[str],
    headers: Sequence[tuple[str, bytes]],
    name: str = UNNAMED,
) -> Built:
    """Compile a source to an object for the pyopencl devices `handles` of a context.

    `headers` are pairs of a name and a text. Raises CompileError for the source, UsageError for options, DriverError if
    a driver rejects the compiled code.
    """
    parsed, for_device = split_options(options)
    cl = opencl()
    with header_directory(headers) as directory:
        parsed = replace(parsed, include_dirs=(directory, *parsed.include_dirs), separate=True)
        devices = [describe(handle) for handle in handles]
        is_single = len(devices) == len(context.devices) == 1
        contexts = [context if is_single else cl.Context([device.handle]) for device in devices]
        made = [
            _object(own, device, source, resolve_options(parsed, device), for_device, name)
            for own, device in zip(contexts, devices, strict=True)
        ]
    builds = tuple(build for _, build in made)
    if is_single:
        return Built(made[0][0], builds)
    binaries = [program.get_info(cl.program_info.BINARIES)[0] for program, _ in made]
    return Built(cl._cl._Program(context, list(handles), binaries), builds)


def _object(
    context: Any, device: DeviceInfo, source: str, options: CompileOptions, for_device: Sequence[str], name: str
) -> tuple[Any, DeviceBuild]:
    """Compile a source for one device. Return pyopencl's compiled program, and its description."""
    if options.code == LINKED:
        raise _failure(f"--matrices {options.matrices} is not supported by compile(): it needs a second module")
    module = compile_resolved(source, replace(options, unit=""), device, name=name)
    program = driver.compile_object(context, module, device, for_device)
    text = render_text(module.diagnostics, module.sources) if module.diagnostics else ""
    return program, DeviceBuild(device, module.matrices, module.kernels, text, module.functions)


def linked(
    objects: Iterable[Sequence[DeviceBuild]], others: Sequence[str | None], kernels: Iterable[str]
) -> tuple[DeviceBuild, ...]:
    """Return the builds of the program that is linked from the objects, one for each device.

    `kernels` are the names of the program's kernels. `others` are the sources of the objects that the driver compiled;
    None if a source is unknown. Raises CompileError if a kernel may call a function whose subgroups the kernel does not
    have.
    """
    first: dict[int, DeviceBuild] = {}
    for build in (build for item in objects for build in item):
        key = build.device.handle.int_ptr
        before = first.get(key, DeviceBuild(build.device, build.route, {}))
        functions = {**before.functions, **build.functions}
        first[key] = replace(before, kernels={**before.kernels, **build.kernels}, functions=functions)
    known = {name for build in first.values() for name in build.kernels}
    has_others = not known.issuperset(kernels)
    for name in {name for build in first.values() for name in build.functions}:
        if has_others and any(text is None or re.search(rf"\b{re.escape(name)}\b", text) for text in others):
            raise _failure(
                f"the function '{name}' has matrices, and a program without matrices, which the device's compiler "
                "compiled, may call it: enable cl_khr_cooperative_matrix in that program by a pragma"
            )
    return tuple(_settled(build) for build in first.values())


def _settled(build: DeviceBuild) -> DeviceBuild:
    """Return the build with the subgroups of its functions for all kernels that call other programs.

    Raises CompileError if such a kernel is compiled for subgroups of another size.
    """

    def settled(info: KernelInfo) -> KernelInfo:
        """Return the description of a kernel with the subgroups of the functions that the kernel may call."""
        for function in build.functions.values() if info.imports else ():
            if info.sub_group_size not in (None, function.sub_group_size) and function.sub_group_size != 1:
                raise _failure(
                    f"kernel '{info.name}' is compiled for subgroups of {info.sub_group_size}, and '{function.name}', "
                    f"which it may call, for subgroups of {function.sub_group_size}"
                )
            most = [n for n in (info.max_work_items, function.max_work_items) if n is not None]
            info = replace(
                info,
                sub_group_size=function.sub_group_size,
                uses_matrices=info.uses_matrices or function.uses_matrices,
                max_work_items=min(most, default=None),
            )
        return info

    return replace(build, kernels={name: settled(info) for name, info in build.kernels.items()})


def _failure(text: str) -> CompileError:
    return CompileError([Diagnostic(Severity.ERROR, "not-supported", text)])
