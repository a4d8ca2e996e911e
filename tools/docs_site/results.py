"""The pages of the results: conformance and speed, from the reports in docs/results.

`python tools/docs_site/results.py REPORT FILE` copies a report of `coopmat cts --json` or `coopmat bench --json`
without what the pages do not show, such as single variants and logs.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "results"
_CONFORMANCE_KEYS = (
    *("version", "command", "started", "seconds", "device", "routes", "options", "planned", "complete"),
    *("interrupted", "verdict", "totals", "tests"),
)
# The columns of a conformance table: key -> title
_COUNTS = {"passed": "passed", "failed": "failed", "not_supported": "not supported"}
_OWN = "coopmat"

_INDEX = """\
# Results

Each result names its date, device and driver. [How conformance is tested](../conformance.md) and
[how speed is measured](../performance.md#products-of-matrices) have pages of their own; [vendors](../vendors.md) has
what is proven on which vendor's devices.

```{toctree}
:hidden:

conformance
speed
../performance
```

"""


def pages(folder: Path = FOLDER) -> dict[str, str]:
    """Return path -> text of the pages."""
    reports = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.json"))]
    conformance = [(path, report) for path, report in reports if is_conformance(report)]
    speed = [(path, report) for path, report in reports if not is_conformance(report)]
    index = [_INDEX, "| date | device | what | result |", "|---|---|---|---|"]
    index += [_conformance_row(path, report) for path, report in conformance]
    index += [_speed_row(path, report) for path, report in speed]
    return {
        "results/index.md": "\n".join([*index, ""]),
        "results/conformance.md": "\n".join(_conformance(conformance)),
        "results/speed.md": "\n".join(_speed(speed)),
    }


def is_conformance(report: Mapping[str, Any]) -> bool:
    """Whether a report is one of `coopmat cts`; all others are of `coopmat bench`."""
    return "verdict" in report


def _date(report: Mapping[str, Any]) -> str:
    return str(report["started" if is_conformance(report) else "date"])[:10]


def _conformance_row(path: Path, report: Mapping[str, Any]) -> str:
    what = f"conformance, {', '.join(report['routes'])}, {report['options']['selection']}"
    link = f"[{report['verdict']}](conformance.md#{path.stem})"
    return f"| {_date(report)} | {_device(report['device'])} | {what} | {link} |"


def _speed_row(path: Path, report: Mapping[str, Any]) -> str:
    what = f"speed, {len(report['results'])} cases"
    return f"| {_date(report)} | {report['device']} | {what} | [times and ratios](speed.md#{path.stem}) |"


def _device(device: Mapping[str, Any]) -> str:
    return f"{device['platform']}: {device['name']}"


def _facts(rows: Mapping[str, object]) -> Iterator[str]:
    yield from ("| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items()), "")


def _conformance(reports: list[tuple[Path, dict[str, Any]]]) -> Iterator[str]:
    yield from ("# Conformance", "")
    yield "Numbers of variants of each test of `coopmat cts`, by device. A test without variants is not supported."
    yield ""
    for path, report in reports:
        device = report["device"]
        yield from (f"## {path.stem}", "")
        yield from _facts(
            {
                "device": _device(device),
                "driver": device["driver"],
                "date": report["started"],
                "command": f"`{' '.join(report['command'])}`",
                "selection": report["options"]["selection"],
                "result": report["verdict"] + ("" if report["complete"] else " The run did not finish."),
                "variants": ", ".join(f"{report['totals'][key]} {title}" for key, title in _COUNTS.items()),
            }
        )
        yield from (f"| test | route | {' | '.join(_COUNTS.values())} |", "|---|---|---|---|---|")
        for test in report["tests"]:
            yield f"| `{test['test']}` | {test['route']} | {' | '.join(str(test[key]) for key in _COUNTS)} |"
        yield ""


def _speed(reports: list[tuple[Path, dict[str, Any]]]) -> Iterator[str]:
    yield from ("# Speed", "")
    yield "Medians of interleaved turns of `coopmat bench`. A ratio is the time of a library divided by that of"
    yield "`coopmat.linalg`, with the quartiles of the turns: above 1, coopmat is faster."
    yield ""
    if not reports:
        yield "There is no report of `coopmat bench` yet."
    for path, report in reports:
        yield from (f"## {path.stem}", "")
        versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
        keys = ("device", "driver", "date", "processor", "system", "threads")
        yield from _facts({key: report[key] for key in keys} | {"versions": versions})
        yield from ("| operation | type | shape | time | rate | ratios |", "|---|---|---|---|---|---|")
        yield from (_case(row) for row in report["results"])
        yield ""


def _case(row: Mapping[str, Any]) -> str:
    case, own = row["case"], row["seconds"].get(_OWN)
    time = statistics.median(own) if own else None
    shown = "failed" if time is None else f"{time * 1e3:.3f} ms"
    rate = "" if time is None else f"{row['flop'] / time / 1e9:.0f} G/s"
    ratios = "<br>".join(f"{name} {_ratio(ratio)}" for name, ratio in row["ratios"].items())
    shape = "x".join(map(str, case["shape"]))
    return f"| {case['operation']} | {case['type']} | {shape} | {shown} | {rate} | {ratios} |"


def _ratio(ratio: Mapping[str, float]) -> str:
    return f"{ratio['value']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"


def shortened(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report with the keys and digits that the pages show, and without paths of the machine."""
    if not is_conformance(report):
        short: dict[str, Any] = json.loads(json.dumps(report), parse_float=lambda text: float(f"{float(text):.5g}"))
        return short
    return {key: report[key] for key in _CONFORMANCE_KEYS}


def main(source: str, target: str) -> None:
    report = json.loads(Path(source).read_text(encoding="utf-8"))
    Path(target).write_text(json.dumps(shortened(report), separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
