"""The emulated forms of the vendors' matrix instructions, run on matrices that are scattered to registers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from vendor_layouts import USES, component, shape, table

from coopmat.devices import DeviceInfo, opencl
from coopmat.matrices.numpy_reference import Array, decode_bits, encode_bits
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Kind
from coopmat.matrices.vendor_instructions import INSTRUCTIONS, Instruction, source

# The small floats of these instructions, described as in coopmat.matrices.variants.
SMALL_FLOATS = {
    "bf16": COMPONENT_TYPES["bf16"],
    "e4m3": ComponentType("e4m3", "uchar", 8, Kind.FLOAT, True, "uint8", None, 4, 3, infinities=False),
    "e5m2": ComponentType("e5m2", "uchar", 8, Kind.FLOAT, True, "uint8", None, 5, 2),
}
EPSILON = {"f16": 2.0**-9, "f32": 2.0**-19, "f64": 2.0**-48}
"""Of the sum of all absolute values, by the accumulator's type: its roundings, and those of the sum's parts."""


def random_matrix(rng: np.random.Generator, row: Instruction, use: str) -> tuple[Array, Array]:
    """Return random components as bit patterns of registers, and as numbers."""
    name, size = component(row, use), shape(row, use)
    if name in ("s4", "u4"):
        codes = rng.integers(0, 16, size).astype(np.uint8)
        return codes, codes.astype(np.int64) - (16 * (codes >> 3) if name == "s4" else 0)
    if name[0] in "su":
        bits = int(name[1:])
        numbers = (
            rng.integers(0, 1 << bits, size).astype(f"uint{bits}").view(f"{'int' if name[0] == 's' else 'uint'}{bits}")
        )
        return numbers, numbers.astype(np.int64)
    x = rng.standard_normal(size)
    if name.endswith("fnuz"):
        # The twin format has an exponent bias that is smaller by one. The fnuz formats have no negative zero.
        patterns = encode_bits(SMALL_FLOATS[name.removesuffix("fnuz")], 2 * x)
        patterns[patterns == 0x80] = 0
        return patterns, numbers_of(name, patterns)
    if name in SMALL_FLOATS:
        patterns = encode_bits(SMALL_FLOATS[name], x)
        return patterns, numbers_of(name, patterns)
    if name == "tf32":
        patterns = x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
        return patterns, patterns.view(np.float32).astype(np.float64)
    numbers = x.astype(COMPONENT_TYPES[name].numpy)
    return numbers, numbers.astype(np.float64)


def numbers_of(name: str, patterns: Array) -> Array:
    """Return the numbers that bit patterns of an 8-bit float, or of a bfloat16, represent."""
    if not name.endswith("fnuz"):
        return decode_bits(SMALL_FLOATS[name], patterns).astype(np.float64)
    # In the floats of AMD's CDNA3, all patterns are finite numbers, except that of a negative zero.
    twin = replace(SMALL_FLOATS[name.removesuffix("fnuz")], infinities=False)
    numbers = decode_bits(twin, patterns & 0x7F).astype(np.float64) / 2
    # The pattern of the twin's NaN is one more number.
    numbers[patterns & 0x7F == 0x7F] = (2 - 2.0**-twin.mantissa) * 2.0 ** (2**twin.exponent - 2 - twin.bias)
    return np.where(patterns == 0x80, np.nan, np.where(patterns & 0x80, -numbers, numbers))


@dataclass(frozen=True)
class Experiment:
    """The operands A, B and C as components and as numbers, by use, and the tables that scatter them to registers."""

    row: Instruction
    components: Mapping[str, Array]
    numbers: Mapping[str, Array]
    tables: dict[str, Array] = field(default_factory=dict)

    @staticmethod
    def random(row: Instruction, seed: int = 1) -> Experiment:
        rng = np.random.default_rng(seed)
        matrices = {use: random_matrix(rng, row, use) for use in USES}
        return Experiment(
            row,
            {use: pair[0] for use, pair in matrices.items()},
            {use: pair[1] for use, pair in matrices.items()},
            {use: table(row, use) for use in USES},
        )

    def registers(self, use: str) -> Array:
        rows, columns = np.moveaxis(self.tables[use], -1, 0)
        parts = self.components[use][rows, columns]
        if component(self.row, use) in ("s4", "u4"):
            parts = parts[..., 0::2] | parts[..., 1::2] << 4
        return np.ascontiguousarray(parts)

    def is_right(self, registers: Array) -> bool:
        """Return whether the result's registers contain the product, according to the result's table."""
        rows, columns = np.moveaxis(self.tables["C"], -1, 0)
        a, b, c = (self.numbers[use] for use in USES)
        expected = (a @ b + c)[rows, columns]
        if self.row.c == "s32":
            return np.array_equal(registers, expected.astype(np.uint32).view(np.int32))
        bound = (np.abs(a) @ np.abs(b) + np.abs(c))[rows, columns] * EPSILON[self.row.c]
        return bool((np.abs(registers.astype(np.float64) - expected) <= bound).all())


_KERNEL = """
__attribute__((reqd_work_group_size({lanes}, 1, 1))) __attribute__((intel_reqd_sub_group_size({lanes})))
kernel void test_{name}(global const {a} *a, global const {b} *b, global {c} *c)
{{
    const size_t lane = get_sub_group_local_id();
    c[lane] = {name}(a[lane], b[lane], c[lane]);
}}
"""


def kernels(rows: Iterable[Instruction]) -> str:
    """Return kernels that call each function; a kernel's name is "test_" and the function's name."""
    return "".join(
        _KERNEL.format(
            lanes=row.lanes,
            name=row.name,
            a=row.a_registers.opencl_c,
            b=row.b_registers.opencl_c,
            c=row.c_registers.opencl_c,
        )
        for row in rows
    )


def with_neighbours_exchanged(family: str, macro: str) -> str:
    """Return the emulated forms with neighbouring components exchanged by the layout macros with a suffix.

    `macro` is the suffix, such as "_A_ROW".
    """
    pattern = re.compile(rf"^(#define \w+{macro}\(lane, i\)) (.*)$", re.MULTILINE)
    return pattern.sub(r"\1 ((\2) ^ 1)", source(family, emulated=True))


class Program:
    """Kernels of emulated functions, built for a device from OpenCL C by its own compiler, or from SPIR-V."""

    def __init__(self, device: DeviceInfo, code: str | bytes) -> None:
        self.cl = opencl()
        self.context = self.cl.Context([device.handle])
        self.queue = self.cl.CommandQueue(self.context)
        with warnings.catch_warnings():
            # Ignore the device compiler's log on the vectorization of each kernel.
            warnings.simplefilter("ignore", self.cl.CompilerWarning)
            program = self.cl.Program(self.context, code)
            self.program = program.build("-cl-std=CL3.0" if isinstance(code, str) else "", cache_dir=False)

    def result(self, experiment: Experiment) -> Array:
        """Return the result's registers after the launch."""
        arrays = [experiment.registers(use) for use in USES]
        buffers = [self._buffer(array) for array in arrays]
        size = (experiment.row.lanes, 1, 1)
        kernel = self.cl.Kernel(self.program, f"test_{experiment.row.name}")
        kernel(self.queue, size, size, *buffers)
        registers = np.empty_like(arrays[2])
        self.cl.enqueue_copy(self.queue, registers, buffers[2])
        return registers

    def _buffer(self, array: Array) -> Any:
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        return self.cl.Buffer(self.context, flags, hostbuf=array)


def rows_of(family: str) -> list[Instruction]:
    return [row for row in INSTRUCTIONS.values() if row.family == family]


@cache
def program(device: DeviceInfo, family: str) -> Program:
    """Return the program of a family's functions, built at the first call."""
    return Program(device, source(family, emulated=True) + kernels(rows_of(family)))
