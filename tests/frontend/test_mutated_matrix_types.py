"""Valid programs with Clang's matrix types and one line spoiled: each is told of there, none is accepted or a crash."""

from __future__ import annotations

import random

import pytest
from matrix_mutations import Rule
from matrix_type_mutations import PROGRAMS, RULES
from test_mutated_matrix_programs import errors_of, places_of

COUNT = 150


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_are_valid(name: str) -> None:
    assert errors_of(PROGRAMS[name])[0] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_finds_places(rule: Rule) -> None:
    assert any(places_of(rule, text) for text in PROGRAMS.values())


def test_every_mutant_is_told_of_on_its_line() -> None:
    wrong = []
    rng = random.Random(7)
    mutants = [
        (rule, name, at, match, new)
        for rule in RULES
        for name, text in PROGRAMS.items()
        for at, match in places_of(rule, text)
        for new in rule.replacements
    ]
    assert len(mutants) >= 2 * COUNT
    for rule, name, at, match, new in rng.sample(mutants, COUNT):
        lines = PROGRAMS[name].split("\n")
        lines[at] = lines[at][: match.start()] + match.expand(new) + lines[at][match.end() :]
        errors, text = errors_of("\n".join(lines))
        if {item.span.line if item.span else 0 for item in errors} != {at + 1} or errors[0].code not in rule.codes:
            wrong.append(f"{rule.name}, line {at + 1}: {lines[at].strip()}\n{text}")
    assert not wrong, f"{len(wrong)} of {COUNT}:\n" + "\n".join(wrong)
