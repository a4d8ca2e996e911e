"""Journals, whose last line may be incomplete."""

from __future__ import annotations

from pathlib import Path

from coopmat.linalg.parameters import Tiling
from coopmat.tuning import Journal, Trial
from coopmat.tuning.trials import Outcome

SHAPE = (1, 2, 3, 4)
FIRST = Trial(("platform",), "f32", SHAPE, (Tiling((1, 2, 3), (), 0, ("f32", "f32")),))
SECOND = Trial(("platform",), "f32", SHAPE, (None, Tiling((1, 2, 4), (2, 4, 8), 32)), best=1.5)


def test_a_journal_keeps_outcomes(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "new" / "journal")
    assert len(journal) == 0 and journal.get(FIRST) is None
    journal.add(FIRST, Outcome(((0.1, 0.3), (0.2, 0.4))), 1.25)
    journal.add(SECOND, Outcome(failure="the process ended by SIGSEGV"), 2.5)
    again = Journal(journal.path)
    assert again.get(FIRST) == (Outcome(((0.1, 0.3), (0.2, 0.4))), 1.25)
    assert again.get(SECOND) == (Outcome(failure="the process ended by SIGSEGV"), 2.5)
    again.remove()
    assert len(again) == 0 and not journal.path.exists() and len(Journal(journal.path)) == 0


def test_an_incomplete_line_is_removed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.add(FIRST, Outcome(((0.1,),)), 1.0)
    complete = journal.path.read_bytes()
    journal.add(SECOND, Outcome(((0.2,), (0.3,))), 1.0)
    both = journal.path.read_bytes()
    for length in range(len(complete), len(both)):
        journal.path.write_bytes(both[:length])
        cut = Journal(journal.path)
        assert len(cut) == 1 and cut.get(FIRST) is not None and journal.path.read_bytes() == complete
    cut.add(SECOND, Outcome(((0.2,), (0.3,))), 1.0)
    assert journal.path.read_bytes() == both
