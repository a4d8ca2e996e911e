"""Plots of results, as SVG and PNG. They are readable without colours, and the same results give the same SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from coopmat.options import UsageError

from .machine import Machine
from .report import OWN, Result

_GREYS = ("0.15", "0.75", "0.5", "0.9", "0.6", "0.35")
_HATCHES = ("", "//", "..", "xx", "\\\\", "++")
_MARKERS = "os^Dv*"
_MOST_BARS = 8  # shapes in one panel


def require_matplotlib() -> None:
    """Raise UsageError if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install 'coopmat[bench]'")


def draw(
    directory: Path, results: Sequence[Result], machine: Machine, tiles: Mapping[tuple[int, int], float], title: str
) -> list[Path]:
    """Write the plots to a directory, which is made if it does not exist, and return their paths.

    tiles: (m, n) of tiles -> seconds; no heat map is drawn if it is empty. title: that of the heat map.
    """
    figures = {"roofline": _roofline(results, machine)}
    for (operation, name), group in groupby(results, key=lambda item: (item.case.operation, item.case.type)):
        figures[f"bars-{operation}-{name}"] = _bars(list(group), f"{operation} {name}, {machine.device}")
    if tiles:
        figures["tiles"] = _heat_map(tiles, title)
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for stem, figure in figures.items():
        for suffix in (".svg", ".png"):
            paths.append(directory / (stem + suffix))
            _save(figure, paths[-1])
    return paths


def _figure(width: float, height: float, rows: int = 1) -> tuple[Any, Any]:
    """Return a figure without a window or global state, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, squeeze=False)[:, 0]


def _save(figure: Any, path: Path) -> None:
    import matplotlib

    # Names of elements depend on the salt, and the date would differ each time.
    with matplotlib.rc_context({"svg.hashsalt": "coopmat"}):
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _roofline(results: Sequence[Result], machine: Machine) -> Any:
    """Draw the speed of each case over its operations per byte, below the bounds of memory and instructions."""
    figure, (axes,) = _figure(8, 5)
    intensities = [item.case.flop / item.case.bytes for item in results]
    ends = [min(intensities) / 2, max(intensities) * 2]
    for name, peak in machine.peaks.items():
        corners = [ends[0], *([peak / machine.bandwidth] if machine.bandwidth else []), ends[1]]
        line = [(x, min(peak, x * machine.bandwidth or peak) / 1e9) for x in sorted(corners) if x <= ends[1]]
        axes.plot(*zip(*line, strict=True), color="0.5", linewidth=1)
        axes.annotate(f"peak of {name}", line[-1], ha="right", va="bottom", fontsize=8)
    for (operation, name), marker in zip(dict.fromkeys(_kinds(results)), _MARKERS * len(results), strict=False):
        members = [item for item in results if _kinds([item]) == [(operation, name)] and OWN in item.seconds]
        for is_own, face in ((True, "0.15"), (False, "none")):
            points = [(item.case.flop / item.case.bytes, _speed(item, is_own)) for item in members]
            points = [point for point in points if point[1]]
            label = f"{operation} {name}, {OWN if is_own else 'the fastest other'}"
            if points:
                axes.plot(*zip(*points, strict=True), marker, color="0.15", markerfacecolor=face, label=label)
    axes.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="GFLOP/s", title=machine.device)
    axes.grid(True, which="both", color="0.9", linewidth=0.5)
    figure.legend(loc="outside right upper", fontsize=7)
    return figure


def _kinds(results: Sequence[Result]) -> list[tuple[str, str]]:
    return [(item.case.operation, item.case.type) for item in results]


def _speed(result: Result, is_own: bool) -> float:
    """Return our speed or that of the fastest other contender, in GFLOP/s; 0 if there is none."""
    seconds = [value for name, value in result.medians.items() if (name == OWN) == is_own]
    return result.case.flop / min(seconds) / 1e9 if seconds else 0.0


def _bars(results: Sequence[Result], title: str) -> Any:
    """Draw a group of bars for each shape, with a bar for each contender."""
    names = list(dict.fromkeys(name for item in results for name in item.seconds))
    panels = [results[first : first + _MOST_BARS] for first in range(0, len(results), _MOST_BARS)]
    figure, all_axes = _figure(10, 3.2 * len(panels), len(panels))
    for axes, members in zip(all_axes, panels, strict=True):
        for at, name in enumerate(names):
            places = [place + 0.8 * (at - (len(names) - 1) / 2) / len(names) for place in range(len(members))]
            speeds = [item.case.flop / item.medians[name] / 1e9 if name in item.medians else 0.0 for item in members]
            style = {"color": _GREYS[at % len(_GREYS)], "hatch": _HATCHES[at % len(_HATCHES)], "edgecolor": "black"}
            axes.bar(places, speeds, 0.8 / len(names), label=name, linewidth=0.5, **style)
        axes.set_xticks(range(len(members)), [item.case.label.replace(", ", ",\n") for item in members], fontsize=7)
        axes.set(ylabel="GFLOP/s", xlim=(-0.6, _MOST_BARS - 0.4 if len(panels) > 1 else len(members) - 0.4))
    all_axes[0].set_title(title)
    all_axes[0].legend(fontsize=8)
    return figure


def _heat_map(tiles: Mapping[tuple[int, int], float], title: str) -> Any:
    """Draw the time of each tile as a cell, darker if it is faster, with the time in ms."""
    rows, columns = (sorted({tile[side] for tile in tiles}) for side in (0, 1))
    nothing = float("nan")
    cells = [[tiles.get((m, n), nothing) * 1e3 for n in columns] for m in rows]
    figure, (axes,) = _figure(1.5 + 0.8 * len(columns), 1.5 + 0.5 * len(rows))
    least, most = min(tiles.values()) * 1e3, max(tiles.values()) * 1e3
    axes.imshow(cells, cmap="Greys_r", aspect="auto", norm="log", vmin=least, vmax=most * 1.001)
    for y, row in enumerate(cells):
        for x, cell in enumerate(row):
            if cell == cell:  # a number
                is_dark = cell < (least * most) ** 0.5
                axes.text(x, y, f"{cell:.3g}", ha="center", va="center", color="white" if is_dark else "black")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel="columns of a tile", ylabel="rows of a tile")
    axes.set_title(title, fontsize=9)
    return figure
