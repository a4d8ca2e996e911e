"""Checks who may import whom, and that no circle has more than CIRCLE files: `python tools/import_lint.py coopmat`.

A room is a package or module directly below `coopmat`. Every import counts, also one inside a function: the
direction of knowledge is what matters, not the time of loading.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

# Room: the rooms that it may import, besides itself. What is not listed here is an error too.
_BELOW_IR = {"budgets", "diagnostics", "matrices", "frontend"}
_STAGES = _BELOW_IR | {"passes", "ir", "spirv", "opencl_c"}
_COMPILER = _STAGES | {"compiler", "options"}
# The most files that may import one another in a circle.
CIRCLE = 3
ALLOWED: dict[str, set[str]] = {
    "budgets": set(),
    "cache": set(),
    "child_process": set(),
    "features": set(),
    "file_table": set(),
    "native_profiles": set(),
    "warning_options": set(),
    "reporting": set(),
    "diagnostics": {"reporting", "warning_options"},
    "options": {"reporting", "budgets", "features", "matrices", "native_profiles"},
    "matrices": {"budgets", "diagnostics"},
    "frontend": {"budgets", "cache", "diagnostics", "features", "file_table", "matrices"},
    "passes": _BELOW_IR | {"native_profiles"},
    "ir": _BELOW_IR,
    "spirv": _BELOW_IR | {"child_process", "ir", "native_profiles"},
    "opencl_c": _BELOW_IR | {"features", "passes"},
    "compiler": _STAGES | {"cache", "features", "options", "reporting"},
    "devices": {"cache", "diagnostics", "features", "matrices", "native_profiles"},
    "runtime": _COMPILER | {"cache", "child_process", "devices", "features", "reporting"},
    "cluster": {"devices", "diagnostics", "options", "__init__"},
    "cts": _COMPILER | {"cluster", "devices", "runtime"},
    "layer": _COMPILER | {"cache", "devices", "runtime"},
    "cli": _COMPILER
    | {"cache", "child_process", "devices", "runtime", "cluster", "cts", "file_table", "layer", "__init__"},
    "__main__": {"cli"},
    "__init__": _COMPILER | {"devices", "reporting", "runtime"},
}


def violations(package: Path) -> Iterator[str]:
    """`file:line: message` for every import that goes the wrong way."""
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        room = parts[0]
        if room not in ALLOWED:
            yield f"{file}:1: room '{room}' is not in the table of import directions"
            continue
        for line, target in _imports(file, (package.name, *parts), package):
            if target != room and target not in ALLOWED[room]:
                yield f"{file}:{line}: '{room}' may not import '{target}'"


def circles(package: Path) -> Iterator[str]:
    """The files of every circle of imports that is too large; what only a type checker imports does not count."""
    files = {_name(file, package): file for file in sorted(package.rglob("*.py"))}
    graph = {name: set(_files(file, name, package, files)) - {name} for name, file in files.items()}
    reach = {name: _reachable(name, graph) for name in graph}
    seen: set[str] = set()
    for name in graph:
        circle = sorted({other for other in reach[name] if name in reach[other]} | {name})
        if len(circle) > CIRCLE and name not in seen:
            yield f"{files[name]}:1: a circle of {len(circle)} files: {', '.join(circle)}"
        seen.update(circle)


def _name(file: Path, package: Path) -> str:
    return ".".join((package.name, *file.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")


def _files(file: Path, name: str, package: Path, files: dict[str, Path]) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    checked = (node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    aside = {id(inner) for node in checked for inner in ast.walk(node)}
    here = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in aside:
            base = here[: len(here) - node.level + 1] if node.level else []
            path = ".".join([*base, *(node.module.split(".") if node.module else ())])
            for alias in node.names:
                yield from [item for item in (f"{path}.{alias.name}", path) if item in files][:1]


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    work = [start]
    while work:
        new = graph[work.pop()] - found
        found |= new
        work += new
    return found


def _imports(file: Path, module: tuple[str, ...], package: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of our own."""
    # For relative imports: a package's own name counts as one level less.
    here = module[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _room(tuple(alias.name.split(".")), node.lineno, package)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            path = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield from _room((*path, alias.name), node.lineno, package)


def _room(path: tuple[str, ...], line: int, package: Path) -> Iterator[tuple[int, str]]:
    if path[0] != package.name:
        return
    is_room = len(path) > 1 and ((package / path[1]).is_dir() or (package / f"{path[1]}.py").is_file())
    yield line, path[1] if is_room else "__init__"


def main(arguments: list[str]) -> int:
    packages = [Path(argument) for argument in arguments]
    found = [message for package in packages for check in (violations, circles) for message in check(package)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
