"""The variants of a run: selected by name or pattern on each route, and grouped to batches that are built together."""

from __future__ import annotations

import difflib
import importlib
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coopmat.devices import DeviceInfo, route_for
from coopmat.matrices.routes import OPENCL_C_ONLY, ROUTES
from coopmat.options import UsageError

from .operations.base import Case, Operation
from .outcome import Outcome, Status
from .profile import Profile, profile_for

SELECTIONS = ("wimpy", "default", "exhaustive")
MODES = ("c", "spirv")
# The number of variants that are compiled and built as one program: larger programs are not faster.
BATCH = 24


@dataclass(frozen=True)
class Settings:
    """The settings of a run, which each of its workers gets too.

    device: the device's "platform:device" numbers.
    selection: one of SELECTIONS.
    timeout: the limit of each step, in seconds.
    keep: the directory for the files of failing variants.
    code: the form of programs for the device (`CompileOptions.code`).
    registry: the module that contains OPERATIONS.
    device_name: the user's name for the device, "" if it was selected by default.
    """

    device: str
    default_route: str
    seed: int = 0
    selection: str = "default"
    tolerance: str = "strict"
    timeout: float = 60.0
    keep: str = "cts-failures"
    code: str = "auto"
    registry: str = "coopmat.cts.operations"
    device_name: str = ""

    def command(self, test: str, variant: str, route: str) -> str:
        """Return the arguments of `coopmat cts` that repeat a variant."""
        words = [test, *(["--variant", variant] if variant else [])]
        words += ["--route", route] if route != self.default_route else []
        words += ["--device", shlex.quote(self.device_name)] if self.device_name else []
        words += ["--seed", str(self.seed)] if self.seed else []
        words += ["--exhaustive"] if self.selection == "exhaustive" else []
        words += ["--tolerance", self.tolerance] if self.tolerance != "strict" else []
        words += ["--code", self.code] if self.code != "auto" else []
        return " ".join(words)

    def repeat(self, outcome: Outcome) -> str:
        """Return the whole command that repeats the variant of an outcome."""
        return f"coopmat cts {self.command(outcome.test, outcome.variant, outcome.route)}"


@dataclass(frozen=True)
class Item:
    """One variant of an operation; its batch has the mode and the route.

    selection: the one of SELECTIONS whose profile contains the variant.
    """

    operation: str
    case: Case
    selection: str

    @property
    def variant(self) -> str:
        return self.case.name


@dataclass(frozen=True)
class Batch:
    """A sequence of variants of one mode, route and subgroup size that run in one worker.

    In mode "c", the variants are compiled as one program.
    """

    mode: str
    route: str
    sub_group_size: int | None
    items: tuple[Item, ...]

    def test(self, item: Item) -> str:
        return f"{self.mode}_{item.operation}"

    def part(self, start: int, end: int | None = None) -> Batch:
        return replace(self, items=self.items[start:end])

    def without(self, known: Container[tuple[str, str, str]]) -> list[Batch]:
        """Return the batch without the variants in `known` (test, variant, route), or an empty list if none remain."""
        items = tuple(item for item in self.items if (self.test(item), item.variant, self.route) not in known)
        return [replace(self, items=items)] if items else []

    def halves(self) -> tuple[Batch, Batch]:
        middle = len(self.items) // 2
        return self.part(0, middle), self.part(middle)

    def in_sub_groups_of(self, size: int) -> Batch:
        """Return the batch with the same variants, and the same names, in subgroups of another size."""
        items = tuple(replace(item, case=replace(item.case, sub_group_size=size)) for item in self.items)
        return replace(self, sub_group_size=size, items=items)

    def outcome(self, item: Item, status: Status, seconds: float = 0.0, log: str = "") -> Outcome:
        return Outcome(self.test(item), item.variant, self.route, status, seconds, log)


class Catalogue:
    """The operations and their variants on a device; the same in every process with the same settings."""

    def __init__(self, settings: Settings, device: DeviceInfo) -> None:
        self.settings = settings
        self.device = device
        self.operations: Mapping[str, Operation] = importlib.import_module(settings.registry).OPERATIONS
        self._profiles: dict[tuple[str, str], Profile] = {}

    def tests(self) -> list[str]:
        return [f"{mode}_{o.name}" for mode in MODES for o in self.operations.values() if mode in o.modes]

    def items(self, test: str, route: str, selection: str | None = None) -> Iterator[Item]:
        """Yield the variants of a test on a route, in a selection (by default the settings').

        Raises ValueError if the device cannot have the route.
        """
        mode, _, name = test.partition("_")
        operation, selection = self.operations[name], selection or self.settings.selection
        if mode == "spirv" and (self.in_c(route) or self.device.target_env):
            return
        profile = self.profile(route, selection)
        every = [c for c in operation.cases(profile) if operation.has(mode, c)]
        if operation.narrow and mode == "c" and not profile.is_native:
            every += operation.cases(profile.of_narrow_types())
        if selection == "wimpy" and len(every) > 1 and not self.device.target_env:
            # In wimpy runs, each variant runs in one of the two modes on each route, in turn. A test with one mode runs
            # each variant on every second route.
            every = every[(MODES.index(mode) + ROUTES.index(route)) % 2 :: 2]
        for case in every:
            yield Item(name, case, selection)

    def in_c(self, route: str) -> bool:
        """Return whether programs of this route are passed to the device as OpenCL C."""
        code = self.settings.code
        return code == "c" or (code == "auto" and (route in OPENCL_C_ONLY or route_for(self.device).code == "c"))

    def profile(self, route: str, selection: str) -> Profile:
        """Return the device's profile for a route and a selection.

        Raises ValueError if the device cannot have the route.
        """
        key = route, selection
        if key not in self._profiles:
            wimpy, exhaustive = (selection == word for word in ("wimpy", "exhaustive"))
            self._profiles[key] = profile_for(self.device, route, wimpy, exhaustive, self.settings.seed)
        return self._profiles[key]


