"""Diagnostics on standard error, in the format that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from coopmat.diagnostics import Diagnostic, SourceMap, render_text, to_json, to_sarif

from .status import findings

FORMATS = ("text", "json", "sarif")


@dataclass(frozen=True, slots=True)
class Reporter:
    """`color` None means: where standard error is a terminal and NO_COLOR is not set."""

    format: str = "text"
    color: bool | None = None

    def show(self, items: Iterable[Diagnostic], sources: SourceMap | None = None) -> None:
        """Print the findings; json and sarif print their (empty) document even for none."""
        text = self._rendered(list(items), sources)
        if text:
            # A name or a source line may hold what the terminal's encoding does not.
            encoding = sys.stderr.encoding or "utf-8"
            sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
            sys.stderr.flush()

    def show_error(self, error: Exception) -> int:
        """Print an error; its exit status."""
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
