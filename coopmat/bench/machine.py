"""The machine: device, versions, and the measured bounds of its speed."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from coopmat import __version__
from coopmat.devices import DeviceInfo
from coopmat.linalg.parameters import Tiling, tilings_of
from coopmat.linalg.rates import NotMeasured, peak_of, rates_of, seconds_of
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

_LARGE = (1, 4096, 4096, 4096)
# The sides of the tiles of a heat map, as multiples of those of the device's own tile.
_FACTORS = (1 / 4, 1 / 2, 3 / 4, 1, 4 / 3, 3 / 2, 2)


@dataclass(frozen=True)
class Machine:
    """Where and when the contenders were measured.

    threads: of each contender on the CPU.
    versions: library -> version.
    peaks: component type -> operations per second of tiles that stay in a cache; only of types that were measured.
    bandwidth: the bytes that a copy of memory reads and writes per second; 0 if it was not measured.
    not_measured: a peak or the bandwidth -> why it was not measured.
    """

    date: str
    device: str
    driver: str
    processor: str
    system: str
    threads: int
    versions: dict[str, str]
    peaks: dict[str, float]
    bandwidth: float
    not_measured: dict[str, str] = field(default_factory=dict)


def machine_of(info: DeviceInfo, threads: int, versions: dict[str, str], types: Sequence[str]) -> Machine:
    """Return the machine with the peaks of some component types, which are measured anew, as the products are."""
    peaks, failures = {}, {}
    for name in dict.fromkeys(types):
        components = _components(name)
        try:
            peaks[name] = peak_of(info, components, _tiling(info, components), anew=True)
        except NotMeasured as error:
            failures[f"peak of {name}"] = str(error)
    try:
        bandwidth = rates_of(info).bandwidth
    except NotMeasured as error:
        bandwidth, failures["bandwidth of the memory"] = 0.0, str(error)
    return Machine(
        datetime.now(timezone.utc).isoformat(timespec="seconds"),
        info.label,
        info.driver,
        platform.processor() or platform.machine(),
        platform.platform(),
        threads,
        {"coopmat": __version__, "python": platform.python_version(), **versions},
        peaks,
        bandwidth,
        failures,
    )


def tile_times(info: DeviceInfo, name: str, shape: tuple[int, int, int, int]) -> dict[tuple[int, int], float]:
    """Return (m, n) of tiles -> seconds of a product of a component type; tiles that fail are left out.

    shape: (matrices in the batch, m, n, k).
    """
    components = _components(name)
    own, times = _tiling(info, components), {}
    for m in (own.tile[0] * factor for factor in _FACTORS):
        for n in (own.tile[1] * factor for factor in _FACTORS):
            if m != int(m) or n != int(n) or (own.block and (own.block[0] % m or own.block[1] % n)):
                continue
            tiling = replace(own, tile=(int(m), int(n), own.tile[2]))
            try:
                times[int(m), int(n)] = seconds_of(info, components, shape, tiling)
            except NotMeasured:
                continue
    return times


def _components(name: str) -> tuple[ComponentType, ...]:
    """Return the types of A, B and the sums, which are also those of C."""
    component = COMPONENT_TYPES[name]
    return component, component, COMPONENT_TYPES["s32" if component.is_integer else "f32"]


def _tiling(info: DeviceInfo, components: tuple[ComponentType, ...]) -> Tiling:
    return tilings_of(info.handle, components, _LARGE)[0]
