"""The vendors' matrix instructions before the vendors' compilers: each function is the one instruction it is for.

Usage: tools/vendor-compilers [--directory DIR] [--ocloc COMMAND] [--devices sm_80,gfx1100,pvc,...] [FUNCTION ...]

For each row of `coopmat.matrices.instructions` and each device that has it, a kernel of one call and no loop is
compiled; the machine code must have exactly the matrix instruction that the row says, once.

NVIDIA: its compiler, assembler and disassembler, which are wheels and are fetched into DIR. Its OpenCL C compiler is a
part of the driver; the same text is compiled as CUDA, by a shim of two lines (sm_80), and as OpenCL C, by clang
(sm_80-cl).
AMD: clang, which its OpenCL C compiler is. Intel: ocloc. What is not here is left out, with what to install. Status 1
where an instruction is not the wanted one, 2 where there is no compiler at all.
"""

from __future__ import annotations

import argparse
import ctypes
import fnmatch
import os
import re
import shlex
import shutil
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
# The releases of CUDA 13, whose names have no number, and which know compute capability 7.5.
WHEELS = tuple(f"nvidia-cuda-{part}==13.*" for part in ("nvrtc", "nvcc", "cuobjdump", "nvdisasm"))
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
    def instruction(self, device: str, row: Instruction) -> str:
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


CLANG = "clang-19"


def require(command: str, package: str) -> None:
    if shutil.which(command) is None:
        raise Missing(f"no {command}: apt install {package}")


def parameters(row: Instruction, space: str = "global ") -> str:
    a, b, c = (r.opencl_c for r in (row.a_registers, row.b_registers, row.c_registers))
    return f"{space}const {a} *a, {space}const {b} *b, {space}{c} *c"


def program(row: Instruction, lane: str, attributes: str = "") -> str:
    """The family's text and a kernel of one call, in OpenCL C."""
    body = f"    const size_t lane = {lane};\n    c[lane] = {row.name}(a[lane], b[lane], c[lane]);"
    return f"{source(row.family)}\n{attributes}kernel void one_call({parameters(row)})\n{{\n{body}\n}}\n"


# --- NVIDIA


