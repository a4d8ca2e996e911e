"""spirv-val, spirv-dis, spirv-as and spirv-opt as subprocesses.

A set of tools counts only if its spirv-val accepts a module with a cooperative matrix: Debian 12's does not know
the extension and would refuse everything we make. Without an able one nothing is ever called validated.
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
from coopmat.spirv.module import MalformedModule, Module, encode_string, instruction, with_unique_names
from coopmat.spirv.refusal import Refused

ENVIRONMENT_VARIABLE = "COOPMAT_SPIRV_TOOLS"
PROGRAMS = ("spirv-val", "spirv-dis", "spirv-as", "spirv-opt")


class ToolsMissing(Exception):
    """There is no spirv-val here that knows SPV_KHR_cooperative_matrix. `.remedy` is the command that mends it."""

    remedy = "coopmat doctor --install spirv-tools"

    def __init__(self, message: str = "") -> None:
        reason = message or "no spirv-val that knows SPV_KHR_cooperative_matrix was found"
        self._reason = message
        super().__init__(f"{reason}; `{self.remedy}` gets one, or name its directory in {ENVIRONMENT_VARIABLE}")

    def __reduce__(self) -> tuple[type[ToolsMissing], tuple[str]]:
        return type(self), (self._reason,)


class ToolError(Exception):
    """A program refused its input; str() is what it said."""


# What programs in C++ say when there is no more memory.
OUT_OF_MEMORY = re.compile(rb"bad_alloc|out of memory|cannot allocate memory|MemoryError", re.IGNORECASE)
_PIPE = subprocess.PIPE


def limit_memory(pid: int, megabytes: int) -> None:
    """Limit the memory of a process that was just started, where the system can."""
    try:
        import resource

        hard = resource.prlimit(pid, resource.RLIMIT_AS)[1]
        most = megabytes << 20
        resource.prlimit(pid, resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
    except (ImportError, AttributeError, OSError, ValueError, OverflowError):
        pass


@dataclass(frozen=True, slots=True)
class SpirvTools:
    """The programs of one directory; `loader` and `library` are set where they come with their own libc."""

    directory: Path
    loader: Path | None = None
    library: Path | None = None

    @classmethod
    def at(cls, directory: Path) -> SpirvTools | None:
        """The tools in `directory` (or its bin/), None where it has no spirv-val."""
        library = directory / "lib"
        loader = next((path for pattern in ("ld-linux*", "ld64*") for path in sorted(library.glob(pattern))), None)
        for programs in (directory / "bin", directory):
            if shutil.which("spirv-val", path=str(programs)):
                return cls(programs, loader, library if loader else None)
        return None

    def is_of(self, place: Path) -> bool:
        """Return whether these are the tools that naming `place` selects: the programs' own directory, or the one above
        its bin/."""
        return self.directory in (place, place / "bin")

    def path(self, program: str) -> Path:
        executable = shutil.which(program, path=str(self.directory))
        if executable is None:
            raise ToolsMissing(f"{program} is missing in {self.directory}")
        return Path(executable)

    def command(self, program: str, *arguments: str) -> list[str]:
        """The argument vector; through the private dynamic loader where the tools have one."""
        prefix = [str(self.loader), "--library-path", str(self.library)] if self.loader else []
        return [*prefix, str(self.path(program)), *arguments]

    def run(self, program: str, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run `program` with `data` on its standard input. Raises ToolError where it does not start or is killed,
        budgets.Exceeded where it takes too long, or too much memory."""
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
            raise ToolError(f"{program} was ended by {signal.Signals(-process.returncode).name}")
        return subprocess.CompletedProcess(command, process.returncode, out, stderr)

    def version(self) -> str:
        """The first line of `spirv-val --version`."""
        return self.run("spirv-val", "--version").stdout.decode(errors="replace").partition("\n")[0]

    def is_able(self) -> bool:
        """Does this spirv-val accept a cooperative matrix? Asked once per program file in this process."""
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
    code = [
        instruction("OpCapability", 6),  # Kernel
        instruction("OpCapability", 4),  # Addresses
        instruction("OpCapability", 5),  # Linkage
        instruction("OpCapability", 6022),  # CooperativeMatrixKHR
        instruction("OpExtension", *encode_string("SPV_KHR_cooperative_matrix")),
        instruction("OpMemoryModel", 2, 2),  # Physical64 OpenCL
        instruction("OpTypeInt", 1, 32, 0),
        instruction("OpTypeFloat", 2, 32),
        instruction("OpConstant", 1, 3, 3),
        instruction("OpConstant", 1, 4, 16),
        instruction("OpConstant", 1, 5, 2),
        instruction("OpTypeCooperativeMatrixKHR", 6, 2, 3, 4, 4, 5),
    ]
    return Module(0x00010400, 7, code).to_bytes()


