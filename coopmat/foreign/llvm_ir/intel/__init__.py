"""The dialect of Intel's proposal: `read` translates to the canonical dialect, `write` back; see docs/dialects.md."""

from __future__ import annotations

from .read import read
from .spelling import modern
from .write import FORMS, check, write

__all__ = ["FORMS", "check", "modern", "read", "write"]
