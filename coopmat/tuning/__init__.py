"""The search for faster tiles of `coopmat.linalg.gemm` on a device, and the user's table of tiles.

    report = tune(device, tasks, budget=300)    # writes the table linalg/ROUTE.json of the user's data directory
    print(report)

Child processes measure the candidates, and a journal keeps the results, so that a run that was killed can continue.
"""

from __future__ import annotations

from .journal import Journal as Journal
from .report import Report as Report, Row as Row
from .space import TYPES as TYPES
from .trials import Trial as Trial, run_here as run_here, run_on as run_on
from .tuner import DEFAULT_SHAPES as DEFAULT_SHAPES, Task as Task, journal_for as journal_for, tune as tune
