"""The processes that this one has started."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def children() -> list[int]:
    """Return the processes that this one has started and not waited for, whichever of its threads started them."""
    # The kernel lists a child with the thread that started it. If that thread has just ended, no other one may list it
    # yet. A process's own entry names its parent at any time.
    own, result = f"PPid:\t{os.getpid()}", []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if own in status.read_text().splitlines():
                result.append(int(status.parent.name))
    return result
