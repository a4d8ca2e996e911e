"""The demonstration behind `tools/demo`: every kernel in kernels/, native and through the lowerings, in one table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
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


@dataclass(frozen=True)
class Cell:
    """One entry of the table."""

    text: str
    ok: bool


def native(source: bytes, path: Path, run: Run) -> Cell:
    """Compile with the cooperative-matrix instructions; right only if spirv-val accepted it."""
    options = CompileOptions.from_arguments(["--matrices", "native", *run.options])
    module = compiler.compile(source, options, name=str(path))
    size = f"{len(module.spirv)} bytes"
    return Cell(f"{size}, validated" if module.validated else f"{size}, NOT validated", module.validated)


def lowered(source: bytes, path: Path, run: Run, device: DeviceInfo, how: str) -> Cell:
    """Run on the device and compare with numpy; right only if there was something to compare."""
    result = run_source(source, str(path), run, device, ["--matrices", how])
    if not result.checks:
        return Cell("not checked", False)
    outcome = "ok" if result.ok else "WRONG"
    return Cell(f"{outcome}, max error {result.max_error:.2g}, {result.median_time * 1e3:.2f} ms", result.ok)


def attempt(make: Callable[..., Cell], *arguments: Any) -> Cell:
    """A failure is a cell too; its diagnostics go to standard error."""
    try:
        return make(*arguments)
    except Exception as error:
        items, sources, _ = findings(error)
        Reporter().show(items, sources)
        return Cell(f"FAILED: {items[0].code}", False)


def table(paths: list[Path], device: DeviceInfo) -> list[tuple[str, list[Cell]]]:
    """A row for every run of every kernel file: its name, then native and each lowering."""
    rows = []
    for path in paths:
        source = path.read_bytes()
        runs = parse_header(source.decode(), str(path))
        if not runs:
            rows.append((path.stem, [Cell("FAILED: no '// run:' line", False)]))
        for run in runs:
            cells = [attempt(native, source, path, run)]
            cells += [attempt(lowered, source, path, run, device, how) for how in LOWERINGS]
            rows.append((run.kernel.text if run.kernel else path.stem, cells))
    return rows


def print_table(rows: list[tuple[str, list[Cell]]]) -> None:
    lines = [["kernel", "native SPIR-V", *LOWERINGS], *([name, *(cell.text for cell in cells)] for name, cells in rows)]
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(lines[0]))]
    for number, line in enumerate(lines):
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)).rstrip())
        if number == 0:
            click.echo("  ".join("-" * width for width in widths))


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--device", metavar="D", help="Run on this device instead of the first one.")
def main(files: tuple[Path, ...], device: str | None) -> None:
    """Compile, validate, run and check the kernels (default: all of kernels/)."""
    start = time.perf_counter()
    try:
        chosen = select(device)
        rows = table(list(files) or sorted(KERNELS.glob("*.cl")), chosen)
    except Exception as error:
        sys.exit(Reporter().show_error(error))
    print_table(rows)
    right = sum(all(cell.ok for cell in cells) for _, cells in rows)
    click.echo(f"\n{right} of {len(rows)} right on {chosen.label}, in {time.perf_counter() - start:.1f} s")
    sys.exit(ExitStatus.DONE if rows and right == len(rows) else ExitStatus.INPUT)


if __name__ == "__main__":
    main()
