"""The dialogs of a page: the lane maps of each matrix type, and the instructions of each multiply-add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..maps import LaneMap, MapError
from ..matrices.variants import MatrixType
from .html import text
from .source import Matrices, MultiplyAdd, lane_maps
from .stages import Stages


def id_of(matrix: MatrixType) -> str:
    """Return the id of a matrix type's dialog."""
    return f"map-{matrix.name.replace('.', '-')}"


def dialogs(matrices: Matrices, routes: Sequence[Stages]) -> Iterator[str]:
    for matrix, sizes in matrices.types.items():
        yield _opened(id_of(matrix), f"{matrix.name}: which lane holds what")
        for number, stages in enumerate(routes):
            yield f'<section data-route="{number}"><h3>{text(stages.route)}</h3>'
            try:
                yield from map(_map, lane_maps(matrix, sizes, stages.route, stages.sub_group_size))
            except MapError as error:
                yield f'<p class="note">{text(error)}</p>'
            yield "</section>"
        yield "</dialog>"
    for number, item in enumerate(matrices.multiply_adds):
        yield from _multiply_add(number, item, routes)


def _opened(name: str, title: str) -> str:
    close = '<form method="dialog"><button type="submit">close</button></form>'
    return f'<dialog class="map" id="{name}" aria-label="{text(title)}">{close}<h2>{text(title)}</h2>'


def _multiply_add(number: int, item: MultiplyAdd, routes: Sequence[Stages]) -> Iterator[str]:
    yield _opened(f"mul-{number}", f"The multiply-add of line {item.line}")
    for at, stages in enumerate(routes):
        remarks = [
            found.message
            for found in stages.diagnostics
            if found.severity.value != "note" and found.span and found.span.line == item.line
        ]
        yield f'<section data-route="{at}"><h3>{text(stages.route)}</h3><ul>'
        yield from (f"<li>{text(remark)}</li>" for remark in remarks)
        with suppress(MapError):  # native matrices have no maps; the remark names their instruction
            found = item.map(stages.route, stages.sub_group_size)
            yield f"<li>{text(found.title)}</li>" if found.product else ""
        yield "</ul></section>"
    links = (f'<a href="#{id_of(matrix)}">{text(matrix.name)}</a>' for matrix in item.types)
    yield f"<p>Maps of its matrices: {', '.join(links)}</p></dialog>"


def _map(map_: LaneMap) -> str:
    """Return a map as a table: a cell has its lanes and slot, and the color of its first lane."""
    down, across = map_.tile
    rows, columns = range(map_.matrix.rows), range(map_.matrix.columns)
    head = "".join(f'<th scope="col">{c}</th>' for c in columns)
    lines = [
        f"<p>{text(map_.title)}. A cell is lane:slot.</p>",
        f'<div class="wide" role="group" aria-label="{text(map_.name)}" tabindex="0">',
        f'<table class="lanes"><tr><th></th>{head}</tr>',
    ]
    for r in rows:
        lines.append(f"""<tr{' class="top"' * (r % down == 0)}><th scope="row">{r}</th>""")
        for c in columns:
            left = ' class="left"' * (c % across == 0)
            lines.append(f'<td{left} style="--lane:{map_.holders[r, c][0][0]}">{map_.label(r, c)}</td>')
        lines.append("</tr>")
    return "".join([*lines, "</table></div>"])
