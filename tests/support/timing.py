"""Measurements of time that exclude other processes and the effects of earlier tests."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def processor_seconds(run: Callable[[], object]) -> float:
    """Return this process's CPU seconds for a call, without the garbage collector.

    The collector's time depends on the objects of earlier tests.
    """
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        run()
        return time.process_time() - start
    finally:
        gc.enable()
