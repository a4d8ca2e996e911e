"""A map as text for a terminal: a cell "lane:slot" for each component, in the colour of its first lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import LaneMap

# The light colours of the terminal's cube of 6 x 6 x 6 colours: black text is readable on them.
_COLORS = [16 + 36 * r + 6 * g + b for r in range(2, 6) for g in range(2, 6) for b in range(2, 6)]


def grid(map_: LaneMap, color: bool, width: int) -> str:
    """Return the title and the rows, in blocks of as many columns as fit `width`; tiles have gaps between them."""
    rows, columns = map_.matrix.rows, map_.matrix.columns
    down, across = map_.tile
    labels = {place: map_.label(*place) for place in map_.holders}
    cell = max(map(len, labels.values()))
    margin = len(str(rows - 1))
    step = max(1, (width - margin) // (cell + 1))
    step = step // across * across or step
    lines = [map_.title]
    for start in range(0, columns, step):
        block = range(start, min(start + step, columns))
        gaps = ["  " if c % across == 0 and c > start else " " for c in block]
        heads = "".join(f"{gap}{c:>{cell}}" for gap, c in zip(gaps, block, strict=True))
        lines += ["", f"{'':{margin}}{heads}"]
        for r in range(rows):
            lines += [""] * (r % down == 0 and r > 0)
            cells = (_cell(map_, r, c, f"{labels[r, c]:>{cell}}", color) for c in block)
            lines.append(f"{r:>{margin}}" + "".join(gap + text for gap, text in zip(gaps, cells, strict=True)))
    return "\n".join([*lines, ""])


def _cell(map_: LaneMap, row: int, column: int, text: str, color: bool) -> str:
    """Return the text of a cell, with the escape sequences of its colour if `color`."""
    if not color:
        return text
    lane = map_.holders[row, column][0][0]
    return f"\x1b[30;48;5;{_COLORS[lane * 29 % len(_COLORS)]}m{text}\x1b[0m"
