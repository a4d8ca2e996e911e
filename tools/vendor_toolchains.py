"""The vendors' compilers: they compile OpenCL C to machine code, whose matrix instructions and registers are counted.

NVIDIA's and AMD's drivers link a library that this clang lacks. `_NVIDIA_LIBRARY` and `_AMD_LIBRARY` define those
functions of it that our texts call. Any other is an error, as an unresolved call.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from coopmat.devices import DeviceInfo, from_key_values
from coopmat.matrices.vendor_instructions import DPAS, Instruction

# The wheels of CUDA 13, whose names have no version suffix, and which support compute capability 7.5.
WHEELS = tuple(f"nvidia-cuda-{part}==13.*" for part in ("nvrtc", "nvcc", "cuobjdump", "nvdisasm"))
SECONDS = 300
CLANG = "clang-19"


class Missing(LookupError):
    """Raised if a compiler is not installed; the text is a hint on how to install it."""


class Refused(ValueError):
    """Raised if a compiler rejects a kernel; the text is the compiler's output."""


@dataclass(frozen=True)
class MachineCode:
    """The machine code of a kernel.

    instructions: the names of the matrix instructions, in order.
    registers: the registers of a work-item (on Intel: of a thread).
    memory: the bytes of a work-item's data that are in memory instead of registers, spilled or not.
    """

    instructions: tuple[str, ...]
    registers: int
    memory: int


class Compiler(ABC):
    """A vendor's compiler, with the families of instructions and the devices that it supports."""

    families: tuple[str, ...]
    devices: tuple[str, ...]

    @abstractmethod
    def prepare(self) -> None:
        """Fetch or find the compiler. Raises Missing."""

    @abstractmethod
    def has(self, device: str, row: Instruction) -> bool: ...

    @abstractmethod
    def instruction(self, device: str, row: Instruction) -> str:
        """Return the name of the instruction in the text of the machine code."""

    @abstractmethod
    def one_call(self, device: str, row: Instruction, text: str, place: Path) -> MachineCode:
        """Return the machine code of a kernel with one call of the instruction's function.

        `text` defines the function, `place` is a directory for files. Raises Refused.
        """


class OpenCLCompiler(Compiler):
    """A compiler that accepts kernels in OpenCL C.

    platform: the platform name that its devices report.
    language: the default version of OpenCL C.
    extensions: the extensions that its devices report, as far as our texts use them.
    """

    platform: str
    language: str
    extensions: str

    @abstractmethod
    def compile(self, device: str, text: str, options: Sequence[str], place: Path) -> MachineCode:
        """Return the machine code of the only kernel in a text. Raises Refused."""

    def info(self, device: str) -> DeviceInfo:
        told = {"TYPE": "GPU", "NAME": device, "EXTENSIONS": self.extensions}
        lines = [f'CL_DEVICE_{name}="{value}"\n' for name, value in told.items()]
        return replace(
            from_key_values("".join(lines) + f'CL_PLATFORM_NAME="{self.platform}"', device), opencl_c=self.language
        )


def run(*words: str | Path, environment: dict[str, str] | None = None) -> str:
    """Return the output of a command. Raises Refused."""
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


def require(command: str, package: str) -> None:
    if shutil.which(command) is None:
        raise Missing(f"no {command}: apt install {package}")


def parameters(row: Instruction, space: str = "global ") -> str:
    a, b, c = (registers.opencl_c for registers in row.registers)
    return f"{space}const {a} *a, {space}const {b} *b, {space}{c} *c"


def program(row: Instruction, text: str, lane: str, attributes: str = "") -> str:
    """Return OpenCL C: the family's text, and a kernel with one call."""
    body = f"    const size_t lane = {lane};\n    c[lane] = {row.name}(a[lane], b[lane], c[lane]);"
    return f"{text}\n{attributes}kernel void one_call({parameters(row)})\n{{\n{body}\n}}\n"


def assembly(text: str, target: str, options: Sequence[str], place: Path) -> str:
    """Return the assembly text to which clang compiles OpenCL C."""
    file, out = place / "kernel.cl", place / "kernel.s"
    file.write_text(text, encoding="utf-8")
    usual = ["-nogpulib", "-w", "-Xclang", "-finclude-default-header", "-O3", "-S"]
    run(CLANG, "-x", "cl", "-target", target, *options, *usual, "-o", out, file)
    return out.read_text(encoding="utf-8")


def number(pattern: str, text: str) -> int:
    """Return the number that the pattern finds, 0 if it does not match."""
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


# --- NVIDIA