# The text of mma.cl is CUDA, too, but for these: C++ overloads without being asked.
_SHIM = """
#define inline __inline__ __device__
#define overloadable
typedef unsigned int uint;
typedef unsigned long ulong;
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

    def instruction(self, device: str, row: Instruction) -> str:
        """Such as HMMA.16816.F32: the shape's digits, then the types that are not the unit's own."""
        unit = _UNITS.get(row.a, "QMMA")
        types = [row.c.upper()] if unit in ("HMMA", "QMMA") else []
        if unit in ("IMMA", "QMMA"):
            types += [row.a.upper(), row.b.upper()]
        elif row.a in ("bf16", "tf32"):
            types.append(row.a.upper())
        return ".".join([unit, f"{row.m}{row.n}{row.k}", *types])

    def instructions(self, device: str, row: Instruction, place: Path) -> list[str]:
        architecture = device.removesuffix("-cl")
        ptx, cubin = place / "kernel.ptx", place / "kernel.cubin"
        ptx.write_bytes(self.ptx(row, architecture, place))
        run(self.home / "bin" / "ptxas", f"-arch={architecture}", ptx, "-o", cubin)
        return re.findall(r"\b[A-Z]+MMA[.\w]*", run(self.home / "bin" / "nvdisasm", "-c", cubin))

    @cached_property
    def _nvrtc(self) -> ctypes.CDLL:
        return ctypes.CDLL(str(next((self.home / "lib").glob("libnvrtc.so.[0-9]*"))))

    def ptx(self, row: Instruction, architecture: str, place: Path) -> bytes:
        call = f"c[threadIdx.x] = {row.name}(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x]);"
        kernel = f'extern "C" __global__ void one_call({parameters(row, "")})\n{{\n    {call}\n}}\n'
        text = f"{_SHIM}\n{source(row.family)}\n#undef inline\n{kernel}"
        nvrtc, program = self._nvrtc, ctypes.c_void_p()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
        try:
            # Warnings would come before what is wrong.
            words = f"--gpu-architecture={architecture.replace('sm', 'compute')}", "--disable-warnings"
            options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
            if nvrtc.nvrtcCompileProgram(program, len(words), options):
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


class NvidiaByClang(Nvidia):
    """clang makes PTX of OpenCL C."""

    devices = ("sm_75-cl", "sm_80-cl", "sm_89-cl")

    def prepare(self) -> None:
        require(CLANG, CLANG)
        super().prepare()

    def ptx(self, row: Instruction, architecture: str, place: Path) -> bytes:
        # PTX 8.4 is the first that has the 8-bit floats on sm_89.
        processor = ["-target-cpu", architecture, "-target-feature", "+ptx84"]
        options = [word for option in processor for word in ("-Xclang", option)]
        return by_clang(program(row, "__nvvm_read_ptx_sreg_tid_x()"), "nvptx64-nvidia-nvcl", options, place).encode()


def by_clang(text: str, target: str, options: Sequence[str], place: Path) -> str:
    """The assembly text of OpenCL C."""
    file, out = place / "kernel.cl", place / "kernel.s"
    file.write_text(text, encoding="utf-8")
    words = [
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-target",
        target,
        *options,
        "-nogpulib",
        "-Xclang",
        "-finclude-default-header",
    ]
    run(CLANG, *words, "-O2", "-S", "-o", out, file)
    return out.read_text(encoding="utf-8")


# --- AMD


_AMD_TYPES = {
    **{"e4m3": "fp8", "e5m2": "bf8", "e4m3fnuz": "fp8", "e5m2fnuz": "bf8"},
    **{"f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "s8": "i8", "s32": "i32"},
}


class Amd(Compiler):
    """clang makes assembly of OpenCL C."""

    families = ("wmma", "mfma")
    devices = ("gfx1100", "gfx1200", "gfx908", "gfx90a", "gfx942")

    def prepare(self) -> None:
        require(CLANG, CLANG)

    def has(self, device: str, row: Instruction) -> bool:
        return any(device.startswith(name) for name in row.devices)

    def instruction(self, device: str, row: Instruction) -> str:
        head = f"v_{row.family}_{_AMD_TYPES[row.c]}_{row.m}x{row.n}x{row.k}"
        if row.family == "wmma" and row.c == "s32":
            signed = [int(t == "s8") for t in (row.a, row.b)]
            return f"{head}_iu8" + (f" neg_lo:[{signed[0]},{signed[1]},0]" if any(signed) else "")
        if row.c == "f32" and row.a[0] == "e":
            return f"{head}_{_AMD_TYPES[row.a]}_{_AMD_TYPES[row.b]}"
        if row.family == "wmma" or device == "gfx942":
            return f"{head}_{_AMD_TYPES[row.a]}"
        # Twice the k of the instruction that CDNA1 has for bfloat16.
        twice = row.a == "bf16" and row.a_registers.count == 2
        return f"{head}{_AMD_TYPES[row.a]}{'_1k' if twice else ''}"

    def instructions(self, device: str, row: Instruction, place: Path) -> list[str]:
        text = by_clang(
            program(row, "__builtin_amdgcn_workitem_id_x()"), "amdgcn-amd-amdhsa", [f"-mcpu={device}"], place
        )
        matches = re.findall(r"\b(v_(?:wmma|mfma)_\w+)[^\n]*?( neg_lo:\[[\d,]+\])?$", text, re.MULTILINE)
        return [mnemonic + modifier for mnemonic, modifier in matches]


# --- Intel


_INTEL_TYPES = {"f16": "hf", "bf16": "bf", "tf32": "tf32", "s8": "b", "u8": "ub", "f32": "f", "s32": "d"}
_DPAS = re.compile(r"^\s+(dpasw?\.\w+) \((\d+)\|\w+\)" + r"\s+\S+:(\w+)" * 4, re.MULTILINE)


class Intel(Compiler):
    """ocloc makes machine code of OpenCL C, and dumps its text."""

    families = ("dpas",)
    devices = ("dg2-g10", "pvc", "bmg-g21")

    def __init__(self, ocloc: str) -> None:
        self.ocloc = shlex.split(ocloc)

    def prepare(self) -> None:
        require(self.ocloc[0], "intel-ocloc, or give --ocloc")

    def has(self, device: str, row: Instruction) -> bool:
        return row.lanes == (8 if device.startswith("dg2") else 16)

    def instruction(self, device: str, row: Instruction) -> str:
        """Such as `dpas.8x4 (16) f f b ub`: the result's type, the accumulator's, B's, A's."""
        types = [_INTEL_TYPES[t] for t in (row.c, row.c, row.b, row.a)]
        return f"dpas.8x{row.m} ({row.lanes}) {' '.join(types)}"

    def instructions(self, device: str, row: Instruction, place: Path) -> list[str]:
        file, dump = place / "kernel.cl", place / "dump"
        attributes = f"__attribute__((intel_reqd_sub_group_size({row.lanes})))\n"
        file.write_text(program(row, "get_sub_group_local_id()", attributes), encoding="utf-8")
        words = [
            "compile",
            "-q",
            "-file",
            file,
            "-device",
            device,
            "-options",
            "-cl-std=CL3.0",
            "-out_dir",
            place / "out",
        ]
        run(*self.ocloc, *words, environment={"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(dump)})
        text = "\n".join(path.read_text(errors="replace") for path in sorted(dump.glob("*.asm")))
        return [f"{head} ({lanes}) {' '.join(types)}" for head, lanes, *types in _DPAS.findall(text)]


# --- the table


@dataclass(frozen=True)
class Result:
    """`wrong` says what is, and is empty where the one instruction is the wanted one."""

    device: str
    row: Instruction
    instruction: str
    wrong: str = ""


def result(compiler: Compiler, device: str, row: Instruction) -> Result:
    right = compiler.instruction(device, row)
    with tempfile.TemporaryDirectory() as place:
        try:
            instructions = compiler.instructions(device, row, Path(place))
        except Refused as reason:
            return Result(device, row, right, str(reason))
    if instructions == [right]:
        return Result(device, row, right)
    return Result(device, row, right, f"{', '.join(instructions) or 'no matrix instruction'}; wanted: {right}")


def compilers(directory: Path, ocloc: str) -> list[Compiler]:
    return [Nvidia(directory), NvidiaByClang(directory), Amd(), Intel(ocloc)]


def jobs(compiler: Compiler, devices: Sequence[str], patterns: Sequence[str]) -> list[tuple[str, Instruction]]:
    rows = [row for row in INSTRUCTIONS.values() if row.family in compiler.families]
    selection = [row for row in rows if not patterns or any(fnmatch.fnmatch(row.name, p) for p in patterns)]
    places = [device for device in compiler.devices if not devices or device in devices]
    return [(device, row) for device in places for row in selection if compiler.has(device, row)]


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
    parser.add_argument("--ocloc", default="ocloc", help="Intel's offline compiler, a command")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    devices = [device for device in options.devices.split(",") if device]
    every = compilers(options.directory, options.ocloc)
    known = [device for compiler in every for device in compiler.devices]
    if unknown := set(devices) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    results: list[Result] = []
    for compiler in every:
        work = jobs(compiler, devices, options.functions)
        if not work:
            continue
        try:
            compiler.prepare()
        except Missing as reason:
            print(f"left out: {', '.join(compiler.devices)}: {reason}", file=sys.stderr)
            continue
        with ThreadPoolExecutor(options.jobs) as pool:
            results += pool.map(lambda job, compiler=compiler: result(compiler, *job), work)
    if not results:
        return 2
    report(results)
    return int(any(r.wrong for r in results))


if __name__ == "__main__":
    sys.exit(main())
