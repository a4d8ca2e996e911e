"""The faults that the conformance runner is to find fit the package as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from cts_mutants import MUTANTS, Mutant, text_of


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_there_is_a_place_for_it(mutant: Mutant) -> None:
    assert text_of(mutant) != (Path(__file__).parents[2] / "coopmat" / mutant.file).read_text(encoding="utf-8")


def test_names_are_unique() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names)) >= 30
