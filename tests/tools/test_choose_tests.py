"""Which test folders belong to which rooms, by the table in tools/rooms.toml."""

from __future__ import annotations

import choose_tests
import pytest
from room_lint import ROOT, read_table

ROOMS = read_table()["rooms"]


def test_every_room_has_folders_that_exist() -> None:
    for room, row in ROOMS.items():
        assert row["tests"], room
        assert all((ROOT / "tests" / name).is_dir() for name in row["tests"]), room


def test_every_folder_of_a_room_is_its_own_first() -> None:
    own = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name in ROOMS}
    assert own and all(ROOMS[name]["tests"][0] == name for name in own)


@pytest.mark.parametrize(
    ("paths", "folders"),
    [
        (["coopmat/preambles/store.py"], ["tests/preambles"]),
        (["coopmat/options.py"], ["tests/cli", "tests/compiler"]),
        (["tests/ir/test_frames.py", "README.md"], ["tests/ir", "tests/pages", "tests/site"]),
        (["coopmat/cli/app.py", "tests/support/timing.py"], ["tests"]),
        (["LICENSE"], []),
    ],
)
def test_changed_files_choose_folders(paths: list[str], folders: list[str]) -> None:
    assert choose_tests.changed_folders(paths) == folders


def test_unknown_rooms_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_tests.main(["--quick", "fronted"]) == 2
    assert "unknown rooms: fronted; the rooms are" in capsys.readouterr().err
    assert choose_tests.main(["--quick"]) == choose_tests.main([]) == 2
    assert choose_tests.main(["--quick", "analysis", "options"]) == 0
    assert capsys.readouterr().out == "tests/analysis tests/cli\n"


def test_an_unknown_commit_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_tests.main(["--changed", "nosuchcommit"]) == 2
    assert "nosuchcommit" in capsys.readouterr().err
