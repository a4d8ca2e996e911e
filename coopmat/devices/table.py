"""Which route a device gets, as a table: the first family that a device belongs to decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .query import COOPERATIVE_MATRIX, DeviceInfo

LANES_SUB_GROUP_SIZE = 16
"""The subgroup size, in work-items, that the `lanes` lowering is compiled for unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Route:
    """How a program with matrices gets to a device: `matrices` is the value for `--matrices`, None if no way."""

    matrices: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Family:
    """Devices that get the same route."""

    name: str
    has: Callable[[DeviceInfo], bool]
    route: Route


FAMILIES: tuple[Family, ...] = (
    Family(
        "cooperative-matrix",
        lambda d: d.takes_spirv and COOPERATIVE_MATRIX in d.extensions,
        Route("native", f"the device has {COOPERATIVE_MATRIX}"),
    ),
    Family(
        # On CPUs a subgroup is a SIMD vector either way, and without its limits whole matrices fit any launch.
        "spirv-cpu",
        lambda d: d.takes_spirv and d.kind == "CPU",
        Route("one", "a CPU that takes SPIR-V: one work-item holds whole matrices"),
    ),
    Family(
        "spirv-sub-groups",
        lambda d: d.takes_spirv and d.sub_groups and LANES_SUB_GROUP_SIZE in d.sub_group_sizes,
        Route("lanes", f"the device takes SPIR-V and has subgroups of {LANES_SUB_GROUP_SIZE}"),
    ),
    Family("spirv", lambda d: d.takes_spirv, Route("one", "the device takes SPIR-V")),
    Family("opencl-c", lambda d: True, Route(None, "not supported yet: this device takes no SPIR-V")),
)


def route_for(device: DeviceInfo) -> Route:
    """The route of this device, and why."""
    return next(family.route for family in FAMILIES if family.has(device))
