"""The vendors' matrix instructions before the vendors' compilers: each function is the one instruction it is for.

Usage: tools/vendor-compilers [--directory DIR] [--ocloc COMMAND] [--devices sm_80,gfx1100,...] [FUNCTION ...]

For each row of `coopmat.matrices.instructions` and each device that has it, a kernel of one call and no loop is
compiled; the machine code must have exactly the matrix instruction that the row says, once.

NVIDIA: its compiler, assembler and disassembler, which are wheels and are fetched into DIR. Its OpenCL C compiler is a
part of the driver; as CUDA, by a shim of two lines, the same text is compiled. AMD: clang-19 (apt install clang-19),
whose OpenCL C it is. Intel: ocloc (apt install intel-ocloc), or any command of its arguments. What is missing is named,
and no fault. Status 1 where an instruction is not the wanted one, 2 where no compiler is there.
"""

from __future__ import annotations

import argparse
import ctypes
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coopmat.matrices.instructions import INSTRUCTIONS, Instruction, source

DIRECTORY = Path(__file__).parents[1] / ".venv" / "share" / "vendor-compilers"
WHEELS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvcc", "nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm")
SECONDS = 300


class Missing(LookupError):
    """A compiler is not here; the text says how it comes."""


class Refused(ValueError):
    """A compiler does not take a kernel; the text is what it says."""


class Compiler(ABC):
    """A vendor's compiler: of which families, for which devices."""

    families: tuple[str, ...]
    devices: tuple[str, ...]

    @abstractmethod
    def prepare(self) -> None:
        """Raises Missing."""

    @abstractmethod
    def has(self, device: str, row: Instruction) -> bool: ...

    @abstractmethod
    def wanted(self, device: str, row: Instruction) -> str:
        """The instruction as the machine code's text has it."""

    @abstractmethod
    def instructions(self, device: str, row: Instruction, place: Path) -> list[str]:
        """The matrix instructions of a kernel that calls the function once. Raises Refused."""


