"""Output of C lines that keep the line numbers of the user's source."""

from __future__ import annotations

from ..diagnostics import Span
from . import literals

# A gap of up to 3 lines is filled with blank lines, a wider one is skipped by a #line directive.
_MOST_BLANK = 3
_INDENT = "    "


class Output:
    """The lines of a text under construction.

    `place` assigns a source line to the next output line, by blank lines or by a `#line` directive.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self._file: str | None = None
        # The source line that the next output line is assigned to.
        self._line = 0
        self._joins = False

    def place(self, span: Span) -> None:
        """Assign the source line of `span` to the next output line.

        A statement on the same source line as the previous statement may be appended to that output line.
        """
        gap = span.line - self._line
        if span.file == self._file and 0 <= gap <= _MOST_BLANK:
            self.lines.extend([""] * gap)
        elif span.file == self._file and gap == -1 and self.lines[-1].endswith(";"):
            self._joins = True
            return
        else:
            self.lines.append(f"#line {span.line} {literals.string(span.file.encode())}")
            self._file = span.file
        self._line = span.line

    @property
    def line(self) -> int:
        """The source line of the text that is added next."""
        return self._line - 1 if self._joins else self._line

    def add(self, text: str) -> None:
        """Add one line, or the lines of a text."""
        if self._joins:
            self._joins = False
            first, _, text = text.partition("\n")
            self.lines[-1] += " " + first
            if not text:
                return
        indent = _INDENT * self.depth
        new = [indent + line if line else line for line in text.split("\n")]
        self.lines.extend(new)
        self._line += len(new)

    def join(self) -> None:
        """Append the next added text to the last line."""
        self._joins = True

    def foreign(self, text: str) -> None:
        """Add lines that do not come from the user's source."""
        self.lines.extend(text.rstrip("\n").split("\n"))
        self._file = None

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"