_UNITS = {"f16": "HMMA", "bf16": "HMMA", "tf32": "HMMA", "f64": "DMMA", "s8": "IMMA", "u8": "IMMA"}


class Nvidia(Compiler):
    """A compiler whose PTX is translated to machine code by ptxas, and disassembled by nvdisasm."""

    families = ("mma",)

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
        """Return a name such as HMMA.16816.F32: the shape's digits, then the types that the unit does not imply."""
        unit = _UNITS.get(row.a, "QMMA")
        types = [row.c.upper()] if unit in ("HMMA", "QMMA") else []
        if unit in ("IMMA", "QMMA"):
            types += [row.a.upper(), row.b.upper()]
        elif row.a in ("bf16", "tf32"):
            types.append(row.a.upper())
        return ".".join([unit, f"{row.m}{row.n}{row.k}", *types])

    def assembled(self, device: str, ptx: bytes, place: Path) -> MachineCode:
        file, cubin = place / "kernel.ptx", place / "kernel.cubin"
        file.write_bytes(ptx)
        run(self.home / "bin" / "ptxas", f"-arch={device.removesuffix('-cl')}", file, "-o", cubin)
        text = run(self.home / "bin" / "nvdisasm", "-c", cubin)
        use = run(self.home / "bin" / "cuobjdump", "--dump-resource-usage", cubin)
        memory = number(r"\bSTACK:(\d+)", use) + number(r"\bLOCAL:(\d+)", use)
        return MachineCode(tuple(re.findall(r"\b[A-Z]+MMA[.\w]*", text)), number(r"\bREG:(\d+)", use), memory)


# A shim for mma.cl, which is valid CUDA, too, except for these differences: C++ overloads need no attribute.
_SHIM = """
#define inline __inline__ __device__
#define overloadable
typedef unsigned int uint;
typedef unsigned long ulong;
"""


class NvidiaCuda(Nvidia):
    """A compiler of CUDA: nvrtc makes PTX."""

    devices = ("sm_75", "sm_80", "sm_89")

    @cached_property
    def _nvrtc(self) -> ctypes.CDLL:
        return ctypes.CDLL(str(next((self.home / "lib").glob("libnvrtc.so.[0-9]*"))))

    def one_call(self, device: str, row: Instruction, text: str, place: Path) -> MachineCode:
        call = f"c[threadIdx.x] = {row.name}(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x]);"
        kernel = f'extern "C" __global__ void one_call({parameters(row, "")})\n{{\n    {call}\n}}\n'
        return self.assembled(device, self._ptx(f"{_SHIM}\n{text}\n#undef inline\n{kernel}", device), place)

    def _ptx(self, text: str, device: str) -> bytes:
        nvrtc, made = self._nvrtc, ctypes.c_void_p()
        nvrtc.nvrtcCreateProgram(ctypes.byref(made), text.encode(), b"kernel.cu", 0, None, None)
        try:
            # Without this, warnings would precede the error.
            words = f"--gpu-architecture={device.replace('sm', 'compute')}", "--disable-warnings"
            options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
            if nvrtc.nvrtcCompileProgram(made, len(words), options):
                raise Refused(_bytes(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, made).decode())
            return _bytes(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, made)
        finally:
            nvrtc.nvrtcDestroyProgram(ctypes.byref(made))


def _bytes(size_of: ctypes._NamedFuncPointer, fill: ctypes._NamedFuncPointer, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value)
    fill(program, out)
    return out.value


# The functions that both libraries define, by clang's builtins.
_LIBRARY = """
#define DEFINED __attribute__((overloadable, always_inline))
#define ADD_SAT(T) T DEFINED add_sat(T x, T y) { return __builtin_elementwise_add_sat(x, y); }
#define ADD_SATS(T) ADD_SAT(T) ADD_SAT(T##2) ADD_SAT(T##4) ADD_SAT(T##8)
ADD_SATS(int)
ADD_SATS(uint)
float DEFINED fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
double DEFINED fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
uint DEFINED max(uint x, uint y) { return __builtin_elementwise_max(x, y); }
uint DEFINED min(uint x, uint y) { return __builtin_elementwise_min(x, y); }
uint DEFINED select(uint x, uint y, uint c) { return c >> 31 ? y : x; }
uint DEFINED select(uint x, uint y, int c) { return c < 0 ? y : x; }
float DEFINED fmax(float x, float y) { return __builtin_fmaxf(x, y); }
"""
_NVIDIA_LIBRARY = (
    _LIBRARY
    + """
#define OF(NAME) __nvvm_read_ptx_sreg_##NAME
#define INDEX(F, NAME) \\
    size_t DEFINED F(uint i) { return i == 0 ? OF(NAME##_x)() : i == 1 ? OF(NAME##_y)() : OF(NAME##_z)(); }
INDEX(get_group_id, ctaid)
INDEX(get_local_id, tid)
INDEX(get_local_size, ntid)
float DEFINED vload_half(size_t i, const __private half *p) { return __builtin_load_halff(p + i); }
float DEFINED vload_half(size_t i, const __global half *p) { return __builtin_load_halff(p + i); }
void DEFINED vstore_half_rte(float x, size_t i, __private half *p) { __builtin_store_halff(x, p + i); }
float DEFINED rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
float DEFINED exp2(float x) { return __nvvm_ex2_approx_f(x); }
"""
)


