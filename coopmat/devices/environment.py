"""Setup that makes the OpenCL CPU runtime of pip packages visible to the OpenCL loader.

The `cpu` extra installs `libintelocl.so` in the environment's `lib/`, where no loader searches. The loader reads the
`.icd` files of one directory, which the variable `OCL_ICD_VENDORS` names in place of the system's directory. The
directory that this module creates therefore contains the system's files too.

The loader reads the variable when the platforms are first listed. The variable is set just before that, never on
import. A value that the user has set is kept.
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

from coopmat.cache.directories import cache_directory, private_directory, private_temporary_directory, write_whole

from .relocate import without_blanks

INSTALL_COMMAND = "pip install 'coopmat[cpu]'"
_VARIABLE = "OCL_ICD_VENDORS"
_RUNTIME_WHEEL, _RUNTIME_LIBRARY = "intel-opencl-rt", "libintelocl.so"
# Environment variables that affect how drivers generate code.
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
    """A record of what `prepare` changed before the first use of OpenCL.

    runtime: the path of the CPU runtime in the Python environment, or None.
    vendors: the directory that `OCL_ICD_VENDORS` was set to. None: the variable was not changed.
    note: the reason, for the user.
    late: whether pyopencl was already imported. If its platforms had been listed, the loader ignores the variable, and
        `query` asks the runtime directly.
    """

    runtime: Path | None
    vendors: Path | None
    note: str
    late: bool = False


def opencl() -> Any:
    """Return the `pyopencl` module, with the CPU runtime of the Python environment visible to the loader."""
    prepare()
    import pyopencl

    return pyopencl


def quietly(program: Any, options: Sequence[str], devices: Sequence[Any]) -> Any:
    """Build a pyopencl program without pyopencl's warning about the log, and return the built program.

    Drivers write a log even if the build succeeds.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program.build(" ".join(options).encode(), list(devices))


@cache
def prepare() -> Preparation:
    """Set `OCL_ICD_VENDORS` for this process if that adds a device, and return a record of the change.

    Also set an option that avoids a crash of the CPU runtime. The record is cached. Two threads that call this function
    at once do the same work twice, which is harmless.
    """
    if _makes_code_for_avx2():
        # Without this LLVM option, a pass of LLVM in the CPU runtime crashes the process (docs/backend.md).
        os.environ.setdefault(_LLVM_OPTIONS, "-x86-disable-avoid-SFB")
    runtime = find_cpu_runtime()
    if _VARIABLE in os.environ:
        return Preparation(runtime, None, f"{_VARIABLE} is set by the user, and was not changed")
    if runtime is None:
        return Preparation(None, None, f"no CPU runtime in this Python environment ({INSTALL_COMMAND})")
    system = system_icd_files()
    if any(Path(text).name == _RUNTIME_LIBRARY for text in system.values()):
        return Preparation(runtime, None, "the system already has the same CPU runtime")
    late = "pyopencl" in sys.modules
    try:
        runtime = without_blanks(runtime, _private_places())
    except OSError as error:
        return Preparation(runtime, None, f"the CPU runtime does not work from a path with blanks: {error}")
    vendors = vendor_directory({**system, "coopmat-cpu.icd": str(runtime)})
    # ocl-icd recognises a directory by the trailing separator.
    os.environ[_VARIABLE] = str(vendors) + os.sep
    note = f"the CPU runtime {runtime} was added to the loader's list"
    return Preparation(runtime, vendors, note, late)


def _makes_code_for_avx2() -> bool:
    """Return whether the CPU runtime generates code for AVX2 rather than AVX-512.

    If CL_CONFIG_CPU_TARGET_ARCH is set, its value decides; otherwise, the features of the processor decide.
    """
    architecture = os.environ.get(_ARCHITECTURE)
    flags = {word for line in processor() if line.startswith("flags") for word in line.split()}
    return architecture == "core-avx2" if architecture else "avx2" in flags and "avx512f" not in flags


@cache
def processor() -> tuple[str, ...]:
    """Return texts that identify this machine's processor.

    On Linux, these are the machine type and lines of /proc/cpuinfo. On other systems, they are values of `platform`.
    """
    fields = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "CPU implementer")
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    except OSError:
        return platform.machine(), platform.processor()
    return platform.machine(), *(line for line in first.split("\n") if line.split("\t")[0].strip() in fields)


def driver_environment() -> list[str]:
    """Return the values of the environment variables that affect how drivers generate code."""
    return [os.environ.get(name, "") for name in _DRIVERS_READ]


def find_cpu_runtime() -> Path | None:
    """Return the path of `libintelocl.so` in this Python environment, or None.

    The file is in the environment's `lib/`, or among the files that pip installed for the wheel.
    """
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
    """Return file name -> text of the usable `.icd` files in the directories that loaders search by default.

    `directories` replaces these directories. A file is left out if its text is an absolute path without a file, or
    occurs twice: wheels install `.icd` files with a path of the machine that built them.
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
    """Return the directories to which the runtime may be copied, which only this user can write to.

    A user who can write there could change the code that this process runs.
    """
    try:
        return [private_directory(cache_directory()), private_temporary_directory()]
    except OSError:
        return [private_temporary_directory()]


def vendor_directory(icds: dict[str, str]) -> Path:
    """Return the path of a directory that contains exactly these `.icd` files (file name -> text).

    The directory is created if necessary, and named by a hash of its content. Raises OSError if neither the cache
    directory nor the temporary directory can be written.
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
    """Write the text to a file atomically, unless the file has that text.

    A process that reads at the same time sees the complete file or no file.
    """
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    write_whole(path, text.encode())
