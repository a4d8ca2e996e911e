"""Checks of a multiply-add: whether an instruction executes it, and whether the tile has a good size."""

from __future__ import annotations

from math import prod

from ..diagnostics import Diagnostic
from ..frontend import typed
from ..frontend.nodes import walk
from ..matrices.hardware_multiplies import Product
from ..matrices.spelling import sum_type
from ..matrices.supported import Supported, multiply_add
from ..matrices.variants import Operands
from . import thresholds
from .device import Device
from .loops import HotFunction, MultiplyAdd, warning


def _by(sizes: tuple[int, ...]) -> str:
    return " x ".join(map(str, sizes))


def _product(item: MultiplyAdd, device: Device) -> Product | None:
    """Return the instruction that executes a multiply-add, or None."""
    return device.route.product(item.a, item.b, item.c, Operands(item.node.operands), device.lanes)


def check_instruction(function: HotFunction, item: MultiplyAdd, device: Device) -> Diagnostic | None:
    """Return a warning if no instruction executes a multiply-add, but one would with another shape or types.

    The types are not checked in kernels that read the factors from local memory only, as gemm.cl does: these are
    written for ordinary instructions.
    """
    if 1 in (item.c.columns, item.c.rows) or not device.products or _product(item, device) is not None:
        return None
    matrices = (item.a, item.b, item.c)
    types = f"{item.a.component.opencl_c} by {item.b.component.opencl_c}"
    rows = [
        row
        for row in device.products
        if all(m.component.name in names for m, names in zip(matrices, (row.a, row.b, row.c), strict=True))
    ]
    if not rows:
        return _check_types(item, device, types) if function.loads else None
    if any(all(map(row.fits, matrices)) for row in rows):
        return None  # The signs or the lane layouts do not fit, and no other shape would help.
    row = min(rows, key=lambda row: row.m * row.n * row.k)
    unit = (row.m, row.n, row.k)
    tiles = device.tiles(item.a.component)
    best = tiles.best if tiles else tuple(-(-side // part) * part for side, part in zip(item.tile, unit, strict=True))
    message = (
        f"no instruction of the device multiplies tiles of {_by(item.tile)} of {types}: use a tile of {_by(best)}, or "
        f"another multiple of {_by(unit)}, which the instruction {row.name} multiplies, "
        f"{thresholds.GAIN_OF_INSTRUCTION}"
    )
    return warning("instruction", item.node, message)


def _check_types(item: MultiplyAdd, device: Device, types: str) -> Diagnostic | None:
    """Return a warning if a GPU's instructions do not multiply these types; on a CPU, vectors multiply them well."""
    if not device.is_gpu or item.a.component.bits == 64:
        return None
    supported = Supported(tuple(variant for row in device.products for variant in row.variants()))
    wanted = multiply_add(item.a, item.b, item.c, Operands(item.node.operands))
    near, _ = supported.nearest_multiply_adds(wanted)[0]
    message = (
        f"no matrix instruction of the device multiplies {types}: convert A and B to {near.a.opencl_c} and "
        f"{near.b.opencl_c}, with sums of {near.c.opencl_c}, in tiles that are multiples of "
        f"{_by((near.m, near.n, near.k))}, {thresholds.GAIN_OF_TYPE}"
    )
    return warning("instruction", item.node, message)


def check_registers(function: HotFunction, item: MultiplyAdd, device: Device) -> Diagnostic | None:
    """Return a warning if the sums of a tile do not fit in registers, and the tile is too shallow to hide this."""
    size = sum_type(item.a.component, item.b.component, item.c.component).size
    if device.is_gpu:
        return _check_lane_registers(item, device, size)
    needed, product = item.c.rows * item.c.columns * size, _product(item, device)
    if product is not None and product.keeps_state:
        return None  # AMX's tiles are no vector registers
    tiles = device.tiles(item.a.component)
    depth = item.a.columns // (product.k if product else 1)
    if not tiles or needed <= device.register_bytes or depth >= thresholds.LEAST_DEPTH or not device.register_bytes:
        return None
    message = (
        f"the sums of a tile of {_by(item.tile)} need {needed} bytes, and the processor's vector registers have "
        f"{device.register_bytes}, so each multiply-add reads and writes them in memory: use a tile of "
        f"{_by(tiles.best)}, {thresholds.GAIN_OF_SUMS_IN_REGISTERS}"
    )
    return warning("registers", item.node, message)


def _check_lane_registers(item: MultiplyAdd, device: Device, size: int) -> Diagnostic | None:
    def needed(rows: int, columns: int) -> int:
        return -(-rows * columns * size // (4 * device.lanes))

    m, n, k = item.tile
    if needed(m, n) <= thresholds.LANE_REGISTERS:
        return None
    while needed(m, n) > thresholds.LANE_REGISTERS // 2 + 1:
        m, n = (m // 2, n) if m >= n else (m, n // 2)
    message = (
        f"the sums of a tile of {_by(item.tile)} need {needed(*item.tile[:2])} registers of each work-item, which can "
        f"have {thresholds.LANE_REGISTERS}, so they are kept in memory: use a tile of {_by((m, n, k))}, "
        f"{thresholds.GAIN_WITHOUT_SPILLS}"
    )
    return warning("registers", item.node, message)


def check_size(function: HotFunction, item: MultiplyAdd, device: Device) -> Diagnostic | None:
    """Return a warning if a tile is far too small or too large. Tiles of one row or column are for vectors.

    Several multiply-adds, or an array of sums, may use a factor more often than one tile tells.
    """
    tiles = device.tiles(item.a.component)
    if device.is_gpu or not tiles or 1 in (item.c.rows, item.c.columns):
        return None
    if len(function.multiply_adds) > 1 or any(isinstance(node, typed.Index) for node in walk(item.node)):
        return None
    components = prod(item.tile[:2])
    if components < tiles.least:
        cause = f"is too small: a component that is loaded is used at most {max(item.tile[:2])} times"
        gain = tiles.gain
    elif components * item.c.component.size > thresholds.MOST_SUM_BYTES:
        cause, gain = "is too large: its sums do not fit in the processor's cache", thresholds.GAIN_OF_SUMS_IN_CACHE
    else:
        return None
    return warning("tile", item.node, f"a tile of {_by(item.tile)} {cause}: use a tile of {_by(tiles.best)}, {gain}")
