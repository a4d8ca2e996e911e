"""Every error code that a source can cause, with an example."""

from __future__ import annotations

from .language import LANGUAGE
from .matrices import MATRICES, PRELUDE
from .matrix_types import MATRIX_TYPES, PRELUDE as MATRIX_TYPES_PRELUDE
from .rows import ErrorCode
from .text import TEXT

# Title, text before each example, rows.
FAMILIES: tuple[tuple[str, str, tuple[ErrorCode, ...]], ...] = (
    ("Cooperative matrices", PRELUDE, MATRICES),
    ("Matrix types", MATRIX_TYPES_PRELUDE, MATRIX_TYPES),
    ("The language", "", LANGUAGE),
    ("Text, preprocessor and syntax", "", TEXT),
)

__all__ = ["FAMILIES", "ErrorCode"]
