"""`coopmat doctor`: what is installed, what is missing, and the command that mends it."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import click

from .status import ExitStatus


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report; `remedy` is the command that mends what is not `ok`."""

    what: str
    ok: bool
    text: str
    remedy: str = ""


@click.command()
@click.option("--install", type=click.Choice(["spirv-tools"]), help="Get it, for this user only.")
def command(install: str | None) -> int:
    """Tell what is installed, what is missing, and the command that mends it.

    Exits 1 where something is missing that compiling or running needs.
    """
    if install is not None:
        return _install_spirv_tools()
    results = list(findings())
    width = max(len(item.what) for item in results)
    for item in results:
        click.echo(f"{'ok     ' if item.ok else 'MISSING'} {item.what:{width}}  {item.text}")
        if not item.ok and item.remedy:
            click.echo(f"        {'':{width}} mend it with: {item.remedy}")
    return ExitStatus.DONE if all(item.ok for item in results) else ExitStatus.INPUT


def findings() -> Iterator[Finding]:
    """Every check, in the order that they depend on each other."""
    yield Finding("python", True, f"{platform.python_version()} on {platform.platform()} ({sys.executable})")
    for check in (_packages, _spirv_tools, _devices):
        yield from check()


def _packages() -> Iterator[Finding]:
    for package in ("llvmlite", "pyopencl", "lark", "pcpp", "numpy"):
        try:
            yield Finding(package, True, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(package, False, "not installed", f"pip install {package}")


def _spirv_tools() -> Iterator[Finding]:
    from coopmat.spirv.tools import ToolsMissing, find_tools

    tools = find_tools()
    if tools is None:
        text = "no spirv-val that knows SPV_KHR_cooperative_matrix"
        yield Finding("spirv-tools", False, text, ToolsMissing.remedy)
    else:
        yield Finding("spirv-tools", True, f"{tools.version()} ({tools.directory})")


def _devices() -> Iterator[Finding]:
    from coopmat.devices import list_devices, prepare, route_for
    from coopmat.devices.environment import INSTALL_COMMAND

    try:
        devices = list_devices()
    except ImportError as error:
        yield Finding("OpenCL", False, f"pyopencl cannot be loaded: {error}", "pip install --force-reinstall pyopencl")
        return
    yield Finding("OpenCL loader", True, prepare().note)
    if not devices:
        yield Finding("OpenCL device", False, "none", INSTALL_COMMAND)
    for device in devices:
        route = route_for(device)
        yield Finding("OpenCL device", True, f"{device.label}: {route.matrices} ({route.why})")


def _install_spirv_tools() -> int:
    from coopmat.spirv import fetch

    try:
        place = fetch.install()
    except fetch.FetchError as error:
        click.echo(f"coopmat: {error}", err=True)
        return ExitStatus.INPUT
    click.echo(f"spirv-tools are in {place}")
    return ExitStatus.DONE
