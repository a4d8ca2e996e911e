"""The portions in which a stage processes its input: all of it at once, or as its caller divides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

#: A function that takes a stage and its input, and returns ranges of indices: the stage processes one after the other.
Portions = Callable[[Any, Sequence[object]], Iterable[range]]


def at_once(stage: object, whole: Sequence[object]) -> Iterable[range]:
    """Return one portion, all of the input."""
    return (range(len(whole)),)
