"""A source built for the devices of a context: each by its own route, from the cache where it was built before."""

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
from .launch import compile_resolved, resolve_options

logger = logging.getLogger("coopmat.build")

# What a text that this compiler is needed for has in it.
_MATRIX = re.compile(r"\bcoop_mat|\bcoop_matmul_add\b|\b(?:__)?matrix_type(?:__)?\s*\(|\b__builtin_matrix_")
_INCLUDE = re.compile(r"#\s*include|%:\s*include")
_INCLUDED = re.compile(r"(?:#|%:)\s*include\s*[\"<]([^\">\n]+)[\">]")
# Comments, and literals in which a comment does not begin.
_NO_CODE = re.compile(r"//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


@dataclass(frozen=True)
class DeviceBuild:
    """The build for one device: `route` is "native" or the name of a lowering. `functions` are those that kernels of
    other programs may call and that need certain subgroups."""

    device: DeviceInfo
    route: str
    kernels: dict[str, KernelInfo]
    warnings: str = ""
    functions: dict[str, KernelInfo] = field(default_factory=dict)


@dataclass(frozen=True)
class Built:
    """`program` is pyopencl's, built; `devices` in its order. `is_linked`: it has kernels of other programs, too."""

    program: Any
    devices: tuple[DeviceBuild, ...]
    is_linked: bool = False


UNNAMED = "<program source>"
"""What a source is called that is no file's."""


def has_matrices(source: str, options: Callable[[], Sequence[str]], name: str = UNNAMED) -> bool:
    """Return whether the text, with what it includes, uses matrices; `options` are called only if the text does not
    name matrices itself.

    `name` is the file's, beside which includes are looked for first. Files that cannot be read are left to others.
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
    """Return whether the text may include anything."""
    return _INCLUDE.search(source) is not None


def _may_have_words(text: str, directories: Sequence[str], visited: set[Path]) -> bool:
    """Return whether a text, or any that it might include, names matrices: a quick answer, and right where it is no."""
    if _MATRIX.search(text):
        return True
    names = _INCLUDED.findall(text)
    if len(names) != len(_INCLUDE.findall(text)):
        return True  # names that macros make
    for path in (Path(directory) / name for name in names for directory in directories):
        if path not in visited and path.is_file():
            visited.add(path)
            near = [str(path.parent), *directories]
            if _may_have_words(path.read_bytes().decode(errors="replace"), near, visited):
                return True
    return False


def _has_words(text: str) -> bool:
    """Return whether a text names matrices outside of comments and strings."""
    return _MATRIX.search(text) is not None and _MATRIX.search(_NO_CODE.sub(" ", text)) is not None


def split_options(options: str | Sequence[str] | None) -> tuple[CompileOptions, list[str]]:
    """Build options, and those of them that only the device can know. Raises UsageError."""
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
    """Builds `source`, of the file `name`, for the pyopencl devices `handles` of a context.

    Raises CompileError for the source, UsageError for options, DriverError where a driver refuses the result.
    """
    cache = Cache.of_environment() if cache is None else cache
    parsed, for_device = split_options(options)
    devices = [describe(handle) for handle in handles]
    jobs = [_Job(context, d, source, name, resolve_options(parsed, d), for_device, cache) for d in devices]
    for anew in (False, True):
        builds = tuple(job.run(anew) for job in jobs)
        if len(jobs) == len(context.devices) == 1 and jobs[0].program is not None:
            return Built(jobs[0].program, builds)
        try:
            return Built(_from_binaries(context, jobs, for_device), builds)
        except opencl().Error as error:
            # A driver may refuse what it gave out itself before; then everything is built anew.
            if anew:
                raise
            logger.warning("the device's code was refused, and is built again: %s", error)
    raise AssertionError("built anew or not")


def _from_binaries(context: Any, jobs: Sequence[_Job], options: Sequence[str]) -> Any:
    cl = opencl()
    program = cl._cl._Program(context, [job.device.handle for job in jobs], [job.binary for job in jobs])
    return quietly(program, options, [job.device.handle for job in jobs])


def cache_key(
    device: DeviceInfo, source: str, options: CompileOptions, for_device: Sequence[str], name: str = UNNAMED
) -> str:
    """Return the key of the device's code for a source, with the options as they are for that device. The name is part
    of it, since includes are found beside the file, and warnings name it."""
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
        }
    )


@dataclass(eq=False)
class _Job:
    """One device's build. `binary` is the device's code; `program` is there where it was built just now."""

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
        """Return the build that an entry describes. Raise LookupError, TypeError or AttributeError for facts of another
        form."""
        facts = entry.facts
        kernels = {name: kernel_info(fields) for name, fields in facts["kernels"].items()}
        if not isinstance(facts["route"], str) or not isinstance(facts["warnings"], str):
            raise TypeError("route and warnings are texts")
        return DeviceBuild(self.device, facts["route"], kernels, facts["warnings"])

    def _build(self) -> Entry:
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
    """Return the description whose `dataclasses.asdict` went through JSON."""
    parameters = tuple(KernelParameter(**parameter) for parameter in fields["parameters"])
    size = fields["reqd_work_group_size"]
    return KernelInfo(**{**fields, "parameters": parameters, "reqd_work_group_size": tuple(size) if size else None})
