"""The page of the rewrites that avoid faults of devices, from the docstrings of their modules."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import coopmat.faults

from .docstrings import as_markdown

_HEAD = """\
# Faults of devices

Compilers of devices translate some valid modules wrongly, or crash over them. `coopmat/faults/` has a file for each
such fault. It rewrites a module into an equivalent one, which every device translates correctly, and costs little.
[What the tools below us do wrong](../backend.md) has the faults of all tools, with the tests that show them.

To add one: reduce the kernel to a few lines, and make it a test in `tests/faults` that fails. Write a file with a class
that has the method `hide`, which gets the instructions of a function and returns equivalent ones. Add the class to
`rewrites` in `coopmat/faults/__init__.py`. The tests of that folder check that the rewritten modules are valid, and
`tools/fuzz-loops` and `tools/fuzz-strides` look for further faults of the kind.

"""


def pages() -> dict[str, str]:
    """Return path -> text of the page."""
    return {"inside/faults.md": _HEAD + "\n".join(_sections())}


def _sections() -> Iterator[str]:
    for module in pkgutil.iter_modules(coopmat.faults.__path__):
        found = importlib.import_module(f"coopmat.faults.{module.name}")
        if any(hasattr(value, "hide") for value in vars(found).values() if inspect.isclass(value)):
            text = ast.get_docstring(ast.parse(inspect.getsource(found))) or ""
            yield from (f"## {module.name}", "", as_markdown(text), "")
