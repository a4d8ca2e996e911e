"""Whether a unit is valid."""

from __future__ import annotations

from ..frontend import typed


def check(unit: typed.Unit, after: str) -> None:
    """Raises InternalError."""
