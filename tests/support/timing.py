"""How long something takes, apart from what other processes and earlier tests do."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def processor_seconds(run: Callable[[], object]) -> float:
    """Of this process, without the collector: its time depends on the objects of the tests before this one."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        run()
        return time.process_time() - start
    finally:
        gc.enable()
