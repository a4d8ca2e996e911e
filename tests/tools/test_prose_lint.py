"""Words that a stranger cannot resolve are reported in docstrings and comments, and nowhere else."""

from __future__ import annotations

import pytest
from prose_lint import faults, main


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('def f():\n    """Return what it is."""\n', [2]),
        ("x = 1  # mended by hand\ny = 2\n", [1]),
        ('class C:\n    """A value.\n\n    The rest stands for it.\n    """\n', [2]),
        ('x = "what it is"\n', []),
        ('def f():\n    """Return the id of the value."""  # an id\n', []),
    ],
)
def test_phrases_are_found_on_their_lines(source: str, lines: list[int]) -> None:
    assert [line for line, _ in faults(source)] == lines


def test_the_message_has_the_phrase_and_an_alternative() -> None:
    assert faults("# goes on\n") == [(1, "'goes on': write continues")]


def test_the_package_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0, capsys.readouterr().out
