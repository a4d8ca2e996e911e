"""The outcome of a variant, and the results of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from coopmat.devices import DeviceInfo


class Status(Enum):
    PASSED = "passed"
    FAILED = "FAILED"
    NOT_SUPPORTED = "not supported"


# Upstream's word for each status.
UPSTREAM: Mapping[Status, str] = {Status.PASSED: "pass", Status.FAILED: "fail", Status.NOT_SUPPORTED: "skip"}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one variant of a test on a route, or, with an empty `variant`, of a test that has none there.

    `seconds` is its share of compiling and building, with its own launch and comparison. `log` describes the error, or
    why it is not supported; `directory` is that of a failing variant's files, if there are any. `machine` names the one
    that it ran on.
    """

    test: str
    variant: str
    route: str
    status: Status
    seconds: float = 0.0
    log: str = ""
    directory: str = ""
    machine: str = ""


def worst(outcomes: Iterable[Outcome]) -> Status:
    """Return FAILED if one failed, else PASSED if one passed: a variant that is not supported is no failure."""
    statuses = {outcome.status for outcome in outcomes}
    return next((s for s in (Status.FAILED, Status.PASSED) if s in statuses), Status.NOT_SUPPORTED)


def count(outcomes: Iterable[Outcome]) -> dict[Status, int]:
    """Return how many outcomes there are of each status."""
    counts = Counter(outcome.status for outcome in outcomes)
    return {status: counts[status] for status in Status}


def seconds(outcomes: Iterable[Outcome]) -> float:
    return sum(outcome.seconds for outcome in outcomes)


@dataclass
class Results:
    """The results of a run so far. `planned` is the number of outcomes that there will be, `arguments` the command line
    after `coopmat`; `started` is local time, `seconds` the duration of the whole run. `options` describes the run:
    seed, selection, tolerance, jobs."""

    device: DeviceInfo
    routes: Sequence[str]
    arguments: Sequence[str]
    options: Mapping[str, object]
    planned: int
    started: datetime
    seconds: float = 0.0
    interrupted: bool = False
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return len(self.outcomes) == self.planned

    @property
    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.status is Status.FAILED]

    @property
    def tested(self) -> bool:
        """Tell whether anything was tested: a run of unsupported variants says nothing about the device."""
        return any(outcome.status is not Status.NOT_SUPPORTED for outcome in self.outcomes)

    def groups(self) -> dict[tuple[str, str], list[Outcome]]:
        """Return the outcomes of each test on each route."""
        result: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in self.outcomes:
            result.setdefault((outcome.test, outcome.route), []).append(outcome)
        return result

    def tests(self) -> dict[str, Status]:
        """Return the status of each test, on all routes together."""
        statuses: dict[str, list[Outcome]] = {}
        for (test, _), outcomes in self.groups().items():
            statuses.setdefault(test, []).extend(outcomes)
        return {test: worst(outcomes) for test, outcomes in statuses.items()}

    def counts(self) -> dict[Status, int]:
        """Return how many variants passed, failed, are not supported."""
        return count(self.outcomes)
