"""`plan`: how a device computes a product, how long it takes, and what limits it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from coopmat.devices import DeviceInfo, describe, select
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

from .operands import Operand, vectors_of
from .panels import with_a_in_place
from .parameters import Tiling, dots_of, instruction_of, route_of, rows_of, shape_class, table, tilings_of
from .products import INPUTS, OUTPUTS, sum_type
from .rates import NotMeasured, peak_of, rates_of, seconds_of


@dataclass(frozen=True)
class Plan:
    """How a device computes a product. Times are in seconds.

    shape: (matrices in the batch, m, n, k). types: the component types of A, B and C.
    trans_b: whether B is stored as n x k.
    shape_class: the class of the shape in the tables of tiles.
    route: the route to the device's instructions. instruction: the matrix instruction's name; empty if none is used.
    kernel: the source of the kernel, gemm.cl or dot.cl. reason: why this one is used.
    tile, block, panels, dot: as in `Tiling`. note: what is uncertain about the choice; empty if nothing is.
    seconds: the predicted time of a call, which is that of a measurement, scaled if the product is large.
    peak: the measured operations per second of tiles that stay in a cache, or in registers on GPUs. fraction: what the
        product reaches of it.
    lower_bounds: what the launches, the main memory and the instructions would take alone.
    in_cache: whether the product is faster than the main memory, so that a cache has its matrices.
    limit: the largest of the bounds, without the memory's if `in_cache`.
    next_best: the parameters and the seconds of the fastest other candidate; None if there is none.
    """

    device: str
    operation: str
    shape: tuple[int, int, int, int]
    types: tuple[str, str, str]
    trans_b: bool
    shape_class: str
    route: str
    instruction: str
    kernel: str
    reason: str
    tile: tuple[int, int, int]
    block: tuple[int, ...]
    panels: tuple[str, ...]
    dot: int
    note: str
    seconds: float
    peak: float
    fraction: float
    lower_bounds: dict[str, float] = field(default_factory=dict)
    in_cache: bool = False
    limit: str = ""
    next_best: dict[str, Any] | None = None

    def to_record(self) -> dict[str, Any]:
        """Return the plan as values that JSON can represent."""
        return asdict(self)

    def __str__(self) -> str:
        batch, m, n, k = self.shape
        how = f"{', B transposed' if self.trans_b else ''}{f', {batch} matrices' if batch > 1 else ''}"
        bounds = ", ".join(f"{name} {1e6 * seconds:.1f} us" for name, seconds in self.lower_bounds.items())
        cached = "; a cache has the matrices, so that the main memory is no limit" if self.in_cache else ""
        used = f"instruction {self.instruction}" if self.instruction else "no matrix instruction: multiply-adds"
        lines = [
            f"{self.operation} {m} x {n} x {k}{how}, {', '.join(self.types)}",
            f"device       {self.device}",
            f"route        {self.route}, {used}",
            f"kernel       {self.kernel}: {self.reason}",
            f"tile         {_described(asdict(self))} (class {self.shape_class})",
            f"time         {1e6 * self.seconds:.1f} us, {self.fraction:.0%} of the peak of {self.peak / 1e9:.0f} G/s",
            f"limit        {self.limit} (alone: {bounds}{cached})",
        ]
        if self.next_best is not None:
            lines.append(f"next best    tile {_described(self.next_best)}: {1e6 * self.next_best['seconds']:.1f} us")
        return "\n".join(lines + ([f"note         {self.note}"] if self.note else []))


def _described(tiling: dict[str, Any]) -> str:
    """Return the text for a tiling, given as a dictionary."""
    text = " x ".join(map(str, tiling["tile"]))
    if tiling["dot"]:
        text += f", with vectors by {tiling['dot']} work-item{'s' if tiling['dot'] > 1 else ''}"
    if tiling["block"]:
        text += f", blocks of {' x '.join(map(str, tiling['block']))} in local memory"
    if tiling["panels"]:
        of_a, of_b = tiling["panels"]
        text += f", A and B copied into panels of {of_a} and {of_b}" if of_a else f", B copied into panels of {of_b}"
    return text


def plan(
    device: Any,
    operation: str = "gemm",
    *,
    m: int,
    n: int,
    k: int,
    batch: int = 1,
    trans_b: bool = False,
    types: tuple[str, ...] = ("f32", "f32", "f32"),
) -> Plan:
    """Return how a device computes a product of row-major matrices. The first plan measures the device for seconds.

    device: a pyopencl device, or a text as `coopmat.context` takes it.
    operation: "gemm".
    m, n, k, batch: the sizes of C, the number of A's columns, and the number of matrices.
    trans_b: whether B is stored as n x k, as weights are.
    types: the component types of A, B and, if it is not the type of the sums, C.

    Raises TypeError and ValueError for wrong arguments, and RuntimeError if the device cannot be measured.
    """
    if operation != "gemm":
        raise ValueError(f"operation: {operation} is not supported (supported: gemm)")
    shape, components = _shape(batch=batch, m=m, n=n, k=k), components_of(types)
    info = select(device) if device is None or isinstance(device, str) else describe(device)
    return _planned(info, operation, components, shape, trans_b=bool(trans_b))


def _planned(
    info: DeviceInfo,
    operation: str,
    components: tuple[ComponentType, ...],
    shape: tuple[int, int, int, int],
    *,
    trans_b: bool,
) -> Plan:
    """Return the plan of a product, whose arguments are right."""
    (seconds, used), *others = _candidates(info, components, shape, trans_b=trans_b)
    other = min(others, key=lambda pair: pair[0], default=None)
    # Dot products have no peak: a large product's tile shows what the device's multiply-adds reach.
    usual = tilings_of(info.handle, components, (1, 4096, 4096, 4096))[0] if used.dot else used
    peak = peak_of(info, components, usual)
    if peak * seconds < 2.0 * math.prod(shape):
        peak = peak_of(info, components, usual, anew=True)
    operands = _operands(components, shape, trans_b=trans_b)
    shown = with_a_in_place(used, operands)
    bounds = _lower_bounds(info, components, shape, shown, peak)
    in_cache = bounds["memory"] > seconds
    return Plan(
        info.label,
        operation,
        shape,
        (components[0].name, components[1].name, components[3].name),
        trans_b,
        shape_class(*shape),
        route_of(info.handle),
        "" if used.dot else instruction_of(info.handle, components, used),
        "dot.cl" if used.dot else "gemm.cl",
        _reason(info, components, shape, used, trans_b=trans_b),
        *(shown.tile, shown.block, shown.panels, shown.dot),
        _note(info, components, shape) + _warning(seconds, other),
        seconds,
        peak,
        bounds["instructions"] / seconds,
        bounds,
        in_cache,
        max(bounds.keys() - ({"memory"} if in_cache else set()), key=lambda name: bounds[name]),
        {**asdict(with_a_in_place(other[1], operands)), "seconds": other[0]} if other is not None else None,
    )


def _reason(
    info: DeviceInfo,
    components: tuple[ComponentType, ...],
    shape: tuple[int, int, int, int],
    used: Tiling,
    *,
    trans_b: bool,
) -> str:
    """Return why a product is computed by dot products, or by matrices."""
    by = vectors_of(_operands(components, shape, trans_b=trans_b))
    name = "dot products" if by == "dots" else "sums of B's rows"
    products = f"{name} of {components[0]} for {shape[1]} row{'s' if shape[1] > 1 else ''} of A"
    if used.dot:
        return f"B's {'columns' if by == 'dots' else 'rows'} are consecutive, and the table has {products}"
    if not dots_of(info.handle, components, shape, by, with_excluded=True):
        return f"the table has no {products}"
    return f"{name} are excluded by the user's table, or do not fit the types or sizes"


def _operands(
    components: tuple[ComponentType, ...], shape: tuple[int, int, int, int], *, trans_b: bool
) -> tuple[Operand, Operand]:
    """Return A and B in memory without gaps."""
    batch, m, n, k = shape
    none = (0, 0, 0)
    a = Operand("a", components[0], (batch, m, k), none).dense()
    b = Operand("b", components[1], (batch, n, k) if trans_b else (batch, k, n), none).dense()
    return a, b.transposed() if trans_b else b


def _warning(seconds: float, other: tuple[float, Tiling] | None) -> str:
    """Return a remark for the note if the other candidate was faster than the one in use."""
    if other is None or other[0] >= seconds:
        return ""
    return "; the next best was faster: `coopmat tune`, or the list deny of your table, can make it the first"


def _shape(**sizes: int) -> tuple[int, int, int, int]:
    """Return the shape of a product. Raises ValueError if a size is not positive."""
    for name, size in sizes.items():
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"{name}: expected a positive integer, not {size}")
    return sizes["batch"], sizes["m"], sizes["n"], sizes["k"]


def _lower_bounds(
    info: DeviceInfo,
    components: tuple[ComponentType, ...],
    shape: tuple[int, int, int, int],
    tiling: Tiling,
    peak: float,
) -> dict[str, float]:
    """Return what the launches, the memory and the instructions of a product would take alone, in seconds.

    peak: operations per second.
    """
    rates, (batch, m, n, k) = rates_of(info), shape
    sizes = [item.size for item in (*components[:2], components[3])]
    moved = batch * sum(size * count for size, count in zip(sizes, (m * k, k * n, m * n), strict=True))
    return {
        "launch": rates.launch * (1 + sum(map(bool, tiling.panels))),
        "memory": moved / rates.bandwidth,
        "instructions": 2.0 * math.prod(shape) / peak,
    }


def components_of(types: tuple[str, ...]) -> tuple[ComponentType, ...]:
    """Return the component types of A, B, the sums and C. Raises TypeError and ValueError."""
    if len(types) not in (2, 3):
        raise ValueError(f"types: expected those of A, B and C, not {len(types)}")
    for name, supported in zip(types, (INPUTS, INPUTS, OUTPUTS), strict=False):
        if name not in supported:
            raise TypeError(f"types: {name} is not supported (supported: {', '.join(sorted(supported))})")
    components = tuple(COMPONENT_TYPES[name] for name in types)
    total = sum_type(*components[:2])
    if types[2:] == ("s32",) and not total.is_integer:
        raise TypeError(f"types: C is s32, and the products are added up in {total}")
    return (*components[:2], total, components[2] if len(types) == 3 else total)


def _candidates(
    info: DeviceInfo, components: tuple[ComponentType, ...], shape: tuple[int, int, int, int], *, trans_b: bool
) -> list[tuple[float, Tiling]]:
    """Return the seconds of the tilings of a product, in the order in which `gemm` tries them.

    Leave out those that cannot be measured, which include those that do not fit. Raises NotMeasured if none is left.
    """
    measured, failures = [], []
    by = vectors_of(_operands(components, shape, trans_b=trans_b))
    for tiling in dict.fromkeys(tilings_of(info.handle, components, shape, by)):
        try:
            measured.append((seconds_of(info, components, shape, tiling, trans_b=trans_b), tiling))
        except NotMeasured as error:
            failures.append(f"{tiling.tile}: {error}")
    if not measured:
        raise NotMeasured("; ".join(failures))
    return measured


def _note(info: DeviceInfo, components: tuple[ComponentType, ...], shape: tuple[int, int, int, int]) -> str:
    route = route_of(info.handle)
    measured, by_user = table(route)["measured"], table(route).get("measured_by_user")
    note = f"the tiles were measured on {measured}" if measured else f"the tiles of route {route} were not measured"
    note += f"; those of your table on {by_user}" if by_user else ""
    usual, used = (rows_of(info.handle, components, shape, with_excluded=is_all)[0] for is_all in (True, False))
    if usual == used:
        return note
    return f"{note}; the user's table excludes the tile {' x '.join(map(str, usual['tile']))} (allow, deny)"
