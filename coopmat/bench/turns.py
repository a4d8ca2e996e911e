"""The contenders' processes, and their turns.

Each contender has a separate process, since threads of a pool spin while they wait and slow down all others in their
process. The processes take turns, in a new order each time, so that a slower machine slows down all of them.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from itertools import groupby
from typing import Any

from .cases import Case
from .libraries import Contender, Setup, contenders_of
from .report import OWN, Result

_TURN = 0.1  # seconds
_PAUSE = 0.02  # seconds between turns, in which the threads of the last contender go to sleep
_MOST = 4.0  # seconds of a contender's calls, after which it takes no further turn of the case
_LIMIT = 300.0  # seconds of an answer
# The process gets the import path of this process.
_START = (
    "import sys; sys.path[:] = sys.argv[1].split('\\n'); from coopmat.bench.contender import main; main(sys.argv[2])"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Process:
    """A contender's process, which starts with the first question. `close` ends it."""

    def __init__(self, contender: Contender, setup: Setup) -> None:
        spec = {**asdict(contender), "setup": asdict(setup)}
        self.command = [sys.executable, "-c", _START, "\n".join(sys.path), json.dumps(spec)]
        self.environment = os.environ | {name: str(setup.threads) for name in _THREADS}
        self.process: subprocess.Popen[str] | None = None
        self.errors: Any = None

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer, which has the key "failure" if the process ends, or gives no answer in time."""
        process = self.process or self._start()
        assert process.stdin is not None and process.stdout is not None
        timer = threading.Timer(_LIMIT, process.kill)
        timer.start()
        try:
            print(json.dumps(question), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            timer.cancel()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        status = process.wait()
        self.errors.seek(0)
        words = self.errors.read().strip().splitlines() or ["no message"]
        self.close()
        return {"failure": f"its process ended with the status {status}: {words[-1]}"}

    def _start(self) -> subprocess.Popen[str]:
        self.errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed by `close`
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=self.environment,
        )
        return self.process

    def close(self) -> None:
        """End the process. A further question starts another one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.errors.close()
            self.process = None


def compare(
    cases: Sequence[Case], libraries: Sequence[str], setup: Setup, turns: int, advance: Callable[[], object]
) -> Iterator[list[Result]]:
    """Yield the results of consecutive cases of one operation and type. Call `advance` after each case."""
    order = random.Random(1)
    for _key, group in groupby(cases, key=lambda case: (case.operation, case.type)):
        results: list[Result] = []
        with ExitStack() as stack:
            members = list(group)
            contenders = [Contender(OWN, ""), *contenders_of(members[0], libraries)]
            processes = {item.name: stack.enter_context(closing(Process(item, setup))) for item in contenders}
            for case in members:
                results.append(_measure(case, processes, turns, order))
                advance()
        yield results


def _measure(case: Case, processes: Mapping[str, Process], turns: int, order: random.Random) -> Result:
    """Return the median time of each contender in each of its turns."""
    result = Result(case, {}, {})
    for name, process in processes.items():
        answer = process.ask({"case": asdict(case)})
        if "failure" in answer:
            result.failures[name] = answer["failure"]
        else:
            result.seconds[name] = []
    used = dict.fromkeys(result.seconds, 0.0)
    for _ in range(turns):
        for name in order.sample(list(used), len(used)):
            start = time.perf_counter()
            answer = processes[name].ask({"turn": _TURN})
            used[name] += time.perf_counter() - start
            if "failure" in answer:
                result.failures[name] = answer["failure"]
                del result.seconds[name], used[name]
                continue
            result.seconds[name].append(answer["seconds"])
            if used[name] > _MOST:
                del used[name]
            time.sleep(_PAUSE)
    return result
