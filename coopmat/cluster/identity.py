"""What a worker is: the version of coopmat that it runs, and its devices, by names that others can ask for."""

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
    """Return this package's version, with a digest of its files: workers of another one would give other results."""
    root = Path(__file__).resolve().parent.parent
    files = sorted(path for pattern in ("*.py", "*.cl", "*.lark", "*.tsv") for path in root.rglob(pattern))
    digest = hashlib.blake2b(digest_size=6)
    for path in files:
        name, data = str(path.relative_to(root)).encode(), path.read_bytes()
        digest.update(b"%d %d " % (len(name), len(data)) + name + data)
    return f"{__version__}+{digest.hexdigest()}"


@dataclass(frozen=True)
class LabDevice:
    """A device of a worker's: the name of the resource, such as `device:intel`, and what is known of it. `health` says
    why it builds nothing; it is empty where it does."""

    resource: str
    info: DeviceInfo
    health: str = ""


@dataclass(frozen=True)
class Identity:
    """A worker's machine, version and devices."""

    machine: str
    version: str
    devices: tuple[LabDevice, ...]

    def resources(self, per_device: int = 1) -> dict[str, float]:
        """Return a worker's resources in dask.distributed's terms: its version, without bounds, and each device for so
        many units at a time."""
        return {VERSION + self.version: 1e6, **{device.resource: per_device for device in self.devices}}


def identity(choice: str = "") -> Identity:
    """Return what this process's machine is; with a `choice`, as --device has it, only that device. It asks drivers,
    which may end the process: call it in one of its own (`ProcessPool`)."""
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
    """Return the device of a cluster that --device means, or that `select` would prefer. Raises CompileError."""
    from coopmat.devices import select

    devices = {device.resource: device for own in lab for device in own.devices}
    healthy = [device for device in devices.values() if not device.health]
    infos = {device.info.label: device for device in (devices.values() if choice else healthy)}
    if not choice and infos:
        return min(infos.values(), key=lambda device: route_for(device.info).rank)
    info = select(choice, [device.info for device in infos.values()])
    return infos[info.label]