def run(*words: str | Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints. Raises Refused."""
    environment = {**os.environ, **(environment or {})}
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"{words[0]} took more than {SECONDS} seconds") from None
    if done.returncode:
        raise Refused((done.stderr + done.stdout).strip() or f"{words[0]}: status {done.returncode}")
    return done.stdout


def parameters(row: Instruction, space: str) -> str:
    a, b, c = (r.opencl_c for r in (row.a_registers, row.b_registers, row.c_registers))
    return f"{space}const {a} *a, {space}const {b} *b, {space}{c} *c"


# --- NVIDIA


# The text of mma.cl is CUDA, too, but for these.
_SHIM = """
#define inline __inline__ __device__
typedef unsigned int uint;
"""
_UNITS = {"f16": "HMMA", "bf16": "HMMA", "tf32": "HMMA", "f64": "DMMA", "s8": "IMMA", "u8": "IMMA"}


class Nvidia(Compiler):
    """nvrtc makes PTX of CUDA, ptxas machine code, nvdisasm its text."""

    families = ("mma",)
    devices = ("sm_75", "sm_80", "sm_89")

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "nvidia"

    @cached_property
    def home(self) -> Path:
        return next(self.directory.glob("nvidia/cu*"))

    def prepare(self) -> None:
        if not any(self.directory.glob("nvidia/cu*/bin/nvdisasm")):
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            try:
                run(*pip, "--target", self.directory, *WHEELS)
            except Refused as reason:
                raise Missing(f"pip could not install {' '.join(WHEELS)}: {reason}") from None
        if not any(self.directory.glob("nvidia/cu*/lib/libnvrtc.so.*")):
            raise Missing("NVIDIA's wheels have no compiler for this system")

    def has(self, device: str, row: Instruction) -> bool:
        return device >= row.devices[0]

    def wanted(self, device: str, row: Instruction) -> str:
        """Such as HMMA.16816.F32: the shape's digits, then the types that are not the unit's own."""
        unit = _UNITS.get(row.a, "QMMA")
        types = [row.c.upper()] if unit in ("HMMA", "QMMA") else []
        if unit in ("IMMA", "QMMA"):
            types += [row.a.upper(), row.b.upper()]
        elif row.a in ("bf16", "tf32"):
            types.append(row.a.upper())
        return ".".join([unit, f"{row.m}{row.n}{row.k}", *types])

    def instructions(self, device: str, row: Instruction, place: Path) -> list[str]:
        call = f"c[threadIdx.x] = {row.name}(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x]);"
        kernel = f'extern "C" __global__ void kernel_of_one_call({parameters(row, "")})\n{{\n    {call}\n}}\n'
        ptx, cubin = place / "kernel.ptx", place / "kernel.cubin"
        ptx.write_bytes(self._ptx(f"{_SHIM}\n{source(row.family)}\n#undef inline\n{kernel}", device))
        run(self.home / "bin" / "ptxas", f"-arch={device}", ptx, "-o", cubin)
        return re.findall(r"\b[A-Z]+MMA[.\w]*", run(self.home / "bin" / "nvdisasm", "-c", cubin))

    @cached_property
    def _nvrtc(self) -> ctypes.CDLL:
        return ctypes.CDLL(str(next((self.home / "lib").glob("libnvrtc.so.[0-9]*"))))

    def _ptx(self, text: str, device: str) -> bytes:
        nvrtc, program = self._nvrtc, ctypes.c_void_p()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
        try:
            options = (ctypes.c_char_p * 1)(f"--gpu-architecture={device.replace('sm', 'compute')}".encode())
            if nvrtc.nvrtcCompileProgram(program, 1, options):
                raise Refused(_bytes(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode())
            return _bytes(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
        finally:
            nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _bytes(size_of: ctypes._NamedFuncPointer, fill: ctypes._NamedFuncPointer, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value)
    fill(program, out)
    return out.value


# --- the table


@dataclass(frozen=True)
class Result:
    """`wrong` says what is, and is empty where the one instruction is the wanted one."""

    device: str
    row: Instruction
    instruction: str
    wrong: str = ""


def result(compiler: Compiler, device: str, row: Instruction) -> Result:
    wanted = compiler.wanted(device, row)
    with tempfile.TemporaryDirectory() as place:
        try:
            instructions = compiler.instructions(device, row, Path(place))
        except Refused as reason:
            return Result(device, row, wanted, str(reason))
    if instructions == [wanted]:
        return Result(device, row, wanted)
    return Result(device, row, wanted, f"{', '.join(instructions) or 'no matrix instruction'}; wanted: {wanted}")


def compilers(directory: Path) -> list[Compiler]:
    return [Nvidia(directory)]


def jobs(compiler: Compiler, devices: Sequence[str], patterns: Sequence[str]) -> list[tuple[str, Instruction]]:
    rows = [row for row in INSTRUCTIONS.values() if row.family in compiler.families]
    chosen = [row for row in rows if not patterns or any(fnmatch.fnmatch(row.name, p) for p in patterns)]
    places = [device for device in compiler.devices if not devices or device in devices]
    return [(device, row) for device in places for row in chosen if compiler.has(device, row)]


def report(results: Sequence[Result]) -> None:
    for r in results:
        print(f"{r.device:9} {r.row.name:36} {'WRONG' if r.wrong else 'ok':6} {r.instruction}")
    for r in results:
        if r.wrong:
            print(f"\n{r.device} {r.row.name}:\n" + "\n".join(f"    {line[:200]}" for line in r.wrong.splitlines()[:6]))
    right = Counter(r.device for r in results if not r.wrong)
    print("\n" + ", ".join(f"{device}: {count}" for device, count in right.items()))
    functions = {r.row.name for r in results if not r.wrong}
    print(
        f"{len(functions)} functions, {sum(right.values())} kernels right; wrong: {sum(bool(r.wrong) for r in results)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="such as cm_mma_*; by default all")
    parser.add_argument("--directory", type=Path, default=DIRECTORY, help="for what is fetched")
    parser.add_argument("--devices", default="", help="such as sm_80,gfx1100; by default all")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    devices = [device for device in given.devices.split(",") if device]
    known = [device for compiler in compilers(given.directory) for device in compiler.devices]
    if unknown := set(devices) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    results: list[Result] = []
    for compiler in compilers(given.directory):
        wanted = jobs(compiler, devices, given.functions)
        if not wanted:
            continue
        try:
            compiler.prepare()
        except Missing as reason:
            print(f"left out: {', '.join(compiler.families)}: {reason}", file=sys.stderr)
            continue
        with ThreadPoolExecutor(given.jobs) as pool:
            results += pool.map(lambda job, compiler=compiler: result(compiler, *job), wanted)
    if not results:
        return 2
    report(results)
    return int(any(r.wrong for r in results))


if __name__ == "__main__":
    sys.exit(main())
