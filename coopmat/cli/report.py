"""Diagnostics on standard error, in the requested format."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from coopmat.diagnostics import Diagnostic, SourceMap, render_text, to_json
from coopmat.sarif import to_sarif

from .status import findings

FORMATS = ("text", "json", "sarif")


@dataclass(frozen=True, slots=True)
class Reporter:
    """A printer of diagnostics on standard error.

    format: one of FORMATS.
    color: whether to print in colour; None means only if standard error is a terminal and NO_COLOR is not set.
    document: the list that collects diagnostics for one document; None if diagnostics are printed at once.
    """

    format: str = "text"
    color: bool | None = None
    document: list[Diagnostic] | None = None

    def for_inputs(self) -> Reporter:
        """Return a reporter for several inputs; for json and sarif it collects one document, which `finish` prints."""
        return self if self.format == "text" else replace(self, document=[])

    def finish(self) -> None:
        if self.document is not None:
            replace(self, document=None).show(self.document)

    def show(self, items: Iterable[Diagnostic], sources: SourceMap | None = None) -> None:
        """Print diagnostics, or add them to the document. In json and sarif, an empty list is printed, too."""
        if self.document is not None:
            self.document.extend(items)
            return
        text = self._rendered(list(items), sources)
        if text:
            # A file name or a source line may contain characters that the terminal's encoding lacks.
            encoding = sys.stderr.encoding or "utf-8"
            sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
            sys.stderr.flush()

    def show_error(self, error: Exception) -> int:
        """Print the diagnostics of an error, and return its exit status."""
        items, sources, status = findings(error)
        self.show(items, sources)
        return status

    def _rendered(self, items: list[Diagnostic], sources: SourceMap | None) -> str:
        if self.format == "json":
            return to_json(items) + "\n"
        if self.format == "sarif":
            from coopmat import __version__

            return to_sarif(items, __version__) + "\n"
        color = self.color
        if color is None:
            color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        return render_text(items, sources, color=color)
