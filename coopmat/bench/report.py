"""Results: ratios of medians with quartiles, tables, and the record in JSON."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .cases import Case

if TYPE_CHECKING:
    from .machine import Machine

OWN = "coopmat"
FASTEST = "fastest other"


@dataclass(frozen=True)
class Ratio:
    """A contender's time divided by ours: the ratio of the medians, and the quartiles of the turns' ratios."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}-{self.high:.2f})"


@dataclass(frozen=True)
class Result:
    """The measurements of a case.

    seconds: contender -> its median time in each turn. failures: contender -> why it has no times.
    """

    case: Case
    seconds: dict[str, list[float]]
    failures: dict[str, str]

    @property
    def medians(self) -> dict[str, float]:
        """Contender -> the median of its turns, in seconds."""
        return {name: statistics.median(times) for name, times in self.seconds.items()}

    @property
    def ratios(self) -> dict[str, Ratio]:
        """Contender -> its time divided by ours; empty if we have none."""
        own = self.seconds.get(OWN)
        return {name: ratio(times, own) for name, times in self.seconds.items() if own and name != OWN}


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the first and the third quartile, interpolated between the values."""
    if len(values) == 1:
        return values[0], values[0]
    low, _middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def ratio(others: Sequence[float], own: Sequence[float]) -> Ratio:
    """Return the ratio of two contenders' times. One that takes too long has fewer turns than the other."""
    low, high = quartiles([a / b for a, b in zip(others, own, strict=False)])
    return Ratio(statistics.median(others) / statistics.median(own), low, high)


@dataclass(frozen=True)
class Summary:
    """The ratios of a contender for all shapes of an operation and type.

    kind: the operation and the type. shapes: the number of shapes for which there is a ratio. of_shapes: the number of
    all shapes; in the others, the contender or ours failed.
    """

    kind: str
    contender: str
    geometric_mean: float
    minimum: float
    minimum_at: str
    shapes: int
    of_shapes: int


def summaries(results: Sequence[Result]) -> Iterator[Summary]:
    """Yield the summary of each contender by operation and type, the fastest other one of each case first."""
    kinds = dict.fromkeys((result.case.operation, result.case.type) for result in results)
    for kind in kinds:
        members = [result for result in results if (result.case.operation, result.case.type) == kind]
        rows: dict[str, list[tuple[float, str]]] = {FASTEST: []}
        for result in members:
            values = {name: item.value for name, item in result.ratios.items()}
            fastest = {FASTEST: min(values.values())} if values else {}
            for name, value in (fastest | values).items():
                rows.setdefault(name, []).append((value, result.case.label))
        for name, pairs in rows.items():
            if pairs:
                mean = statistics.geometric_mean(value for value, _ in pairs)
                yield Summary(" ".join(kind), name, mean, *min(pairs), len(pairs), len(members))


def print_results(console: Any, results: Sequence[Result], machine: Machine) -> None:
    """Print a table of consecutive results of one operation and type."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    case = results[0].case
    title = f"{case.operation} {case.type}" + (", B constant" if case.is_constant else "")
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.add_column("shape", no_wrap=True)
    table.add_column("contender", no_wrap=True)
    for heading in ("time", "GFLOP/s", "of peak", "its time / ours"):
        table.add_column(heading, justify="right", no_wrap=True)
    peak = machine.peaks.get(case.peak_type)
    for result in results:
        label = result.case.label
        for name, seconds in result.medians.items():
            speed = result.case.flop / seconds
            part = f"{speed / peak:.0%}" if peak else "-"
            against = str(result.ratios.get(name, ""))
            table.add_row(label, name, f"{_time(seconds)}", f"{speed / 1e9:.0f}", part, against)
            label = ""
        for name in result.failures:
            table.add_row(label, name, "failed", "", "", "")
            label = ""
        table.add_section()
    console.print(table)
    for name, text in dict(pair for result in results for pair in result.failures.items()).items():
        console.print(f"{name} failed: {text}", markup=False)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def print_summary(console: Any, results: Sequence[Result]) -> None:
    """Print the geometric means and the minima of the ratios."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title="time of others / ours", title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.add_column("operation")
    table.add_column("contender")
    for heading in ("geometric mean", "minimum"):
        table.add_column(heading, justify="right")
    table.add_column("minimum at")
    table.add_column("shapes", justify="right")
    last = ""
    for row in summaries(results):
        if row.kind != last:
            table.add_section()
        numbers = f"{row.geometric_mean:.2f}", f"{row.minimum:.2f}"
        count = f"{row.shapes}" if row.shapes == row.of_shapes else f"{row.shapes} of {row.of_shapes}"
        table.add_row("" if row.kind == last else row.kind, row.contender, *numbers, row.minimum_at, count)
        last = row.kind
    console.print(table)


def record(results: Sequence[Result], machine: Machine) -> dict[str, Any]:
    """Return everything that was measured, as values that JSON can represent."""
    rows = [
        {**asdict(item), "flop": item.case.flop, "bytes": item.case.bytes, "ratios": _plain(item.ratios)}
        for item in results
    ]
    summary = [asdict(row) for row in summaries(results)]
    return {"schema": 1, **asdict(machine), "results": rows, "summary": summary}


def _plain(ratios: Mapping[str, Ratio]) -> dict[str, Any]:
    return {name: asdict(item) for name, item in ratios.items()}


def tile_rows(tiles: Mapping[tuple[int, int], float]) -> list[dict[str, float]]:
    """Return the times of tiles as values that JSON can represent."""
    return [{"m": m, "n": n, "seconds": seconds} for (m, n), seconds in tiles.items()]
