"""`coopmat bench`: the speed of coopmat.linalg compared with that of the installed libraries."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coopmat.options import UsageError

from .files import write_outputs
from .progress import progress
from .status import ExitStatus

if TYPE_CHECKING:
    from coopmat.bench import Case, Machine, Result
    from coopmat.devices import DeviceInfo

OPERATIONS = ("gemm", "gemv", "attention", "gemm_quantized", "conv2d")
LIBRARIES = ("numpy", "onnxruntime", "torch", "libclblast")
_MIDDLE = 2 * 1024**3  # the operations of the product whose tiles are drawn, if there is one


def _words(context: click.Context, parameter: click.Parameter, value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _libraries(context: click.Context, parameter: click.Parameter, value: str) -> list[str]:
    words = _words(context, parameter, value)
    for word in words:
        if word not in LIBRARIES:
            raise click.BadParameter(f"'{word}' is not one of {', '.join(LIBRARIES)}", context, parameter)
    return words


@click.command()
@click.argument("operations", nargs=-1, type=click.Choice(OPERATIONS), metavar="[OPERATION]...")
@click.option("--types", default="", callback=_words, metavar="T,...", help="Component types, or formats of weights.")
@click.option(
    "--shapes", default="", callback=_words, metavar="S,...", help="Shapes of a single OPERATION: 512x512x512."
)
@click.option("--device", metavar="D", help="A part of the name of a platform or device, or PLATFORM:DEVICE numbers.")
@click.option("--turns", type=click.IntRange(1), default=7, show_default=True, help="The turns of each contender.")
@click.option("--constant", is_flag=True, help="Let gemm and the others copy B once; for bytes, they always do.")
@click.option(
    "--against",
    default=",".join(LIBRARIES),
    callback=_libraries,
    metavar="L,...",
    help="Compare with these libraries only.",
)
@click.option("--clblast", default="", metavar="FILE", help="libclblast; by default, the one that the system finds.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write all times, the machine and the versions to FILE.",
)
@click.option(
    "--plot", "directory", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Draw plots in DIR."
)
def command(
    operations: tuple[str, ...],
    types: list[str],
    shapes: list[str],
    device: str | None,
    turns: int,
    constant: bool,
    against: list[str],
    clblast: str,
    json_file: str | None,
    directory: Path | None,
) -> int:
    """Compare coopmat.linalg in speed with numpy, onnxruntime, PyTorch and libclblast, if they are installed.

    OPERATION is gemm, gemv, attention, gemm_quantized or conv2d; by default, all are compared. Each result is compared
    with numpy's first. Each contender runs in a separate process, in turns. Leave the machine idle meanwhile.

    Example: coopmat bench gemm --types f32,bf16 --shapes 512x512x512
    """
    from rich.console import Console

    from coopmat import bench
    from coopmat.devices import select

    cases = bench.cases_of(operations, types, shapes, is_constant=constant)
    if directory is not None:
        bench.require_matplotlib()
    if json_file is not None and not Path(json_file).parent.is_dir():
        raise UsageError(f"--json: there is no directory {Path(json_file).parent}")  # before minutes of measurements
    info, versions = select(device), bench.installed(against, clblast)
    console = Console(width=None if sys.stdout.isatty() else 100)
    threads = info.compute_units if info.kind == "CPU" else os.cpu_count() or 1
    setup = bench.Setup(info.index, info.kind == "GPU", threads, versions.get("libclblast", ""))
    machine = bench.machine_of(info, threads, versions, [case.peak_type for case in cases])
    _print_machine(console, machine, against)
    results: list[Result] = []
    with progress() as bar:
        bar.begin(len(cases))
        for group in bench.compare(cases, list(versions), setup, turns, bar.advance):
            bench.print_results(console, group, machine)
            results += group
    bench.print_summary(console, results)
    tiles, title = _tiles(info, cases) if directory is not None else ({}, "")
    if json_file is not None:
        text = json.dumps({**bench.record(results, machine), "tiles": bench.tile_rows(tiles)}, indent=1)
        write_outputs({json_file: f"{text}\n".encode()})
    if directory is not None:
        for path in bench.draw(directory, results, machine, tiles, title):
            console.print(f"wrote {path}", markup=False)
    return ExitStatus.DONE if all("coopmat" in result.seconds for result in results) else ExitStatus.INPUT


def _print_machine(console: Any, machine: Machine, against: list[str]) -> None:
    from coopmat import bench

    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    console.print(f"{machine.device}, {machine.threads} threads; {versions}", markup=False)
    missing = bench.missing(against, machine.versions)
    if missing:
        console.print(f"not installed: {', '.join(missing)}", markup=False)
    for name, why in machine.not_measured.items():
        console.print(f"{name} not measured: {why}", markup=False)


def _tiles(info: DeviceInfo, cases: list[Case]) -> tuple[dict[tuple[int, int], float], str]:
    """Return the times of tiles, and a title, for the product of middle size; none if no product was compared."""
    from coopmat.bench import tile_times

    products = [case for case in cases if case.operation == "gemm"]
    if not products:
        return {}, ""
    case = min(products, key=lambda case: max(case.flop / _MIDDLE, _MIDDLE / case.flop))
    batch, m, n, k = case.shape
    return tile_times(info, case.type, (batch, m, n, k)), f"gemm {case.label}, {case.type}: ms by tile"
