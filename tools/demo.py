"""The demonstration of `tools/demo`: every kernel in kernels/, native and on the lowered routes, in one table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from coopmat import compiler
from coopmat.cli.report import Reporter
from coopmat.cli.status import ExitStatus, findings
from coopmat.devices import DeviceInfo, select
from coopmat.options import CompileOptions
from coopmat.runtime import parse_header, run_source
from coopmat.runtime.runheader import Run

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
LOWERINGS = ("one", "lanes", "scratch")
WIDTHS = (16, 22, 32, 32, 32)
# Kernels that only --all includes: they take longest, and are variants of others.
SLOW = ("flash_attention", "gemm_bias_scale", "gemm_blocks", "gemm_q6_k", "gemm_q8_0", "layer_norm_gemm")


@dataclass(frozen=True)
class Cell:
    """An entry of the table: its text, and whether the result is right."""

    text: str
    ok: bool


def native(source: bytes, path: Path, run: Run) -> Cell:
    """Compile a run natively, and return its size as a cell, which is right only if spirv-val accepted the module."""
    options = CompileOptions.from_arguments(["--matrices", "native", *run.options])
    module = compiler.compile(source, options, name=str(path))
    size = f"{len(module.spirv)} bytes"
    return Cell(f"{size}, validated" if module.validated else f"{size}, NOT validated", module.validated)


def lowered(source: bytes, path: Path, run: Run, device: DeviceInfo, how: str) -> Cell:
    """Run on the device, and return the result of the checks as a cell, which is right only if there are checks."""
    result = run_source(source, str(path), run, device, ["--matrices", how])
    if not result.checks:
        return Cell("not checked", False)
    outcome = "ok" if result.ok else "WRONG"
    return Cell(f"{outcome}, max error {result.max_error:.2g}, {result.median_time * 1e3:.2f} ms", result.ok)


def attempt(make: Callable[..., Cell], *arguments: Any) -> Cell:
    """Return the cell of `make(*arguments)`; if it raises, print the diagnostics and return a cell for the failure."""
    try:
        return make(*arguments)
    except Exception as error:
        items, sources, _ = findings(error)
        Reporter().show(items, sources)
        return Cell(f"FAILED: {items[0].code}", False)


def rows(paths: list[Path], device: DeviceInfo, first_only: bool) -> Iterator[tuple[str, list[Cell]]]:
    """Yield a row for every run of every kernel file, or for the first run of each: its name, native, each lowering."""
    for path in paths:
        source = path.read_bytes()
        runs = parse_header(source.decode(), str(path))
        if not runs:
            yield path.stem, [Cell("FAILED: no '// run:' line", False)]
        for run in runs[:1] if first_only else runs:
            cells = [attempt(native, source, path, run)]
            cells += [attempt(lowered, source, path, run, device, how) for how in LOWERINGS]
            yield run.kernel.text if run.kernel else path.stem, cells


def print_row(texts: Sequence[str]) -> None:
    """Print a row immediately, so that progress is visible."""
    click.echo("  ".join(text.ljust(width) for text, width in zip(texts, WIDTHS, strict=False)).rstrip())
    sys.stdout.flush()


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--device", metavar="D", help="Run on this device instead of the first one.")
@click.option("--all", "everything", is_flag=True, help="Every run of every kernel, not the first of the quick ones.")
def main(files: tuple[Path, ...], device: str | None, everything: bool) -> None:
    """Compile, validate, run and check the kernels (default: those of kernels/ that take seconds)."""
    start = time.perf_counter()
    paths = list(files) or sorted(path for path in KERNELS.glob("*.cl") if everything or path.stem not in SLOW)
    outcomes = []
    try:
        chosen = select(device)
        print_row(["kernel", "native SPIR-V", *LOWERINGS])
        print_row(["-" * width for width in WIDTHS])
        for name, cells in rows(paths, chosen, not (everything or files)):
            print_row([name, *(cell.text for cell in cells)])
            outcomes.append(all(cell.ok for cell in cells))
    except Exception as error:
        sys.exit(Reporter().show_error(error))
    click.echo(
        f"\n{sum(outcomes)} of {len(outcomes)} right on {chosen.label}, in {time.perf_counter() - start:.1f} s"
        + ("" if everything or files else "; --all runs all kernels in all sizes")
    )
    sys.exit(ExitStatus.DONE if outcomes and all(outcomes) else ExitStatus.INPUT)


if __name__ == "__main__":
    main()
