"""Write the figures in docs/ that are computed from the sources: `python tools/figures.py` (tools/dev figures).

A page has a figure between `<!-- figure: NAME -->` and `<!-- end -->`; FIGURES has the function that computes it.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping

from docs_site import rooms as rooms_figure
from room_lint import ROOT, Package, read_table

_FIGURE = re.compile(r"(<!-- figure: ([a-z-]+) -->)\n.*?(<!-- end -->)", re.DOTALL)
PAGES = (ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md")
PICTURE = ROOT / "docs" / "rooms.svg"


def rooms() -> str:
    """Return the table of the rooms: lines of code, and the rooms that each may import."""
    package = Package(ROOT / "coopmat", read_table())
    code = package.code()
    rows = ["| room | lines of code | may import |", "|---|---|---|"]
    for read, title in (("must", "the compiler, which a newcomer reads"), ("door", "rooms with a door")):
        names = [name for name, row in package.rooms.items() if row["read"] == read]
        rows.append(f"| **{title}** | **{_rounded(sum(code[name] for name in names))}** | |")
        for name in names:
            imports = ", ".join(package.rooms[name]["imports"])
            rows.append(f"| `{name}` | {_rounded(code[name])} | {imports} |")
    return "\n".join(rows)


def picture_of_rooms() -> str:
    """Return the figure of the rooms, as SVG."""
    package = Package(ROOT / "coopmat", read_table())
    lines = {name: _rounded(number) for name, number in package.code().items()}
    return rooms_figure.figure(package.rooms, lines)


def test_folders() -> str:
    """Return the table of the rooms and their test folders."""
    rows = ["| changed room | test folders |", "|---|---|"]
    for name, row in Package(ROOT / "coopmat", read_table()).rooms.items():
        rows.append(f"| `{name}` | {', '.join(row['tests'])} |")
    return "\n".join(rows)


def _rounded(lines: int) -> str:
    """Return a number of lines, rounded to two digits so that small changes do not change it."""
    step = 10 ** max(len(str(lines)) - 2, 1)
    return f"{max(round(lines / step), 1) * step:,}"


def tests() -> str:
    """Return a sentence with the number of test functions."""
    functions = 0
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions += sum(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in tree.body)
    return f"The suite has some {_rounded(functions)} test functions, most of them for several cases."


def operations() -> str:
    """Return a sentence with the number of operations of the conformance runner."""
    from coopmat.cts.operations import OPERATIONS

    return f"The conformance runner has {len(OPERATIONS)} operations."


def walk() -> str:
    """Return a sentence with the number of files whose functions run for gemm_f16.cl, with cached grammar tables."""
    command = [sys.executable, str(ROOT / "tools" / "walk.py"), "kernels/gemm_f16.cl", "--no-validate"]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "COOPMAT_CACHE_DIR": cache}
        for _ in range(2):
            done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    files, tables = re.findall(r"^(\d+) files and (\d+) of tables$", done.stdout, re.MULTILINE)[0]
    return f"For `kernels/gemm_f16.cl`, the list has {files} files, and {tables} further files that contain tables."


FIGURES: Mapping[str, Callable[[], str]] = {
    "rooms": rooms,
    "tests": tests,
    "test-folders": test_folders,
    "operations": operations,
    "walk": walk,
}


def with_figures(text: str) -> str:
    """Return a page's text with all figures computed anew."""
    return _FIGURE.sub(lambda match: f"{match[1]}\n{FIGURES[match[2]]()}\n{match[3]}", text)


def main() -> None:
    for page in PAGES:
        page.write_text(with_figures(page.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(picture_of_rooms(), encoding="utf-8")


if __name__ == "__main__":
    main()
