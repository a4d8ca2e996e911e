"""Every error that a source can earn, with an example. `python -m coopmat.error_codes` prints docs/diagnostics.md."""

from __future__ import annotations

from .language import LANGUAGE
from .matrices import MATRICES, PRELUDE
from .rows import ErrorCode
from .text import TEXT

#: Title, what every example of it begins with, rows.
FAMILIES: tuple[tuple[str, str, tuple[ErrorCode, ...]], ...] = (
    ("Cooperative matrices", PRELUDE, MATRICES),
    ("The language", "", LANGUAGE),
    ("Text, preprocessor and syntax", "", TEXT),
)

__all__ = ["FAMILIES", "ErrorCode"]
