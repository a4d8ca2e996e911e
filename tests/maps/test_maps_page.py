"""docs/maps.md: its outputs and its picture are what the commands write, its program runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from coopmat.cli.app import run_command

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "maps.md"
_OUTPUT = re.compile(r"```sh\ncoopmat ([^\n]*)\n```\n```\n(.*?)```\n", re.DOTALL)
_PICTURE = re.compile(r"^    coopmat (map .* -o (\S+\.svg))", re.MULTILINE)


def written(command: str, tmp_path: Path) -> str:
    file = tmp_path / "output"
    words = shlex.split(re.sub(r" -o \S+", " --format svg", command))
    assert run_command([*words, "-o", str(file)]) == 0
    return file.read_text(encoding="utf-8")


def test_outputs(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")

    def replaced(match: re.Match[str]) -> str:
        return match[0].removesuffix(f"{match[2]}```\n") + written(match[1], tmp_path) + "```\n"

    new, count = _OUTPUT.subn(replaced, page)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(new, encoding="utf-8")
        page = new
    assert count == 1 and page == new


def test_pictures(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pictures = _PICTURE.findall(PAGE.read_text(encoding="utf-8"))
    assert [name for _, name in pictures] == [path.name for path in DOCS.glob("maps-*.svg")]
    for command, name in pictures:
        picture = written(command, tmp_path)
        if request.config.getoption("--update-golden"):
            (DOCS / name).write_text(picture, encoding="utf-8")
        assert (DOCS / name).read_text(encoding="utf-8") == picture


def test_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(program, {})
    first, second, third = capsys.readouterr().out.splitlines()
    assert (first, second) == ("[(0, 3)]", "1")
    assert third.endswith("2 of mma_m16n8k16_f16_f32 (16 x 8 x 16)")
