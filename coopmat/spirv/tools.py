"""The programs spirv-val, spirv-dis, spirv-as and spirv-opt, run as subprocesses.

A set of tools is usable only if its spirv-val accepts a module with a cooperative matrix. Debian 12's spirv-val lacks
the extension and would refuse every native module. Without usable tools no module counts as validated.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coopmat import budgets
from coopmat.spirv.checks import check_types
from coopmat.spirv.module import (
    ENUM,
    OP,
    MalformedModule,
    Module,
    encode_string,
    instruction,
    numbers,
    with_unique_names,
)
from coopmat.spirv.refusal import Refused

ENVIRONMENT_VARIABLE = "COOPMAT_SPIRV_TOOLS"
PROGRAMS = ("spirv-val", "spirv-dis", "spirv-as", "spirv-opt")


class ToolsMissing(Exception):
    """An error: no spirv-val that knows SPV_KHR_cooperative_matrix was found.

    `remedy` is the command that installs one.
    """

    remedy = "coopmat doctor --install spirv-tools"

    def __init__(self, message: str = "") -> None:
        reason = message or "no spirv-val that knows SPV_KHR_cooperative_matrix was found"
        self._reason = message
        super().__init__(f"{reason}; install one with `{self.remedy}`, or set {ENVIRONMENT_VARIABLE} to its directory")

    def __reduce__(self) -> tuple[type[ToolsMissing], tuple[str]]:
        return type(self), (self._reason,)


class ToolError(Exception):
    """An error: a program refused its input, or did not run; str() is its output or the reason."""


# Messages of C++ programs and Python when memory runs out.
OUT_OF_MEMORY = re.compile(rb"bad_alloc|out of memory|cannot allocate memory|MemoryError", re.IGNORECASE)
_PIPE = subprocess.PIPE


def limit_memory(pid: int, megabytes: int) -> None:
    """Limit the address space of a process that was just started; do nothing if the system cannot."""
    try:
        import resource

        hard = resource.prlimit(pid, resource.RLIMIT_AS)[1]
        most = megabytes << 20
        resource.prlimit(pid, resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
    except (ImportError, AttributeError, OSError, ValueError, OverflowError):
        pass


@dataclass(frozen=True, slots=True)
class SpirvTools:
    """The programs of one directory.

    loader, library: the dynamic loader and the library directory of a private libc; None without one.
    """

    directory: Path
    loader: Path | None = None
    library: Path | None = None

    @classmethod
    def at(cls, directory: Path) -> SpirvTools | None:
        """Return the tools in `directory` or its bin/; None if it has no spirv-val."""
        library = directory / "lib"
        loader = next((path for pattern in ("ld-linux*", "ld64*") for path in sorted(library.glob(pattern))), None)
        for programs in (directory / "bin", directory):
            if shutil.which("spirv-val", path=str(programs)):
                return cls(programs, loader, library if loader else None)
        return None

    def is_of(self, place: Path) -> bool:
        """Return whether naming `place` selects these tools: their directory, or the parent of their bin/."""
        return self.directory in (place, place / "bin")

    def path(self, program: str) -> Path:
        """Return the path of a program; raise ToolsMissing if it is absent."""
        executable = shutil.which(program, path=str(self.directory))
        if executable is None:
            raise ToolsMissing(f"{program} is missing in {self.directory}")
        return Path(executable)

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the argument vector; with a private libc, the command runs its dynamic loader."""
        prefix = [str(self.loader), "--library-path", str(self.library)] if self.loader else []
        return [*prefix, str(self.path(program)), *arguments]

    def run(self, program: str, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run `program` with `data` on its standard input.

        Raise ToolError if the program does not start or is killed, budgets.Exceeded if it takes too much time or
        memory.
        """
        command = self.command(program, *arguments)
        try:
            with subprocess.Popen(command, stdin=_PIPE, stdout=_PIPE, stderr=_PIPE) as process:
                try:
                    limit_memory(process.pid, budgets.limit("tool-megabytes"))
                    out, stderr = process.communicate(data, timeout=budgets.limit("tool-seconds"))
                except BaseException:
                    process.kill()
                    raise
        except OSError as error:
            raise ToolError(f"{program}: {error}") from error
        except subprocess.TimeoutExpired:
            raise budgets.Exceeded("tool-seconds", program) from None
        if process.returncode != 0 and OUT_OF_MEMORY.search(stderr):
            raise budgets.Exceeded("tool-megabytes", program)
        if process.returncode < 0:
            raise ToolError(f"{program} was killed by {signal.Signals(-process.returncode).name}")
        return subprocess.CompletedProcess(command, process.returncode, out, stderr)

    def version(self) -> str:
        """Return the first line of `spirv-val --version`."""
        return self.run("spirv-val", "--version").stdout.decode(errors="replace").partition("\n")[0]

    def is_able(self) -> bool:
        """Return whether this spirv-val accepts a cooperative matrix.

        The answer is cached in this process for each program file and its time of modification.
        """
        try:
            path = self.path("spirv-val")
            key = (str(path), str(self.loader), path.stat().st_mtime_ns)
            if key not in _ABLE:
                probe = self.run("spirv-val", "--target-env", "spv1.4", "-", data=_probe_module())
                _ABLE[key] = probe.returncode == 0
            return _ABLE[key]
        except (OSError, ToolError, budgets.Exceeded):
            return False


_ABLE: dict[tuple[str, str, int], bool] = {}


def _probe_module() -> bytes:
    """Return a small module that declares a cooperative matrix type."""
    code = [
        *(
            instruction("OpCapability", number)
            for number in numbers("Capability.*", "Kernel Addresses Linkage CooperativeMatrixKHR")
        ),
        instruction("OpExtension", *encode_string("SPV_KHR_cooperative_matrix")),
        instruction("OpMemoryModel", ENUM["AddressingModel.Physical64"], ENUM["MemoryModel.OpenCL"]),
        instruction("OpTypeInt", 1, 32, 0),
        instruction("OpTypeFloat", 2, 32),
        instruction("OpConstant", 1, 3, 3),
        instruction("OpConstant", 1, 4, 16),
        instruction("OpConstant", 1, 5, 2),
        instruction("OpTypeCooperativeMatrixKHR", 6, 2, 3, 4, 4, 5),
    ]
    return Module(0x00010400, 7, code).to_bytes()


def private_directories() -> list[Path]:
    """Return the directories into which `coopmat doctor --install spirv-tools` may put the tools.

    The Python environment's directory comes first, then the user's.
    """
    import platformdirs

    user = Path(platformdirs.user_data_dir("coopmat", appauthor=False))
    return [Path(sys.prefix) / "share" / "coopmat" / "spirv-tools", user / "spirv-tools"]


def _candidates() -> Iterator[Path]:
    """Yield the directories that may contain tools, in the order of `find_tools`."""
    setting = os.environ.get(ENVIRONMENT_VARIABLE)
    if setting:
        yield Path(setting)
        if Path(setting).name == "bin":
            yield Path(setting).parent  # a private libc is beside the bin/ of its programs
    yield from private_directories()
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry)


def find_tools() -> SpirvTools | None:
    """Return the first usable set of tools from $COOPMAT_SPIRV_TOOLS, the private directories and PATH, or None."""
    return next((tools for place in _candidates() if (tools := SpirvTools.at(place)) and tools.is_able()), None)


def need_tools() -> SpirvTools:
    """Return the tools that `find_tools` finds, or raise ToolsMissing."""
    tools = find_tools()
    if tools is None:
        raise ToolsMissing
    return tools


_WIDE_ATOMICS, _NATIVE_MATRICES = (
    struct.pack("<2I", 2 << 16 | OP["OpCapability"], number)
    for number in numbers("Capability.*", "Int64Atomics CooperativeMatrixKHR")
)
# Number of bytes that contain the header and all capabilities.
_START = 512


def has_native_matrices(spirv: bytes) -> bool:
    """Return whether a module that this package emitted has cooperative matrices."""
    return _NATIVE_MATRICES in spirv[:_START]


def target_env_for(spirv_version: str, spirv: bytes = b"") -> str:
    """Return spirv-val's --target-env for a module of this SPIR-V version.

    spirv-val knows the rules of OpenCL only up to 2.2, which is SPIR-V 1.2, and not those of cl_khr_int64_base_atomics.
    A module with 64-bit atomics is therefore checked by the universal rules.
    """
    own_rules = spirv_version == "1.2" and _WIDE_ATOMICS not in spirv[:_START]
    return "opencl2.2" if own_rules else f"spv{spirv_version}"


def validate(spirv: bytes, target_env: str, tools: SpirvTools | None = None) -> list[str] | None:
    """Run spirv-val: return None if it accepts the module, and otherwise its messages.

    Raise ToolsMissing if no usable spirv-val is found, and ToolError if it cannot be run. Raise budgets.Exceeded if a
    type has more members than spirv-val can check in time.
    """
    tools = tools or need_tools()
    with contextlib.suppress(MalformedModule, Refused):
        check_types(Module.parse(spirv, before_functions=True))
    arguments = ("--target-env", target_env, "-")
    if tools.run("spirv-val", *arguments, data=with_unique_names(spirv)).returncode == 0:
        return None
    # Run again with the module's names, which the messages contain.
    result = tools.run("spirv-val", *arguments, data=spirv)
    return None if result.returncode == 0 else _messages("spirv-val", result)


def disassemble(spirv: bytes, tools: SpirvTools | None = None) -> str:
    """Return the module as assembly text, with friendly names; raise ToolsMissing or ToolError."""
    return _output(tools or need_tools(), "spirv-dis", "-", data=spirv).decode(errors="replace")


def assemble(text: str, target_env: str, tools: SpirvTools | None = None) -> bytes:
    """Return the binary of assembly text; raise ToolsMissing or ToolError."""
    arguments = ("--target-env", target_env, "-o", "-", "-")
    return _output(tools or need_tools(), "spirv-as", *arguments, data=text.encode())


def optimize(spirv: bytes, *flags: str, tools: SpirvTools | None = None) -> bytes:
    """Return the module that `spirv-opt FLAGS` writes; raise ToolsMissing or ToolError."""
    return _output(tools or need_tools(), "spirv-opt", *flags, "-", "-o", "-", data=spirv)


def _output(tools: SpirvTools, program: str, *arguments: str, data: bytes) -> bytes:
    """Return the standard output of a program; raise ToolError with its messages if it fails."""
    result = tools.run(program, *arguments, data=data)
    if result.returncode != 0:
        raise ToolError("\n".join(_messages(program, result)))
    return result.stdout


def _messages(program: str, result: subprocess.CompletedProcess[bytes]) -> list[str]:
    """Return the lines that a program printed, or its exit status if it printed nothing."""
    text = (result.stderr + result.stdout).decode(errors="replace")
    return [line for line in text.splitlines() if line.strip()] or [f"{program} exited with {result.returncode}"]
