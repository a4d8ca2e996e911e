"""The lint of pages finds long lines, long sentences and unclear phrases; wrapping changes nothing but line ends."""

from __future__ import annotations

import doc_lint
import pytest
from doc_lint import faults
from doc_wrap import wrapped

LONG = "word " * 26


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"# A\n\n{LONG}.\n", [3, 3]),  # the line is too long, too
        (f"# A\n\n{'a b ' * 12}end. {'c d ' * 11}\nend.\n", []),
        (f"- {'a b ' * 12}\n  and\n  more.\n", [1]),
        (f"- {'a b ' * 12}\n- and more.\n", []),
        ("This stands for a value.\n", [1]),
        ("`This stands for a value.`\n", []),
        (f"```text\n{LONG}{LONG}\n```\n", []),
        (f"| {LONG}{LONG} |\n", []),
        (f"    {LONG}{LONG}\n", []),
        (f"[{'x' * 130}](y)\n", []),
        (f"# A\n\nMade by `tools/pages a > docs/a.md`; do not edit.\n\n{LONG}{LONG}\n", []),
    ],
)
def test_faults_are_found_on_their_lines(text: str, lines: list[int]) -> None:
    assert sorted(line for line, _ in faults(text)) == lines


def test_each_page_has_at_most_its_number_of_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert doc_lint.main([]) == 0, capsys.readouterr().out


def test_a_page_without_a_number_may_have_none(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "old.md").write_text("One by itself.\nTwo by itself.\n")
    monkeypatch.setattr(doc_lint, "ROOT", tmp_path)
    monkeypatch.setattr(doc_lint, "ALLOWED", tmp_path / "prose.toml")
    assert doc_lint.main([]) == 1
    assert "docs/old.md:2: 'by itself'" in capsys.readouterr().out
    assert doc_lint.main(["--update"]) == doc_lint.main([]) == 0
    (tmp_path / "docs" / "new.md").write_text("By itself.\n")
    assert doc_lint.main([]) == 1


def test_a_number_only_decreases(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doc_lint, "ALLOWED", tmp_path / "prose.toml")
    doc_lint.update({"a.md": 3, "b.md": 1})
    doc_lint.update({"a.md": 5, "b.md": 0})
    assert doc_lint.allowed() == {"a.md": 3}


def test_paragraphs_are_wrapped() -> None:
    text = f"# A\n\n{LONG}\nend.\n\nshort\nlines\n\n- {LONG}\n\n| {LONG} |\n\n    {LONG}\n\n```c\n{LONG}\n```\n"
    done = wrapped(text)
    assert done.split() == text.split()
    body = [line for line in done.split("\n") if line.startswith(("word", "- ", "  word"))]
    assert len(body) > 3 and "short\nlines" in done and f"| {LONG} |" in done and f"    {LONG}" in done
    assert all(len(line) <= 120 for line in body if line != LONG)


def test_code_and_markers_stay_on_their_lines() -> None:
    code = f"`{'c ' * 50}`"
    done = wrapped(f"{'w ' * 58} - {code} [text]({'u' * 90})\n")
    assert code in done and not any(line.startswith("- ") for line in done.split("\n"))
