"""Lines of C that know which line of the user's source they stand for."""

from __future__ import annotations

from ..diagnostics import Span
from . import literals

# A gap of so many lines is left blank; a wider one gets a directive.
_MOST_BLANK = 3
_INDENT = "    "


class Output:
    """Text under way. `place` makes the next line stand for a place of the source, by blank lines or `#line`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self._file: str | None = None
        # The source's line that the next line of output stands for.
        self._line = 0
        self._joins = False

    def place(self, span: Span) -> None:
        """Move to a line of the source. A statement that shares its line with the one before may share it in the text,
        too."""
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
        """Return the line of the source for what is added next."""
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
        """Append what is added next to the end of the last line."""
        self._joins = True

    def foreign(self, text: str) -> None:
        """Lines that are not the user's."""
        self.lines.extend(text.rstrip("\n").split("\n"))
        self._file = None

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"
