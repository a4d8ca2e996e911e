"""Maps as a PNG picture, by matplotlib."""

from __future__ import annotations

import colorsys
import io
from collections.abc import Sequence
from importlib.util import find_spec

from . import LaneMap, MapError


def picture(maps: Sequence[LaneMap]) -> bytes:
    """Return a PNG file with the maps one below the other. Raises MapError if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise MapError("PNG is not supported without matplotlib: pip install 'coopmat[bench]', or use --format svg")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = max(0.45 * m.matrix.columns for m in maps)
    figure = Figure((max(8, width + 1), sum(0.25 * m.matrix.rows + 1 for m in maps)), layout="constrained")
    axes = figure.subplots(len(maps), squeeze=False, height_ratios=[m.matrix.rows + 4 for m in maps])[:, 0]
    for ax, map_ in zip(axes, maps, strict=True):
        rows, columns = range(map_.matrix.rows), range(map_.matrix.columns)
        ax.imshow([[_color(map_.holders[r, c][0][0]) for c in columns] for r in rows], aspect="auto")
        for r in rows:
            for c in columns:
                ax.text(c, r, map_.label(r, c), ha="center", va="center", fontsize=7)
        down, across = map_.tile
        for r in rows[::down]:
            ax.axhline(r - 0.5, color="black")
        for c in columns[::across]:
            ax.axvline(c - 0.5, color="black")
        ax.set_title(map_.title, fontsize=8, loc="left")
    FigureCanvasAgg(figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()


def _color(lane: int) -> tuple[float, float, float]:
    return colorsys.hls_to_rgb(lane * 137.508 % 360 / 360, 0.86 - 0.07 * (lane % 3), 0.65)
