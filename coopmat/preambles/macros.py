"""The state of the preprocessor after a preamble: taken from one compilation, restored into another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import file_table
from .store import FEWEST_TOKENS, Preamble, digest, words_of

if TYPE_CHECKING:
    from ..frontend.preprocess import _Driver


def take_macros(driver: _Driver, preamble: Preamble) -> None:
    """Store the preprocessor's state in `preamble.state`, unless the preamble is too short or cannot be kept."""
    file, macros, sources = driver.stack[-1], driver.expander.macros, driver.diagnostics.sources.files
    if not driver.complete or file.conditions or file.regions or driver.has_regions or not driver.diagnostics.is_plain:
        return
    if len(driver.out) < FEWEST_TOKENS:
        return
    first = driver.macros_at_start
    preamble.tokens = len(driver.out)
    preamble.state = {
        "preprocessor": {
            "macros": {name: macro for name, macro in macros.items() if first.get(name) is not macro},
            "undefined": [name for name in first if name not in macros],
            "once_files": tuple(driver.once_files),
            "includes": driver.includes,
            "dependencies": driver.dependencies.copy(),
            "absent": list(dict.fromkeys(driver.absent)),
            "switches": file.switches.copy(),
            "counter": driver.expander.counter,
            "work": driver.expander.work,
            "kept_texts": driver.diagnostics.kept_texts(),
            "findings": driver.diagnostics.items[driver.findings_at_start :],
        },
        "words": words_of([file.scanner.text, *list(sources.values())[1:]]) | driver.expander.joined,
        "files": [(name, name not in driver.dependencies, digest(text)) for name, text in list(sources.items())[1:]],
    }


def restore_macros(driver: _Driver, state: Mapping[str, Any]) -> None:
    """Restore the preprocessor's state that `take_macros` stored."""
    for name in state["undefined"]:
        driver.expander.macros.pop(name, None)
    driver.expander.macros.update(state["macros"])
    driver.expander.counter, driver.expander.work = state["counter"], state["work"]
    driver.once_files = {name: file_table.identity(name) for name in state["once_files"]}
    driver.includes = state["includes"]
    driver.dependencies, driver.absent = state["dependencies"], state["absent"]
    driver.stack[-1].switches = state["switches"]
    driver.diagnostics.keep_texts(state["kept_texts"])
    for item in state["findings"]:
        driver.diagnostics.add(item)
