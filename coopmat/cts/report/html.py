"""The results as one HTML page, in the style of all pages (`coopmat.explain.html`).

Its tables have cells that open the list of their variants.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from coopmat.explain.html import THEME, document
from coopmat.matrices.routes import ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES

from ..outcome import UPSTREAM, Outcome, Results, Status, count, seconds, worst
from ..schedule import Settings
from . import logs
from .features import Features, features
from .json import describe
from .text import printable, verdict

# The lines of a log, and the failures at the top, that the page contains at most; the JSON report contains all.
_LOG_LINES, _MOST_FAILURES = 80, 50
FILTER = "<p><input id='filter' type='search' aria-label='filter' placeholder='filter: test, variant, status'></p>"


@dataclass(frozen=True)
class View:
    """A table of the page.

    key: a letter that distinguishes the table in the page's script.
    columns: all possible columns; empty ones are left out.
    place: the function that returns an outcome's row and column. If one of them is "", the outcome is not counted.
    """

    key: str
    title: str
    columns: Sequence[str]
    place: Callable[[Outcome, Features], tuple[str, str]]


_TYPES = tuple(COMPONENT_TYPES)
VIEWS = (
    View("t", "Tests by component type", _TYPES, lambda o, f: (o.test, f.component)),
    View("r", "Tests by route", ROUTES, lambda o, f: (o.test, o.route)),
    View("u", "Tests by use", ("A", "B", "C"), lambda o, f: (o.test, f.use)),
    View(
        "m", "Multiply-adds: A × B by accumulator", _TYPES, lambda o, f: (f.pairing, f.component if f.pairing else "")
    ),
    View("c", "Conversions: from (rows) to (columns)", _TYPES, lambda o, f: _conversion(o, f)),
)


def _conversion(outcome: Outcome, about: Features) -> tuple[str, str]:
    """Return the component types of a conversion's source and target, or "" twice for other operations.

    Reductions and transposes have two matrices in their names, too, and are excluded.
    """
    is_conversion = outcome.test.partition("_")[2].startswith("convert")
    return (about.component, about.target) if is_conversion else ("", "")


def render(results: Results, settings: Settings, folder: Path | None = None) -> str:
    """Return the page; `folder` is its directory, relative to which the files of failing variants are linked."""
    with_features = [(outcome, features(outcome.variant)) for outcome in results.outcomes]
    tables = [_table(view, with_features) for view in VIEWS]
    variants = _tests(results, settings, folder)
    parts = [_head(results), _failures(results, settings, folder), *tables, _facts(results), variants]
    title = f"{verdict(results)} {results.device.label}"
    return document(title, [THEME, *parts, _DIALOG], own_script())


def own_script() -> str:
    """Return the script of the runner's pages."""
    return (files(__package__) / "page.js").read_text(encoding="utf-8")


_DIALOG = '<dialog id="cell"><form method="dialog"><button>close</button></form><h2></h2><ul></ul></dialog>'


# --- the top -----------------------------------------------------------------------------------------


def _head(results: Results) -> str:
    state = "pass" if results.tested and not results.failures else "fail"
    counts = " ".join(
        f'<span class="{UPSTREAM[status]}">{count} {status.value}</span>' for status, count in results.counts().items()
    )
    lines = [f"<h1>Cooperative matrices: conformance</h1><p class='verdict {state}'>{escape(verdict(results))}</p>"]
    lines.append(f"<p>{escape(results.device.label)}</p>")
    if not results.complete:
        why = "Interrupted" if results.interrupted else "Stopped after the first failure"
        lines.append(f"<p class='fail'>{why}: {len(results.outcomes)} of {results.planned} variants were run.</p>")
    lines.append(f"<p>{len(results.outcomes)} variants: {counts}</p>")
    return "\n".join(lines)


def _failures(results: Results, settings: Settings, folder: Path | None) -> str:
    """Return a section with the failing variants and their logs, "" if there are none."""
    if not results.failures:
        return ""
    items = (
        f"<li class='fail'><strong>{_anchor(outcome)}</strong> {_item(outcome, settings, folder, is_open=True)}</li>"
        for outcome in results.failures[:_MOST_FAILURES]
    )
    rest = len(results.failures) - _MOST_FAILURES
    more = f"<p>{rest} more are below, among all variants.</p>" if rest > 0 else ""
    return "\n".join(["<section><h2>Failures</h2><ul>", *items, f"</ul>{more}</section>"])


def _facts(results: Results) -> str:
    facts = {
        "Device": results.device.label,
        **{key.replace("_", " "): _text(value) for key, value in describe(results.device).items()},
        "Command": " ".join(["coopmat", *results.arguments]),
        "Routes": " ".join(results.routes),
        **{key: str(value) for key, value in results.options.items()},
        "Started": results.started.isoformat(sep=" ", timespec="seconds"),
        "Seconds": f"{results.seconds:.1f}",
    }
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts.items() if value)
    return f"<section><h2>Device and run</h2><table class='facts'>{rows}</table></section>"


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# --- tables ------------------------------------------------------------------------------------------


