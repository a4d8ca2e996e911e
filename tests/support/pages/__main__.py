"""`tools/pages NAME > docs/NAME.md`. Without a name, all generated pages are written to docs/,
and the manual pages to docs/man/.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import builtins, diagnostics, man, operations, warnings

PAGES = {page.__name__.rpartition(".")[2]: page.document for page in (builtins, diagnostics, operations, warnings)}
DOCS = Path(__file__).resolve().parents[3] / "docs"


def main(names: list[str]) -> None:
    if unknown := sorted(set(names) - PAGES.keys()):
        raise SystemExit(f"there is no page {', '.join(unknown)}; there are {', '.join(PAGES)}")
    for name in names or PAGES:
        if names:
            print(PAGES[name](), end="")
        else:
            (DOCS / f"{name}.md").write_text(PAGES[name](), encoding="utf-8")
    for name, text in ({} if names else man.pages()).items():
        (DOCS / "man" / name).write_text(text, encoding="utf-8")


main(sys.argv[1:])
