"""The figure of the rooms: rows of boxes, in which a room imports only from the rows below its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from room_lint import circles

_FILLS = {"must": "#d7e8f7", "door": "#f1ece0"}
_LABELS = {"must": "read by a newcomer", "door": "opened when needed"}
_HEIGHT, _GAP, _ROW, _LEFT, _TOP = 40, 10, 66, 16, 40
_CHARACTER = 7.2
_WIDTH = 860


@dataclass(frozen=True)
class _Box:
    """A room's box: its left edge, its row's top and its width."""

    name: str
    x: float
    y: float
    width: float


def levels(imports: Mapping[str, set[str]]) -> dict[str, int]:
    """Return room -> row, counted from the bottom. Rooms that import each other share a row."""
    groups = {name: frozenset({name}) for name in imports}
    for circle in circles(imports):
        groups.update(dict.fromkeys(circle, frozenset(circle)))
    found: dict[str, int] = {}

    def level(group: frozenset[str]) -> int:
        if (known := found.get(min(group))) is None:
            below = {other for name in group for other in imports[name]} - group
            known = 1 + max((level(groups[other]) for other in below), default=-1)
            found.update(dict.fromkeys(group, known))
        return known

    for group in groups.values():
        level(group)
    return found


def figure(rooms: Mapping[str, Any], lines: Mapping[str, str]) -> str:
    """Return the figure as SVG. `rooms` is the table of rooms, and `lines` has the lines of code of each as text."""
    imports = {name: set(row["imports"]) - {name} for name, row in rooms.items()}
    circle_of = {name: tuple(circle) for circle in circles(imports) for name in circle}
    rows = list(_rows(rooms, levels(imports), circle_of, lines))
    boxes, height = _placed(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"'
        ' font-family="sans-serif" font-size="12">',
        "<title>The rooms of the package</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        *_legend(),
        *_frames(boxes, set(circle_of.values())),
        *(text for box in boxes.values() for text in _drawn(box, rooms[box.name], lines[box.name])),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _rows(
    rooms: Mapping[str, Any],
    level_of: Mapping[str, int],
    circle_of: Mapping[str, tuple[str, ...]],
    lines: Mapping[str, str],
) -> Iterator[list[tuple[str, float]]]:
    """Yield (room, width) pairs of each row, from the top; a level that is too wide has several rows."""
    for level in sorted(set(level_of.values()), reverse=True):
        names = [name for name in rooms if level_of[name] == level]
        names.sort(key=lambda name: name not in circle_of)
        row: list[tuple[str, float]] = []
        for name in names:
            width = 20 + _CHARACTER * max(len(name), len(lines[name]) + 6)
            if row and sum(w + _GAP for _, w in row) + width > _WIDTH - 2 * _LEFT:
                yield row
                row = []
            row.append((name, width))
        yield row


def _placed(rows: list[list[tuple[str, float]]]) -> tuple[dict[str, _Box], int]:
    """Return room -> box, with the rows in the middle of the figure, and the figure's height."""
    boxes = {}
    for number, row in enumerate(rows):
        x = (_WIDTH - sum(width + _GAP for _, width in row) + _GAP) / 2
        for name, width in row:
            boxes[name] = _Box(name, x, _TOP + number * _ROW, width)
            x += width + _GAP
    return boxes, _TOP + len(rows) * _ROW


def _legend() -> Iterator[str]:
    x = _LEFT
    for read, label in _LABELS.items():
        yield f'<rect x="{x}" y="12" width="14" height="14" fill="{_FILLS[read]}" stroke="#777777"/>'
        yield f'<text x="{x + 20}" y="23" fill="#222222">{label}</text>'
        x += 170
    yield f'<rect x="{x}" y="12" width="14" height="14" fill="none" stroke="#b0413e" stroke-dasharray="4 3"/>'
    yield f'<text x="{x + 20}" y="23" fill="#222222">import each other</text>'


def _frames(boxes: Mapping[str, _Box], groups: set[tuple[str, ...]]) -> Iterator[str]:
    """Yield a dashed frame around the boxes of each group, row by row."""
    for group in sorted(groups):
        for y in sorted({boxes[name].y for name in group}):
            row = [boxes[name] for name in group if boxes[name].y == y]
            left = min(box.x for box in row) - 5
            right = max(box.x + box.width for box in row) + 5
            yield (
                f'<rect x="{left:.1f}" y="{y - 5}" width="{right - left:.1f}" height="{_HEIGHT + 10}" fill="none"'
                ' stroke="#b0413e" stroke-dasharray="4 3"/>'
            )


def _drawn(box: _Box, row: Mapping[str, Any], lines: str) -> Iterator[str]:
    middle = box.x + box.width / 2
    imports = ", ".join(row["imports"]) or "no room"
    yield f"<g><title>{escape(box.name)} imports {escape(imports)}</title>"
    yield (
        f'<rect x="{box.x:.1f}" y="{box.y}" width="{box.width:.1f}" height="{_HEIGHT}" rx="4"'
        f' fill="{_FILLS[row["read"]]}" stroke="#777777"/>'
    )
    yield (
        f'<text x="{middle:.1f}" y="{box.y + 17}" text-anchor="middle" fill="#111111" font-family="monospace">'
        f"{escape(box.name)}</text>"
    )
    yield (
        f'<text x="{middle:.1f}" y="{box.y + 32}" text-anchor="middle" fill="#555555" font-size="10">'
        f"{lines} lines</text></g>"
    )