def private_directories() -> list[Path]:
    """Return the directories that `fetch.install` may put the tools into: the environment's own first, then the
    user's."""
    import platformdirs

    user = Path(platformdirs.user_data_dir("coopmat", appauthor=False))
    return [Path(sys.prefix) / "share" / "coopmat" / "spirv-tools", user / "spirv-tools"]


def _candidates() -> Iterator[Path]:
    setting = os.environ.get(ENVIRONMENT_VARIABLE)
    if setting:
        yield Path(setting)
        if Path(setting).name == "bin":
            yield Path(setting).parent  # programs that come with their own libc have it beside their bin/
    yield from private_directories()
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry)


def find_tools() -> SpirvTools | None:
    """The first able set of tools: $COOPMAT_SPIRV_TOOLS, the private directories, PATH. None where there is none."""
    return next((tools for place in _candidates() if (tools := SpirvTools.at(place)) and tools.is_able()), None)


def need_tools() -> SpirvTools:
    """Return the tools that `find_tools` finds, or raise ToolsMissing."""
    tools = find_tools()
    if tools is None:
        raise ToolsMissing
    return tools


def _capability(number: int) -> bytes:
    """OpCapability, as a module has it among its first instructions."""
    return struct.pack("<2I", 2 << 16 | 17, number)


_WIDE_ATOMICS = _capability(12)  # Int64Atomics
_NATIVE_MATRICES = _capability(6022)  # CooperativeMatrixKHR
# Bytes that hold the header and every capability.
_START = 512


def has_native_matrices(spirv: bytes) -> bool:
    """Return whether a module that was emitted by this package has cooperative matrices."""
    return _NATIVE_MATRICES in spirv[:_START]


def target_env_for(spirv_version: str, spirv: bytes = b"") -> str:
    """spirv-val's name for what a module of this version is checked against.

    spirv-val knows OpenCL's own rules only up to 2.2, which is SPIR-V 1.2; and of those not what
    cl_khr_int64_base_atomics adds, so that a module with such atomics is checked as any SPIR-V.
    """
    own_rules = spirv_version == "1.2" and _WIDE_ATOMICS not in spirv[:_START]
    return "opencl2.2" if own_rules else f"spv{spirv_version}"


def validate(spirv: bytes, target_env: str, tools: SpirvTools | None = None) -> list[str] | None:
    """Return None where spirv-val accepts the module, and its messages otherwise.

    Raises ToolsMissing where no able spirv-val is found, ToolError where it cannot be run, budgets.Exceeded where a
    type has more members than spirv-val walks through in time.
    """
    tools = tools or need_tools()
    with contextlib.suppress(MalformedModule, Refused):
        check_types(Module.parse(spirv, before_functions=True))
    arguments = ("--target-env", target_env, "-")
    if tools.run("spirv-val", *arguments, data=with_unique_names(spirv)).returncode == 0:
        return None
    # Once more, for the names in its messages.
    result = tools.run("spirv-val", *arguments, data=spirv)
    return None if result.returncode == 0 else _messages("spirv-val", result)


def disassemble(spirv: bytes, tools: SpirvTools | None = None) -> str:
    """The module as assembly text, with friendly names. Raises ToolsMissing, ToolError."""
    return _output(tools or need_tools(), "spirv-dis", "-", data=spirv).decode(errors="replace")


def assemble(text: str, target_env: str, tools: SpirvTools | None = None) -> bytes:
    """The binary of assembly text. Raises ToolsMissing, ToolError."""
    arguments = ("--target-env", target_env, "-o", "-", "-")
    return _output(tools or need_tools(), "spirv-as", *arguments, data=text.encode())


def optimize(spirv: bytes, *flags: str, tools: SpirvTools | None = None) -> bytes:
    """Return the module that `spirv-opt FLAGS` writes. Raise ToolsMissing, ToolError."""
    return _output(tools or need_tools(), "spirv-opt", *flags, "-", "-o", "-", data=spirv)


def _output(tools: SpirvTools, program: str, *arguments: str, data: bytes) -> bytes:
    result = tools.run(program, *arguments, data=data)
    if result.returncode != 0:
        raise ToolError("\n".join(_messages(program, result)))
    return result.stdout


def _messages(program: str, result: subprocess.CompletedProcess[bytes]) -> list[str]:
    text = (result.stderr + result.stdout).decode(errors="replace")
    return [line for line in text.splitlines() if line.strip()] or [f"{program} exited with {result.returncode}"]
