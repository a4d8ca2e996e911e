"""The identity of a worker: the version of coopmat that it runs, and its devices by resource names."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from coopmat import __version__
from coopmat.devices import DeviceInfo, route_for
from coopmat.devices.select import resource_names

VERSION = "coopmat:"


@cache
def version() -> str:
    """Return this package's version with a digest of its files.

    The digest excludes workers with changed files, which might return other results.
    """
    root = Path(__file__).resolve().parent.parent
    files = sorted(path for pattern in ("*.py", "*.cl", "*.lark", "*.tsv") for path in root.rglob(pattern))
    digest = hashlib.blake2b(digest_size=6)
    for path in files:
        name, data = str(path.relative_to(root)).encode(), path.read_bytes()
        digest.update(b"%d %d " % (len(name), len(data)) + name + data)
    return f"{__version__}+{digest.hexdigest()}"


@dataclass(frozen=True)
class LabDevice:
    """A device of a worker.

    resource: the resource name, such as `device:intel`.
    info: the facts about the device, without a handle.
    health: why the device cannot build an empty kernel; empty if it can.
    """

    resource: str
    info: DeviceInfo
    health: str = ""


@dataclass(frozen=True)
class Identity:
    """A description of a worker: the name of its machine, its version and its devices."""

    machine: str
    version: str
    devices: tuple[LabDevice, ...]

    def resources(self, per_device: int = 1) -> dict[str, float]:
        """Return a worker's resources for dask.distributed.

        The version is a resource without a limit. Each device runs at most `per_device` units at a time.
        """
        return {VERSION + self.version: 1e6, **{device.resource: per_device for device in self.devices}}


def identity(choice: str = "") -> Identity:
    """Return the identity of the machine that runs this process.

    `choice` restricts the devices to the one that it names, as --device does. Drivers may end the process, so call this
    function in a separate process (`ProcessPool`). Raises CompileError if `choice` matches no device or several.
    """
    from coopmat.devices import health, list_devices, select
    from coopmat.devices.sub_groups import sub_group_sizes

    every = list_devices()
    names = resource_names(every)
    wanted = select(choice, every) if choice else None
    found = []
    for name, device in zip(names, every, strict=True):
        if wanted is None or device.index == wanted.index:
            failure, sizes = health.build_failure(device), tuple(sub_group_sizes(device))
            found.append(LabDevice(name, replace(device, handle=None, sub_group_sizes=sizes), failure or ""))
    return Identity(platform.node(), version(), tuple(found))


def chosen(lab: Iterable[Identity], choice: str | None) -> LabDevice:
    """Return the device of a cluster that `choice` (--device) names.

    Without a choice, return the device that `select` prefers among those that can build a kernel. Raises CompileError
    if no device or several devices match.
    """
    from coopmat.devices import select

    devices = {device.resource: device for own in lab for device in own.devices}
    healthy = [device for device in devices.values() if not device.health]
    infos = {device.info.label: device for device in (devices.values() if choice else healthy)}
    if not choice and infos:
        return min(infos.values(), key=lambda device: route_for(device.info).rank)
    info = select(choice, [device.info for device in infos.values()])
    return infos[info.label]
