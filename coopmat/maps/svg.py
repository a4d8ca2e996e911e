"""Maps as an SVG document: a cell for each component in the colour of its first lane, tiles with thick borders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import LaneMap

_HEIGHT, _LETTER, _GAP, _LINE = 22, 6.7, 30, 20


def document(maps: Sequence[LaneMap], product: bool, title: str) -> str:
    """Return the document: the maps one below the other, or those of a product as in its formula.

    In the formula, B is above C, and A is to the left of C.
    """
    # The route and the instruction of a product are in its title.
    heads = [f"{m.name}: {m.distribution}" if product else m.title for m in maps]
    sizes = [(_cell(m) * m.matrix.columns + 2 * _GAP, _HEIGHT * m.matrix.rows + 2 * _GAP) for m in maps]
    top = _LINE if title else 0
    if product:
        (wa, ha), (wb, hb), (wc, hc) = sizes
        wa = max(wa, _length(heads[0]))
        places = [(0.0, top + hb), (wa, float(top)), (wa, top + hb)]
        right = wa + max(wb, wc, *map(_length, heads[1:]))
        size = max(right, _length(title)), top + hb + max(ha, hc)
    else:
        places = [(0.0, float(top + sum(height for _, height in sizes[:n]))) for n in range(len(maps))]
        widths = [*(width for width, _ in sizes), *map(_length, heads)]
        size = max(widths), top + sum(height for _, height in sizes)
    width, height = (round(number + 10) for number in size)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="monospace" font-size="11" text-anchor="middle" role="img">',
        f"<title>{escape(title or '; '.join(m.title for m in maps))}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    if title:
        lines.append(_text(8, 15, title, 'text-anchor="start" font-weight="bold"'))
    for map_, head, (x, y) in zip(maps, heads, places, strict=True):
        lines += [f'<g transform="translate({x:g} {y:g})">', *_panel(map_, head), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def _length(head: str) -> float:
    """Return the width of a map with this title."""
    return _LETTER * len(head) + 2 * _GAP


def _cell(map_: LaneMap) -> float:
    """Return the width of a cell."""
    return 8 + _LETTER * max(len(map_.label(*place)) for place in map_.holders)


def _panel(map_: LaneMap, head: str) -> Iterator[str]:
    """Yield the elements of one map: its title `head`, numbers of rows and columns, cells, and borders of tiles."""
    width, rows, columns = _cell(map_), map_.matrix.rows, map_.matrix.columns
    yield _text(_GAP, 12, head, 'text-anchor="start"')
    for c in range(columns):
        yield _text(_GAP + (c + 0.5) * width, _GAP - 4, str(c), 'fill="#666"')
    for r in range(rows):
        yield _text(_GAP - 4, _GAP + r * _HEIGHT + 15, str(r), 'fill="#666" text-anchor="end"')
    for (r, c), holders in sorted(map_.holders.items()):
        x, y = _GAP + c * width, _GAP + r * _HEIGHT
        lane, slot = holders[0]
        number = map_.register(slot)
        register = "" if number is None else f", register {number}"
        lanes = ", ".join(str(each) for each, _ in holders)
        yield f"<g><title>row {r}, column {c}: lane {lanes}, slot {slot}{register}</title>"
        fill = f"hsl({lane * 137.508 % 360:.0f} 65% {86 - 7 * (lane % 3)}%)"
        yield f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_HEIGHT}" fill="{fill}" stroke="#999"/>'
        yield _text(x + width / 2, y + 15, map_.label(r, c)) + "</g>"
    down, across = map_.tile
    for r in range(0, rows, down):
        for c in range(0, columns, across):
            place = f'x="{_GAP + c * width:g}" y="{_GAP + r * _HEIGHT}"'
            size = f'width="{min(across, columns - c) * width:g}" height="{min(down, rows - r) * _HEIGHT}"'
            yield f'<rect {place} {size} fill="none" stroke="black" stroke-width="2"/>'


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{" " * bool(attributes)}{attributes}>{escape(text)}</text>'
