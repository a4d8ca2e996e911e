"""What the checks know of a device."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..matrices.hardware_multiplies import Product
from ..matrices.routes import LoweredRoute
from ..matrices.variants import ComponentType
from .thresholds import TILES, Tiles


@dataclass(frozen=True, slots=True)
class Device:
    """A device that computes matrices by a route.

    route: the route, with the instructions of the device.
    sub_group_size: the size of the subgroups; None for the route's.
    register_bytes: the bytes of all vector registers of a CPU; 0 if the device is a GPU, or is unknown.
    other: the route to the device's matrix instructions, if no multiply-add of the program has one; otherwise None.
    """

    route: LoweredRoute
    sub_group_size: int | None = None
    register_bytes: int = 0
    other: LoweredRoute | None = None

    @classmethod
    def of(
        cls,
        route: LoweredRoute,
        other: LoweredRoute | None = None,
        sub_group_size: int | None = None,
        registers: tuple[int, int] | None = None,
    ) -> Device:
        """Return a device; `registers` are the bits and the number of a CPU's vector registers.

        CPUs state the width of their vectors. If no device is known, routes of one work-item are for CPUs with AVX-512.
        """
        if registers is None and other is None and route.has_one_work_item:
            registers = (512, 32)
        bits, count = registers or (0, 0)
        return cls(route, sub_group_size, bits // 8 * count, other if other is not None and other.products else None)

    def with_lanes(self, size: int) -> Device:
        """Return the device with the subgroups of a kernel that requires their size."""
        return replace(self, sub_group_size=size)

    @property
    def is_gpu(self) -> bool:
        """Whether the device is certainly a GPU."""
        return self.route.is_for_gpus or (self.other is not None and self.other.is_for_gpus)

    @property
    def lanes(self) -> int:
        """The number of work-items of a subgroup."""
        return self.route.size(self.sub_group_size)

    @property
    def products(self) -> tuple[Product, ...]:
        """The device's instructions for subgroups of this size, by whichever route."""
        route = self.other or self.route
        lanes = route.size(self.sub_group_size)
        return tuple(row for row in route.products if row.lanes == lanes)

    def measured_as(self, component: ComponentType) -> str:
        """Return the name of the route in the tables of measurements, for a component type of A; empty if unknown."""
        if self.register_bytes and self.route.has_one_work_item:
            return "x86" if any(component.name in row.a for row in self.products) else "one"
        return self.route.name.partition("@")[0] if self.is_gpu else ""

    def tiles(self, component: ComponentType) -> Tiles | None:
        """Return what is known of tiles for a component type of A."""
        route = self.measured_as(component)
        tiles = TILES.get((route, component.name))
        if tiles is None or route != "one":
            return tiles
        # The tiles were measured with AVX-512. Fewer registers have room for fewer columns of sums.
        m, n, k = tiles.best
        while m * n * max(4, component.size) > self.register_bytes:
            n //= 2
        return replace(tiles, best=(m, n, k), least=min(tiles.least, m * n))
