"""The test subjects of a device on a route: its multiply-adds and matrix types, each with a subgroup size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, overload

from coopmat.devices import DeviceInfo
from coopmat.devices.sub_groups import sub_group_sizes
from coopmat.devices.variants import component_types
from coopmat.matrices import emulated
from coopmat.matrices.routes import (
    DEFAULT_SUB_GROUP_SIZE,
    IN_SUB_GROUPS,
    LISTED_ROUTES,
    LOWERED_ROUTES,
    OPENCL_C_ONLY,
    ROUTES,
    LoweredRoute,
    Tuning,
)
from coopmat.matrices.supported import Supported
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    EVERY_COMPONENT_TYPE,
    NARROW_TYPES,
    ComponentType,
    MatrixType,
    Use,
    Variant,
)
from coopmat.runtime.instruction_probe import instructions

# Routes whose code takes a device's compiler several times as long: they get half as many variants.
SLOW = tuple(lowered.name for lowered in LOWERED_ROUTES.values() if not lowered.has_one_work_item)
Item = TypeVar("Item", bound="Variant | MatrixType")
# The largest number of a matrix's components in one work-item, whose code has no loops. With 1024 components, a
# device's compiler needed 20 seconds.
_MOST_COMPONENTS = 256
_GOLDEN_RATIO = (1 + 5**0.5) / 2


@dataclass(frozen=True)
class Profile:
    """The test subjects of a device on one route.

    route: "native", or the name of a lowered route.
    multiply_adds: each with a subgroup size in work-items, None if the device chooses.
    matrix_types: the types for operations on single matrices, with the same subgroup sizes.
    pointer_alignment: the alignment of matrices in memory, in bytes.
    stride_multiple: the number of bytes of which strides must be multiples.
    exhaustive: whether matrix types are tested with every combination of an operation's other parameters.
    lowered: the route's library, with the matrix instructions of the device; None for "native".
    sizes: the subgroup sizes of a lowered route.
    """

    device: DeviceInfo
    route: str
    multiply_adds: Sequence[tuple[Variant, int | None]]
    matrix_types: Sequence[tuple[MatrixType, int | None]]
    pointer_alignment: int = 1
    stride_multiple: int = 1
    exhaustive: bool = False
    lowered: LoweredRoute | None = None
    sizes: Sequence[int] = ()

    @property
    def is_native(self) -> bool:
        return self.route == "native"

    @cached_property
    def _supported(self) -> dict[int | None, Supported]:
        groups: dict[int | None, list[Variant]] = {}
        for variant, size in self.multiply_adds:
            groups.setdefault(size, []).append(variant)
        return {size: Supported(tuple(variants)) for size, variants in groups.items()}

    def has_type(self, matrix: MatrixType, sub_group_size: int | None) -> bool:
        """Return whether a kernel may use the type.

        A lowered route has every matrix type whose component type the device supports.
        """
        if not self.is_native:
            return matrix.component.name in NARROW_TYPES or matrix.component in component_types(self.device)
        supported = self._supported.get(sub_group_size)
        return supported is not None and supported.has_type(matrix)

    def of_narrow_types(self) -> Profile:
        """Return the same lowered route with component types of fewer than 8 bits, for operations that have these."""
        assert self.lowered is not None
        matrix_types = _Dealt(emulated.matrix_types(NARROW_TYPES.values())[:: 2 - self.exhaustive], self.sizes)
        multiply_adds = _Dealt(emulated.narrow_multiply_adds(), self.sizes)
        by_unit = tuple(
            (replace(variant, m=2 * row.m, k=2 * row.k), row.lanes)
            for row in self.lowered.products
            if row.lanes in self.sizes
            for variant in row.variants()
            if variant.a.is_nibble
        )
        return replace(
            self,
            matrix_types=_light(self.route, matrix_types),
            multiply_adds=(*_light(self.route, multiply_adds), *by_unit),
        )

    def copies(self, matrix: MatrixType, sub_group_size: int | None) -> int | None:
        """Return the number of work-items that hold each component.

        Return None for native matrices, where only the device knows.
        """
        if self.lowered is None:
            return None
        return 1 if matrix.of_work_group else self.lowered.lane_layout(matrix, sub_group_size or 1).copies

    def suffix(self, sub_group_size: int | None) -> str:
        """Return the suffix of a variant's name for its subgroup size, "" if there is nothing to distinguish."""
        return f".sg{sub_group_size}" if sub_group_size is not None and self.route != "one" else ""


