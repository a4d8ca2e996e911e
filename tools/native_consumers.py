"""Test a compiler that accepts native modules with every operation of the language, in shapes of its targets.

Usage: tools/native-consumers --command 'CMD {device} {file}' [--devices dg2-g10,pvc,bmg-g21] [TEST ...]

The command compiles one module of SPIR-V for one device, prints the number of matrix instructions ("8 dpas", see
--instructions), and exits with status 0 if it accepts the module. The tests are the conformance runner's, in both of
its languages, and the kernels that have matrices. The exit status is 1 if that compiler crashes, rejects a module that
it should accept, or emits fewer matrix instructions than there are multiply-adds.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from coopmat import compiler
from coopmat.cts.experiment import Place
from coopmat.cts.operations import OPERATIONS, Operation, Setting
from coopmat.cts.profile import Profile
from coopmat.cts.schedule import MODES
from coopmat.cts.writers import Writer
from coopmat.cts.writers.assembly import AssemblyWriter
from coopmat.cts.writers.c import CWriter
from coopmat.devices import from_key_values
from coopmat.diagnostics import CompileError
from coopmat.foreign.consumers.parts import Parts
from coopmat.matrices.native_library import access_name as access
from coopmat.matrices.supported import Supported, parse_variants
from coopmat.matrices.variants import ComponentType, Layout, MatrixType
from coopmat.native_profiles import NATIVE_PROFILES
from coopmat.options import CompileOptions
from coopmat.runtime.runheader import parse_header
from coopmat.spirv import joint_matrix
from coopmat.spirv.module import OP, Instruction, Module
from coopmat.spirv.tools import assemble

KERNELS = Path(__file__).parents[1] / "kernels"
SECONDS = 300
_WRITERS: Mapping[str, type[Writer]] = {"c": CWriter, "spirv": AssemblyWriter}
_CRASHED = re.compile(r"segmentation fault|internal compiler error|core dumped|assertion|aborted", re.IGNORECASE)
# The exit statuses with which a shell reports signals.
_SIGNALS = range(129, 160)


@dataclass(frozen=True)
class Target:
    """A device name that the command accepts, with the device's properties.

    sub_group_size: in work-items.
    variants: the names of the multiply-adds, separated by blanks.
    lacks: patterns of the `accesses` that the device lacks.
    extensions: the OpenCL extensions.
    """

    sub_group_size: int
    variants: str
    lacks: tuple[str, ...]
    extensions: str = "cl_khr_fp16"

    def profile(self) -> Profile:
        variants = parse_variants(self.variants)
        text = f'CL_DEVICE_TYPE=GPU\nCL_DEVICE_IL_VERSION="SPIR-V_1.4"\nCL_DEVICE_EXTENSIONS={self.extensions}\n'
        device = replace(from_key_values(text, "target"), variants=variants, sub_group_sizes=(self.sub_group_size,))
        adds = tuple((variant, self.sub_group_size) for variant in variants)
        types = tuple((matrix, self.sub_group_size) for matrix in Supported(variants).matrix_types)
        return Profile(device, "native", adds, types, pointer_alignment=64, stride_multiple=64)


def _variants(columns: int, more: str) -> str:
    """Return the names of the variants with `columns` columns of the result that all such targets have, and `more`."""
    floats = [f"{m}x{columns}x16.{t}x{t}_f32_f32" for m in (1, 8) for t in ("f16", "bf16")]
    integers = [f"8x{columns}x32.{a}x{b}_s32_s32" for a in ("s8", "u8") for b in ("s8", "u8")]
    words = [*floats, *integers, f"8x{columns}x32.u8xu8_u32_u32", f"8x{columns}x32.s8xs8_s32_s32.sat"]
    return " ".join([*words, more])


_LACKS = dict(NATIVE_PROFILES["igc"].lacks)
_WIDE = Target(
    16,
    _variants(
        16,
        "8x16x16.f16xf16_f16_f16 8x16x16.bf16xbf16_bf16_bf16 16x16x16.f16xf16_f32_f32 16x16x16.bf16xbf16_f32_f32"
        " 32x64x16.f16xf16_f32_f32",
    ),
    (
        *_LACKS[16],
        *(f"coord {shape}.*" for shape in ("1x16.?", "32x16.A", "16x64.B", "32x64.C")),
        "coord 8x16.C.16",
    ),
    "cl_khr_fp16 cl_khr_fp64",
)
TARGETS = {
    "dg2-g10": Target(
        8,
        _variants(8, "32x32x16.f16xf16_f32_f32"),
        (
            *_LACKS[8],
            *(f"coord {shape}.*" for shape in ("1x16.A", "1x8.C", "32x16.A", "16x32.B", "32x32.C")),
            "double",
        ),
    ),
    **dict.fromkeys(("pvc", "bmg-g21", "lnl-m"), _WIDE),
}


@dataclass(frozen=True)
class Job:
    """A module to be made: its test, its name, the device, and the function that makes the SPIR-V."""

    test: str
    name: str
    device: str
    make: Callable[[], bytes]


@dataclass(frozen=True)
class Result:
    """The result of a job.

    status: "ok"; "lacks" (an access that the target is known to lack); "shapes" (which the target lacks); or a fault:
    "refused", "crash", "instructions" (too few), "error" (of our compiler).
    text: details.
    """

    job: Job
    status: str
    text: str = ""


GOOD = ("ok", "lacks", "shapes")


# --- making the modules


@dataclass(frozen=True)
class TargetSetting(Setting):
    """A setting that by default chooses a layout for which the target has both the load and the store."""

    lacks: tuple[str, ...] = ()

    def place(
        self,
        name: str,
        matrix: MatrixType,
        layout: Layout | None = None,
        vector: int = 1,
        scalar: ComponentType | None = None,
    ) -> Place:
        if layout is None:
            open_ = (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)
            layout = next((known for known in open_ if not self._lacking(matrix, known)), None)
        return super().place(name, matrix, layout, vector, scalar)

    def _lacking(self, matrix: MatrixType, layout: Layout) -> bool:
        kinds = [access(word, matrix, layout) for word in ("load", "store")]
        return any(fnmatch.fnmatch(kind, pattern) for kind in kinds for pattern in self.lacks)


def operation_jobs(device: str, options: CompileOptions) -> Iterator[Job]:
    """Yield a job for every variant of every operation in both languages, except those that SPIR-V lacks."""
    profile = TARGETS[device].profile()
    for operation in OPERATIONS.values():
        for case in operation.cases(profile):
            setting = TargetSetting(case, profile, lacks=TARGETS[device].lacks)
            for mode in MODES:
                if operation.has(mode, case):
                    make = partial(_make_operation, options, mode, operation, setting)
                    yield Job(f"{mode}_{operation.name}", case.name, device, make)


def _make_operation(options: CompileOptions, mode: str, operation: Operation, setting: Setting) -> bytes:
    writer = _WRITERS[mode](operation.experiment(setting), setting.case.sub_group_size)
    operation.write(setting, writer)
    text = writer.text("test")
    if mode == "c":
        return compiler.compile(text, options, name="test.cl").spirv
    binary = assemble(text, f"spv{options.spirv_version}")
    return compiler.compile(binary, options, name="test.spv", language="spv").spirv


def kernel_jobs(device: str, options: CompileOptions) -> Iterator[Job]:
    """Yield a job for every kernel with matrices, with the options of its header."""
    variants = tuple(variant.name for variant in parse_variants(TARGETS[device].variants))
    for path in sorted(KERNELS.glob("*.cl")):
        text = path.read_text(encoding="utf-8")
        if "coop_mat(" not in text:
            continue
        for run in parse_header(text, str(path))[:1]:
            own = CompileOptions.from_arguments(run.options)
            wanted = replace(options, defines=own.defines, variants=variants, device=device)
            yield Job("kernels", path.stem, device, partial(_make_kernel, text, wanted, path.name))


def _make_kernel(text: str, options: CompileOptions, name: str) -> bytes:
    return compiler.compile(text, options, name=name).spirv


# --- the contents of the modules


def accesses(parts: Parts) -> set[str]:
    """Return the loads, stores and coordinates of matrices as texts such as "load 8x16.A.16 colm".

    A text has the shape, the use, the bits of a component and the layout. "double" is added if the module uses double:
    a conversion from `ulong` to bfloat16 does.
    """
    parts.types.read_matrices({})
    names = {OP["OpCooperativeMatrixLoadKHR"]: ("load", 1), OP["OpCooperativeMatrixStoreKHR"]: ("store", 2)}
    found = {"double"} if parts.globals.find(OP["OpTypeFloat"], (64,)) is not None else set()
    for item in _code(parts):
        if item.opcode in names:
            word, at = names[item.opcode]
            matrix = parts.types.matrices[item.result_type or parts.types.of(item.operands[1])]
            found.add(access(word, matrix, Layout(parts.types.constants.value(item.operands[at]))))
        elif item.opcode == joint_matrix.COORDINATES:
            found.add(access("coord", parts.types.matrices[parts.types.of(item.operands[0])]))
    return found


def multiply_adds(parts: Parts) -> int:
    return sum(item.opcode == OP["OpCooperativeMatrixMulAddKHR"] for item in _code(parts))


def _code(parts: Parts) -> Iterator[Instruction]:
    return (item for body in parts.functions for item in body)


# --- the command


@dataclass(frozen=True)
class Consumer:
    """The compiler that is tested.

    command: the words of the command, with {device} and {file}.
    instructions: a pattern that finds the number of matrix instructions in the command's output.
    place: the directory for modules.
    """

    command: Sequence[str]
    instructions: re.Pattern[str]
    place: Path

    def take(self, job: Job) -> Result:
        try:
            spirv = job.make()
        except CompileError as error:
            shapes = all(d.code.startswith("coop-mat-target") for d in error.diagnostics)
            return Result(job, "shapes" if shapes else "error", str(error))
        except Exception as error:
            return Result(job, "error", f"{type(error).__name__}: {error}")
        file = self.place / f"{job.test}.{job.name}.{job.device}.spv"
        file.write_bytes(spirv)
        words = [word.replace("{device}", job.device).replace("{file}", str(file)) for word in self.command]
        try:
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return Result(job, "crash", f"it took more than {SECONDS} seconds")
        return self.judge(job, Parts.of(Module.parse(spirv)), done.returncode, done.stdout + done.stderr)

    def judge(self, job: Job, parts: Parts, status: int, text: str) -> Result:
        if status < 0 or status in _SIGNALS or _CRASHED.search(text):
            return Result(job, "crash", text)
        if status:
            lacks = TARGETS[job.device].lacks
            lacking = sorted(a for a in accesses(parts) if any(fnmatch.fnmatch(a, pattern) for pattern in lacks))
            return Result(job, "lacks", "\n".join(lacking)) if lacking else Result(job, "refused", text)
        made, wanted = sum(map(int, self.instructions.findall(text))), multiply_adds(parts)
        if made < wanted:
            return Result(job, "instructions", f"{made} matrix instructions of {wanted} multiply-adds\n{text}")
        return Result(job, "ok", str(made))


# --- the table


def table(results: Sequence[Result], devices: Sequence[str]) -> str:
    """Return a table with a line for each test: the number of variants with each status, for each device."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for result in results:
        counts.setdefault((result.job.test, result.job.device), Counter())[result.status] += 1
    tests = list(dict.fromkeys(result.job.test for result in results))
    width = max(map(len, tests), default=0)
    lines = [f"{'':{width}}  " + "".join(f"{device:26}" for device in devices)]
    for test in tests:
        cells = [", ".join(f"{n} {s}" for s, n in sorted(counts.get((test, d), {}).items())) for d in devices]
        lines.append(f"{test:{width}}  " + "".join(f"{cell:26}" for cell in cells).rstrip())
    return "\n".join(lines)


