"""The process of one contender. It reads a question in each line of its input, and answers with a line, both in JSON.

{"case": {...}}     -> {}                  the call is prepared, checked and warmed up
{"turn": seconds}   -> {"seconds": 1e-3}   the median time of the call
anything            -> {"failure": "..."}
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from .cases import Case, float_inputs, inputs_of, reference, require_right
from .libraries import CALLS, Setup

# Seconds of calls before the first measurement of the process: the system spreads its threads over the processors only
# after half a second of work. And before the measurements of a case or a turn.
_FIRST_WARM_UP, _WARM_UP = 1.2, 0.1
_SLOW = 0.5  # seconds of a call after which a turn needs no warm-up


class Server:
    """A contender with its current call. library: one of LIBRARIES, or "coopmat"."""

    def __init__(self, library: str, computed: str, setup: Setup) -> None:
        self.library, self.computed, self.setup = library, computed, setup
        self.warm_up = _FIRST_WARM_UP
        self.run: Callable[[], object] = lambda: None
        self.last = 0.0

    def prepare(self, case: Case) -> dict[str, Any]:
        """Prepare the call of a case. Raises ArithmeticError if its result is wrong."""
        self.run = lambda: None  # frees the memory of the last case
        inputs = inputs_of(case)
        if self.library == "coopmat":
            from .own import own_call

            run, result = own_call(case, inputs, self.setup.device)
        else:
            run, result = CALLS[self.library](case, inputs, self.computed, self.setup)
        run()
        require_right(case, self.computed, result(), reference(case, *float_inputs(case, inputs)))
        self.run = run
        self._call_for(self.warm_up, least=1)
        self.warm_up = _WARM_UP
        return {}

    def turn(self, seconds: float) -> dict[str, Any]:
        """Return the median time of calls for some seconds: of three calls at least, or of one if it is slow."""
        if self.last < _SLOW:
            self._call_for(_WARM_UP, least=1)
        return {"seconds": statistics.median(self._call_for(seconds, least=3))}

    def _call_for(self, seconds: float, least: int) -> list[float]:
        """Call until some seconds have passed, and return the time of each call."""
        times: list[float] = []
        end = time.perf_counter() + seconds
        while not times or (time.perf_counter() < end or (len(times) < least and self.last < _SLOW)):
            start = time.perf_counter()
            self.run()
            self.last = time.perf_counter() - start
            times.append(self.last)
        return times


def main(argument: str) -> None:
    """Serve until the input ends. The argument is JSON: {"library", "computed", "setup"}."""
    spec = json.loads(argument)
    server = Server(spec["library"], spec["computed"], Setup(**spec["setup"]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries may print
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if "case" in question:
                fields = question["case"]
                answer = server.prepare(Case(**{**fields, "shape": tuple(fields["shape"])}))
            else:
                answer = server.turn(question["turn"])
        except Exception as error:  # of any library
            answer = {"failure": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)
