"""The pages of the Python interface: the public names of the package, by the docstrings that they have."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

FOLDER = "reference/python"
# Module -> (title, public names; None: all of __all__).
MODULES: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "coopmat": ("Compile, build and launch", None),
    "coopmat.linalg": ("Products of matrices", None),
    "coopmat.vulkan": ("Vulkan devices", None),
    "coopmat.devices": ("OpenCL devices", ("DeviceInfo", "list_devices", "select", "from_key_values")),
    "coopmat.diagnostics": ("Diagnostics", ("Diagnostic", "Severity", "Span", "Label", "Note", "FixIt", "SourceMap")),
    "coopmat.maps": ("Maps of lanes", None),
    "coopmat.tuning": ("Search of tiles", ("tune", "Task", "Report", "Row")),
}


def pages() -> dict[str, str]:
    """Return path -> text of the index and of the page of each module."""
    result = {f"{FOLDER}/index.md": "\n".join(_index())}
    for module in MODULES:
        result[f"{FOLDER}/{module}.md"] = "\n".join(_page(module))
    return result


def names_of(module: str) -> list[str]:
    """Return the documented names of a module."""
    chosen = MODULES[module][1]
    if chosen is not None:
        return list(chosen)
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or [name for name in vars(found) if _is_public(found, name)]
    return sorted(names, key=lambda name: (name.lower(), name))


def _is_public(module: object, name: str) -> bool:
    """Whether a module without `__all__` imports a name from a module of its own package."""
    value = getattr(module, name)
    origin = getattr(value, "__module__", "")
    return not name.startswith("_") and callable(value) and origin.startswith(getattr(module, "__name__", ""))


def _index() -> Iterator[str]:
    yield from ("# Python", "", "| module | for | names |", "|---|---|---|")
    for module, (title, _) in MODULES.items():
        names = ", ".join(f"{{py:obj}}`~{module}.{name}`" for name in names_of(module))
        yield f"| [`{module}`]({module}.md) | {title} | {names} |"
    yield from ("", "The package is typed. Names that are not here may change in any version.")
    yield from ("", "```{toctree}", ":hidden:", "", *MODULES, "```", "")


def _page(module: str) -> Iterator[str]:
    yield from (f"# {module}", "", f"{MODULES[module][0]}.", "")
    yield from ("```{eval-rst}", f".. automodule:: {module}", "   :no-members:", f".. currentmodule:: {module}", "")
    for name in names_of(module):
        value = getattr(importlib.import_module(module), name)
        kind = "exception" if isinstance(value, type) and issubclass(value, Exception) else "class"
        kind = kind if isinstance(value, type) else "function"
        yield f".. auto{kind}:: {module}.{name}"
        if isinstance(value, type):
            yield "   :members:"
        yield ""
    yield from ("```", "")
