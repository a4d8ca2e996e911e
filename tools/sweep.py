#!/usr/bin/env python3
"""Compare every overload of every builtin, compiled by this compiler, with the device's own compiler.

Prints counts, the time, and the findings for rows that docs/builtins-on-devices.md lists. If there are findings that it
does not list, or rows that it should no longer list, they are printed and the exit status is 1. The test suite runs a
selection (tests/sweep).

Usage: tools/sweep [--jobs N] [--covering] [PATTERN ...]     (names of builtins; `*` matches any text)
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

from listed import become_equal, element_of, listed, unexplained  # noqa: E402
from overload_list import covering, identified, identify, overloads_of, rows  # noqa: E402
from scheduling import Finding, Worker, sweep  # noqa: E402

from coopmat.frontend.builtins import Builtin  # noqa: E402

# The number of rows that a process takes at a time.
SHARE = 8


def swept(share: list[Builtin], every: bool) -> tuple[int, list[Finding]]:
    """Return the number of overloads that were compared, and the findings.

    If `every`, all overloads of the rows are compared, as lowered; else a covering selection. The selection is compared
    after LLVM's O1 pipeline, too.
    """
    worker = _workers.pop()
    selection = [identify(o) for row in share for o in covering(row)]
    rest = [identify(o) for row in share for o in overloads_of(row)] if every else []
    rest = [name for name in rest if name not in set(selection)]
    try:
        found = sweep(worker, selection, ("native", "one")) + sweep(worker, rest, ("native",))
    finally:
        _workers.append(worker)
    return len(selection) + len(rest), found


_workers: list[Worker] = []


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--covering", action="store_true", help="the test suite's selection instead of all overloads")
    parser.add_argument("pattern", nargs="*", default=["*"], help="names of builtins")
    arguments = parser.parse_args()
    chosen = [
        row for row in rows() if row.supported and any(fnmatchcase(row.name, pattern) for pattern in arguments.pattern)
    ]
    start = time.monotonic()
    _workers.extend(Worker() for _ in range(arguments.jobs))
    shares = [chosen[k : k + SHARE] for k in range(0, len(chosen), SHARE)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda share: swept(share, not arguments.covering), shares))
    for worker in _workers:
        worker.close()
    findings = [finding for _, some in results for finding in some]
    lines = listed()
    wrong = unexplained(findings, lines)
    stale = [] if arguments.covering else become_equal(chosen, findings, lines)
    explained = Counter(
        f"{finding.kind}: {identified(finding.overload).name} ({element_of(identified(finding.overload))})"
        for finding in findings
        if finding not in wrong
    )
    for text, count in sorted(explained.items()):
        print(f"listed, {text}: {count}")
    for problem in [*map(str, wrong), *stale]:
        print(problem)
    print(
        f"{len(chosen)} rows, {sum(count for count, _ in results)} overloads in {time.monotonic() - start:.0f} s:"
        f" {sum(explained.values())} listed findings, {len(wrong)} not listed, {len(stale)} listed and equal"
    )
    return 1 if wrong or stale else 0


if __name__ == "__main__":
    sys.exit(main())
