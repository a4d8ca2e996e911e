"""The description of the errors in a buffer: the wrong components, and the expected and the actual matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coopmat.matrices.numpy_reference import Array, widen

from .experiment import Argument

# The number of wrong components that are listed, and the number of rows and of columns of a matrix that are printed.
POSITIONS, WINDOW = 16, 12
# The error of a multiply-add that upstream allows, in units in the last place.
UPSTREAM_ULPS = 1117.0


def with_upstream_tolerance(argument: Argument) -> Argument:
    """Return the argument with upstream's tolerance, UPSTREAM_ULPS, for each component that has a tolerance.

    Arguments of integers, and arguments that are inputs or have no tolerance, are returned unchanged.
    """
    if argument.expected is None or argument.component.is_integer or not np.any(np.asarray(argument.tolerance) > 0):
        return argument
    wide = widen(argument.component, argument.expected)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(wide)).astype(np.float64) * (
            2.0 ** (23 - argument.component.mantissa) if argument.component.is_bits else 1.0
        )
    bound = np.where(np.isfinite(unit) & (np.asarray(argument.tolerance) > 0), UPSTREAM_ULPS * unit, 0.0)
    return replace(argument, tolerance=bound)


def with_flushed_subnormals(argument: Argument) -> Argument:
    """Return the argument with a tolerance for devices that replace subnormal floats and doubles by zeros.

    Vulkan allows that. Arguments of other types and inputs are returned unchanged.
    """
    if argument.expected is None or argument.component.name not in ("f32", "f64"):
        return argument
    smallest = float(np.finfo(argument.component.numpy).smallest_normal)
    return replace(argument, tolerance=np.maximum(argument.tolerance, smallest))


def fault(argument: Argument, actual: Array) -> str:
    """Return a description of the errors in a buffer's contents `actual` after the launch, "" if there are none."""
    if argument.look is not None:
        text = argument.look(actual)
        return f"{argument.name}: {text}" if text else ""
    wrong = argument.wrong(actual).ravel()
    if not wrong.any():
        return ""
    count, size = int(np.count_nonzero(wrong)), wrong.size
    what = "components are wrong" if argument.is_output else "components of an input have changed"
    lines = [f"{argument.name}: {count} of {size} {what}"]
    lines += _positions(argument, actual, wrong)
    lines += _matrices(argument, actual, wrong)
    return "\n".join(lines)


def _shown(argument: Argument, values: Array) -> Array:
    return np.asarray(widen(argument.component, values))


def _positions(argument: Argument, actual: Array, wrong: Array) -> list[str]:
    values, expected = (_shown(argument, array.ravel()) for array in (actual, argument.result))
    places = np.flatnonzero(wrong)
    lines = [f"  {where(argument, int(at))}: {values[at]!s}, not {expected[at]!s}" for at in places[:POSITIONS]]
    return lines + ([f"  and {places.size - POSITIONS} more"] if places.size > POSITIONS else [])


def where(argument: Argument, at: int) -> str:
    """Describe the position of component `at` of a buffer.

    This is its row and column, its distance from the matrix in a guard, or its index.
    """
    if argument.place is None:
        return f"component {at}"
    indices = argument.place.indices()
    hits = np.argwhere(indices == at)
    if hits.size:
        return ", ".join(f"row {row}, column {column}" for row, column in hits[:1]) + (
            f" and {len(hits) - 1} more at the same place" if len(hits) > 1 else ""
        )
    if at < indices.min():
        return f"guard, {indices.min() - at} components before the matrix"
    if at > indices.max():
        return f"guard, {at - indices.max()} components behind the matrix"
    return f"padding, component {at} of the buffer"


def _matrices(argument: Argument, actual: Array, wrong: Array) -> list[str]:
    """Return lines with the expected and the actual matrix, clipped to a window around the first wrong component."""
    if argument.place is None:
        return []
    indices = argument.place.indices()
    bad = np.argwhere(wrong[indices])
    row, column = bad[0] if bad.size else (0, 0)
    rows, columns = _window(int(row), indices.shape[0]), _window(int(column), indices.shape[1])
    clip = ""
    if (rows.stop - rows.start, columns.stop - columns.start) != indices.shape:
        clip = f" (rows {rows.start} to {rows.stop - 1}, columns {columns.start} to {columns.stop - 1})"
    lines = []
    for title, array in (("expected", argument.result), ("got", actual)):
        matrix = _shown(argument, array.ravel()[indices])[rows, columns]
        lines.append(f"  {title}, {argument.place.matrix.name}{clip}:")
        lines += [f"    {line}" for line in _grid(matrix, wrong[indices][rows, columns])]
    return lines


def _window(at: int, size: int) -> slice:
    start = max(0, min(at - WINDOW // 2, size - WINDOW))
    return slice(start, min(size, start + WINDOW))


def _grid(matrix: Array, wrong: Array) -> list[str]:
    """Return one line for each row of the matrix, in columns of equal width; a star follows each wrong component."""
    marked = np.where(wrong, "*", " ")
    cells = [[f"{v!s}{m}" for v, m in zip(*row, strict=True)] for row in zip(matrix, marked, strict=True)]
    width = max(len(cell) for row in cells for cell in row)
    return [" ".join(cell.rjust(width) for cell in row).rstrip() for row in cells]