def profile_for(
    device: DeviceInfo, route: str, wimpy: bool = False, exhaustive: bool = False, seed: int = 0
) -> Profile:
    """Return the profile of a device on a route.

    Native: the multiply-adds and types that the device reports. Lowered: those of `emulated`, distributed over subgroup
    sizes so that types and shapes meet every size. The sizes are 1 (`one`), the device's (`lanes`) or any (`scratch`).
    `wimpy` selects a few of each, `exhaustive` all. Another `seed` pairs component types differently.
    Raises ValueError if the device cannot have the route, or does not report its variants.
    """
    if route == "native":
        return _native(device, wimpy)
    lowered = _lowered_route(device, route)
    sizes = _sub_group_sizes(device, lowered)
    components = component_types(device)
    if exhaustive:
        every = _Dealt(emulated.EveryMultiplyAdd(components), sizes)
        every_type = _Dealt(emulated.every_matrix_type(components), sizes)
        return Profile(device, route, every, every_type, exhaustive=True, lowered=lowered, sizes=sizes)
    multiply_adds: Sequence[Variant] = emulated.multiply_adds(components, turn=seed)
    matrix_types = emulated.matrix_types(components, turn=seed)
    if wimpy:
        multiply_adds = emulated.few_multiply_adds(multiply_adds)
        matrix_types = matrix_types[: len(components)]
    if not wimpy and route in SLOW:
        matrix_types = matrix_types[: len(matrix_types) // 2]
    on_unit = _on_unit(lowered, sizes, wimpy)
    return Profile(
        device,
        route,
        (*_light(route, _Dealt(multiply_adds, sizes)), *on_unit),
        (*_light(route, _Dealt(matrix_types, sizes)), *_operands(lowered, sizes, components)),
        lowered=lowered,
        sizes=sizes,
    )


def _on_unit(lowered: LoweredRoute, sizes: Sequence[int], wimpy: bool) -> tuple[tuple[Variant, int], ...]:
    """Return the multiply-adds that the route's matrix instructions implement, each with its subgroup size.

    `wimpy` selects about three for each row of the table of instructions.
    """
    pairs: list[tuple[Variant, int]] = []
    for row in lowered.products:
        variants = row.variants(3, 2, 3) if row.lanes in sizes and row.a[0] in COMPONENT_TYPES else ()
        step = max(1, len(variants) // 3) if wimpy and row.lanes > 1 else 1
        pairs += ((variant, row.lanes) for variant in variants[::step])
    return tuple(pairs)


def _operands(
    lowered: LoweredRoute, sizes: Sequence[int], components: Sequence[ComponentType]
) -> tuple[tuple[MatrixType, int], ...]:
    """Return matrix types with the lane layouts that only instructions require, two tiles high each."""
    types_by_tile: dict[object, tuple[MatrixType, int]] = {}
    for row in lowered.products:
        for names, (rows, columns), use in zip((row.a, row.b, row.c), row.shapes, Use, strict=True):
            component = EVERY_COMPONENT_TYPE[([t for t in names if t in COMPONENT_TYPES] or names)[-1]]
            matrix = MatrixType(component, 2 * rows, columns, use)
            has = row.lanes in sizes and component in components
            if has and not lowered.lies_as_usual(matrix, row.lanes):
                types_by_tile.setdefault((use, rows, columns, component.size, row.lanes), (matrix, row.lanes))
    return tuple(types_by_tile.values())


def _light(route: str, round_robin: _Dealt[Item]) -> tuple[tuple[Item, int], ...]:
    """Return items in subgroups so large that no work-item holds more than `_MOST_COMPONENTS` of a matrix.

    This applies only to routes in the device's subgroups. If no size is large enough, the item keeps its size.
    """
    if route not in IN_SUB_GROUPS:
        return tuple(round_robin)
    return tuple(
        (
            item,
            next(
                (s for s in sorted(round_robin.sizes) if s >= size and _components(item) <= _MOST_COMPONENTS * s), size
            ),
        )
        for item, size in round_robin
    )


def _components(item: Variant | MatrixType) -> int:
    """Return the number of components of the item's largest matrix."""
    matrices = item.matrix_types() if isinstance(item, Variant) else (item,)
    return max(matrix.rows * matrix.columns for matrix in matrices)


def _lowered_route(device: DeviceInfo, route: str) -> LoweredRoute:
    """Return the lowered route, restricted to the matrix instructions that the device has.

    Raises ValueError if the route does not exist, or if it requires instructions and the device has none of them.
    """
    if route not in ROUTES:
        raise ValueError(f"there is no route '{route}'; there are {', '.join(LISTED_ROUTES)}")
    if route not in OPENCL_C_ONLY:
        return LOWERED_ROUTES[route]
    if device.target_env:
        raise ValueError(f"the route '{route}' exists in OpenCL C only, and {device.label} takes SPIR-V")
    names = instructions(device, route)
    if not names:
        raise ValueError(f"{device.label} has no instructions for the route '{route}'")
    return LOWERED_ROUTES[route].tuned(Tuning(instructions=names))


def _sub_group_sizes(device: DeviceInfo, lowered: LoweredRoute) -> tuple[int, ...]:
    if lowered.has_one_work_item:
        return (1,)
    on_unit = {row.lanes for row in lowered.products}
    if lowered.prelude:
        # The instructions were probed in subgroups of these sizes; OpenCL of the vendor may not report subgroups.
        return tuple(sorted(on_unit))
    if not lowered.has_sub_groups_of_device:
        return emulated.SUB_GROUP_SIZES
    if not device.sub_groups:
        raise ValueError(f"{device.label} has no subgroups for the route '{lowered.name}'")
    sizes = sub_group_sizes(device)
    if on_unit:
        sizes = tuple(size for size in sizes if size in on_unit)
        if not sizes:
            raise ValueError(f"{device.label} has no subgroups of {', '.join(map(str, sorted(on_unit)))}")
        return sizes
    usual_sizes = tuple(size for size in sizes if size <= max(emulated.SUB_GROUP_SIZES))
    return usual_sizes or sizes or (DEFAULT_SUB_GROUP_SIZE,)


def _small_flexible(device: DeviceInfo) -> Iterable[Variant]:
    """Yield the multiply-adds of flexible shapes in which M, N and K are at most twice the smallest, per types."""
    groups: dict[object, list[Variant]] = {}
    for variant in device.further_variants:
        groups.setdefault((variant.components, variant.saturating), []).append(variant)
    for variants in groups.values():
        m, n, k = (2 * min(sizes) for sizes in zip(*((v.m, v.n, v.k) for v in variants), strict=True))
        yield from (v for v in variants if v.m <= m and v.n <= n and v.k <= k)


def _native(device: DeviceInfo, wimpy: bool) -> Profile:
    """Return the profile of the device's reported multiply-adds, in its default subgroups.

    Devices with flexible shapes get some multiples of these: a driver divides them by other code.

    `wimpy` selects a few variants that together contain every matrix type. Raises ValueError if the device reports
    none.
    """
    if device.variants is None:
        raise ValueError(f"{device.label} does not report which matrices it has")
    variants: Sequence[Variant] = (*device.variants, *_small_flexible(device))
    if wimpy:
        # The language has only variants whose result has C's type.
        usable = [variant for variant in dict.fromkeys(variants) if variant.c == variant.result]
        variants = emulated.covering(usable, lambda v: (*v.matrix_types(), v.saturating))
    types = Supported(tuple(variants)).matrix_types
    return Profile(
        device,
        "native",
        tuple((variant, None) for variant in variants),
        tuple((matrix, None) for matrix in types),
        device.pointer_alignment or 1,
        device.stride_multiple or 1,
    )


class _Dealt(Sequence[tuple[Item, int]]):
    """A sequence of (item, subgroup size), in which items at any regular distance get each size about equally often."""

    def __init__(self, items: Sequence[Item], sizes: Sequence[int]) -> None:
        self._items, self.sizes = items, sizes

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> tuple[Item, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[Item, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[Item, int] | Sequence[tuple[Item, int]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        item, count = self._items[index], len(self.sizes)
        # Multiples of the golden ratio modulo 1 are evenly distributed, and so are those with any regular step.
        return item, self.sizes[int(index % len(self) * _GOLDEN_RATIO % 1.0 * count)]