class NvidiaByClang(Nvidia, OpenCLCompiler):
    """A compiler of OpenCL C: clang makes PTX, since NVIDIA's own compiler is part of its driver."""

    devices = ("sm_75-cl", "sm_80-cl", "sm_89-cl")
    platform = "NVIDIA CUDA"
    language = "CL1.2"
    extensions = "cl_khr_fp64"

    def prepare(self) -> None:
        require(CLANG, CLANG)
        super().prepare()

    def one_call(self, device: str, row: Instruction, text: str, place: Path) -> MachineCode:
        return self.compile(device, program(row, text, "__nvvm_read_ptx_sreg_tid_x()"), ["-cl-std=CL1.2"], place)

    def compile(self, device: str, text: str, options: Sequence[str], place: Path) -> MachineCode:
        # The 8-bit floats on sm_89 need PTX 8.4 or newer.
        processor = ["-target-cpu", device.removesuffix("-cl"), "-target-feature", "+ptx84"]
        words = [*options, *(word for option in processor for word in ("-Xclang", option))]
        ptx = assembly(text + _NVIDIA_LIBRARY, "nvptx64-nvidia-nvcl", words, place)
        return self.assembled(device, ptx.encode(), place)


# --- AMD


_AMD_TYPES = {
    **{"e4m3": "fp8", "e5m2": "bf8", "e4m3fnuz": "fp8", "e5m2fnuz": "bf8"},
    **{"f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "s8": "i8", "s32": "i32"},
}
_AMD_LIBRARY = (
    _LIBRARY
    + """
#define OF(NAME) __builtin_amdgcn_##NAME
#define INDEX(F, NAME) \\
    size_t DEFINED F(uint i) { return i == 0 ? OF(NAME##_x)() : i == 1 ? OF(NAME##_y)() : OF(NAME##_z)(); }
INDEX(get_group_id, workgroup_id)
INDEX(get_local_id, workitem_id)
float DEFINED rsqrt(float x) { return OF(rsqf)(x); }
float DEFINED exp2(float x) { return OF(exp2f)(x); }
#ifdef cl_khr_subgroups
uint DEFINED get_sub_group_local_id(void)
{
    const uint low = __builtin_amdgcn_mbcnt_lo(~0u, 0u);
    return __AMDGCN_WAVEFRONT_SIZE == 32 ? low : __builtin_amdgcn_mbcnt_hi(~0u, low);
}
uint DEFINED sub_group_broadcast(uint x, uint lane) { return __builtin_amdgcn_readlane(x, lane); }
float DEFINED sub_group_broadcast(float x, uint lane) { return as_float(__builtin_amdgcn_readlane(as_int(x), lane)); }
ulong DEFINED sub_group_broadcast(ulong x, uint lane)
{
    return as_ulong((uint2)(sub_group_broadcast((uint)x, lane), sub_group_broadcast((uint)(x >> 32), lane)));
}
double DEFINED sub_group_broadcast(double x, uint lane) { return as_double(sub_group_broadcast(as_ulong(x), lane)); }
#endif
"""
)


class Amd(OpenCLCompiler):
    """A compiler of OpenCL C: clang, on which AMD's compiler is based, makes assembly."""

    families = ("wmma", "mfma")
    devices = ("gfx1100", "gfx1200", "gfx908", "gfx90a", "gfx942")
    platform = "AMD Accelerated Parallel Processing"
    language = "CL2.0"
    extensions = "cl_khr_fp64 cl_khr_fp16 cl_khr_subgroups"

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
        # CDNA1's instructions for bfloat16 have half the k; the later ones have the suffix _1k.
        twice = row.a == "bf16" and row.a_registers.count == 2
        return f"{head}{_AMD_TYPES[row.a]}{'_1k' if twice else ''}"

    def one_call(self, device: str, row: Instruction, text: str, place: Path) -> MachineCode:
        return self.compile(device, program(row, text, "__builtin_amdgcn_workitem_id_x()"), ["-cl-std=CL2.0"], place)

    def compile(self, device: str, text: str, options: Sequence[str], place: Path) -> MachineCode:
        made = assembly(text + _AMD_LIBRARY, "amdgcn-amd-amdhsa", [*options, f"-mcpu={device}"], place)
        if calls := re.findall(r"\b(_Z\w+)@(?:got|rel|gotpc)\w*@lo", made):
            raise Refused(f"nobody has {', '.join(sorted(set(calls)))}")
        found = re.findall(r"\b(v_(?:wmma|mfma)_\w+)[^\n]*?( neg_lo:\[[\d,]+\])?$", made, re.MULTILINE)
        # On CDNA, this number includes both kinds of vector registers, also those of accumulators.
        registers = number(r"\.vgpr_count:\s+(\d+)", made)
        return MachineCode(tuple(map("".join, found)), registers, number(r"\.private_segment_fixed_size: (\d+)", made))


# --- Intel


_INTEL_TYPES = {"f16": "hf", "bf16": "bf", "tf32": "tf32", "s8": "b", "u8": "ub", "f32": "f", "s32": "d"}
_DPAS = re.compile(r"^\s+(dpasw?\.\w+) \((\d+)\|\w+\)" + r"\s+(\w+)[.\d]*:(\w+)" * 4, re.MULTILINE)


class Intel(OpenCLCompiler):
    """A compiler of OpenCL C: ocloc makes machine code, and disassembles it."""

    families = ("dpas",)
    devices = ("dg2-g10", "pvc", "bmg-g21")
    platform = "Intel(R) OpenCL Graphics"
    language = "CL1.2"
    extensions = f"cl_khr_fp16 cl_khr_subgroups cl_intel_subgroups cl_intel_required_subgroup_size {DPAS}"

    def __init__(self, ocloc: str) -> None:
        self.ocloc = shlex.split(ocloc)

    def prepare(self) -> None:
        require(self.ocloc[0], "intel-ocloc, or give --ocloc")

    def has(self, device: str, row: Instruction) -> bool:
        return row.lanes == (8 if device.startswith("dg2") else 16)

    def instruction(self, device: str, row: Instruction) -> str:
        """Return a name such as `dpas.8x4 (16) f f b ub`, with the types of the result, the accumulator, B and A."""
        types = [_INTEL_TYPES[t] for t in (row.c, row.c, row.b, row.a)]
        return f"dpas.8x{row.m} ({row.lanes}) {' '.join(types)}"

    def one_call(self, device: str, row: Instruction, text: str, place: Path) -> MachineCode:
        attributes = f"__attribute__((intel_reqd_sub_group_size({row.lanes})))\n"
        text = program(row, text, "get_sub_group_local_id()", attributes)
        return self.compile(device, text, ["-cl-std=CL3.0"], place)

    def compile(self, device: str, text: str, options: Sequence[str], place: Path) -> MachineCode:
        file, dump = place / "kernel.cl", place / "dump"
        file.write_text(text, encoding="utf-8")
        words = ["-q", "-file", file, "-device", device, "-options", " ".join(options), "-out_dir", place / "out"]
        environment = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(dump)}
        run(*self.ocloc, "compile", *words, environment=environment)
        texts = sorted(dump.glob("*.asm"), key=lambda path: number(r"_(\d+)_simd", path.name))
        found = _DPAS.findall(texts[-1].read_text(errors="replace")) if texts else []
        info = "".join(path.read_text(errors="replace") for path in dump.glob("*.zeinfo"))
        memory = number(r"private_size:\s+(\d+)", info) + number(r"spill_size:\s+(\d+)", info)
        instructions = tuple(
            f"{head} ({lanes}) {' '.join(rest[1::2])}" for head, lanes, *rest in found if _counts(rest)
        )
        lanes = number(r"simd_size:\s+(\d+)", info) or 1
        return MachineCode(instructions, number(r"grf_count:\s+(\d+)", info), memory // lanes)


def _counts(operands: Sequence[str]) -> bool:
    """Return whether a dpas is one of the kernel's.

    On DG2, the compiler inserts others before some, with one register, whose result is unused. They have A and B in the
    place of the result, as no product has.
    """
    result, _, sum_, _, b, _, a, _ = operands
    return not (sum_ == "null" and result == b == a)


def compilers(directory: Path, ocloc: str) -> list[Compiler]:
    return [NvidiaCuda(directory), NvidiaByClang(directory), Amd(), Intel(ocloc)]
