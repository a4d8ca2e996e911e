"""What a worker is: the version of coopmat that it runs, and the devices that it has, by names that others can ask for."""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from coopmat import __version__
from coopmat.devices import DeviceInfo

# What platforms are called here; others by the first word of their names.
_PLATFORMS = {"intel": "intel", "portable computing language": "pocl", "oclgrind": "oclgrind", "rusticl": "rusticl"}
VERSION, DEVICE = "coopmat:", "device:"


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
        """Return the resources of a worker in dask.distributed's terms: its version, without bounds, and each device for
        so many units at a time."""
        return {VERSION + self.version: 1e6, **{device.resource: per_device for device in self.devices}}


def resource_names(devices: list[DeviceInfo]) -> list[str]:
    """Return a name for each: the platform's, with a number from the second device of a platform on."""
    names: list[str] = []
    for device in devices:
        text = device.platform.casefold()
        short = next((name for key, name in _PLATFORMS.items() if key in text), None)
        base = DEVICE + (short or re.sub(r"\W+", "-", text.split()[0] if text.split() else "unknown"))
        count = sum(name == base or name.startswith(base + ":") for name in names)
        names.append(f"{base}:{count}" if count else base)
    return names


def identity(choice: str = "") -> Identity:
    """Return what this process's machine is; with a `choice`, as --device has it, only that device. It asks drivers, which
    may end the process: call it in one of its own (`ProcessPool`)."""
    from coopmat.devices import health, list_devices, select

    every = list_devices()
    names = resource_names(every)
    wanted = select(choice, every) if choice else None
    found = []
    for name, device in zip(names, every, strict=True):
        if wanted is None or device.index == wanted.index:
            failure = health.build_failure(device)
            found.append(LabDevice(name, replace(device, handle=None), failure or ""))
    return Identity(platform.node(), version(), tuple(found))


def index_of(resource: str) -> str:
    """Return the "platform:device" numbers that a device has in this process. Raises LookupError."""
    from coopmat.devices import list_devices

    devices = list_devices()
    return dict(zip(resource_names(devices), (device.index for device in devices), strict=True))[resource]
