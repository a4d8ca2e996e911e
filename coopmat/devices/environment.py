"""Makes the OpenCL CPU runtime that pip installs visible to the OpenCL loader.

The `cpu` extra puts `libintelocl.so` into the environment's `lib/`, where no loader looks. The loader
reads the `.icd` files of one directory, which `OCL_ICD_VENDORS` names; setting it replaces the system's
directory, so ours holds the system's files too. The loader reads the variable when the first platform
is asked for, so it is set just before that, never on import, and never over the user's own.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from coopmat.cache.places import cache_directory, private_directory, private_temporary_directory, write_whole

from .relocate import without_blanks

INSTALL_COMMAND = "pip install 'coopmat[cpu]'"
_VARIABLE = "OCL_ICD_VENDORS"
_RUNTIME_WHEEL, _RUNTIME_LIBRARY = "intel-opencl-rt", "libintelocl.so"
# What drivers look at when they make code for a device.
_ARCHITECTURE, _LLVM_OPTIONS = "CL_CONFIG_CPU_TARGET_ARCH", "CL_CONFIG_LLVM_OPTIONS"
_DRIVERS_READ = (
    _ARCHITECTURE,
    _LLVM_OPTIONS,
    "CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE",
    "CL_CONFIG_CPU_FORCE_PRIVATE_MEM_SIZE",
    "POCL_EXTRA_BUILD_FLAGS",
    "POCL_KERNELLIB_NAME",
    "POCL_LLVM_CPU_NAME",
    "POCL_WORK_GROUP_METHOD",
)


@dataclass(frozen=True, slots=True)
class Preparation:
    """The preparations that were made before OpenCL was first used.

    `runtime` is the CPU runtime found in the Python environment; `vendors` the directory that the loader
    was pointed at (None where the variable was left alone); `note` says why, in words for the user. `late`: pyopencl
    was there already, and if its platforms had been listed, the loader does not look again (`query` asks the runtime).
    """

    runtime: Path | None
    vendors: Path | None
    note: str
    late: bool = False


def opencl() -> Any:
    """The `pyopencl` module, with the CPU runtime of the Python environment in the loader's view."""
    prepare()
    import pyopencl

    return pyopencl


def quietly(program: Any, options: Sequence[str], devices: Sequence[Any]) -> Any:
    """Builds a program of pyopencl's; drivers log on success, and pyopencl would warn about that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program.build(" ".join(options).encode(), list(devices))


@cache
def prepare() -> Preparation:
    """Set `OCL_ICD_VENDORS` for this process where that adds a device; safe to call from any thread.

    Two threads that come here at once do the same thing twice, which is harmless.
    """
    if _makes_code_for_avx2():
        # Without this option of LLVM's, one of its passes ends the process (docs/backend.md).
        os.environ.setdefault(_LLVM_OPTIONS, "-x86-disable-avoid-SFB")
    runtime = find_cpu_runtime()
    if _VARIABLE in os.environ:
        return Preparation(runtime, None, f"{_VARIABLE} is set: left as it is")
    if runtime is None:
        return Preparation(None, None, f"no CPU runtime in this Python environment ({INSTALL_COMMAND})")
    system = system_icd_files()
    if any(Path(text).name == _RUNTIME_LIBRARY for text in system.values()):
        return Preparation(runtime, None, "the system has a CPU runtime of this kind already")
    late = "pyopencl" in sys.modules
    try:
        runtime = without_blanks(runtime, _private_places())
    except OSError as error:
        return Preparation(runtime, None, f"the CPU runtime does not work from a path with blanks: {error}")
    vendors = vendor_directory({**system, "coopmat-cpu.icd": str(runtime)})
    # The trailing separator tells ocl-icd that this is a directory.
    os.environ[_VARIABLE] = str(vendors) + os.sep
    note = f"the CPU runtime {runtime} was added to the loader's list"
    return Preparation(runtime, vendors, note, late)


def _makes_code_for_avx2() -> bool:
    """Return whether the CPU runtime generates code for AVX2 and not for AVX-512: as the variable says, or else by the
    processor."""
    architecture = os.environ.get(_ARCHITECTURE)
    flags = {word for line in processor() if line.startswith("flags") for word in line.split()}
    return architecture == "core-avx2" if architecture else "avx2" in flags and "avx512f" not in flags


@cache
def processor() -> tuple[str, ...]:
    """Return the facts that distinguish this machine's processor: lines of Linux, elsewhere those of Python."""
    fields = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "CPU implementer")
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    except OSError:
        return platform.machine(), platform.processor()
    return platform.machine(), *(line for line in first.split("\n") if line.split("\t")[0].strip() in fields)


def driver_environment() -> list[str]:
    """Return the values of the environment variables that decide which code a driver generates."""
    return [os.environ.get(name, "") for name in _DRIVERS_READ]


def find_cpu_runtime() -> Path | None:
    """`libintelocl.so` of this Python environment: in its `lib/`, or wherever pip put the wheel's files."""
    beside = Path(sys.prefix) / "lib" / _RUNTIME_LIBRARY
    if beside.is_file():
        return beside
    from importlib import metadata

    try:
        files = metadata.files(_RUNTIME_WHEEL) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == _RUNTIME_LIBRARY:
            path = Path(os.path.realpath(str(file.locate())))
            if path.is_file():
                return path
    return None


def system_icd_files(directories: Iterable[Path] | None = None) -> dict[str, str]:
    """Name and text of every `.icd` file whose library can be there, from where loaders look by themselves.

    The wheels leave files with a build machine's path behind; an absolute path to nothing is dropped.
    """
    if directories is None:
        directories = (Path("/etc/OpenCL/vendors"), Path(sys.prefix) / "etc" / "OpenCL" / "vendors")
    files: dict[str, str] = {}
    for directory in directories:
        for file in sorted(directory.glob("*.icd")) if directory.is_dir() else ():
            try:
                text = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError):
                continue
            usable = bool(text) and (not Path(text).is_absolute() or Path(text).is_file())
            if usable and text not in files.values():
                files.setdefault(file.name, text)
    return files


def _private_places() -> list[Path]:
    """Return the directories that the runtime may be mirrored into: whoever can write to them decides what this process
    runs."""
    try:
        return [private_directory(cache_directory()), private_temporary_directory()]
    except OSError:
        return [private_temporary_directory()]


def vendor_directory(icds: dict[str, str]) -> Path:
    """A directory that holds exactly these `.icd` files, named by their content.

    Raises OSError only where neither the cache directory nor the temporary directory can be written.
    """
    content = "\0".join(f"{name}\0{text}" for name, text in sorted(icds.items()))
    name = "vendors-" + hashlib.sha256(content.encode()).hexdigest()[:16]
    for root in (cache_directory, private_temporary_directory):
        try:
            directory = private_directory(root()) / name
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for file, text in icds.items():
                _write_once(directory / file, text + "\n")
            return directory
        except OSError:
            if root is private_temporary_directory:
                raise
    raise AssertionError("unreachable")


def _write_once(path: Path, text: str) -> None:
    """Write atomically: a process that reads at the same time sees the whole file or none."""
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    write_whole(path, text.encode())
