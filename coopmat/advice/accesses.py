"""Checks of the loads in a loop that multiplies: their strides, layouts and bounds."""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..frontend import typed
from ..matrices.variants import Layout, MatrixType, Use
from . import thresholds
from .device import Device
from .loops import HotFunction, warning

_LINES = {Layout.ROW_MAJOR: "rows", Layout.COLUMN_MAJOR: "columns"}


def check_stride(
    function: HotFunction, load: typed.MatrixLoad, matrix: MatrixType, device: Device
) -> Diagnostic | None:
    """Return a warning if the stride is known, and the rows of a tile share sets of a CPU's cache."""
    stride = function.constant(load.stride, of_launch=True)
    if not device.register_bytes or load.layout not in _LINES or not stride:
        return None
    lines, size = _LINES[Layout(load.layout)], matrix.component.size
    count = matrix.rows if load.layout == Layout.ROW_MAJOR else matrix.columns
    if stride * size % thresholds.CACHE_DISTANCE or count <= thresholds.CACHE_WAYS:
        return None
    padding = thresholds.PADDING_BYTES // size
    message = (
        f"the {lines} of this tile are {stride * size} bytes apart, so they share a few places of the cache: store the "
        f"matrix with a stride of {stride + padding}, which adds {padding} unused components to each of the {lines}, "
        f"{thresholds.GAIN_OF_PADDING}"
    )
    return warning("stride", load.stride, message)


def check_layout(
    function: HotFunction, load: typed.MatrixLoad, matrix: MatrixType, device: Device
) -> Diagnostic | None:
    """Return a warning if a factor has the layout that is slow on the route, and its components are used rarely."""
    for row in thresholds.LAYOUTS:
        slow = Layout.ROW_MAJOR if row.by_rows else Layout.COLUMN_MAJOR
        is_meant = device.measured_as(matrix.component) == row.route and matrix.use is row.use
        is_meant = is_meant and matrix.component.name in row.components
        if is_meant and load.layout == slow and 1 < function.reuse(load, matrix) <= row.most_reuse:
            was, other = ("row", "column") if row.by_rows else ("column", "row")
            letter = "A" if matrix.use is Use.A else "B"
            message = (
                f"{was}-major loads of {letter} with components of {matrix.component.opencl_c} are slow on this "
                f"device: store {letter} by {other}s, once before the kernel, and load it {other}-major, {row.gain}"
            )
            return warning("layout", load, message)
    return None


def check_checks(
    function: HotFunction, load: typed.MatrixLoad, matrix: MatrixType, device: Device
) -> Diagnostic | None:
    """Return a warning if a load has checks, and no tile is partly inside of the matrix."""
    bounds = load.bounds
    if bounds is None:
        return None
    rows, columns = function.constant(bounds.rows), function.constant(bounds.columns)
    if not rows or not columns or rows % matrix.rows or columns % matrix.columns:
        return None
    if not function.is_multiple(bounds.row, matrix.rows) or not function.is_multiple(bounds.column, matrix.columns):
        return None
    gain = thresholds.GAIN_WITHOUT_CHECKS_ON_GPUS
    if device.register_bytes:
        if (
            matrix.component.bits < thresholds.CHECKED_BITS
            or matrix.rows * matrix.columns > thresholds.CHECKED_COMPONENTS
        ):
            return None
        gain = thresholds.GAIN_WITHOUT_CHECKS
    message = (
        f"no tile of {matrix.rows} x {matrix.columns} lies across the border of a matrix of {rows} x {columns}: if "
        f"every tile begins inside, use coop_mat_load, with a pointer to the tile's first component, {gain}"
    )
    return warning("checked", load, message)
