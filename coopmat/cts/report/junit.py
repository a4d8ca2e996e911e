"""The results as the XML that JUnit, pytest and Jenkins read: one test suite for each test on each route."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from ..outcome import Outcome, Results, Status, count, seconds
from ..schedule import Settings
from .text import printable


def render(results: Results, settings: Settings) -> str:
    root = ET.Element("testsuites", {"name": "coopmat cts", **_numbers(results.outcomes, results.seconds)})
    for (test, route), outcomes in results.groups().items():
        attributes = {"name": f"{test}.{route}", "timestamp": results.started.isoformat(timespec="seconds")}
        suite = ET.SubElement(root, "testsuite", {**attributes, **_numbers(outcomes, seconds(outcomes))})
        properties = ET.SubElement(suite, "properties")
        for name, value in {"device": results.device.label, "route": route, **results.options}.items():
            ET.SubElement(properties, "property", name=name, value=printable(str(value)))
        for outcome in outcomes:
            _add_case(suite, outcome, settings)
    if not results.complete:
        root.set("errors", "1")
        suite = ET.SubElement(root, "testsuite", name="run", tests="1", failures="0", errors="1", skipped="0", time="0")
        case = ET.SubElement(suite, "testcase", classname="run", name="complete", time="0")
        message = f"{results.planned - len(results.outcomes)} of {results.planned} variants were not run"
        ET.SubElement(case, "error", message=message)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _numbers(outcomes: list[Outcome], time: float) -> dict[str, str]:
    counts = count(outcomes)
    return {
        "tests": str(len(outcomes)),
        "failures": str(counts[Status.FAILED]),
        "errors": "0",
        "skipped": str(counts[Status.NOT_SUPPORTED]),
        "time": f"{time:.3f}",
    }


def _add_case(suite: ET.Element, outcome: Outcome, settings: Settings) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"{outcome.route}.{outcome.test}",
        name=outcome.variant or outcome.test,
        time=f"{outcome.seconds:.4f}",
    )
    if outcome.machine:
        properties = ET.SubElement(case, "properties")
        ET.SubElement(properties, "property", name="machine", value=printable(outcome.machine))
    if outcome.status is Status.FAILED:
        first = outcome.log.partition("\n")[0]
        failure = ET.SubElement(case, "failure", message=printable(first))
        files = f"\nfiles: {outcome.directory}" if outcome.directory else ""
        failure.text = printable(f"{settings.repeat(outcome)}\n{outcome.log}{files}")
    elif outcome.status is Status.NOT_SUPPORTED:
        ET.SubElement(case, "skipped", message=printable(outcome.log))
