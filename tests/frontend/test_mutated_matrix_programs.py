"""700 valid matrix programs with one line spoiled: each is told of on that line, none is accepted, none a crash."""

from __future__ import annotations

import random
import re

import pytest
from matrix_mutations import PROGRAMS, RULES, Rule
from sema_support import analysed

from coopmat.diagnostics import Diagnostic, render_text

COUNT = 700


def places_of(rule: Rule, source: str) -> list[tuple[int, re.Match[str]]]:
    lines = source.split("\n")
    return [(i, match) for i, line in enumerate(lines) for match in re.finditer(rule.pattern, line)]


def spoiled(seed: int) -> tuple[Rule, str, int]:
    """The rule, the program, and the number of the line that is wrong: rules take turns, the rest is drawn."""
    rng = random.Random(seed)
    rule = RULES[seed % len(RULES)]
    name, (at, match) = rng.choice(
        [(name, place) for name, text in PROGRAMS.items() for place in places_of(rule, text)]
    )
    lines = PROGRAMS[name].split("\n")
    lines[at] = lines[at][: match.start()] + match.expand(rng.choice(rule.replacements)) + lines[at][match.end() :]
    return rule, "\n".join(lines), at + 1


def errors_of(source: str) -> tuple[list[Diagnostic], str]:
    diagnostics = analysed(source)[1]
    return [item for item in diagnostics if item.severity.is_error], render_text(diagnostics, diagnostics.sources)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_are_valid(name: str) -> None:
    assert errors_of(PROGRAMS[name])[0] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_finds_places(rule: Rule) -> None:
    assert any(places_of(rule, text) for text in PROGRAMS.values())


def test_every_mutant_is_told_of_on_its_line() -> None:
    wrong, seen = [], set()
    for seed in range(4 * COUNT):
        rule, source, line = spoiled(seed)
        if source in seen:
            continue
        seen.add(source)
        errors, text = errors_of(source)
        places = {item.span.line if item.span else 0 for item in errors}
        if places != {line} or errors[0].code not in rule.codes:
            wrong.append(f"{seed} ({rule.name}), line {line}: {source.splitlines()[line - 1].strip()}\n{text}")
        if len(seen) == COUNT:
            break
    assert len(seen) == COUNT
    assert not wrong, f"{len(wrong)} of {COUNT}:\n" + "\n".join(wrong)
