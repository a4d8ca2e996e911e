"""The build of a source for the devices of a context: each device by its route, with binaries from the cache."""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from coopmat import compiler
from coopmat.cache import Cache, Entry, key_of, package_version
from coopmat.devices import DeviceInfo, opencl
from coopmat.devices.environment import driver_environment
from coopmat.devices.query import describe
from coopmat.diagnostics import CompileError, render_text
from coopmat.frontend.kernel_info import KernelInfo, KernelParameter
from coopmat.options import CompileOptions, UsageError

from . import driver
from .driver import quietly
from .fitting import fitted
from .instruction_probe import may_use_tiles_of
from .launch import compile_resolved, resolve_options, with_advice

logger = logging.getLogger("coopmat.build")

# Matches the names of a source that needs this compiler.
_MATRIX = re.compile(r"\bcoop_mat|\bcoop_matmul_add\b|\b(?:__)?matrix_type(?:__)?\s*\(|\b__builtin_matrix_")
_INCLUDE = re.compile(r"#\s*include|%:\s*include")
_INCLUDED = re.compile(r"(?:#|%:)\s*include\s*[\"<]([^\">\n]+)[\">]")
# Matches comments, and literals, in which no comment begins.
_NO_CODE = re.compile(r"//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


@dataclass(frozen=True)
class DeviceBuild:
    """The build of a source for one device.

    device: the device.
    route: "native" or the name of a lowered route.
    kernels: name -> description of the kernel.
    warnings: the rendered warnings of the compiler.
    functions: name -> description of a function that kernels of other programs may call, and that needs certain
        subgroups.
    """

    device: DeviceInfo
    route: str
    kernels: dict[str, KernelInfo]
    warnings: str = ""
    functions: dict[str, KernelInfo] = field(default_factory=dict)


@dataclass(frozen=True)
class Built:
    """A built program.

    program: pyopencl's built program.
    devices: the builds for its devices, in the order of the program.
    is_linked: whether the program also has kernels of other programs.
    """

    program: Any
    devices: tuple[DeviceBuild, ...]
    is_linked: bool = False


UNNAMED = "<program source>"
"""The name of a source that is not from a file."""


def has_matrices(source: str, options: Callable[[], Sequence[str]], name: str = UNNAMED) -> bool:
    """Return whether a source, or a file that the source includes, uses matrices.

    `options` returns the build options, and is called only if the source itself does not name matrices. `name` is the
    file of the source, beside which includes are searched first. If an option is wrong or a file cannot be read, return
    False: pyopencl then reports the fault.
    """
    if _has_words(source):
        return True
    try:
        words = options()
        if not includes(source) and not any("-include" in word for word in words):
            return False
        parsed, _ = split_options(words)
        directories = [str(Path(name).parent), ".", *parsed.include_dirs, *parsed.system_dirs]
        if not parsed.includes and not _may_have_words(source, directories, set()):
            return False
        text = compiler.Module(source, name, parsed).preprocessed
    except (CompileError, UsageError, OSError):
        return False
    return _has_words(text)


def includes(source: str) -> bool:
    """Return whether the text may contain an include directive."""
    return _INCLUDE.search(source) is not None


def _may_have_words(text: str, directories: Sequence[str], visited: set[Path]) -> bool:
    """Return whether a text, or a file that the text may include, may name matrices.

    This is a quick test: only the answer False is certain. `visited` are the files that were already searched.
    """
    if _MATRIX.search(text):
        return True
    names = _INCLUDED.findall(text)
    if len(names) != len(_INCLUDE.findall(text)):
        return True  # a macro may expand to a file name
    for path in (Path(directory) / name for name in names for directory in directories):
        if path not in visited and path.is_file():
            visited.add(path)
            near = [str(path.parent), *directories]
            if _may_have_words(path.read_bytes().decode(errors="replace"), near, visited):
                return True
    return False


def _has_words(text: str) -> bool:
    """Return whether a text names matrices outside of comments and literals."""
    return _MATRIX.search(text) is not None and _MATRIX.search(_NO_CODE.sub(" ", text)) is not None


def split_options(options: str | Sequence[str] | None) -> tuple[CompileOptions, list[str]]:
    """Parse build options, and return them with the options that only the device's compiler may know.

    Raises UsageError.
    """
    words = shlex.split(options) if isinstance(options, str) else [word for o in options or () for word in o.split()]
    for_device: list[str] = []
    return CompileOptions.from_arguments(["--matrices", "auto", *words], for_device), for_device


def build(
    context: Any,
    handles: Sequence[Any],
    source: str,
    options: str | Sequence[str] | None,
    cache: Cache | None = None,
    name: str = UNNAMED,
) -> Built:
    """Build `source`, of the file `name`, for the pyopencl devices `handles` of a context.

    Raises CompileError for the source, UsageError for options, DriverError if a driver rejects the compiled code.
    """
    cache = Cache.of_environment() if cache is None else cache
    parsed, for_device = split_options(options)
    devices = [describe(handle) for handle in handles]
    resolved = [resolve_options(with_advice(parsed), device) for device in devices]
    jobs = [_Job(context, d, source, name, own, for_device, cache) for d, own in zip(devices, resolved, strict=True)]
    for anew in (False, True):
        builds = tuple(job.run(anew) for job in jobs)
        if len(jobs) == len(context.devices) == 1 and jobs[0].program is not None:
            return Built(jobs[0].program, builds)
        try:
            return Built(_from_binaries(context, jobs, for_device), builds)
        except opencl().Error as error:
            # A driver may reject a binary that it returned earlier. All devices are then built again, without cache.
            if anew:
                raise
            logger.warning("the driver rejected its own binary, and the program is built again: %s", error)
    raise AssertionError("built anew or not")


def _from_binaries(context: Any, jobs: Sequence[_Job], options: Sequence[str]) -> Any:
    """Return pyopencl's program for several devices, built from the binaries of the jobs."""
    cl = opencl()
    program = cl._cl._Program(context, [job.device.handle for job in jobs], [job.binary for job in jobs])
    return quietly(program, options, [job.device.handle for job in jobs])


def cache_key(
    device: DeviceInfo, source: str, options: CompileOptions, for_device: Sequence[str], name: str = UNNAMED
) -> str:
    """Return the cache key of the device's binary for a source.

    `options` are resolved for the device. The key includes the name of the file, because includes are found beside the
    file and warnings contain the name.
    """
    return key_of(
        {
            "kind": "device code",
            "version": package_version(),
            "source": source,
            "name": name if name == UNNAMED else str(Path(name).absolute()),
            "options": repr(options),
            "driver options": list(for_device),
            "device": [device.platform, device.name, device.version, device.driver, sorted(device.extensions)],
            "environment": driver_environment(),
            # A binary from the cache may use tiles, for which this process must have the system's permission.
            "tiles": may_use_tiles_of(device),
        }
    )


@dataclass(eq=False)
class _Job:
    """The build of a source for one device.

    binary: the device's binary.
    program: pyopencl's program, if the source was just built; None if the binary is from the cache.
    """

    context: Any
    device: DeviceInfo
    source: str
    name: str
    options: CompileOptions
    for_device: Sequence[str]
    cache: Cache
    program: Any = None
    binary: bytes = b""

    def run(self, anew: bool) -> DeviceBuild:
        """Build for the device, or take the build from the cache unless `anew`, and return the build."""
        self.program = None
        key = cache_key(self.device, self.source, self.options, self.for_device, self.name)
        if anew:
            entry = self._build()
            self.cache.put(key, entry)
        else:
            entry = self.cache.get_or_build(key, self._build, self._described)
        self.binary = entry.payload
        return self._described(entry)

    def _described(self, entry: Entry) -> DeviceBuild:
        """Return the build that a cache entry describes.

        Raises LookupError, TypeError or AttributeError if the facts of the entry have another form.
        """
        facts = entry.facts
        kernels = {name: kernel_info(fields) for name, fields in facts["kernels"].items()}
        if not isinstance(facts["route"], str) or not isinstance(facts["warnings"], str):
            raise TypeError("route and warnings are texts")
        return DeviceBuild(self.device, facts["route"], kernels, facts["warnings"])

    def _build(self) -> Entry:
        """Build for the device, and return the entry for the cache."""
        driver.prepare(self.device)
        module = compile_resolved(self.source, self.options, self.device, name=self.name)
        context = opencl().Context([self.device.handle]) if len(self.context.devices) > 1 else self.context
        module, self.program = fitted(
            module, self.device, lambda candidate: driver.build(context, candidate, self.device, self.for_device)
        )
        (binary,) = self.program.get_info(opencl().program_info.BINARIES)
        text = render_text(module.diagnostics, module.sources) if module.diagnostics else ""
        kernels = {name: asdict(info) for name, info in module.kernels.items()}
        facts = {"route": module.matrices, "kernels": kernels, "warnings": text}
        included = tuple(name for name in module.dependencies if name != module.name)
        return Entry(binary, facts, included, tuple(module.absent))


def kernel_info(fields: dict[str, Any]) -> KernelInfo:
    """Return the KernelInfo whose `dataclasses.asdict` was converted to JSON and back."""
    parameters = tuple(KernelParameter(**parameter) for parameter in fields["parameters"])
    size = fields["reqd_work_group_size"]
    return KernelInfo(**{**fields, "parameters": parameters, "reqd_work_group_size": tuple(size) if size else None})
