"""The vendors' matrix instructions that OpenCL C can use, each as a function; `library/vendors` has their text.

    row = INSTRUCTIONS["cm_mma_m16n8k16_f16_f32"]     # float4 cm_mma_m16n8k16_f16_f32(uint4 a, uint2 b, float4 c)
    text = source(row.family)                         # for devices with the instruction: the text uses the instruction
    text = source(row.family, emulated=True)          # for any device with subgroups of row.lanes

All lanes of a subgroup of exactly `lanes` work-items must call a function together. The function returns A x B + C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

_CDNA = ("gfx908", "gfx90a", "gfx942")
FAMILIES = MappingProxyType(
    {"mma": ("sm_75", "sm_80", "sm_89"), "wmma": ("gfx11", "gfx12"), "mfma": _CDNA, "dpas": ("dg2", "pvc")}
)
"""Family -> generations of devices whose instructions differ, the newest last.

The families are NVIDIA's mma.sync, AMD's v_wmma of RDNA and v_mfma of CDNA, and Intel's dpas. Each has a file in
`library/vendors`.
"""


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a lane's part of a matrix: a vector of `count` registers of the OpenCL C type `element`."""

    element: str
    count: int

    @property
    def opencl_c(self) -> str:
        """The type of the vector of registers in OpenCL C."""
        return self.element if self.count == 1 else f"{self.element}{self.count}"

    @property
    def size(self) -> int:
        """The size of a register in bytes."""
        return {"short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "double": 8}[self.element]


@dataclass(frozen=True, slots=True)
class Instruction:
    """A matrix instruction, as a function.

    a, b, c: the names of the component types; the result has the type `c`.
    lanes: the size of the subgroup.
    devices: the devices with the instruction: the least compute capability ("sm_80"), the extension, or the processors.
    citation: the section of the vendor's document that describes the registers.
    """

    family: str
    name: str
    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    lanes: int
    a_registers: Registers
    b_registers: Registers
    c_registers: Registers
    devices: tuple[str, ...]
    citation: str

    @property
    def registers(self) -> tuple[Registers, Registers, Registers]:
        """The registers of A, of B and of the accumulator."""
        return self.a_registers, self.b_registers, self.c_registers

    @property
    def factor(self) -> str:
        """The component type of matrices that can be A: tf32 is a float."""
        return "f32" if self.a == "tf32" else self.a

    def is_of(self, generation: str) -> bool:
        """Return whether devices of a generation have the instruction.

        NVIDIA's devices also have the instructions of older generations. Intel's generations differ in the subgroup
        size.
        """
        if self.family == "mma":
            return self.devices[0] <= generation
        if self.family == "dpas":
            return self.lanes == (8 if generation == "dg2" else 16)
        return generation in self.devices

    @property
    def signature(self) -> str:
        """The head of the function in OpenCL C."""
        a, b, c = (registers.opencl_c for registers in self.registers)
        return f"{c} {self.name}({a} a, {b} b, {c} c)"

    @property
    def layout(self) -> str:
        """The prefix of the macros that define the lane layouts of the instruction's operands.

        The macros are in the file `library/vendors/FAMILY_emulated.cl` (`emulated_layouts`).
        """
        if self.family == "mma":
            return f"MMA_M{self.m}N{self.n}K{self.k}" + "_TF32" * (self.a == "tf32")
        if self.family == "dpas":
            return f"DPAS_N{self.n}_K{self.k}"
        if self.family == "wmma":
            return f"WMMA_{self.devices[0].upper()}"
        return "MFMA_F64" if self.a == "f64" else f"MFMA_{self.m}"

    @property
    def emulated(self) -> str:
        """The OpenCL C that defines the function; the text of `emulated_layouts` must precede it."""
        types = zip((self.a, self.b, self.c), self.registers, strict=True)
        operands = ", ".join(f"{name}, {registers.element}, {registers.count}" for name, registers in types)
        shape = f"{self.lanes}, {self.m}, {self.n}, {self.k}"
        return f"CM_EMULATED({self.name}, {shape}, {self.layout}, {operands})"


def source(family: str, emulated: bool = False) -> str:
    """Return the OpenCL C that defines a family's functions."""
    if not emulated:
        return _text(f"{family}.cl")
    rows = [row for row in INSTRUCTIONS.values() if row.family == family]
    doubles = [row.emulated for row in rows if row.c == "f64"]
    if doubles:
        doubles = ["#ifdef cl_khr_fp64", *doubles, "#endif"]
    return "\n".join([emulated_layouts(family), *(row.emulated for row in rows if row.c != "f64"), *doubles, ""])


def emulated_layouts(family: str) -> str:
    """Return the macros that a family's emulated functions use: the place of each component of an operand."""
    return _text("emulated.cl") + _text(f"{family}_emulated.cl")


def _text(name: str) -> str:
    """Return the text of a file in library/vendors."""
    return (files(__package__) / "library" / "vendors" / name).read_text(encoding="utf-8")


_SIGNS = (("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8"))


def _registers(types: str) -> tuple[Registers, Registers, Registers]:
    """Parse the registers of A, B and C, such as "uint4 uint2 float4"."""
    a, b, c = (
        Registers(word.rstrip("0123456789"), int(word.lstrip("abcdefghijklmnopqrstuvwxyz") or 1))
        for word in types.split()
    )
    return a, b, c


def _name(prefix: str, shape: tuple[int, int, int], a: str, b: str, c: str) -> str:
    """Return the function's name; if A and B have the same type, it occurs once."""
    m, n, k = shape
    return "_".join(["cm", prefix, f"m{m}n{n}k{k}", *dict.fromkeys((a, b)), c])


def _mma(shape: tuple[int, int, int], a: str, b: str, c: str, types: str, device: str, section: str) -> Instruction:
    """Return the row of an mma of NVIDIA."""
    citation = f"PTX ISA, Matrix Fragments for mma.{section}"
    name = _name("mma", shape, a, b, c)
    return Instruction("mma", name, *shape, a, b, c, 32, *_registers(types), (device,), citation)


def _mma_rows() -> Iterator[Instruction]:
    """Yield the rows of NVIDIA's instructions."""
    for c, types in (("f32", "uint2 uint float4"), ("f16", "uint2 uint uint2")):
        yield _mma((16, 8, 8), "f16", "f16", c, types, "sm_75", "m16n8k8")
    for a, b in _SIGNS:
        yield _mma((8, 8, 16), a, b, "s32", "uint uint int2", "sm_75", "m8n8k16")
    section = "m16n8k16 with floating point type"
    for a, c, types in (
        ("f16", "f32", "uint4 uint2 float4"),
        ("f16", "f16", "uint4 uint2 uint2"),
        ("bf16", "f32", "uint4 uint2 float4"),
    ):
        yield _mma((16, 8, 16), a, a, c, types, "sm_80", section)
    yield _mma((16, 8, 8), "tf32", "tf32", "f32", "uint4 uint2 float4", "sm_80", "m16n8k8")
    section = "m8n8k4 with .f64 floating point type"
    yield _mma((8, 8, 4), "f64", "f64", "f64", "double double double2", "sm_80", section)
    for a, b in _SIGNS:
        yield _mma((16, 8, 32), a, b, "s32", "uint4 uint2 int4", "sm_80", "m16n8k32")
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield _mma((16, 8, 32), a, b, "f32", "uint4 uint2 float4", "sm_89", "m16n8k32")


DPAS = "cl_intel_subgroup_matrix_multiply_accumulate"


def _dpas(shape: tuple[int, int, int], a: str, b: str, c: str, types: str, extension: str = DPAS) -> Instruction:
    """Return the row of a dpas of Intel."""
    name = _name("dpas", shape, a, b, c)
    citation = f"{extension}, New OpenCL C Functions"
    return Instruction("dpas", name, *shape, a, b, c, shape[1], *_registers(types), (extension,), citation)


def _dpas_rows() -> Iterator[Instruction]:
    """Yield the rows of Intel's instructions."""
    for n, signed in ((8, "int"), (16, "short")):
        for m in (1, 2, 4, 8):
            count = str(m) if m > 1 else ""
            for a in ("f16", "bf16"):
                yield _dpas((m, n, 16), a, a, "f32", f"{signed}{count} int8 float{count}")
            for a, b in _SIGNS:
                types = [f"u{signed}" if a == "u8" else signed, "uint8" if b == "u8" else "int8", f"int{count}"]
                yield _dpas((m, n, 32), a, b, "s32", f"{types[0]}{count} {types[1]} {types[2]}")
    for m, types_of_a in ((1, "float"), (2, "float"), (4, "float2"), (8, "float4")):
        c = "float" if m == 1 else f"float{m}"
        yield _dpas((m, 16, 8), "tf32", "tf32", "f32", f"{types_of_a} float8 {c}", f"{DPAS}_tf32")


def _wmma(a: str, b: str, c: str, types: str, device: str) -> Instruction:
    """Return the row of a wmma of AMD's RDNA."""
    guide = {"gfx11": "RDNA3", "gfx12": "RDNA4"}[device]
    citation = f"{guide} Instruction Set Architecture, Wave Matrix Multiply Accumulate (WMMA)"
    name = _name(f"wmma_{device}", (16, 16, 16), a, b, c)
    return Instruction("wmma", name, 16, 16, 16, a, b, c, 32, *_registers(types), (device,), citation)


def _wmma_rows() -> Iterator[Instruction]:
    """Yield the rows of the instructions of AMD's RDNA."""
    # The registers of operands of 16 and of 8 bits; RDNA3 holds each component twice.
    for device, wide, narrow in (("gfx11", "uint8", "uint4"), ("gfx12", "uint4", "uint2")):
        for a in ("f16", "bf16"):
            yield _wmma(a, a, "f32", f"{wide} {wide} float8", device)
        # Before bytes: components of 4 bits fit both.
        nibbles = "uint2" if device == "gfx11" else "uint"
        for a, b in _SIGNS:
            yield _wmma(a.replace("8", "4"), b.replace("8", "4"), "s32", f"{nibbles} {nibbles} int8", device)
        for a, b in _SIGNS:
            yield _wmma(a, b, "s32", f"{narrow} {narrow} int8", device)
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield _wmma(a, b, "f32", "uint2 uint2 float8", "gfx12")


def _mfma(shape: tuple[int, int, int], a: str, b: str, c: str, types: str, devices: tuple[str, ...]) -> Instruction:
    """Return the row of an mfma of AMD's CDNA."""
    guide = f"CDNA{1 + _CDNA.index(devices[-1])}"
    citation = f"{guide} Instruction Set Architecture, Matrix Arithmetic Instructions"
    return Instruction(
        "mfma", _name("mfma", shape, a, b, c), *shape, a, b, c, 64, *_registers(types), devices, citation
    )


def _mfma_rows() -> Iterator[Instruction]:
    """Yield the rows of the instructions of AMD's CDNA."""
    for size, count in ((16, 4), (32, 16)):
        most = 16 if size == 16 else 8
        for a, k, registers, devices in (
            ("f16", most, "uint2", _CDNA),
            ("bf16", most // 2, "uint", _CDNA[:2]),
            ("bf16", most, "uint2", _CDNA[1:]),
        ):
            yield _mfma((size, size, k), a, a, "f32", f"{registers} {registers} float{count}", devices)
        yield _mfma((size, size, most), "s8", "s8", "s32", f"uint uint int{count}", _CDNA[:2])
        yield _mfma((size, size, 2 * most), "s8", "s8", "s32", f"uint2 uint2 int{count}", _CDNA[2:])
    yield _mfma((16, 16, 4), "f64", "f64", "f64", "double double double4", _CDNA[1:])
    for a in ("e4m3fnuz", "e5m2fnuz"):
        for b in ("e4m3fnuz", "e5m2fnuz"):
            yield _mfma((16, 16, 32), a, b, "f32", "uint2 uint2 float4", _CDNA[2:])


INSTRUCTIONS = MappingProxyType(
    {row.name: row for rows in (_mma_rows(), _dpas_rows(), _wmma_rows(), _mfma_rows()) for row in rows}
)
"""The name of a function -> its row."""