def _table(view: View, outcomes: Sequence[tuple[Outcome, Features]]) -> str:
    """Return a section with the view's table, "" if no outcome is counted in the table."""
    cells: dict[str, dict[str, list[Outcome]]] = {}
    for outcome, about in outcomes:
        row, column = view.place(outcome, about)
        if row and column:
            cells.setdefault(row, {}).setdefault(column, []).append(outcome)
    columns = [column for column in view.columns if any(column in row for row in cells.values())]
    if not cells or not columns:
        return ""
    head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th scope='row'>{escape(row)}</th>"
        + "".join(_cell(view, row, column, entries.get(column, [])) for column in columns)
        + "</tr>\n"
        for row, entries in cells.items()
    )
    return (
        f"<section><h2>{escape(view.title)}</h2><div class='wide'><table class='grid'>"
        f"<thead><tr><th></th>{head}</tr></thead>\n<tbody>{body}</tbody></table></div></section>"
    )


def _cell(view: View, row: str, column: str, outcomes: Sequence[Outcome]) -> str:
    """Return a table cell with the numbers of passed and of all variants.

    The cell is a link: the page's script opens the list of variants; without the script, the link leads to the test.
    """
    if not outcomes:
        return "<td class='none'>·</td>"
    status = worst(outcomes)
    passed = count(outcomes)[Status.PASSED]
    text = f"{passed}/{len(outcomes)}" if status is not Status.NOT_SUPPORTED else "n/s"
    if status is Status.FAILED:
        text = f"✗ {text}"
    key = escape(f"{view.key}|{row}|{column}", quote=True)
    title = f"{row}, {column}: {status.value}, {seconds(outcomes):.2f} s"
    return (
        f"<td class='{UPSTREAM[status]}'><a href='#{_anchor(outcomes[0])}' data-k=\"{key}\""
        f' title="{escape(title, quote=True)}">{escape(text)}</a></td>'
    )


def _anchor(outcome: Outcome) -> str:
    return escape(f"{outcome.test}.{outcome.route}", quote=True)


# --- all variants ------------------------------------------------------------------------------------


def _tests(results: Results, settings: Settings, folder: Path | None) -> str:
    lines = ["<section><h2>All variants</h2>", FILTER]
    for (test, route), outcomes in results.groups().items():
        status = worst(outcomes)
        passed, time = count(outcomes)[Status.PASSED], seconds(outcomes)
        lines += [
            f"<details class='test' id='{_anchor(outcomes[0])}'><summary class='{UPSTREAM[status]}'>{escape(test)}"
            f" <small>{escape(route)}: {passed}/{len(outcomes)} passed, {status.value}, {time:.2f} s</small>"
            "</summary><ul>",
            *_items(outcomes, settings, folder),
            "</ul></details>",
        ]
    return "\n".join([*lines, "</section>"])


def _items(outcomes: Iterable[Outcome], settings: Settings, folder: Path | None) -> Iterable[str]:
    for outcome in outcomes:
        about = features(outcome.variant)
        places = ((view.key, *view.place(outcome, about)) for view in VIEWS)
        keys = ["|".join(place) for place in places if all(place)]
        line = _item(outcome, settings, folder)
        yield f'<li class="{UPSTREAM[outcome.status]}" data-k="{escape(";".join(keys), quote=True)}">{line}</li>'


def _item(outcome: Outcome, settings: Settings, folder: Path | None, is_open: bool = False) -> str:
    """Return the HTML of a variant; if it has a log, the log, the command and links to the files can be unfolded."""
    name = escape(outcome.variant or outcome.test)
    where = f", {escape(outcome.machine)}" if outcome.machine else ""
    line = f"{name} <small>{outcome.status.value}, {outcome.seconds:.3f} s{where}</small>"
    if not outcome.log:
        return line
    lines = printable(outcome.log).splitlines()
    log = [*lines[:_LOG_LINES], *(["..."] if len(lines) > _LOG_LINES else [])]
    return (
        f"<details{' open' if is_open else ''}><summary>{line}</summary>"
        f"<p><code>{escape(settings.repeat(outcome))}</code></p>{_files(outcome.directory, folder)}"
        f"{logs.render(log)}</details>"
    )


def _files(directory: str, folder: Path | None) -> str:
    """Return links to the files of a failing variant, or only the directory's name if the page's folder is unknown."""
    if not directory:
        return ""
    if folder is None:
        return f"<p>files: {escape(directory)}</p>"
    place = Path(directory)
    paths = sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else [place]
    links = ", ".join(f"<a href='{_address(path, folder)}'>{escape(path.name)}</a>" for path in paths)
    return f"<p>files in {escape(directory)}: {links}</p>"


def _address(path: Path, folder: Path) -> str:
    """Return the URL of a file, relative to the page's folder."""
    try:
        relative = Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on Windows: another drive
        relative = path.absolute().as_uri()
    return escape(quote(relative, safe="/:"), quote=True)