def select_tests(tests: Sequence[str], patterns: Iterable[str]) -> list[str]:
    """Return the tests that match any pattern, in the order of `tests`; all tests if there are no patterns.

    Raises UsageError if a pattern matches no test.
    """
    filters = list(patterns)
    for pattern in filters:
        if not any(fits(pattern, test) for test in tests):
            raise UsageError(f"there is no test '{pattern}'; `coopmat cts --list` lists them{_similar(pattern, tests)}")
    return [test for test in tests if not filters or any(fits(pattern, test) for pattern in filters)]


def _similar(name: str, names: Iterable[str]) -> str:
    """Return the suffix "; did you mean 'NAME'?" for the most similar name, "" if no name is similar."""
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    return f"; did you mean '{near[0]}'?" if near else ""


def fits(pattern: str, name: str) -> bool:
    """Return whether a whole name matches a pattern, in which `*` matches any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


@dataclass(frozen=True)
class Schedule:
    """The work of a run.

    outcomes: the outcomes that are known before anything runs: tests without variants, with the reason.
    """

    batches: Sequence[Batch]
    outcomes: Sequence[Outcome]

    def order(self) -> dict[tuple[str, str, str], int]:
        """Return (test, variant, route) -> position of the outcome in reports."""
        keys = [(outcome.test, outcome.variant, outcome.route) for outcome in self.outcomes]
        keys += [(batch.test(item), item.variant, batch.route) for batch in self.batches for item in batch.items]
        return {key: number for number, key in enumerate(keys)}

    @property
    def size(self) -> int:
        return len(self.outcomes) + sum(len(batch.items) for batch in self.batches)


def select(
    catalogue: Catalogue, tests: Sequence[str], routes: Sequence[str], variants: Sequence[str]
) -> dict[tuple[str, str], list[Item]]:
    """Return (test, route) -> variants; the list is empty if the device cannot have the route.

    With `variants`, a test is left out on a route if none matches. Raises UsageError for a variant that no test has on
    any route.
    """
    items_by_test: dict[tuple[str, str], list[Item]] = {}
    unknown = set(variants)
    for route in routes:
        for test in tests:
            try:
                items = _choose(catalogue, test, route, variants) if variants else list(catalogue.items(test, route))
            except ValueError:
                items_by_test[test, route], unknown = [], set()
                continue
            unknown -= {v for v in unknown if any(fits(v, item.variant) for item in items)}
            if items or not variants:
                items_by_test[test, route] = items
    if unknown:
        raise _no_variant(catalogue, sorted(unknown)[0], tests, routes)
    return items_by_test


def _no_variant(catalogue: Catalogue, name: str, tests: Sequence[str], routes: Sequence[str]) -> UsageError:
    """Return the error for a variant that no selected test has, with a similar name as suggestion."""
    listing = "`coopmat cts --list TEST` lists those of a test"
    if catalogue.settings.selection == "exhaustive":  # millions of names: no similar one is searched
        return UsageError(f"there is no variant '{name}'; {listing}")
    names = {item.variant: None for route in routes for test in tests for item in catalogue.items(test, route)}
    where = " in the selection; --exhaustive has all shapes"
    return UsageError(f"there is no variant '{name}'{where}; {listing}{_similar(name, names)}")


def _choose(catalogue: Catalogue, test: str, route: str, variants: Sequence[str]) -> list[Item]:
    """Return the variants of a test on a route that match a name or a pattern of `variants`.

    A full name also selects a variant of the "default" and "wimpy" selections, so that any printed command can be
    repeated.
    """
    items: dict[str, Item] = {}
    own = list(catalogue.items(test, route))
    for variant in variants:
        matches = [item for item in own if fits(variant, item.variant)]
        if not matches and "*" not in variant and catalogue.settings.selection != "exhaustive":
            others = (item for selection in ("default", "wimpy") for item in catalogue.items(test, route, selection))
            matches = [item for item in others if item.variant == variant][:1]
        items |= {item.variant: item for item in matches}
    return list(items.values())


def schedule(catalogue: Catalogue, selected: Mapping[tuple[str, str], Sequence[Item]]) -> Schedule:
    """Return the schedule of the selected variants, in the order of the tests.

    Each batch has one mode, route and subgroup size.
    """
    outcomes: list[Outcome] = []
    groups: dict[tuple[str, str, int | None], list[Item]] = {}
    for (test, route), items in selected.items():
        if not items:
            reason = _why_none(catalogue, test, route)
            outcomes.append(Outcome(test, "", route, Status.NOT_SUPPORTED, log=reason))
        for item in items:
            groups.setdefault((route, test.partition("_")[0], item.case.sub_group_size), []).append(item)
    return Schedule(list(_batches(groups)), outcomes)


def _why_none(catalogue: Catalogue, test: str, route: str) -> str:
    try:
        catalogue.profile(route, catalogue.settings.selection)
    except ValueError as error:
        return str(error)
    if catalogue.device.target_env and test.startswith("spirv_"):
        return "its assembly is for OpenCL, and only OpenCL C is converted for Vulkan"
    if catalogue.in_c(route) and test.startswith("spirv_"):
        return "this route passes OpenCL C to the device, not SPIR-V"
    return "the device has no variant of this test"


def _batches(groups: Mapping[tuple[str, str, int | None], Sequence[Item]]) -> Iterator[Batch]:
    for (route, mode, size), items in groups.items():
        for start in range(0, len(items), BATCH):
            yield Batch(mode, route, size, tuple(items[start : start + BATCH]))
