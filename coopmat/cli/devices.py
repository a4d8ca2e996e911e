"""`coopmat devices`: list every OpenCL and Vulkan device, and its route for a program with matrices."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from coopmat.devices import (
    DeviceInfo,
    by_preference,
    health,
    list_devices,
    native_profile_for,
    prepare,
    route_for,
    unit_for,
)
from coopmat.devices.environment import INSTALL_COMMAND
from coopmat.devices.query import COOPERATIVE_MATRIX
from coopmat.devices.sub_groups import sub_group_sizes
from coopmat.matrices.routes import IN_SUB_GROUPS, LISTED_ROUTES, OPENCL_C_ONLY
from coopmat.runtime.variants import variants_on_unit

from .status import ExitStatus

# The number of multiply-adds that the text lists.
_SHOWN = 6


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@click.option("--probe", is_flag=True, help="Try the matrix instructions of devices that do not list theirs.")
def command(as_json: bool, probe: bool) -> int:
    """List the OpenCL and Vulkan devices: whether each builds an empty kernel, its route, and its properties.

    Other commands and coopmat.context() use the first OpenCL device if none is named; `--device vulkan:NAME` names a
    Vulkan device.

    Example: coopmat devices --json
    """
    devices = list_devices()
    if probe:
        _probe(devices)
    on_vulkan, note = _vulkan_devices()
    # Check all devices at once, so that the next queries are answered from the cache.
    health.build_failures([*devices, *on_vulkan])
    every = [*by_preference(devices), *on_vulkan]
    if as_json:
        click.echo(json.dumps([as_dict(device) for device in every], indent=2))
        return ExitStatus.DONE if every else ExitStatus.INPUT
    if not devices:
        click.echo(f"no OpenCL device was found; one for the CPU comes with: {INSTALL_COMMAND}", err=True)
        click.echo(prepare().note, err=True)
    if every and sys.stdout.isatty():
        _print_table(every)
    else:
        for device in every:
            click.echo("\n".join([device.label, *(f"    {key}: {text}" for key, text in _rows(device).items())]))
    if note:
        click.echo(f"Vulkan: {note}", err=True)
    return ExitStatus.DONE if every else ExitStatus.INPUT


def _vulkan_devices() -> tuple[Sequence[DeviceInfo], str]:
    """Return the Vulkan devices, and how to get one if there are none."""
    from coopmat import vulkan

    try:
        return vulkan.list_devices(), ""
    except vulkan.NoVulkan as error:
        return [], str(error)


def _probe(devices: list[DeviceInfo]) -> None:
    """Run each unreported multiply-add in a child process.

    Those with correct results are recorded, and listed from then on.
    """
    from coopmat.runtime import instruction_probe, native_probe

    for device in devices:
        if unit := unit_for(device):
            instruction_probe.instructions(device, unit)
    for device in filter(native_probe.needs_proof, devices):
        for answer in native_probe.probe(device):
            click.echo(f"{device.label}: {answer.variant}: {'right' if answer.right else answer.text}", err=True)


def as_dict(device: DeviceInfo) -> dict[str, object]:
    """Return all properties of a device, in the form of the JSON output; sizes are in work-items or bytes.

    builds: whether the device builds an empty kernel.
    build_failure: the reason if it does not, else None.
    """
    from coopmat import vulkan

    route, failure = route_for(device), health.build_failure(device)
    return {
        "index": device.index,
        "platform": device.platform,
        "name": device.name,
        "type": device.kind,
        "version": device.version,
        "driver": device.driver,
        "builds": failure is None,
        "build_failure": failure,
        "route": route.matrices,
        "code": route.code,
        "why": route.why,
        "native_profile": native_profile_for(device),
        **_matrices(device),
        "spirv_versions": list(device.spirv_versions),
        "sub_groups": device.sub_groups,
        "sub_group_sizes": list(sub_group_sizes(device)),
        "sub_group_sizes_told": bool(device.sub_group_sizes),
        "fp16": device.fp16,
        "fp64": device.fp64,
        "compute_units": device.compute_units,
        "local_memory": device.local_memory,
        "extensions": sorted(device.extensions),
        "vulkan": vulkan.as_dict(device),
    }


def _matrices(device: DeviceInfo) -> dict[str, object]:
    """Return the device's support of matrices, as a part of the JSON output.

    native_variants: the multiply-adds that the device reports; None if it supports matrices and does not report which.
    proven_variants: unreported multiply-adds whose results were correct when `--probe` ran them.
    unit_variants: the multiply-adds that the device's matrix instructions implement by the route `unit`, in the
    instructions' shapes.
    lowerings: the lowered routes that the device can have.
    pointer_alignment, stride_multiple: the required alignment and multiple of native matrices in bytes, None if the
    device does not report them. Without native matrices they are 1, since lowerings take every type and shape at any
    multiple of the component.
    """
    native = COOPERATIVE_MATRIX in device.extensions or bool(device.target_env and device.variants)
    return {
        "native_variants": (_names(device) if native else []),
        "proven_variants": _proven(device),
        "unit": unit_for(device) or None,
        "unit_variants": [variant.name for variant in variants_on_unit(device, asks=False)],
        "lowerings": _lowerings(device),
        "pointer_alignment": device.pointer_alignment if native else 1,
        "stride_multiple": device.stride_multiple if native else 1,
    }


def _lowerings(device: DeviceInfo) -> list[str]:
    lowerings = [name for name in LISTED_ROUTES[1:] if device.sub_groups or name not in IN_SUB_GROUPS]
    units = {unit_for(device)} if variants_on_unit(device, asks=False) else set()
    return [name for name in lowerings if ":" not in name and (name not in OPENCL_C_ONLY or name in units)]


def _proven(device: DeviceInfo) -> list[str]:
    from coopmat.runtime import native_probe

    return [variant.name for variant in native_probe.proven(device)]


def _names(device: DeviceInfo) -> list[str] | None:
    return None if device.variants is None else [variant.name for variant in device.variants]


def _rows(device: DeviceInfo) -> dict[str, str]:
    if device.target_env:
        from coopmat import vulkan

        return vulkan.rows(device)
    route, failure = route_for(device), health.build_failure(device)
    floats = ", ".join(name for name, has in (("half", device.fp16), ("float", True), ("double", device.fp64)) if has)
    return {
        "empty kernel": "is built" if failure is None else f"CANNOT BE BUILT: {failure}".replace("\n", "\n        "),
        "route": f"{route.matrices} ({route.why})",
        "matrices": _describe_matrices(device),
        "matrix unit": _describe_unit(device),
        "type": f"{device.kind}, {device.compute_units} compute units, {device.local_memory // 1024} KiB local memory",
        "version": f"{device.version}, driver {device.driver}",
        "SPIR-V": ", ".join(device.spirv_versions) or "none",
        "subgroup sizes": _describe_sizes(device),
        "floating point": floats,
    }


def _describe_sizes(device: DeviceInfo) -> str:
    """Return the subgroup sizes as text.

    If the device does not report them, they are those of a kernel that ran on the device.
    """
    if not device.sub_groups:
        return "none"
    sizes = ", ".join(map(str, sub_group_sizes(device)))
    if device.sub_group_sizes:
        return sizes
    return f"{sizes} (not reported; measured by a kernel)" if sizes else "not reported"


def _describe_matrices(device: DeviceInfo) -> str:
    support = _matrices(device)
    native = _describe_native(device) if COOPERATIVE_MATRIX in device.extensions else "none"
    if proven := _proven(device):
        native = f"not reported, but correct when tested: {', '.join(proven)}"
    lowerings = support["lowerings"]
    every = (
        f"every variant by --matrices {' or '.join(lowerings)}" if isinstance(lowerings, list) and lowerings else "none"
    )
    return f"native: {native}; lowered: {every}"


def _describe_unit(device: DeviceInfo) -> str:
    """Return the multiply-adds of the device's matrix instructions as text: shapes and component types."""
    route = unit_for(device)
    if not route:
        return "its own matrices" if COOPERATIVE_MATRIX in device.extensions else "none known"
    on_unit = variants_on_unit(device, asks=False)
    if not on_unit:
        return f"by --matrices {route}, if it computes correctly, which the first use or --probe tests"
    shapes: dict[tuple[object, ...], tuple[list[str], list[str], list[str]]] = {}
    for variant in on_unit:
        key = variant.m, variant.n, variant.k, variant.a.kind, variant.a.bits
        for names, component in zip(shapes.setdefault(key, ([], [], [])), variant.components, strict=False):
            names += [component.name] if component.name not in names else []
    kinds = (
        f"multiples of {m}x{n}x{k}: {' or '.join(a)} times {' or '.join(b)} to {' or '.join(c)}"
        for (m, n, k, *_), (a, b, c) in shapes.items()
    )
    return f"by --matrices {route}, and auto: {'; '.join(kinds)}; others by general code"


def _describe_native(device: DeviceInfo) -> str:
    names = _names(device)
    if names is None:
        return "some; the device does not report which"
    more = [f"{len(names) - _SHOWN} more (see --json)"] if len(names) > _SHOWN else []
    listed = ", ".join([*names[:_SHOWN], *more]) or "none at all"
    limits = (("pointers", device.pointer_alignment), ("strides", device.stride_multiple))
    memory = [f"{what} at multiples of {size} bytes" for what, size in limits if size is not None]
    return ", ".join([listed, *memory, f"profile {native_profile_for(device)}"])


def _print_table(devices: list[DeviceInfo]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    for device in devices:
        # One row for each property: if a value takes several lines, the labels below it move down too.
        table = Table(show_header=False, title=escape(device.label), title_justify="left", title_style="bold")
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for label, text in _rows(device).items():
            table.add_row(label, escape(text))
        console.print(table)
