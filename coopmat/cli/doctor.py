"""`coopmat doctor`: report the installed and the missing parts, and the command that repairs each."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .status import ExitStatus

if TYPE_CHECKING:
    from coopmat.devices import DeviceInfo

_POCL_WHEEL = "pocl-binary-distribution"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report.

    what: the part that was checked.
    remedy: the command that repairs the part if it is not `ok`, "" if there is none.
    trouble: the word for a part that is not `ok`.
    needed: whether the doctor's exit status is 1 if the part is not `ok`.
    """

    what: str
    ok: bool
    text: str
    remedy: str = ""
    trouble: str = "MISSING"
    needed: bool = True


@click.command()
@click.option("--install", type=click.Choice(["spirv-tools"]), help="Install this package, for this user only.")
def command(install: str | None) -> int:
    """Report what is installed, what is missing, and the command that fixes it.

    The exit status is 1 if something is missing that compiling or running needs.

    Example: coopmat doctor --install spirv-tools
    """
    if install is not None:
        return _install_spirv_tools()
    results = list(findings())
    print_findings(results)
    return ExitStatus.DONE if all(item.ok or not item.needed for item in results) else ExitStatus.INPUT


def print_findings(results: Sequence[Finding]) -> None:
    """Print one line for each finding, and below it the command that repairs what is missing."""
    width = max(len(item.what) for item in results)
    for item in results:
        indent = f"\n{'':{width + 10}}"
        click.echo(f"{'ok' if item.ok else item.trouble:7} {item.what:{width}}  {item.text.replace(chr(10), indent)}")
        if not item.ok and item.remedy:
            click.echo(f"        {'':{width}} fix it with: {item.remedy}")


def findings() -> Iterator[Finding]:
    """Yield the results of all checks; a check follows those on which it depends."""
    yield Finding("python", True, f"{platform.python_version()} on {platform.platform()} ({sys.executable})")
    for check in (_packages, _spirv_tools, _devices):
        yield from check()


def _packages() -> Iterator[Finding]:
    for package in ("llvmlite", "pyopencl", "lark", "numpy"):
        version = _version(package)
        yield Finding(package, version is not None, version or "not installed", f"pip install {package}")


def _spirv_tools() -> Iterator[Finding]:
    from coopmat.spirv.tools import ENVIRONMENT_VARIABLE, ToolsMissing, find_tools

    tools = find_tools()
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named and (tools is None or not tools.is_of(Path(named))):
        text = f"{named} has no spirv-val that supports SPV_KHR_cooperative_matrix, and is ignored"
        yield Finding(ENVIRONMENT_VARIABLE, False, text, trouble="IGNORED", needed=False)
    if tools is None:
        text = (
            "no spirv-val that supports SPV_KHR_cooperative_matrix: native modules and SPIR-V as input need it,"
            "\nlowered modules are not validated"
        )
        yield Finding("spirv-tools", False, text, ToolsMissing.remedy)
    else:
        yield Finding("spirv-tools", True, f"{tools.version()} ({tools.directory})")


def _devices() -> Iterator[Finding]:
    from coopmat.devices import list_devices, prepare
    from coopmat.devices.environment import INSTALL_COMMAND

    try:
        devices = list_devices()
    except ImportError as error:
        yield Finding("OpenCL", False, f"pyopencl cannot be loaded: {error}", "pip install --force-reinstall pyopencl")
        return
    yield Finding("OpenCL loader", True, prepare().note)
    if not devices:
        yield Finding("OpenCL device", False, "none", INSTALL_COMMAND)
    yield from _health(devices)


def _health(devices: list[DeviceInfo]) -> Iterator[Finding]:
    """Yield the health of each device, checked without the cached answers: the user may have repaired something."""
    from coopmat.devices import health, route_for
    from coopmat.devices.environment import INSTALL_COMMAND

    failures = health.build_failures(devices, anew=True)
    for device, failure in zip(devices, failures, strict=True):
        route = route_for(device)
        if failure is None:
            yield Finding("OpenCL device", True, f"{device.label}: {route.matrices} ({route.why})")
        else:
            text = f"{device.label} {health.CANNOT_BUILD}: {failure}"
            remedy = _remedy(device) or ("" if None in failures else INSTALL_COMMAND)
            yield Finding("OpenCL device", False, text, remedy, "BROKEN", needed=None not in failures)


def _remedy(device: DeviceInfo) -> str:
    """Return the command that repairs a device, "" if none is known.

    The LLVM in PoCL's wheel does not know processors newer than itself, and no setting changes that.
    """
    is_wheel = device.platform == "Portable Computing Language" and device.driver.startswith("3.0")
    if not is_wheel or _version(_POCL_WHEEL) is None:
        return ""
    return f"python -m pip uninstall {_POCL_WHEEL}"


def _version(package: str) -> str | None:
    """Return the version of an installed package, or None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _install_spirv_tools() -> int:
    from . import install_spirv_tools

    try:
        place = install_spirv_tools.install()
    except install_spirv_tools.InstallError as error:
        click.echo(f"coopmat: {error}", err=True)
        return ExitStatus.INPUT
    click.echo(f"spirv-tools are in {place}")
    return ExitStatus.DONE
