"""`coopmat cluster`: start a worker of a dask.distributed cluster, or list the devices of all workers."""

from __future__ import annotations

import json

import click

from coopmat.cluster import dask_engine
from coopmat.cluster.identity import version

from .status import ExitStatus


@click.group(no_args_is_help=True)
def command() -> None:
    """Start a worker on this machine, or list the devices of all workers.

    Run `dask scheduler` on one machine and `coopmat cluster worker ADDRESS` on each. Then pass `--cluster ADDRESS` to
    `coopmat cts`, `coopmat compile --batch` or the campaigns in tools/ (docs/cluster.md).

    Example: coopmat cluster worker tcp://lab1:8786
    """


@command.command()
@click.argument("address")
@click.option("--device", metavar="D", default="", help="Use only this device: part of its name, or its numbers.")
@click.option(
    "--units",
    "per_device",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Run N units at a time on a device (default 1).",
)
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Run N units at a time in all.")
@click.option("--name", help="Name the worker for the scheduler.")
def worker(address: str, device: str, per_device: int, threads: int | None, name: str | None) -> int:
    """Start a worker with this machine's devices.

    ADDRESS is the scheduler's. Ctrl-C ends the worker.

    Example: coopmat cluster worker tcp://lab1:8786 --device intel
    """
    own = dask_engine.local_identity(device)
    for found in own.devices:
        fault = f" (it builds nothing: {found.health})" if found.health else ""
        click.echo(f"{found.resource}: {found.info.platform}: {found.info.name}{fault}", err=True)
    click.echo(f"coopmat {own.version}", err=True)
    count = threads or max(1, len(own.devices) * per_device)
    dask_engine.serve(address, own.resources(per_device), count, name)
    return ExitStatus.DONE


@command.command()
@click.argument("address")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def devices(address: str, as_json: bool) -> int:
    """List the devices of a cluster's workers.

    Example: coopmat cluster devices tcp://lab1:8786
    """
    engine = dask_engine.DaskEngine(address, lambda text: click.echo(text, err=True))
    try:
        lab = engine.devices()
    finally:
        engine.close()
    rows = [
        {
            "worker": place,
            "machine": own.machine,
            "resource": d.resource,
            "platform": d.info.platform,
            "name": d.info.name,
        }
        | {"driver": d.info.driver, "fault": d.health}
        for place, own in sorted(lab.items())
        for d in own.devices
    ]
    if as_json:
        click.echo(json.dumps({"version": version(), "devices": rows}, indent=2))
    for row in () if as_json else rows:
        fault = f"  builds nothing: {row['fault']}" if row["fault"] else ""
        click.echo(f"{row['machine']}  {row['worker']}  {row['resource']}  {row['platform']}: {row['name']}{fault}")
    return ExitStatus.DONE if rows else ExitStatus.INPUT
