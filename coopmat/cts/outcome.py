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


# status -> upstream's word for it
UPSTREAM: Mapping[Status, str] = {Status.PASSED: "pass", Status.FAILED: "fail", Status.NOT_SUPPORTED: "skip"}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one variant of a test on a route.

    variant: the variant's name; "" if the test has no variant on the route.
    seconds: the duration of the variant's launch and comparison, and its share of compiling and building.
    log: a description of the error, or the reason why the variant is not supported.
    directory: the directory of a failing variant's files, "" if there are none.
    machine: the name of the machine that ran the variant.
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
    """Return FAILED if any outcome failed, else PASSED if any passed, else NOT_SUPPORTED."""
    statuses = {outcome.status for outcome in outcomes}
    return next((s for s in (Status.FAILED, Status.PASSED) if s in statuses), Status.NOT_SUPPORTED)


def count(outcomes: Iterable[Outcome]) -> dict[Status, int]:
    """Return the number of outcomes with each status."""
    counts = Counter(outcome.status for outcome in outcomes)
    return {status: counts[status] for status in Status}


def seconds(outcomes: Iterable[Outcome]) -> float:
    return sum(outcome.seconds for outcome in outcomes)


@dataclass
class Results:
    """The results of a run so far.

    planned: the number of outcomes of the complete run.
    arguments: the command line after `coopmat`.
    started: the local time of the start.
    seconds: the duration of the whole run.
    options: the run's seed, selection, tolerance, timeout and number of jobs.
    """

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
        """Whether any variant ran: a run of unsupported variants says nothing about the device."""
        return any(outcome.status is not Status.NOT_SUPPORTED for outcome in self.outcomes)

    def groups(self) -> dict[tuple[str, str], list[Outcome]]:
        """Return (test, route) -> outcomes."""
        result: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in self.outcomes:
            result.setdefault((outcome.test, outcome.route), []).append(outcome)
        return result

    def tests(self) -> dict[str, Status]:
        """Return test -> status on all routes together: the worst of its outcomes."""
        statuses: dict[str, list[Outcome]] = {}
        for (test, _), outcomes in self.groups().items():
            statuses.setdefault(test, []).extend(outcomes)
        return {test: worst(outcomes) for test, outcomes in statuses.items()}

    def counts(self) -> dict[Status, int]:
        """Return the number of variants with each status."""
        return count(self.outcomes)
