"""What a SPIR-V module cannot hold more of (SPIR-V specification, sections 2.3 and 2.17)."""

from __future__ import annotations

from ...diagnostics import Span
from .context import Context

#: An OpConstantComposite has at most 65,535 words, three of them for itself.
ELEMENTS = 65_532
MEMBERS = 16_383
CASES = 16_383
#: SPIR-V takes 255; a result in memory is one of them.
PARAMETERS = 254


def check(c: Context, count: int, most: int, what: str, span: Span) -> None:
    """An error, and no more than that, where there are more than `most`; `what` is plural, with what holds them."""
    if count > most:
        with c.recover():
            c.unsupported(f"more than {most} {what} are", span)
