"""`coopmat tune`: search faster tiles for the products of `coopmat.linalg` on a device."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from coopmat.options import UsageError

from .progress import progress
from .status import ExitStatus

if TYPE_CHECKING:
    from coopmat.devices import DeviceInfo
    from coopmat.tuning import Report, Task

_AT_ONCE = 16  # trials that a cluster gets at a time


def _seconds(ctx: click.Context, parameter: click.Parameter, value: str) -> float:
    """Return the seconds of a text such as 5m."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", value)
    if match is None or not float(match[1]):
        raise click.BadParameter(f"'{value}' is no duration, such as 90s, 5m or 1h", ctx, parameter)
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600, "": 1}[match[2]]


def _shapes(ctx: click.Context, parameter: click.Parameter, value: str | None) -> tuple[tuple[int, ...], ...]:
    """Return the shapes (matrices in the batch, m, n, k) of a text such as 512x512x512,96x128x64x128."""
    shapes = []
    for word in value.split(",") if value else ():
        if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){2,3}", word):
            raise click.BadParameter(f"'{word}' is no shape MxNxK or BATCHxMxNxK", ctx, parameter)
        sizes = tuple(map(int, word.split("x")))
        shapes.append((1, *sizes)[-4:])
    return tuple(shapes)


@click.command()
@click.argument("operation", type=click.Choice(["gemm"]))
@click.option(
    "--shapes", callback=_shapes, metavar="MxNxK,...", help="Tune for these shapes; BxMxNxK is a batch of B products."
)
@click.option("--types", default="f32", show_default=True, metavar="T,...", help="The component types of A and B.")
@click.option(
    "--budget", callback=_seconds, default="5m", show_default=True, metavar="TIME", help="The time for all shapes."
)
@click.option("--resume/--anew", default=None, help="Continue a run that was killed (default, if there is one).")
@click.option("--device", metavar="D", help="A part of the name of a platform or device, or PLATFORM:DEVICE numbers.")
@click.option("--cluster", metavar="ADDRESS", help="Run the trials on the workers of a cluster that have the device.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(operation: str, **options: Any) -> int:
    """Search faster tiles for coopmat.linalg's products on a device, and write those found to your table.

    By default, a shape of each class is tuned. Run it on an idle machine.

    Example: coopmat tune gemm --types f16 --shapes 1000x1000x1000
    """
    from coopmat.devices import require_health, select
    from coopmat.linalg.parameters import TableError
    from coopmat.tuning import DEFAULT_SHAPES, TYPES, Task, journal_for

    kinds = options["types"].split(",")
    for name in kinds:
        if name not in TYPES:
            raise UsageError(f"--types: {name} is not supported (supported: {', '.join(TYPES)})")
    device = select(options["device"])
    require_health(device)
    tasks = [Task(kind, shape) for kind in dict.fromkeys(kinds) for shape in options["shapes"] or DEFAULT_SHAPES]
    journal = journal_for(device, tasks)
    if options["resume"] and not len(journal):
        raise UsageError("--resume: no run with these shapes, types and this device was interrupted")
    if options["resume"] is False:
        journal.remove()
    if len(journal):
        click.echo(f"continuing after {len(journal)} trials, as {journal.path} says", err=True)
    try:
        report = _tune(device, tasks, options, journal)
    except TableError as error:
        raise UsageError(str(error)) from error
    click.echo(json.dumps(report.to_record(), indent=2) if options["as_json"] else str(report))
    return ExitStatus.DONE


def _tune(device: DeviceInfo, tasks: list[Task], options: dict[str, Any], journal: Any) -> Report:
    """Run the tuning on this machine, or on a cluster, with a progress bar."""
    from coopmat import tuning

    with progress() as bar:
        bar.begin(int(options["budget"]))
        if options["cluster"] is None:
            return tuning.tune(device, tasks, options["budget"], journal, progress=bar.show)
        from coopmat.cluster.dask_engine import DaskEngine

        engine = DaskEngine(options["cluster"], lambda text: click.echo(text, err=True))
        try:
            run = tuning.run_on(engine, engine.restrict(device))
            return tuning.tune(device, tasks, options["budget"], journal, run=run, at_once=_AT_ONCE, progress=bar.show)
        finally:
            engine.close()
