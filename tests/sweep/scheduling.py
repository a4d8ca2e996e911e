"""Sends batches of overloads to a worker process, and halves what fails until single overloads are to blame."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cases import OURS, OWN
from drivers import driver_of
from overload_list import identified

WORKER = Path(__file__).with_name("device_worker.py")
# Seconds for one answer: a batch takes one or two.
LIMIT = 180.0
BATCH = 120


@dataclass(frozen=True)
class Finding:
    """What is unequal: the overload's name in the sweep, the route, who is (`cases.KINDS`), and what was found."""

    overload: str
    route: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{identified(self.overload)} [{self.overload}, {self.route}, {self.kind}]: {self.text}"


class WorkerError(Exception):
    """The worker died or did not answer in time."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass
class Worker:
    """A worker process, started when it is first needed and again after a crash."""

    _process: subprocess.Popen[bytes] | None = None
    _errors: Any = field(default_factory=tempfile.TemporaryFile)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip
        assert self._process.stdin is not None
        kind = OURS
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            for message in self._messages():
                if "stage" not in message:
                    return message
                kind = str(message["stage"])
        except (BrokenPipeError, TimeoutError) as error:
            self.close()
            raise WorkerError(kind, type(error).__name__) from error
        status = self._process.wait()
        self.close()
        raise WorkerError(kind, f"exit status {status}")

    def _messages(self) -> Iterator[dict[str, Any]]:
        assert self._process is not None and self._process.stdout is not None
        pipe, text, end = self._process.stdout.fileno(), b"", time.monotonic() + LIMIT
        while True:
            if not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError
            piece = self._process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
            if not piece:
                return
            *lines, text = (text + piece).split(b"\n")
            for line in lines:
                yield json.loads(line)

    def errors(self) -> str:
        """The end of what the worker wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read()[-800:].decode(errors="replace").strip()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def sweep(worker: Worker, overloads: Sequence[str], routes: Sequence[str]) -> list[Finding]:
    """Everything that is unequal. Overloads that other tests cover are left out."""
    found: list[Finding] = []
    here: list[str] = []
    for name in overloads:
        driver = driver_of(identified(name))
        if driver is None:
            found.append(Finding(name, routes[0], OURS, "no driver takes it (docs/extending.md)"))
        elif driver.alone(identified(name)):
            found += _batch(worker, [name], routes, theirs=True)
        elif driver.case is not None:
            here.append(name)
    for start in range(0, len(here), BATCH):
        found += _batch(worker, here[start : start + BATCH], routes, theirs=True)
    return found


def _batch(worker: Worker, names: Sequence[str], routes: Sequence[str], theirs: bool) -> list[Finding]:
    try:
        answer = worker.ask({"overloads": list(names), "routes": list(routes), "theirs": theirs})
    except WorkerError as error:
        answer = {"failed": True, "kind": error.kind, "log": f"crash or hang, {error}: {worker.errors()}"}
    if "found" in answer:
        return [Finding(*fields) for fields in answer["found"]]
    if len(names) > 1:
        middle = len(names) // 2
        return [
            *_batch(worker, names[:middle], routes, theirs),
            *_batch(worker, names[middle:], routes, theirs),
        ]
    if theirs and answer["kind"] == OWN:
        fault = Finding(names[0], routes[0], OWN, f"not taken: {answer['log'].strip()[:1500]}")
        return [fault, *_batch(worker, names, routes, theirs=False)]
    if len(routes) > 1:
        return [f for route in routes for f in _batch(worker, names, (route,), theirs)]
    before = [Finding(*fields) for fields in answer.get("until then", ())]
    return [*before, Finding(names[0], routes[0], answer["kind"], answer["log"].strip()[:1500])]
