"""The kernels for the vendors' compilers, and the matrix instructions that are expected in the machine code.

The kernels are a call of each instruction's function, multiply-adds of each route's products, and the kernels of this
repository.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from vendor_toolchains import Compiler, MachineCode, OpenCLCompiler, Refused

import coopmat
from coopmat.diagnostics import CompileError
from coopmat.matrices.hardware_multiplies import FragmentProduct
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import Operands, Variant, default_operands
from coopmat.matrices.vendor_instructions import INSTRUCTIONS, Instruction, source
from coopmat.options import CompileOptions
from coopmat.runtime.launch import resolve_options
from coopmat.runtime.runheader import Run, parse_header

KERNELS = Path(__file__).parents[1] / "kernels"
_MULTIPLY_ADD = """
#define M(ROWS, COLUMNS, USE) \\
    coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef {a} A __attribute__((M({m}, {k}, A)));
typedef {b} B __attribute__((M({k}, {n}, B)));
typedef {c} C __attribute__((M({m}, {n}, ACCUMULATOR)));

kernel void one_multiply_add(const global {a} *a, const global {b} *b, const global {c} *c, global {c} *d)
{{
    const A x = coop_mat_load(a, ROW_MAJOR, {k});
    const B y = coop_mat_load(b, ROW_MAJOR, {n});
    const C z = coop_mat_load(c, ROW_MAJOR, {n});
    coop_mat_store(d, coop_mat_mulAdd(x, y, z, {operands}), ROW_MAJOR, {n});
}}
"""


@dataclass(frozen=True)
class Result:
    """The result of a job: the machine code, and a description of the fault, "" if the result is right."""

    job: Job
    code: MachineCode | None = None
    wrong: str = ""


@dataclass(frozen=True)
class Job(ABC):
    """A kernel for a device; `what` is its kind, `name` identifies the kernel."""

    device: str
    what = ""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def wanted(self) -> str:
        """The expected matrix instructions, as text."""

    @abstractmethod
    def machine_code(self, place: Path) -> MachineCode:
        """Return the kernel's machine code; `place` is a directory for files. Raises Refused, CompileError."""

    @abstractmethod
    def is_right(self, code: MachineCode) -> bool: ...

    def result(self) -> Result:
        with tempfile.TemporaryDirectory() as place:
            try:
                code = self.machine_code(Path(place))
            except (Refused, CompileError) as reason:
                return Result(self, None, str(reason))
        if self.is_right(code):
            return Result(self, code)
        found = {name: code.instructions.count(name) for name in code.instructions}
        words = ", ".join(f"{count} {name}" for name, count in found.items()) or "no matrix instruction"
        return Result(self, code, f"{words}; wanted: {self.wanted}")


@dataclass(frozen=True)
class Call(Job):
    """A call of an instruction's function without a loop: the machine code must have exactly that instruction, once."""

    compiler: Compiler
    row: Instruction
    what = "functions"

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def wanted(self) -> str:
        return self.compiler.instruction(self.device, self.row)

    def machine_code(self, place: Path) -> MachineCode:
        return self.compiler.one_call(self.device, self.row, source(self.row.family), place)

    def is_right(self, code: MachineCode) -> bool:
        return code.instructions == (self.wanted,)


@dataclass(frozen=True)
class _OfRoute(Job):
    """A kernel with cooperative matrices, which our compiler translates to OpenCL C.

    The OpenCL C is for a route, and for the device's instructions of that route.
    """

    compiler: OpenCLCompiler
    route: str

    @property
    @abstractmethod
    def text(self) -> str: ...

    @property
    def arguments(self) -> tuple[str, ...]:
        return ()

    @cached_property
    def options(self) -> CompileOptions:
        options = replace(
            CompileOptions.from_arguments(self.arguments),
            matrices=self.route,
            instructions=tuple(row.name for row in products(self.compiler, self.device, self.route)),
            no_warnings=True,
        )
        return resolve_options(options, self.compiler.info(self.device))

    @cached_property
    def module(self) -> coopmat.Module:
        return coopmat.compile(self.text, self.options, name=f"{self.name}.cl")

    def machine_code(self, place: Path) -> MachineCode:
        module = self.module
        return self.compiler.compile(self.device, module.opencl_c, module.opencl_c_options, place)


def products(compiler: Compiler, device: str, route: str) -> list[FragmentProduct]:
    """Return the products of a route for which a device has instructions."""
    rows = (row for row in LOWERED_ROUTES[route].every_product if isinstance(row, FragmentProduct))
    return [row for row in rows if compiler.has(device, row.instructions[0])]


@dataclass(frozen=True)
class MultiplyAdd(_OfRoute):
    """A multiply-add without a loop: the machine code must have as many instructions as the shape needs."""

    product: FragmentProduct
    variant: Variant
    what = "multiply-adds"

    @property
    def name(self) -> str:
        return f"{self.route} {self.variant}"

    @property
    def operands(self) -> Operands:
        a, b, c, _ = self.variant.components
        return default_operands(a, b, c) | (Operands.SATURATING if self.variant.saturating else Operands.NONE)

    @property
    def row(self) -> Instruction | None:
        return self.product.instruction(self.variant.a, self.variant.b, self.operands)

    @property
    def count(self) -> int:
        v, p = self.variant, self.product
        return v.m // p.m * (v.n // p.n) * (v.k // p.k)

    @property
    def instruction(self) -> str:
        assert self.row is not None, "others are no jobs"
        return self.compiler.instruction(self.device, self.row)

    @property
    def wanted(self) -> str:
        return f"{self.count} {self.instruction}"

    @property
    def text(self) -> str:
        v = self.variant
        types = {name: t.opencl_c for name, t in zip("abc", v.components[:3], strict=True)}
        return _MULTIPLY_ADD.format(**types, m=v.m, n=v.n, k=v.k, operands=int(self.operands))

    def is_right(self, code: MachineCode) -> bool:
        return code.instructions == (self.instruction,) * self.count


@dataclass(frozen=True)
class Kernel(_OfRoute):
    """A run of a kernel of this repository: it must have matrix instructions if there are any for its types."""

    file: Path
    run: Run
    number: int
    what = "kernels"

    @property
    def name(self) -> str:
        return f"{self.file.stem} {self.number}"

    @property
    def wanted(self) -> str:
        return "some, for there are"

    @property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.run.options

    def is_right(self, code: MachineCode) -> bool:
        return bool(code.instructions) or not self.module.multiplies_by(self.options)


def jobs(compiler: Compiler, device: str) -> Iterator[Job]:
    """Yield all jobs for a device."""
    rows = (row for row in INSTRUCTIONS.values() if row.family in compiler.families)
    yield from (Call(device, compiler, row) for row in rows if compiler.has(device, row))
    if not isinstance(compiler, OpenCLCompiler):
        return
    for route in compiler.families:
        if having := products(compiler, device, route):
            every = (MultiplyAdd(device, compiler, route, row, v) for row in having for v in _variants(row))
            yield from (job for job in every if job.row is not None)
            yield from _kernels(device, compiler, route)


def _variants(row: FragmentProduct) -> Iterator[Variant]:
    """Yield variants of one instruction's shape, and variants of several instructions."""
    yield from row.variants()
    yield from row.variants(3, 2, 3)


def _kernels(device: str, compiler: OpenCLCompiler, route: str) -> Iterator[Kernel]:
    for file in sorted(KERNELS.glob("*.cl")):
        text = file.read_text(encoding="utf-8")
        if "coop_mat(" in text:
            for number, run in enumerate(parse_header(text, str(file)), 1):
                yield Kernel(device, compiler, route, file, run, number)
