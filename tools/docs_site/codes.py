"""The pages of diagnostics and warnings: for each code its meaning, an example, what the compiler says, and a fix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pages import codes as tables
from pages.codes import Code
from pages.warnings import OPTIONS

FOLDER = "reference/codes"


def name_of(code: str) -> str:
    """Return the file name of a code's page, without its suffix."""
    return code.replace("#", "directive-")


def place_of(anchor: str) -> tuple[str, str]:
    """Return the page of an anchor of docs/diagnostics.md or docs/warnings.md, and the anchor there."""
    if anchor in map(name_of, tables.names()):
        return f"{FOLDER}/{anchor}.md", ""
    return f"{FOLDER}/index.md", anchor


def pages() -> dict[str, str]:
    """Return path -> text of the index and of the page of each code."""
    found = tables.all_codes()
    result = {f"{FOLDER}/index.md": "\n".join(_index(found))}
    for code in found:
        result[f"{FOLDER}/{name_of(code.name)}.md"] = "\n".join(_page(code))
    return result


def _index(found: list[Code]) -> Iterator[str]:
    yield from (
        "# Diagnostics and warnings",
        "",
        "A diagnostic ends its first line with its code in brackets. Each code has a page with its meaning, an example",
        "and a fix. `--diagnostics json` and `--diagnostics sarif` print all diagnostics as data; SARIF names the",
        "documentation of each code, and contains the fix-its.",
        "",
    )
    yield from (_in_folder(OPTIONS), "")
    for title in tables.titles():
        yield from ("", f"## {title}", "", "| code | meaning |", "|---|---|")
        for code in found:
            if title in code.families:
                meaning = code.families[title].replace("|", "\\|")
                yield f"| [`{code.name}`]({name_of(code.name)}.md) | {meaning} |"
    yield ""


def _page(code: Code) -> Iterator[str]:
    # Hundreds of pages would hide the others in the sidebar.
    yield from ("---", "orphan: true", "---", "", f"# {code.name}", "", "One of [all codes](index.md).", "")
    for title, meaning in code.families.items():
        yield from (f"*{title}.* {meaning[0].upper()}{meaning[1:]}.", "")
    yield from map(_in_folder, code.body)


def _in_folder(text: str) -> str:
    """Return a text of docs/ with its links to other pages as they are in the folder of the codes."""
    return re.sub(r"\]\((?=\w[\w-]*\.md)", "](../../", text)
