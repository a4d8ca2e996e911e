"""`coopmat devices`: every OpenCL device, and what a program with matrices gets there."""

from __future__ import annotations

import json
import sys

import click

from coopmat.devices import DeviceInfo, list_devices, prepare, route_for
from coopmat.devices.environment import INSTALL_COMMAND

from .status import ExitStatus


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def command(as_json: bool) -> int:
    """List the OpenCL devices and the route each of them gets."""
    devices = list_devices()
    if as_json:
        click.echo(json.dumps([as_dict(device) for device in devices], indent=2))
    elif not devices:
        click.echo(f"no OpenCL device was found; one for the CPU comes with: {INSTALL_COMMAND}", err=True)
        click.echo(prepare().note, err=True)
    elif sys.stdout.isatty():
        _print_table(devices)
    else:
        for device in devices:
            click.echo("\n".join([device.label, *(f"    {key}: {text}" for key, text in _rows(device).items())]))
    return ExitStatus.DONE if devices else ExitStatus.INPUT


def as_dict(device: DeviceInfo) -> dict[str, object]:
    """Everything known of a device, as JSON has it; sizes in work-items and bytes."""
    route = route_for(device)
    return {
        "index": device.index,
        "platform": device.platform,
        "name": device.name,
        "type": device.kind,
        "version": device.version,
        "driver": device.driver,
        "route": route.matrices,
        "why": route.why,
        "spirv_versions": list(device.spirv_versions),
        "sub_groups": device.sub_groups,
        "sub_group_sizes": list(device.sub_group_sizes),
        "fp16": device.fp16,
        "fp64": device.fp64,
        "compute_units": device.compute_units,
        "local_memory": device.local_memory,
        "extensions": sorted(device.extensions),
    }


def _rows(device: DeviceInfo) -> dict[str, str]:
    route = route_for(device)
    sizes = ", ".join(map(str, device.sub_group_sizes)) or ("not told" if device.sub_groups else "none")
    floats = ", ".join(name for name, has in (("half", device.fp16), ("float", True), ("double", device.fp64)) if has)
    return {
        "route": f"{route.matrices or 'none'} ({route.why})",
        "type": f"{device.kind}, {device.compute_units} compute units, {device.local_memory // 1024} KiB local memory",
        "version": f"{device.version}, driver {device.driver}",
        "SPIR-V": ", ".join(device.spirv_versions) or "none",
        "subgroup sizes": sizes,
        "floating point": floats,
    }


def _print_table(devices: list[DeviceInfo]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, show_lines=True)
    for device in devices:
        rows = _rows(device)
        table.add_row(device.label, "\n".join(rows), "\n".join(rows.values()))
    Console().print(table)
