"""Operations for tests of the runner on a cluster: what is right, what is wrong, and what kills the worker.

`OPERATIONS` is a registry like `coopmat.cts.operations`. A variant is written in a process that a worker has started:
the parent of that is what it kills.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "cts"))

import faulty_operations

from coopmat.cts.experiment import Experiment
from coopmat.cts.operations.base import Operation, Setting
from coopmat.cts.writers import Writer


def _write(setting: Setting, writer: Writer) -> None:
    if setting.parameters == "killer":
        os.kill(os.getppid(), signal.SIGKILL)
    faulty_operations._write(setting, writer)


def _experiment(setting: Setting) -> Experiment:
    return faulty_operations._experiment(setting)


OPERATIONS = {
    "killer": Operation(
        "killer", faulty_operations._cases(["right.0", "killer", "right.1"]), _experiment, _write, ("c",)
    ),
    **{name: faulty_operations.OPERATIONS[name] for name in ("right", "wrong", "crash")},
}
