"""Check the structure of the package against tools/rooms.toml: `python tools/room_lint.py`.

Imports between rooms follow the table. They reach behind a room's door (its `__init__`) at most as often as the table
allows. Every import counts, also one inside a function: dependencies matter, not the time of loading.
No room has more lines of code than its budget, and the rooms that a newcomer reads are within a common budget.
No circle of imports has too many files, neither at run time nor with the imports under TYPE_CHECKING.
No function and no module is too long. No module assigns a constant twice, and no two files of tests have one name.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tools" / "rooms.toml"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef, ast.Module)
_NO_CODE = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


@dataclass(frozen=True, slots=True)
class Import:
    """An import of a module of the package; `module` is its dotted name without the package's."""

    line: int
    module: str
    for_types: bool


class File:
    """A module of the package; `name` is its dotted name without the package's, "" for the package's `__init__`."""

    def __init__(self, path: Path, package: Path) -> None:
        self.path = path
        parts = path.relative_to(package).with_suffix("").parts
        self.place = parts
        self.name = ".".join(parts).removesuffix("__init__").removesuffix(".")
        self.text = path.read_text(encoding="utf-8")
        tree = ast.parse(self.text, str(path))
        # All statements; expressions are not examined.
        self.nodes: list[Any] = [tree, *_statements(tree)]

    @cached_property
    def code_lines(self) -> int:
        """The number of lines of code, without imports, comments, docstrings and blank lines."""
        omitted: set[int] = set()
        for node in self.nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                omitted.update(_lines(node))
            elif isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                omitted.update(_lines(node.body[0]))
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        lines = (range(t.start[0], t.end[0] + 1) for t in tokens if t.type not in _NO_CODE)
        return len({number for token in lines for number in token} - omitted)

    def repeated_names(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the line of each constant of the module that an earlier statement has assigned."""
        names: set[str] = set()
        for node in self.nodes[0].body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets if isinstance(node, (ast.Assign, ast.AnnAssign)) else ():
                if isinstance(target, ast.Name) and target.id.lstrip("_").isupper():
                    if target.id in names:
                        yield target.id, node.lineno
                    names.add(target.id)

    def functions(self) -> Iterator[tuple[str, int, int]]:
        """Yield the name, the first line and the length of each function."""
        for node in self.nodes:
            if isinstance(node, _FUNCTIONS):
                yield node.name, node.lineno, len(_lines(node))


def _statements(node: Any) -> Iterator[ast.stmt]:
    """Yield the statements below a node, without visiting expressions."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, name, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from _statements(child)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


class Package:
    """The package below a directory, with the table of its rooms."""

    def __init__(self, root: Path, table: Mapping[str, Any]) -> None:
        self.root, self.limits, self.rooms = root, table["limits"], table["rooms"]
        self.files = [File(path, root) for path in sorted(root.rglob("*.py"))]
        self.by_name = {file.name: file for file in self.files}
        self.imports = {file: list(self._imports(file)) for file in self.files}

    def room(self, place: Iterable[str]) -> str:
        """Return the room of a module: the longest name in the table that is a prefix of its path."""
        path = "/".join(place) or "__init__"
        rooms = [name for name in self.rooms if path == name or path.startswith(f"{name}/")]
        return max(rooms, key=len, default=path.partition("/")[0])

    def code(self) -> dict[str, int]:
        """Return the lines of code of each room."""
        lines = dict.fromkeys(self.rooms, 0)
        for file in self.files:
            room = self.room(file.place)
            lines[room] = lines.get(room, 0) + file.code_lines
        return lines

    def must_read(self) -> int:
        """Return the lines of code of the rooms that a newcomer reads."""
        return sum(lines for room, lines in self.code().items() if self.rooms.get(room, {}).get("read") == "must")

    def problems(self) -> Iterator[str]:
        yield from self.wrong_imports()
        yield from self.exceeded_budgets()
        yield from self.large_circles(with_types=False)
        yield from self.large_circles(with_types=True)
        yield from faulty_files(self.files, self.limits)

    def wrong_imports(self) -> Iterator[str]:
        """Yield a message for every import that the table does not allow, and for every door bypassed too often."""
        behind: dict[str, list[str]] = {}
        for file in self.files:
            room = self.room(file.place)
            row = self.rooms.get(room)
            if row is None:
                yield f"{file.path}:1: room '{room}' is not in {TABLE.name}"
                continue
            for item in self.imports[file]:
                target = self.room(item.module.split(".") if item.module else ())
                if target != room and target not in row["imports"]:
                    yield f"{file.path}:{item.line}: '{room}' may not import '{target}'"
                elif target != room and item.module.replace(".", "/") not in self.rooms[target].get("doors", [target]):
                    behind.setdefault(target, []).append(f"{file.path}:{item.line}")
        for room, row in self.rooms.items():
            places = behind.get(room, [])
            if row["read"] == "door" and len(places) > row.get("behind", 0):
                allowed = row.get("behind", 0)
                yield f"{places[-1]}: {len(places)} imports go behind the door of '{room}', {allowed} may: {places}"

    def exceeded_budgets(self) -> Iterator[str]:
        for room, lines in self.code().items():
            budget = self.rooms.get(room, {}).get("budget", lines)
            if lines > budget:
                yield f"{self.root / room}: {lines} lines of code, and the budget is {budget}"
        total = sum(file.code_lines for file in self.files)
        for what, lines in (("code", total), ("must_read", self.must_read())):
            if lines > self.limits[what]:
                yield f"{self.root}: {lines} lines ({what}), and the limit is {self.limits[what]}"

    def large_circles(self, *, with_types: bool) -> Iterator[str]:
        limit = self.limits["circle_with_types" if with_types else "circle"]
        graph = {
            file.name: {item.module for item in imports if with_types or not item.for_types} - {file.name}
            for file, imports in self.imports.items()
        }
        how = " (with imports under TYPE_CHECKING)" if with_types else ""
        for circle in circles(graph):
            if len(circle) > limit:
                names = ", ".join(circle)
                yield f"{self.by_name[circle[0]].path}:1: a circle of {len(circle)} files{how}: {names}"

    def _imports(self, file: File) -> Iterator[Import]:
        checks = (n for n in file.nodes if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test))
        for_types = {id(inner) for node in checks for part in node.body for inner in (part, *_statements(part))}
        module = [self.root.name, *file.place][:-1]
        for node in file.nodes:
            paths: list[list[str]] = []
            if isinstance(node, ast.Import):
                paths = [alias.name.split(".") for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = module[: len(module) - node.level + 1] if node.level else []
                base = [*base, *(node.module.split(".") if node.module else ())]
                paths = [[*base, alias.name] for alias in node.names]
            for first, *rest in paths:
                if first == self.root.name:
                    yield Import(getattr(node, "lineno", 1), self._module(rest), id(node) in for_types)

    def _module(self, parts: list[str]) -> str:
        """Return the longest module name that is a prefix of these parts."""
        while parts and ".".join(parts) not in self.by_name:
            parts = parts[:-1]
        return ".".join(parts)


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Yield the names of the modules in each import cycle, sorted."""
    reach = {name: _reachable(name, graph) for name in graph}
    seen: set[str] = set()
    for name in graph:
        if name not in seen and name in reach[name]:
            circle = sorted({other for other in reach[name] if name in reach[other]})
            seen.update(circle)
            yield circle


def _reachable(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    work = [start]
    while work:
        new = graph.get(work.pop(), set()) - reached
        reached |= new
        work += new
    return reached


def faulty_files(files: Iterable[File], limits: Mapping[str, int]) -> Iterator[str]:
    """Yield a message for every function and module that is too long, and for every constant with two values."""
    for file in files:
        lines = file.text.count("\n")
        if lines > limits["module"]:
            yield f"{file.path}:1: {lines} lines; modules have at most {limits['module']}"
        for name, line in file.repeated_names():
            yield f"{file.path}:{line}: '{name}' has another value above"
        for name, line, length in file.functions():
            if length > limits["function"]:
                yield f"{file.path}:{line}: '{name}' has {length} lines; functions have at most {limits['function']}"


def ambiguous_tests(root: Path) -> Iterator[str]:
    """Yield a message for every file of tests that has the name of another: pytest imports them by this name."""
    first: dict[str, Path] = {}
    for path in sorted(root.rglob("test_*.py")):
        if first.setdefault(path.name, path) != path:
            yield f"{path}:1: {first[path.name]} has the same name"


def read_table(path: Path = TABLE) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def main() -> int:
    table = read_table()
    tools = [File(path, ROOT / "tools") for path in sorted((ROOT / "tools").glob("*.py"))]
    messages = [
        *Package(ROOT / "coopmat", table).problems(),
        *faulty_files(tools, table["limits"]),
        *ambiguous_tests(ROOT / "tests"),
    ]
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
