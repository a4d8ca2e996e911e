"""The page of an explanation: one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..diagnostics import Diagnostic
from . import Explanation, machine
from .html import THEME, document, output, table, text
from .listing import Listing
from .maps import dialogs, id_of
from .measure import HEADS
from .source import Matrices, Token, tokens
from .stages import TITLES


def render(found: Explanation) -> str:
    """Return the page."""
    return document(f"{found.name} explained", _body(found), classes="explained")


def _body(found: Explanation) -> Iterator[str]:
    yield THEME
    yield f"<h1>{text(found.name)}</h1>"
    yield from _facts(found)
    if len(found.routes) > 1:
        names = [("both", "both"), *((str(n), stages.route) for n, stages in enumerate(found.routes))]
        yield '<fieldset class="switch"><legend class="unseen">routes that are shown</legend>'
        for value, title in names:
            checked = " checked" if value == "both" else ""
            yield f'<label><input type="radio" name="route" value="{value}"{checked}>{text(title)}</label>'
        yield "</fieldset>"
    yield '<p id="status" class="unseen" role="status"></p>'
    yield from _elsewhere(found)
    yield '<main class="panes"><section aria-labelledby="source"><h2 id="source">Source</h2>'
    yield from _source(found)
    yield '</section><section aria-label="stages of the compilation">'
    yield from _tabs(found)
    yield "</section></main>"
    yield from _measured(found)
    yield from dialogs(found.matrices, found.routes)


def _facts(found: Explanation) -> Iterator[str]:
    rows = []
    for stages in found.routes:
        module = stages.module
        if module is None:
            rows.append((stages.route, "does not compile", "", " ".join(found.options)))
            continue
        sizes = [f"{k.name} ({k.sub_group_size or 'any'})" for k in module.kernels.values()]
        device = stages.device or "no device in particular"
        rows.append((stages.route, f"{stages.form} for {device}", ", ".join(sizes), " ".join(found.options)))
    yield table(("route", "compiled to", "kernels (subgroup size)", "options"), rows)


# --- the source ----------------------------------------------------------------------------------------


def _placed(found: Explanation) -> dict[Diagnostic, list[int]]:
    """Return diagnostic -> the numbers of the routes that have it, sorted by place."""
    places: dict[Diagnostic, list[int]] = {}
    for number, stages in enumerate(found.routes):
        for item in stages.diagnostics:
            places.setdefault(item, []).append(number)
    return places


def _line_count(found: Explanation) -> int:
    """Return the number of lines that are shown; empty lines at the end are not."""
    return found.source.rstrip("\n").count("\n") + 1


def _elsewhere(found: Explanation) -> Iterator[str]:
    """Yield the diagnostics that are not about a line of the source."""
    count = _line_count(found)
    for item, routes in _placed(found).items():
        if item.span is None or item.span.file != found.name or not 1 <= item.span.line <= count:
            place = f"{item.span}: " if item.span is not None else ""
            yield f"<p>{_message(found, item, routes, place)}</p>"


def _message(found: Explanation, item: Diagnostic, routes: list[int], place: str = "", more: str = "") -> str:
    names = ", ".join(found.routes[number].route for number in routes)
    only = f' data-route="{routes[0]}"' if len(routes) < len(found.routes) else ""
    head = f"<b>{text(names)}</b> " if len(found.routes) > 1 else ""
    notes = "".join(f"\nnote: {text(note.message)}" for note in item.notes)
    kind = item.severity.value.split()[0]
    words = f"{place}{item.severity.value}: {item.message} [{item.code}]"
    return f'<span class="d {kind}"{only}>{head}{text(words)}{notes}{more}</span>'


def _source(found: Explanation) -> Iterator[str]:
    first: dict[int, str] = {}
    for number, stages in enumerate(found.routes):
        for key, listing in stages.listings.items():
            for at, (line, _) in enumerate(listing.groups()):
                if line:
                    first.setdefault(line, _group_id(number, key, at))
    by_line: dict[int, list[Token]] = {}
    for token in tokens(found.source):
        by_line.setdefault(token.line, []).append(token)
    placed = [pair for pair in _placed(found).items() if pair[0].span and pair[0].span.file == found.name]
    parts = [f'<pre class="code source"{_focus(bool(first))} role="group" aria-label="source">']
    for line in range(1, _line_count(found) + 1):
        own = [(item, routes) for item, routes in placed if item.span and item.span.line == line]
        words = "".join(_token(token, found.matrices, [item for item, _ in own]) for token in by_line.get(line, ()))
        margin = f'<span class="n">{line}</span>'
        if line in first:
            margin = f'<a class="n" href="#{first[line]}">{line}</a>'
        parts.append(f'<span id="L{line}">{margin}{words or " "}</span>')
        parts += [_message(found, item, routes, more=_link(found.matrices, item)) for item, routes in own]
    yield "".join([*parts, "</pre>"])


def _focus(is_linked: bool) -> str:
    """Return an attribute that lets the keyboard scroll text which has no links."""
    return "" if is_linked else ' tabindex="0"'


def _link(matrices: Matrices, item: Diagnostic) -> str:
    """Return a link from the remark about a multiply-add to its dialog."""
    at = item.severity.value == "remark" and item.span
    found = (n for n, add in enumerate(matrices.multiply_adds) if at and (add.line, add.column) == (at.line, at.column))
    number = next(found, None)
    return f' <a href="#mul-{number}">its matrices</a>' if number is not None else ""


def _token(token: Token, matrices: Matrices, items: Sequence[Diagnostic]) -> str:
    spans = [item.span for item in items if item.severity.value not in ("remark", "note") and item.span]
    is_at = any(
        span.column <= token.column < (span.end_column if span.end_line == span.line else 10**9) for span in spans
    )
    kind = f"{token.kind if token.kind != 'word' else ''}{' underlined' * is_at}".strip()
    types = matrices.of(token)
    if types:
        names = ", ".join(t.name for t in types)
        return f'<a class="m {kind}" href="#{id_of(types[0])}" title="{text(names)}">{text(token.text)}</a>'
    return f'<span class="{kind}">{text(token.text)}</span>' if kind else text(token.text)


# --- the stages ----------------------------------------------------------------------------------------


def _group_id(route: int, key: str, at: int) -> str:
    return f"r{route}-{key}-{at}"


def _tabs(found: Explanation) -> Iterator[str]:
    yield '<div role="tablist" aria-label="stages">'
    for n, (key, title) in enumerate(TITLES.items()):
        state = f'aria-selected="{str(not n).lower()}" tabindex="{-1 if n else 0}"'
        yield f'<button type="button" role="tab" id="tab-{key}" aria-controls="panel-{key}" {state}>{title}</button>'
    yield "</div>"
    for key, title in TITLES.items():
        yield f'<div role="tabpanel" id="panel-{key}" aria-labelledby="tab-{key}"><h2>{title}</h2><div class="routes">'
        made = [stages.listings.get(key, Listing(key, title, note=_FAILED)) for stages in found.routes]
        if len(made) > 1 and all(listing == made[0] for listing in made):
            yield "<section>"
            yield from _listing(0, " and ".join(stages.route for stages in found.routes), made[0])
            yield "</section>"
            made = []
        for number, (stages, listing) in enumerate(zip(found.routes, made, strict=False)):
            yield f'<section data-route="{number}">'
            yield f"<h3>{text(stages.route)}</h3>" if len(found.routes) > 1 else ""
            yield from _listing(number, stages.route, listing)
            yield "</section>"
        yield "</div></div>"


_FAILED = "The source has errors."


def _listing(number: int, route: str, listing: Listing) -> Iterator[str]:
    note = listing.note
    if listing.key == "asm" and listing.lines:
        counts = [f"{count} {name}" for name, count in machine.instructions(listing.lines).items()]
        note += f" Matrix instructions: {', '.join(counts) or 'none'}."
    if note:
        yield f'<p class="note">{text(note)}</p>'
    if not listing.lines:
        return
    is_linked = any(line.source for line in listing.lines)
    label = f"{listing.title} by {route}" + ("; the numbers are lines of the source" if is_linked else "")
    parts = [f'<pre class="code" role="group" aria-label="{text(label)}"{_focus(is_linked)}>']
    for at, (line, lines) in enumerate(listing.groups()):
        inner = text("\n".join(lines)) or " "
        if line:
            place = f'id="{_group_id(number, listing.key, at)}" data-l="{line}"'
            parts.append(f'<span {place}><a class="n" href="#L{line}">{line}</a>{inner}</span>')
        else:
            parts.append(f"<span>{inner}</span>")
    yield "".join([*parts, "</pre>"])


# --- the times -----------------------------------------------------------------------------------------


def _measured(found: Explanation) -> Iterator[str]:
    if not found.measured:
        return
    yield "<section><h2>Runs</h2>"
    rows = [row for item in found.measured for row in item.rows]
    if rows:
        yield table(HEADS, rows)
    for number, item in enumerate(found.measured):
        parts = [f"<h3>{text(title)}</h3>{inner}" for title, inner in (
            (f"Advice and messages: {item.route}", f"<pre>{text(item.messages)}</pre>" if item.messages else ""),
            (f"Printed by the kernels: {item.route}", output(item.printed)),
        ) if inner]  # fmt: skip
        yield f'<div data-route="{number}">{"".join(parts)}</div>'
    if found.plan:
        yield f"<h3>The same product by coopmat.linalg</h3><pre>{text(found.plan)}</pre>"
    yield "</section>"
