"""The dialect of Intel's proposal: `read` makes a module canonical, `write` makes one of it; see docs/dialects.md."""

from __future__ import annotations

from .read import read
from .spelling import modern
from .write import FORMS, check, write

__all__ = ["FORMS", "check", "modern", "read", "write"]
