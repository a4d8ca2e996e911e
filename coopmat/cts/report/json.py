"""The results as JSON: complete (docs/conformance.md), or in the form of upstream's runner."""

from __future__ import annotations

import json

from coopmat.devices import DeviceInfo
from coopmat.devices.sub_groups import sub_group_sizes

from ..outcome import UPSTREAM, Outcome, Results, Status, count, seconds, worst
from ..schedule import Settings
from .text import verdict

# The version of the format, increased when the meaning of an existing key changes.
VERSION = 1
KEYS = {Status.PASSED: "passed", Status.FAILED: "failed", Status.NOT_SUPPORTED: "not_supported"}


def render(results: Results, settings: Settings) -> str:
    document = {
        "version": VERSION,
        "command": ["coopmat", *results.arguments],
        "started": results.started.isoformat(timespec="seconds"),
        "seconds": round(results.seconds, 3),
        "device": describe(results.device),
        "routes": list(results.routes),
        "options": dict(results.options),
        "planned": results.planned,
        "complete": results.complete,
        "interrupted": results.interrupted,
        "verdict": verdict(results),
        "totals": {KEYS[status]: count for status, count in results.counts().items()},
        "tests": _tests(results),
        "outcomes": [_outcome(outcome, settings) for outcome in results.outcomes],
    }
    return json.dumps(document, indent=1) + "\n"


def describe(device: DeviceInfo) -> dict[str, object]:
    return {
        "index": device.index,
        "platform": device.platform,
        "name": device.name,
        "type": device.kind,
        "version": device.version,
        "driver": device.driver,
        "spirv_versions": list(device.spirv_versions),
        "sub_group_sizes": list(sub_group_sizes(device)),
        "compute_units": device.compute_units,
        "local_memory": device.local_memory,
    }


def _tests(results: Results) -> list[dict[str, object]]:
    return [
        {
            "test": test,
            "route": route,
            "status": KEYS[worst(outcomes)],
            **{KEYS[status]: number for status, number in count(outcomes).items()},
            "seconds": round(seconds(outcomes), 3),
        }
        for (test, route), outcomes in results.groups().items()
    ]


def _outcome(outcome: Outcome, settings: Settings) -> dict[str, object]:
    return {
        "test": outcome.test,
        "variant": outcome.variant,
        "route": outcome.route,
        "status": KEYS[outcome.status],
        "seconds": round(outcome.seconds, 4),
        "log": outcome.log,
        "directory": outcome.directory,
        "machine": outcome.machine,
        "repeat": settings.repeat(outcome),
    }


def render_upstream(results: Results, settings: Settings) -> str:
    """Return the JSON that CL_CONFORMANCE_RESULTS_FILENAME requires: a word for each test, on all routes together."""
    words = {test: UPSTREAM[status] for test, status in results.tests().items()}
    return json.dumps({"cmd": "coopmat cts", "results": words}, indent=1) + "\n"
