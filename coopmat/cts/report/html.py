"""The results as one page, for a browser of any size, without network: tables whose cells open the list of their
variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from coopmat.matrices.strategies import ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES

from ..outcome import UPSTREAM, Outcome, Results, Status, count, seconds, worst
from ..schedule import Settings
from .features import Features, features
from .json import describe
from .text import printable, verdict

# Lines of one log that go into the page; all of it is in the JSON report.
_LOG_LINES = 80


@dataclass(frozen=True)
class View:
    """A table, with the functions that give an outcome's row and column; an outcome with an empty name is not
    counted."""

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
    View(
        "c", "Conversions: from (rows) to (columns)", _TYPES, lambda o, f: (f.component if f.target else "", f.target)
    ),
)


def render(results: Results, settings: Settings) -> str:
    with_features = [(outcome, features(outcome.variant)) for outcome in results.outcomes]
    parts = [_head(results), *(_table(view, with_features) for view in VIEWS), _tests(results, settings)]
    title = escape(f"{verdict(results)} {results.device.label}")
    folder = files(__package__)
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title>\n<style>\n{style}</style></head>\n<body>\n" + "\n".join(parts) + "\n"
        '<dialog id="cell"><form method="dialog"><button>close</button></form><h2></h2><ul></ul></dialog>\n'
        f"<script>\n{script}</script>\n</body></html>\n"
    )


# --- the top -----------------------------------------------------------------------------------------


def _head(results: Results) -> str:
    state = "pass" if results.tested and not results.failures else "fail"
    counts = " ".join(
        f'<span class="{UPSTREAM[status]}">{count} {status.value}</span>' for status, count in results.counts().items()
    )
    facts = {
        "Device": results.device.label,
        **{key.replace("_", " "): _text(value) for key, value in describe(results.device).items()},
        "Command": " ".join(["coopmat", *results.arguments]),
        "Routes": " ".join(results.routes),
        **{key: str(value) for key, value in results.options.items()},
        "Started": results.started.isoformat(sep=" ", timespec="seconds"),
        "Seconds": f"{results.seconds:.1f}",
    }
    lines = [f"<h1>Cooperative matrices: conformance</h1><p class='verdict {state}'>{escape(verdict(results))}</p>"]
    if not results.complete:
        why = "Interrupted" if results.interrupted else "Stopped after the first failure"
        lines.append(f"<p class='fail'>{why}: {len(results.outcomes)} of {results.planned} variants were run.</p>")
    lines.append(f"<p>{len(results.outcomes)} variants: {counts}</p>")
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts.items() if value)
    lines.append(f"<details open><summary>Device and run</summary><table class='facts'>{rows}</table></details>")
    return "\n".join(lines)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# --- tables ------------------------------------------------------------------------------------------


def _table(view: View, outcomes: Sequence[tuple[Outcome, Features]]) -> str:
    """Return a table, empty if no outcome counts in it."""
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
    """Return a cell: how many of how many passed, and a link with which the script opens the variants, or else to the
    test's list."""
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


def _tests(results: Results, settings: Settings) -> str:
    lines = ["<section><h2>All variants</h2>"]
    for (test, route), outcomes in results.groups().items():
        status = worst(outcomes)
        passed, time = count(outcomes)[Status.PASSED], seconds(outcomes)
        lines += [
            f"<details class='test' id='{_anchor(outcomes[0])}'><summary class='{UPSTREAM[status]}'>{escape(test)}"
            f" <small>{escape(route)}: {passed}/{len(outcomes)} passed, {status.value}, {time:.2f} s</small>"
            "</summary><ul>",
            *_items(outcomes, settings),
            "</ul></details>",
        ]
    return "\n".join([*lines, "</section>"])


def _items(outcomes: Iterable[Outcome], settings: Settings) -> Iterable[str]:
    for outcome in outcomes:
        about = features(outcome.variant)
        places = ((view.key, *view.place(outcome, about)) for view in VIEWS)
        keys = ["|".join(place) for place in places if all(place)]
        name = escape(outcome.variant or outcome.test)
        where = f", {escape(outcome.machine)}" if outcome.machine else ""
        line = f"{name} <small>{outcome.status.value}, {outcome.seconds:.3f} s{where}</small>"
        if outcome.log:
            files_at = f"<p>files: {escape(outcome.directory)}</p>" if outcome.directory else ""
            lines = printable(outcome.log).splitlines()
            log = "\n".join([*lines[:_LOG_LINES], *(["..."] if len(lines) > _LOG_LINES else [])])
            line = (
                f"<details><summary>{line}</summary><p><code>{escape(settings.repeat(outcome))}</code></p>{files_at}"
                f"<pre>{escape(log)}</pre></details>"
            )
        yield f'<li class="{UPSTREAM[outcome.status]}" data-k="{escape(";".join(keys), quote=True)}">{line}</li>'
