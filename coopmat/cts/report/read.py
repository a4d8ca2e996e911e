"""Reports of earlier runs, read from their JSON, to continue a run (`--resume`) or to compare two (`--compare`).

A report may be of unknown origin: every field is checked, and only text and numbers are taken from the report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coopmat.options import UsageError

from ..outcome import Outcome, Results, Status
from ..schedule import Settings
from .json import KEYS, VERSION, describe

_STATUSES = {name: status for status, name in KEYS.items()}
_TEXTS = ("test", "variant", "route", "log", "directory", "machine")
# The options and device properties that must be equal for a run to reuse the outcomes of another.
_OPTIONS = ("seed", "selection", "tolerance")
_DEVICE = ("platform", "name", "version", "driver")
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Report:
    """The contents of a report file.

    name: the name of the file.
    device: the device's properties.
    routes, options: those of the run.
    outcomes: the outcomes, in the order of the file.
    """

    name: str
    device: Mapping[str, Any]
    routes: tuple[str, ...]
    options: Mapping[str, Any]
    outcomes: tuple[Outcome, ...]

    @property
    def label(self) -> str:
        return f"{self.device.get('platform', '')}: {self.device.get('name', '')}"

    def by_key(self) -> dict[Key, Outcome]:
        return {key_of(outcome): outcome for outcome in self.outcomes}


def key_of(outcome: Outcome) -> Key:
    return outcome.test, outcome.variant, outcome.route


def read(name: str) -> Report:
    """Return the report in the file `name`. Raises OSError, and UsageError for contents that are no report."""
    try:
        document = json.loads(Path(name).read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}") from None
    return parse(document, name)


def parse(document: object, name: str) -> Report:
    """Return the report that a JSON document represents; `name` is for messages.

    Raises UsageError for any other document.
    """
    fields = _mapping(document, name, "a report")
    if fields.get("version") != VERSION:
        raise UsageError(
            f"{name} is not a report that can be read: its version is {fields.get('version')!r}, expected {VERSION}"
        )
    routes, outcomes = fields.get("routes"), fields.get("outcomes")
    if not isinstance(outcomes, list) or not isinstance(routes, list) or not all(isinstance(r, str) for r in routes):
        raise UsageError(f"{name} is not a report: it has no lists of routes and outcomes")
    device = _mapping(fields.get("device"), name, "the device")
    options = _mapping(fields.get("options"), name, "the options")
    rows = tuple(_outcome(row, f"outcome {number} of {name}") for number, row in enumerate(outcomes, 1))
    return Report(name, device, tuple(routes), options, rows)


def _mapping(value: object, name: str, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{name} is not a report: {what} is {type(value).__name__}, expected an object")
    return value


def _outcome(row: object, name: str) -> Outcome:
    fields = _mapping(row, name, "it")
    texts = {key: fields.get(key, "") for key in _TEXTS}
    status, seconds = fields.get("status"), fields.get("seconds", 0.0)
    wrong = [key for key, value in texts.items() if not isinstance(value, str)]
    if not isinstance(status, str) or status not in _STATUSES:
        wrong.append("status")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        wrong.append("seconds")
    if wrong or not texts["test"]:
        raise UsageError(f"{name} has missing or wrong fields: {', '.join(wrong or ['test'])}")
    return Outcome(status=_STATUSES[str(status)], seconds=float(seconds), **texts)


def require_same_run(report: Report, results: Results, settings: Settings) -> None:
    """Raise UsageError unless the report is of a run on the same device with the same options."""
    own = describe(results.device)
    for what, theirs, ours in (
        *((f"device's {key}", report.device.get(key), own[key]) for key in _DEVICE),
        *((key, report.options.get(key), getattr(settings, key)) for key in _OPTIONS),
    ):
        if theirs != ours:
            raise UsageError(f"{report.name} is the report of a different run: its {what} is {theirs!r}, not {ours!r}")


def known(report: Report, planned: Mapping[Key, int]) -> dict[Key, Outcome]:
    """Return the outcomes of the report's variants that are planned, without outcomes of tests that had no variant."""
    return {key: outcome for key, outcome in report.by_key().items() if key in planned and outcome.variant}


def failed(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.status is Status.FAILED
