"""A whole run: select the variants, run them in workers, and collect their outcomes."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from coopmat.devices import DeviceInfo

from .outcome import Outcome, Results, Status
from .report.read import Key, Report, key_of, known, require_same_run
from .schedule import Batch, Catalogue, Item, Schedule, Settings, schedule, select, select_tests
from .workers import Pool


class Place(Protocol):
    """A runner of batches of conformance tests: this machine, or a device of a cluster (`remote.ClusterDevice`)."""

    def plan(
        self, settings: Settings, tests: Sequence[str], routes: Sequence[str], variants: Sequence[str]
    ) -> Schedule: ...

    def run(self, settings: Settings, batches: Sequence[Batch], done: Callable[[Outcome], bool]) -> None: ...


Started = Callable[[str, str, str], None]
Done = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class _Here:
    """A device of this machine, whose batches run in `jobs` processes."""

    device: DeviceInfo
    jobs: int
    started: Started

    def plan(
        self, settings: Settings, tests: Sequence[str], routes: Sequence[str], variants: Sequence[str]
    ) -> Schedule:
        return plan_here(settings, self.device, tests, routes, variants)

    def run(self, settings: Settings, batches: Sequence[Batch], done: Callable[[Outcome], bool]) -> None:
        pool = Pool(settings, self.jobs, self.started, done)
        pool.run(batches)
        pool.close()


def run(
    settings: Settings,
    device: DeviceInfo,
    *,
    tests: Sequence[str] = (),
    variants: Sequence[str] = (),
    routes: Sequence[str] = (),
    jobs: int = 1,
    fail_fast: bool = False,
    arguments: Sequence[str] = (),
    place: Place | None = None,
    resume: Report | None = None,
    planned: Callable[[int], None] = lambda count: None,
    started: Started = lambda test, variant, route: None,
    done: Done = lambda outcome: None,
) -> Results:
    """Run the tests (names or patterns, all by default) on the routes (the device's by default); return the results.

    `place` is a device of a cluster, by default this machine with `jobs` processes. Variants in the report `resume` are
    not run again. `planned` gets the number of outcomes, before any variant runs. Ctrl-C ends the run early, and the
    results so far are returned. Raises UsageError for an unknown test or variant, InternalError if no worker starts.
    """
    begin = time.monotonic()
    place = place or _Here(device, jobs, started)
    plan = place.plan(settings, tests, routes, variants)
    options = {name: getattr(settings, name) for name in ("seed", "selection", "tolerance", "timeout")} | {"jobs": jobs}
    routes = list(routes) or [settings.default_route]
    results = Results(device, routes, list(arguments), options, plan.size, datetime.now().astimezone())
    order = plan.order()
    planned(plan.size)
    batches = plan.batches if resume is None else _remaining(plan.batches, resume, order, results, settings)
    machine = platform.node()

    def collect(outcome: Outcome) -> bool:
        results.outcomes.append(replace(outcome, machine=outcome.machine or machine))
        done(outcome)
        return fail_fast and outcome.status is Status.FAILED

    try:
        for outcome in plan.outcomes:
            started(outcome.test, outcome.variant, outcome.route)
            collect(outcome)
        place.run(settings, batches, collect)
    except KeyboardInterrupt:
        results.interrupted = True
    # Sort the rows, so that their order does not depend on the distribution of the work.
    results.outcomes.sort(key=lambda outcome: order[key_of(outcome)])
    results.seconds = time.monotonic() - begin
    return results


def _remaining(
    batches: Sequence[Batch], resume: Report, order: Mapping[Key, int], results: Results, settings: Settings
) -> list[Batch]:
    """Add the outcomes of the report `resume` to the results, and return the batches without its variants."""
    require_same_run(resume, results, settings)
    before = known(resume, order)
    results.outcomes += before.values()
    return [part for batch in batches for part in batch.without(before)]


def plan_here(
    settings: Settings, device: DeviceInfo, tests: Sequence[str], routes: Sequence[str], variants: Sequence[str]
) -> Schedule:
    """Return the schedule of a run on a device of this machine.

    Raises UsageError for a test or a variant that does not exist.
    """
    catalogue = Catalogue(settings, device)
    return schedule(catalogue, select_items(catalogue, tests, routes, variants))


def select_items(
    catalogue: Catalogue, tests: Sequence[str], routes: Sequence[str], variants: Sequence[str]
) -> dict[tuple[str, str], list[Item]]:
    """Return (test, route) -> variants. Raises UsageError for a test or a variant that does not exist."""
    names = select_tests(catalogue.tests(), tests)
    return select(catalogue, names, list(routes) or [catalogue.settings.default_route], variants)
