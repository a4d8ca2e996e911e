"""The pausing of Python's garbage collector while stages allocate many long-lived objects."""

from __future__ import annotations

import gc
import threading


class _PausedCollector:
    """A context manager that pauses Python's cyclic garbage collector while any thread is inside.

    The stages allocate millions of long-lived objects and few cycles. For a long file, the collector's traversals would
    take as long as the stages. When the collector is turned on again, the new objects belong to its oldest generation:
    its first run would traverse them otherwise. A thread that leaves runs the collector if there are many of them, or
    if threads overlap without a break: the collector would otherwise hardly run.
    """

    # How many objects may be allocated between two collections.
    _MOST = 2_000_000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entered = 0
        self._was_on = False
        self._untraversed = 0
        # Whether the user's program has frozen objects. Counting them takes long, so that they are not counted again.
        self._has_frozen = False

    def __enter__(self) -> None:
        with self._lock:
            if self._entered == 0:
                self._was_on = gc.isenabled()
                gc.disable()
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            allocated = self._untraversed + gc.get_count()[0]
            if self._entered == 0 and self._was_on:
                self._has_frozen = self._has_frozen or gc.get_freeze_count() > 0
                if not self._has_frozen:  # otherwise the user's frozen objects would be released
                    gc.freeze()
                    gc.unfreeze()
                    self._untraversed = allocated
                gc.enable()
            is_overdue = allocated > self._MOST
            if is_overdue:
                self._untraversed = 0
        if is_overdue:
            gc.collect()


collector = _PausedCollector()
