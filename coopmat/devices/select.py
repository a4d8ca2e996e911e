"""The device that a user means by `--device D`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from coopmat.diagnostics import CompileError, Diagnostic, Note, Severity

from . import health
from .environment import INSTALL_COMMAND, prepare
from .query import DeviceInfo, list_devices
from .table import route_for

# What people call the devices that there are wheels of, and the package's extra with each.
_EXTRAS = {"cpu": "cpu", "intel": "cpu", "pocl": "pocl", "oclgrind": "oclgrind"}


# What platforms are called here; others by the first word of their names.
_PLATFORMS = {"intel": "intel", "portable computing language": "pocl", "oclgrind": "oclgrind", "rusticl": "rusticl"}
RESOURCE = "device:"
"""What the names begin with that devices have on a cluster."""


def resource_names(devices: Sequence[DeviceInfo]) -> list[str]:
    """Return a name for each: the platform's, with a number from the second device of a platform on."""
    names: list[str] = []
    for device in devices:
        text = device.platform.casefold()
        short = next((name for key, name in _PLATFORMS.items() if key in text), None)
        base = RESOURCE + (short or re.sub(r"\W+", "-", text.split()[0] if text.split() else "unknown"))
        count = sum(name == base or name.startswith(base + ":") for name in names)
        names.append(f"{base}:{count}" if count else base)
    return names


def select(choice: str | None = None, devices: Iterable[DeviceInfo] | None = None) -> DeviceInfo:
    """The one device that `choice` names: part of a platform's or device's name, "platform:device" numbers, or the
    name that it has on a cluster, such as "device:intel".

    Without a choice it is PYOPENCL_CTX's, or else the first of those that `Route.rank` puts first and that build an
    empty kernel (`health`); a device that is named is not tried. `devices` defaults to all that OpenCL shows.
    Raises CompileError, with the devices listed, where none or several fit.
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
    """The devices with those first that `select` prefers, so that its choice without a name is the first of them."""
    return sorted(devices, key=lambda device: (health.build_failure(device) is not None, _rank(device)))


def _rank(device: DeviceInfo) -> int:
    return route_for(device).rank


def _first_healthy(devices: list[DeviceInfo]) -> DeviceInfo:
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
    """Raise CompileError where the device cannot build an empty kernel."""
    failure = health.build_failure(device)
    if failure is not None:
        text = f"{device.label} {health.CANNOT_BUILD}"
        raise CompileError([Diagnostic(Severity.ERROR, "dead-device", text, notes=(Note(failure),))])


def _fitting(choice: str, candidates: list[DeviceInfo]) -> list[DeviceInfo]:
    if choice.startswith(RESOURCE):
        named = zip(resource_names(candidates), candidates, strict=True)
        return [device for name, device in named if name == choice]
    if re.fullmatch(r"\d+(:\d+)?", choice):
        return [device for device in candidates if choice in (device.index, device.index.split(":")[0])]
    text = choice.casefold()
    exact = [device for device in candidates if text in (device.name.casefold(), device.platform.casefold())]
    part = [d for d in candidates if text in d.name.casefold() or text in d.platform.casefold()]
    # A platform such as "Portable Computing Language" tells the name it is known by among its versions.
    return exact or part or [d for d in candidates if text in d.version.casefold()]


def _failure(
    message: str, devices: list[DeviceInfo], *, code: str = "unknown-device", note: str | None = None
) -> CompileError:
    notes = [Note(f"there is {device.label}") for device in devices]
    if note:
        notes.append(Note(note))
    return CompileError([Diagnostic(Severity.ERROR, code, message, notes=tuple(notes))])
