"""Functions for units of work, in a module that other processes can import."""

from __future__ import annotations

import logging
import os
import signal
import time
from pathlib import Path


def square(number: int) -> int:
    return number * number


def process(number: int) -> int:
    """The process that it is called in, after a while."""
    time.sleep(0.05)
    return os.getpid()


def logging_an_error(number: int) -> int:
    """Logs the error of a worker that has lost its scheduler."""
    logging.getLogger("distributed.worker").error("Failed to communicate with scheduler during heartbeat.")
    return number


def mortal(number: int) -> int:
    """Kills its process for every multiple of 7."""
    if number % 7 == 0:
        print(f"{number} is a multiple", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def mortal_once(path: str) -> str:
    """Kills its process unless it has done that before, which a file tells."""
    mark = Path(path)
    if not mark.exists():
        mark.touch()
        os._exit(3)
    return path


def endless(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def raising(number: int) -> int:
    raise ValueError(f"{number} is none of ours")
