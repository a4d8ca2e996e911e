"""Test the vendors' matrix instructions with the vendors' compilers: count the instructions in the machine code.

Usage: tools/vendor-compilers [--directory DIR] [--ocloc COMMAND] [--devices sm_80,gfx1100,...] [--markdown] [NAME ...]

Each kernel is compiled for each device that has its instructions:

    functions      a call of each function of `coopmat.matrices.vendor_instructions`, without a loop: exactly that
                   instruction, once
    multiply-adds  OpenCL C of the routes mma, wmma, mfma and dpas, of one multiply-add without a loop: for each
                   product, each choice of types and signs, saturating and not, one of the instruction's shape and one
                   of several: as many of the instruction as the shape needs, and no other
    kernels        those of kernels/ that have matrices, by these routes: at least one instruction, if there are
                   instructions for their types

The tables have the registers of a work-item (Intel: of a thread), and the bytes of a work-item's data that are in
memory instead.

NVIDIA: the compiler, assembler and disassembler are wheels, which are fetched into DIR. NVIDIA's OpenCL C compiler is a
part of the driver, so functions are compiled as CUDA, by a shim of some lines (sm_80), and everything as OpenCL C by
clang (sm_80-cl). AMD: clang, on which AMD's OpenCL C compiler is based. Intel: ocloc. Missing compilers are left out,
with a hint on how to install them. The exit status is 1 if a result is wrong, 2 if no compiler is found.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vendor_kernels import Call, Job, Kernel, MultiplyAdd, Result, jobs
from vendor_toolchains import Compiler, MachineCode, Missing, compilers

DIRECTORY = Path(__file__).parents[1] / ".venv" / "share" / "vendor-compilers"
KINDS: tuple[type[Job], ...] = (Call, MultiplyAdd, Kernel)


def selection(compiler: Compiler, devices: Sequence[str], patterns: Sequence[str]) -> list[Job]:
    """Return the jobs of which the kind, the name or a word of the name matches a pattern; all if none is given."""
    places = [device for device in compiler.devices if not devices or device in devices]
    every = (job for device in places for job in jobs(compiler, device))
    return [job for job in every if not patterns or any(_is_of(job, pattern) for pattern in patterns)]


def _is_of(job: Job, pattern: str) -> bool:
    return any(fnmatch.fnmatch(word, pattern) for word in (job.what, job.name, *job.name.split()))


# --- the tables


def line(result: Result) -> str:
    job, code = result.job, result.code
    use = f"{code.registers:4} registers {code.memory:6} bytes" if code else ""
    wanted = f"{len(code.instructions)} instructions" if code and isinstance(job, Kernel) else job.wanted
    return f"{job.device:9} {job.name:48} {'WRONG' if result.wrong else 'ok':6} {wanted:40} {use}".rstrip()


def summary(results: Sequence[Result]) -> Iterator[list[str]]:
    """Yield the rows of a table: for each device and kind of job, right results, most registers, and memory."""
    yield ["target", *(head for kind in KINDS for head in (kind.what, "registers", "memory"))]
    for device in dict.fromkeys(result.job.device for result in results):
        row = [device]
        for kind in KINDS:
            own = [result for result in results if result.job.device == device and isinstance(result.job, kind)]
            row += _cells(own)
        yield row


def _cells(results: Sequence[Result]) -> list[str]:
    if not results:
        return ["", "", ""]
    right = sum(not result.wrong for result in results)
    codes = [result.code for result in results if result.code]
    return [
        f"{right}" if right == len(results) else f"{right} of {len(results)}",
        str(max((code.registers for code in codes), default=0)),
        _memory(codes),
    ]


def _memory(codes: Sequence[MachineCode]) -> str:
    having = [code.memory for code in codes if code.memory]
    return f"{len(having)}: up to {max(having)}" if having else "0"


def counts(results: Sequence[Result]) -> Iterator[list[str]]:
    """Yield the rows of a table: for each kernel, the number of matrix instructions on each device."""
    found = {(r.job.name, r.job.device): r for r in results if isinstance(r.job, Kernel)}
    devices = list(dict.fromkeys(device for _, device in found))
    yield ["kernel", *devices]
    for name in dict.fromkeys(name for name, _ in found):
        cells = [found.get((name, device)) for device in devices]
        yield [name, *(str(len(r.code.instructions)) if r and r.code else "" for r in cells)]


def markdown(rows: Iterator[list[str]]) -> str:
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rest))


def plain(rows: Iterator[list[str]]) -> str:
    every = list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    lines = ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in every)
    return "\n".join(line.rstrip() for line in lines)


def report(results: Sequence[Result], in_markdown: bool) -> None:
    if not in_markdown:
        print("\n".join(map(line, results)) + "\n")
    written = markdown if in_markdown else plain
    print(written(summary(results)))
    if any(isinstance(result.job, Kernel) for result in results):
        print("\n" + written(counts(results)))
    wrong = [result for result in results if result.wrong]
    for result in wrong:
        told = "\n".join(f"    {text[:200]}" for text in result.wrong.splitlines()[:6])
        print(f"\n{result.job.device} {result.job.name}:\n{told}")
    functions = {result.job.name for result in results if isinstance(result.job, Call) and not result.wrong}
    print(f"\n{len(functions)} functions, {len(results) - len(wrong)} kernels right; wrong: {len(wrong)}")


# --- the command


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = "such as cm_mma_*, 'gemm_*', 'mma 16x8x16.*' or multiply-adds; by default all"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--directory", type=Path, default=DIRECTORY, help="for what is fetched")
    parser.add_argument("--devices", default="", help="such as sm_80,gfx1100; by default all")
    parser.add_argument("--ocloc", default="ocloc", help="Intel's offline compiler, a command")
    parser.add_argument("--markdown", action="store_true", help="print the tables as docs/vendors.md has them")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    options.devices = [device for device in options.devices.split(",") if device]
    options.compilers = compilers(options.directory, options.ocloc)
    known = [device for compiler in options.compilers for device in compiler.devices]
    if unknown := set(options.devices) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(arguments)
    results: list[Result] = []
    for compiler in options.compilers:
        work = selection(compiler, options.devices, options.names)
        if not work:
            continue
        try:
            compiler.prepare()
        except Missing as reason:
            print(f"left out: {', '.join(compiler.devices)}: {reason}", file=sys.stderr)
            continue
        with ThreadPoolExecutor(options.jobs) as pool:
            results += pool.map(lambda job: job.result(), work)
    if not results:
        return 2
    report(results, options.markdown)
    return int(any(result.wrong for result in results))


if __name__ == "__main__":
    sys.exit(main())
