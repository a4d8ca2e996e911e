"""`coopmat map`: draw which lane holds each component of a matrix, for a type or for a line of a program."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coopmat.options import UsageError

from .arguments import names_and_flags
from .files import keep_input, read_source, write_outputs
from .status import ExitStatus

if TYPE_CHECKING:
    from coopmat.maps import LaneMap, MultiplyAddMap

FORMATS = ("text", "svg", "png", "json")
_LINE = re.compile(r"(.+):(\d+)")


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="TYPE...|FILE.cl:LINE [FLAGS]")
@click.option("--mul-add", is_flag=True, help="Draw the multiply-add of three types: A, B and C.")
@click.option("--route", default="lanes", show_default=True, help="The route, such as one, x86, mma or mma@sm_80.")
@click.option("--sub-group-size", type=click.IntRange(1, 128), help="The lanes; by default the route's usual size.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default that of -o's suffix, or text.")
@click.option("-o", "output", metavar="FILE", help="Write to this file.")
def command(
    arguments: tuple[str, ...],
    mul_add: bool,
    route: str,
    sub_group_size: int | None,
    form: str | None,
    output: str | None,
) -> int:
    """Draw the lane and the slot of each component of a matrix.

    TYPE is written as by the conformance runner: ROWSxCOLUMNS.USE.TYPE. For a line of a file, draw the line's
    multiply-adds, or its matrices; arguments that start with `-` are passed to the compiler.

    Example: coopmat map 16x16.A.f16 --route mma
    """
    from coopmat.maps import MapError, lane_map, multiply_add_map

    names, flags = names_and_flags(arguments)
    line = _LINE.fullmatch(names[0]) if len(names) == 1 else None
    if line is not None and output is not None:
        keep_input(output, line[1])
    maps: Sequence[LaneMap | MultiplyAddMap]
    if flags and line is None:
        raise UsageError(f"'{flags[0]}' is no option of coopmat map; compiler flags need FILE.cl:LINE")
    if mul_add and (len(names) != 3 or line):
        raise UsageError(f"--mul-add takes three types, A, B and C, not {len(names)}")
    try:
        if line is not None:
            maps = _maps_of_line(line[1], int(line[2]), route, sub_group_size, flags)
        elif mul_add:
            a, b, c = names
            maps = [multiply_add_map(a, b, c, route, sub_group_size)]
        else:
            maps = [lane_map(name, route, sub_group_size) for name in names]
        contents = _drawn(maps, form or _format_of(output), is_file=output not in (None, "-"))
    except MapError as error:
        raise UsageError(str(error)) from error
    write_outputs({output or "-": contents})
    return ExitStatus.DONE


def _maps_of_line(name: str, line: int, route: str, size: int | None, flags: list[str]) -> Sequence[Any]:
    import coopmat
    from coopmat.maps.sources import maps_at
    from coopmat.runtime import parse_header

    text = read_source(name).decode("utf-8", "replace")
    runs = parse_header(text, name)
    # Macros that the program needs are in its run header.
    module = coopmat.compile(text, ["-w", *(runs[0].options if runs else ()), *flags], name=name)
    return maps_at(module.unit, name, line, route, size)


def _format_of(output: str | None) -> str:
    """Return the format of a file's suffix; text for any other suffix."""
    suffix = Path(output or "").suffix.removeprefix(".")
    return suffix if suffix in FORMATS else "text"


def _drawn(maps: Sequence[LaneMap | MultiplyAddMap], form: str, is_file: bool) -> bytes:
    """Return the contents of the output. Raises MapError if the format is impossible."""
    if form == "json":
        records = {m.name: m.to_json() for m in maps}
        return (json.dumps(maps[0].to_json() if len(maps) == 1 else records, indent=1) + "\n").encode()
    if form == "text":
        color = not is_file and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if color else 120
        return "\n".join(m.text(color=color, width=width) for m in maps).encode()
    panels = [panel for m in maps for panel in m.maps]
    if form == "png":
        from coopmat.maps.png import picture

        return picture(panels)
    if len(maps) == 1:
        return maps[0].svg().encode()
    from coopmat.maps.svg import document

    return document(panels, product=False, title="").encode()
