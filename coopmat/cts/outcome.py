"""What became of a variant, and of a run."""

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


# What upstream's runner writes for each.
UPSTREAM: Mapping[Status, str] = {Status.PASSED: "pass", Status.FAILED: "fail", Status.NOT_SUPPORTED: "skip"}


@dataclass(frozen=True)
class Outcome:
    """Of one variant of a test on a route, or, with an empty `variant`, of a test that has none there.

    `seconds` is its part of compiling and building, with its own launch and comparison. `log` says what is wrong, or
    why it is not supported; `directory` is where a failing variant's files lie, if they do.
    """

    test: str
    variant: str
    route: str
    status: Status
    seconds: float = 0.0
    log: str = ""
    directory: str = ""


def worst(outcomes: Iterable[Outcome]) -> Status:
    """Failed if one is, else passed if one is: what is not supported is no fault."""
    found = {outcome.status for outcome in outcomes}
    return next((s for s in (Status.FAILED, Status.PASSED) if s in found), Status.NOT_SUPPORTED)


def count(outcomes: Iterable[Outcome]) -> dict[Status, int]:
    """How many outcomes there are of each status."""
    counts = Counter(outcome.status for outcome in outcomes)
    return {status: counts[status] for status in Status}


def seconds(outcomes: Iterable[Outcome]) -> float:
    return sum(outcome.seconds for outcome in outcomes)


@dataclass
class Results:
    """A run as it stands. `planned` is how many outcomes there will be, `arguments` the command line after `coopmat`;
    `started` is local time, `seconds` the whole run. `options` tells how it was run: seed, selection, tolerance, jobs.
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
        """Whether anything was: a run of what is not supported tells nothing of the device."""
        return any(outcome.status is not Status.NOT_SUPPORTED for outcome in self.outcomes)

    def groups(self) -> dict[tuple[str, str], list[Outcome]]:
        """The outcomes of each test on each route."""
        result: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in self.outcomes:
            result.setdefault((outcome.test, outcome.route), []).append(outcome)
        return result

    def tests(self) -> dict[str, Status]:
        """What became of each test, on all routes together."""
        statuses: dict[str, list[Outcome]] = {}
        for (test, _), outcomes in self.groups().items():
            statuses.setdefault(test, []).extend(outcomes)
        return {test: worst(outcomes) for test, outcomes in statuses.items()}

    def counts(self) -> dict[Status, int]:
        """How many variants passed, failed, are not supported."""
        return count(self.outcomes)
