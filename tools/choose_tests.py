"""Print the test folders of rooms: `choose_tests.py --quick ROOM...`, `choose_tests.py --changed [BASE]`.

The table of rooms and folders is in tools/rooms.toml.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

from room_lint import ROOT, read_table


def own_folders(rooms: Iterable[str]) -> list[str]:
    """Return the first test folder of each room. Raises LookupError for an unknown room."""
    table = read_table()["rooms"]
    unknown = [room for room in rooms if room not in table]
    if unknown:
        raise LookupError(f"unknown rooms: {', '.join(unknown)}; the rooms are {', '.join(table)}")
    return sorted({f"tests/{table[room]['tests'][0]}" for room in rooms})


def changed_folders(paths: Iterable[str]) -> list[str]:
    """Return the test folders of the rooms, and those of the tests, to which changed files belong.

    Files of all tests (tests/support, tests/conftest.py) and the project's settings select all tests.
    """
    table = read_table()["rooms"]
    chosen: set[str] = set()
    for path in paths:
        first, _, rest = path.partition("/")
        name = rest.partition("/")[0]
        if first == "coopmat":
            # The innermost room, as "frontend/builtins".
            room = max((room for room in table if f"{rest.removesuffix('.py')}/".startswith(f"{room}/")), key=len)
            chosen.update(table[room]["tests"])
        elif first == "tests" and (ROOT / "tests" / name).is_dir() and name != "support":
            chosen.add(name)
        elif first == "tests" or path == "pyproject.toml":
            return ["tests"]
        elif first in ("kernels", "tools"):
            chosen.add(first)
        elif first == "docs" or path.endswith(".md"):
            chosen.update(("pages", "site"))
    return sorted(f"tests/{name}" for name in chosen)


def changed_files(base: str) -> list[str]:
    """Return the files that differ from the commit `base`, and untracked files, relative to the root."""
    commands = ["diff", "--name-only", base], ["ls-files", "--others", "--exclude-standard"]
    texts = [
        subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for words in commands
    ]
    return [line for text in texts for line in text.splitlines()]


def main(arguments: list[str]) -> int:
    """Print the folders, separated by spaces; return 2 for a usage error."""
    try:
        if arguments[:1] == ["--changed"] and len(arguments) <= 2:
            print(*changed_folders(changed_files(*(arguments[1:] or ["HEAD"]))))
        elif arguments[:1] == ["--quick"] and len(arguments) > 1:
            print(*own_folders(arguments[1:]))
        else:
            raise LookupError("usage: tools/test --quick ROOM..., tools/test --changed [BASE]")
    except (LookupError, subprocess.CalledProcessError) as error:
        print(error.args[0] if isinstance(error, LookupError) else error.stderr, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
