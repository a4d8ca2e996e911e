"""The choice of a device, by `--device D` or by default, and the names of devices on a cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from coopmat.diagnostics import CompileError, Diagnostic, Note, Severity

from . import health
from .environment import INSTALL_COMMAND, prepare
from .query import DeviceInfo, list_devices
from .table import route_for

# Common name of a device -> extra of this package that installs its driver.
_EXTRAS = {"cpu": "cpu", "intel": "cpu", "pocl": "pocl", "oclgrind": "oclgrind"}


# Part of a platform's name -> short name of the platform. Any other platform is named by the first word of its name.
_PLATFORMS = {"intel": "intel", "portable computing language": "pocl", "oclgrind": "oclgrind", "rusticl": "rusticl"}
RESOURCE = "device:"
"""The beginning of the names of devices on a cluster."""


def resource_names(devices: Sequence[DeviceInfo]) -> list[str]:
    """Return the name of each device on a cluster, such as "device:intel".

    From the second device of a platform on, a number is appended ("device:intel:1").
    """
    names: list[str] = []
    for device in devices:
        text = device.platform.casefold()
        short = next((name for key, name in _PLATFORMS.items() if key in text), None)
        base = RESOURCE + (short or re.sub(r"\W+", "-", text.split()[0] if text.split() else "unknown"))
        count = sum(name == base or name.startswith(base + ":") for name in names)
        names.append(f"{base}:{count}" if count else base)
    return names


def select(choice: str | None = None, devices: Iterable[DeviceInfo] | None = None) -> DeviceInfo:
    """Return the one device that `choice` names.

    `choice` is a part of the name of a platform, else of a device, "platform:device" numbers, or the name of the device
    on a cluster, such as "device:intel". By default, it is PYOPENCL_CTX. Without both, return the device with the
    lowest `Route.rank` that can build an empty kernel (`health`). A named device is not checked.

    `devices` defaults to all devices that OpenCL shows. Raises CompileError, which lists the devices, if no device or
    several devices match.
    """
    candidates = list(list_devices() if devices is None else devices)
    if choice == "host":
        raise _failure("the host device is not supported yet", candidates)
    if not candidates:
        text = f"no OpenCL device was found; one for the CPU comes with: {INSTALL_COMMAND}"
        raise _failure(text, candidates, code="no-device", note=prepare().note)
    choice = choice or os.environ.get("PYOPENCL_CTX") or None
    if choice is None:
        return _first_healthy(sorted(candidates, key=_rank))
    fitting = _fitting(choice, candidates)
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        extra = _EXTRAS.get(choice.casefold())
        install = f"; it comes with: pip install 'coopmat[{extra}]'" if extra else ""
        raise _failure(f"no OpenCL device fits '{choice}'{install}", candidates)
    raise _failure(f"'{choice}' fits {len(fitting)} devices; name one", fitting)


def by_preference(devices: Iterable[DeviceInfo]) -> list[DeviceInfo]:
    """Return the devices in the order in which `select` prefers them without a name.

    Devices that cannot build an empty kernel come last.
    """
    return sorted(devices, key=lambda device: (health.build_failure(device) is not None, _rank(device)))


def _rank(device: DeviceInfo) -> int:
    return route_for(device).rank


def _first_healthy(devices: list[DeviceInfo]) -> DeviceInfo:
    """Return the first device that can build an empty kernel. Raises CompileError if none can."""
    failures: list[str] = []
    for device in devices:
        failure = health.build_failure(device)
        if failure is None:
            return device
        failures.append(f"{device.label} {health.CANNOT_BUILD}: {failure}")
    notes = tuple(Note(text) for text in failures)
    message = "no OpenCL device here can build an empty kernel; one for the CPU comes with: " + INSTALL_COMMAND
    raise CompileError([Diagnostic(Severity.ERROR, "dead-device", message, notes=notes)])


def require_health(device: DeviceInfo) -> None:
    """Raise CompileError if the device cannot build an empty kernel."""
    failure = health.build_failure(device)
    if failure is not None:
        text = f"{device.label} {health.CANNOT_BUILD}"
        raise CompileError([Diagnostic(Severity.ERROR, "dead-device", text, notes=(Note(failure),))])


def _fitting(choice: str, candidates: list[DeviceInfo]) -> list[DeviceInfo]:
    """Return the devices that `choice` names, as in `select`; devices with that exact name exclude all others."""
    if choice.startswith(RESOURCE):
        named = zip(resource_names(candidates), candidates, strict=True)
        return [device for name, device in named if name == choice]
    if re.fullmatch(r"\d+(:\d+)?", choice):
        return [device for device in candidates if choice in (device.index, device.index.split(":")[0])]
    text = choice.casefold()
    found = [device for device in candidates if text in (device.name.casefold(), device.platform.casefold())]
    # "intel" names Intel's platform, although the names of other platforms' devices may contain Intel's processor. The
    # common name of a platform may occur only in the version: "PoCL" for "Portable Computing Language".
    for field in ("platform", "name", "version"):
        found = found or [device for device in candidates if text in getattr(device, field).casefold()]
    return found


def _failure(
    message: str, devices: list[DeviceInfo], *, code: str = "unknown-device", note: str | None = None
) -> CompileError:
    """Return a CompileError whose notes list the devices."""
    notes = [Note(f"available device: {device.label}") for device in devices]
    if note:
        notes.append(Note(note))
    return CompileError([Diagnostic(Severity.ERROR, code, message, notes=tuple(notes))])
