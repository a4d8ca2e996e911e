"""The differences between the reports of two runs, which may be of two versions, two devices or two machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..outcome import Outcome, count
from .json import KEYS
from .read import Key, Report, failed

_ABSENT = "-"


@dataclass(frozen=True)
class Difference:
    """A variant whose status differs between two reports.

    before, after: the outcomes in the first and the second report; None if that report does not contain the variant.
    """

    key: Key
    before: Outcome | None
    after: Outcome | None

    @property
    def is_worse(self) -> bool:
        return failed(self.after) and not failed(self.before)


@dataclass(frozen=True)
class Comparison:
    """Two reports and their differences, in the order of the reports.

    same: the number of variants with the same status in both.

    Variants are matched by test, variant and route. The route is ignored if each report has a single route, and the
    routes differ.
    """

    a: Report
    b: Report
    differences: tuple[Difference, ...]
    same: int

    @property
    def is_worse(self) -> bool:
        return any(difference.is_worse for difference in self.differences)


def compare(a: Report, b: Report) -> Comparison:
    """Return the comparison of two reports."""
    routes = len(a.routes) == len(b.routes) == 1 and a.routes != b.routes
    key: Callable[[Outcome], Key] = lambda o: (o.test, o.variant, "" if routes else o.route)  # noqa: E731
    before, after = ({key(outcome): outcome for outcome in report.outcomes} for report in (a, b))
    keys = list(dict.fromkeys([*before, *after]))
    found = [Difference(k, before.get(k), after.get(k)) for k in keys]
    differing = tuple(d for d in found if _status(d.before) != _status(d.after))
    return Comparison(a, b, differing, len(found) - len(differing))


def _status(outcome: Outcome | None) -> str:
    return _ABSENT if outcome is None else KEYS[outcome.status].replace("_", " ")


def render(comparison: Comparison) -> str:
    """Return the comparison as text: both runs, the number of changes by kind, and a table of all differences."""
    lines = [*_heads(comparison), ""]
    changes = Counter((_status(d.before), _status(d.after)) for d in comparison.differences)
    lines += [f"{number:6} {a} -> {b}" for (a, b), number in sorted(changes.items(), key=lambda item: -item[1])]
    lines.append(f"{comparison.same:6} the same")
    if comparison.differences:
        rows = [("test", "variant", "route", "A", "B", ""), *map(_row, comparison.differences)]
        lines += ["", *_table(rows)]
    return "\n".join(lines) + "\n"


def _heads(comparison: Comparison) -> Iterator[str]:
    for letter, report in (("A", comparison.a), ("B", comparison.b)):
        numbers = ", ".join(f"{n} {KEYS[status].replace('_', ' ')}" for status, n in count(report.outcomes).items())
        machines = ", ".join(sorted({o.machine for o in report.outcomes if o.machine})) or "?"
        yield f"{letter}  {report.name}: {report.label}, routes {' '.join(report.routes)}, on {machines}: {numbers}"


def _row(difference: Difference) -> tuple[str, ...]:
    test, variant, route = difference.key
    log = next((o.log for o in (difference.after, difference.before) if o is not None and o.log), "")
    first = log.splitlines()[0] if log else ""
    return test, variant, route, _status(difference.before), _status(difference.after), first


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def render_html(comparison: Comparison) -> str:
    """Return the comparison as a page: both runs, the changes by kind, and all differences with a filter."""
    from coopmat.explain.html import THEME, document, output, table, text
    from coopmat.explain.printed import read

    from .html import FILTER, own_script

    worse = sum(difference.is_worse for difference in comparison.differences)
    verdict = f"B has {worse} failure{'s' * (worse > 1)} that A lacks." if worse else "B has no failure that A lacks."
    changes = Counter((_status(d.before), _status(d.after)) for d in comparison.differences)
    rows = [(f"{a} \N{RIGHTWARDS ARROW} {b}", str(number)) for (a, b), number in changes.most_common()]
    body = [THEME, "<h1>Cooperative matrices: two conformance runs</h1>"]
    body.append(f"<p class='verdict {'fail' if worse else 'pass'}'>{verdict}</p>")
    body += [f"<p>{text(head)}</p>" for head in _heads(comparison)]
    body.append(table(("status in A \N{RIGHTWARDS ARROW} B", "variants"), [*rows, ("the same", str(comparison.same))]))
    body += ["<section><h2>Differences</h2>", FILTER]
    groups: dict[tuple[str, str], list[Difference]] = {}
    for difference in comparison.differences:
        groups.setdefault((difference.key[0], difference.key[2]), []).append(difference)
    for (test, route), items in groups.items():
        name = f"{test}.{route}" if route else test
        state = "fail" if any(item.is_worse for item in items) else "skip"
        head = f"{text(test)} <small>{text(route)}: {len(items)} difference{'s' * (len(items) > 1)}</small>"
        body.append(f"<details class='test' id='{text(name)}' open><summary class='{state}'>{head}</summary><ul>")
        for item in items:
            before, after = _status(item.before), _status(item.after)
            log = next((o.log for o in (item.after, item.before) if o is not None and o.log), "")
            line = f"{text(item.key[1] or test)} <small>{before} \N{RIGHTWARDS ARROW} {after}</small>"
            line = f"<details><summary>{line}</summary>{output(read(log.splitlines()))}</details>" if log else line
            body.append(f"<li class='{'fail' if item.is_worse else 'skip'}'>{line}</li>")
        body.append("</ul></details>")
    return document(f"{verdict} {comparison.a.name}, {comparison.b.name}", [*body, "</section>"], own_script())


def render_json(comparison: Comparison) -> str:
    """Return the comparison as JSON."""
    rows = [
        dict(zip(("test", "variant", "route", "a", "b", "log"), _row(difference), strict=True))
        for difference in comparison.differences
    ]
    reports = {
        letter: {"report": report.name, "device": dict(report.device), "routes": list(report.routes)}
        for letter, report in (("a", comparison.a), ("b", comparison.b))
    }
    document = {**reports, "same": comparison.same, "worse": comparison.is_worse, "differences": rows}
    return json.dumps(document, indent=1) + "\n"
