"""`coopmat plan`: how a device computes a product of matrices, how long it takes, and what limits it."""

from __future__ import annotations

import json
from typing import Any, Protocol

import click

from coopmat.options import UsageError

from .status import ExitStatus


class Planned(Protocol):
    """A plan, of coopmat.linalg or coopmat.vulkan."""

    def to_record(self) -> dict[str, Any]: ...


@click.command()
@click.argument("operation", type=click.Choice(["gemm"]))
@click.option("-M", "m", type=click.IntRange(1), required=True, help="The rows of A and C.")
@click.option("-N", "n", type=click.IntRange(1), required=True, help="The columns of B and C.")
@click.option("-K", "k", type=click.IntRange(1), required=True, help="The columns of A and rows of B.")
@click.option("--batch", type=click.IntRange(1), default=1, show_default=True, help="The number of products.")
@click.option("--trans-b", is_flag=True, help="B is stored as n x k, as weights are.")
@click.option("--types", default="f32,f32,f32", show_default=True, help="The types of A, B and C; or one for A and B.")
@click.option("--device", metavar="D", help="A part of the name of a platform or device, or PLATFORM:DEVICE numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    operation: str,
    m: int,
    n: int,
    k: int,
    batch: int,
    trans_b: bool,
    types: str,
    device: str | None,
    as_json: bool,
) -> int:
    """Show how coopmat.linalg computes a product: tile, time, part of the device's peak, and what limits it.

    The first call measures the device for some seconds. The cache keeps the measurements. Vulkan devices are not
    supported by coopmat.linalg: for them, the plan says which multiply-add a kernel would use.

    Example: coopmat plan gemm -M 1024 -N 1024 -K 1024 --types f16,f16,f32
    """
    from coopmat.targets import is_vulkan

    names = tuple(types.split(","))
    components = names * 2 if len(names) == 1 else names
    planned: Planned
    try:
        if device is not None and is_vulkan(device):
            from coopmat import vulkan

            planned = vulkan.plan(vulkan.select(device), operation, m=m, n=n, k=k, batch=batch, types=components)
        else:
            from coopmat.linalg import plan

            planned = plan(device, operation, m=m, n=n, k=k, batch=batch, trans_b=trans_b, types=components)
    except TypeError as error:
        raise UsageError(f"--types: {str(error).removeprefix('types: ')}") from error
    except ValueError as error:
        raise UsageError(f"--{error}") from error
    except RuntimeError as error:
        from coopmat.linalg import NotMeasured
        from coopmat.runtime import launch_error
        from coopmat.vulkan import NoVulkan, VulkanError

        if not isinstance(error, (NotMeasured, NoVulkan, VulkanError)):
            raise
        raise launch_error(str(error)) from error
    click.echo(json.dumps(planned.to_record(), indent=2) if as_json else str(planned))
    return ExitStatus.DONE