def report(results: Sequence[Result], devices: Sequence[str]) -> int:
    """Print the table, the missing accesses and the faults, and return the exit status."""
    print(table(results, devices))
    for device in devices:
        lacking = {
            line for r in results if r.job.device == device and r.status == "lacks" for line in r.text.split("\n")
        }
        if lacking:
            print(f"\n{device} lacks: " + ", ".join(sorted(lacking)))
    wrong = [result for result in results if result.status not in GOOD]
    for result in wrong:
        told = [line for line in result.text.splitlines() if line.strip()]
        print(f"\n{result.status}: {result.job.device} {result.job.test} {result.job.name}")
        print("\n".join(f"    {line[:200]}" for line in told[:6]))
    taken = sum(int(result.text) for result in results if result.status == "ok")
    print(f"\n{len(results)} modules, {taken} matrix instructions; wrong: {len(wrong)}")
    return 0 if not wrong and any(result.status == "ok" for result in results) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help="such as c_add or kernels, with * for anything")
    parser.add_argument("--command", required=True, help="compiles {file} for {device}")
    parser.add_argument("--devices", default="dg2-g10,pvc,bmg-g21", help=", ".join(TARGETS))
    parser.add_argument("--native-profile", default="igc", choices=list(NATIVE_PROFILES))
    parser.add_argument("--instructions", default=r"(\d+) dpas", help="what finds their number in the command's output")
    parser.add_argument("--keep", type=Path, help="the directory for the modules")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    devices = given.devices.split(",")
    if unknown := set(devices) - TARGETS.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    options = CompileOptions(native_profile=given.native_profile, no_warnings=True)
    every = [job for d in devices for jobs in (operation_jobs, kernel_jobs) for job in jobs(d, options)]
    chosen = [job for job in every if not given.tests or any(fnmatch.fnmatch(job.test, t) for t in given.tests)]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(given.jobs) as pool:
        place = given.keep or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        consumer = Consumer(shlex.split(given.command), re.compile(given.instructions), place)
        return report(list(pool.map(consumer.take, chosen)), devices)


if __name__ == "__main__":
    sys.exit(main())
