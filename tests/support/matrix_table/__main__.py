"""Run every case of the table, or a selection, on the OpenCL device and as native modules.

Usage: tools/matrix-table [--jobs N] [--seed S] [--covering] [--in-c] [--target NAME ...]
           [--option=OPTION ...] [PATTERN ...]
Patterns are names of rows (`*` matches any text). Names of targets are such as one1, lanes16, native16; the target
one1:spv consists of native modules that are lowered. The exit status is 1 if any case fails.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase

from opencl_devices import NoDevice, full_device
from spread import CLUSTER_HELP

from . import table
from .axes import MAINTENANCE, NATIVE, PARTS, lowered_targets, targets
from .execution import IN_C
from .requirements import missing, unknown, without_cases
from .workers import batches, run_all, run_on_cluster


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/matrix-table", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--cluster", metavar="ADDRESS", help=CLUSTER_HELP)
    parser.add_argument("--seed", type=int, default=0, help="of inputs, shapes and the selection")
    parser.add_argument("--covering", action="store_true", help="the test suite's selection instead of all rows")
    parser.add_argument("--target", action="append", help="only this one")
    parser.add_argument("--option", action="append", default=[], help="of the compiler; --option=-O0")
    parser.add_argument("--in-c", action="store_true", help="as OpenCL C, with names of the library's texts")
    parser.add_argument("--list", action="store_true", help="print the cases instead of running them")
    parser.add_argument("pattern", nargs="*", default=["*"], help="names of rows")
    arguments = parser.parse_args()
    try:
        device = full_device()
    except NoDevice as reason:
        print(reason)
        return 1
    start = time.monotonic()
    more = (*arguments.option, *([IN_C] if arguments.in_c else []))
    every = (*targets(device), NATIVE, MAINTENANCE, *([] if arguments.in_c else lowered_targets(device)))
    everywhere = tuple(replace(t, more=more) for t in every)
    pairs = [(target, row) for target in everywhere for row in table.rows_for(target, everywhere)]
    if arguments.covering:
        pairs = list(table.covering(everywhere, arguments.seed))
    pairs = [
        (target, row)
        for target, row in pairs
        if any(fnmatchcase(row.name, pattern) for pattern in arguments.pattern)
        and (not arguments.target or str(target) in arguments.target)
        and not (arguments.in_c and target.is_native)
    ]
    if arguments.list:
        print("\n".join(f"{target} {case}" for target, row in pairs for case in row.keys))
        return 0
    if arguments.cluster:
        findings = run_on_cluster(arguments.cluster, batches(pairs), arguments.seed)
    else:
        findings = run_all(batches(pairs), arguments.jobs, arguments.seed)
    strange = unknown() | without_cases(table.all_rows())
    lacking = [f"{route}: no case of {' '.join(f)}" for route in {t.route for t in everywhere} for f in _missing(route)]
    for text in [*map(str, findings), *lacking, *(f"not in the table: {name}" for name in sorted(strange))]:
        print(text)
    counts = Counter({str(target): 0 for target in everywhere})
    for target, row in pairs:
        counts[str(target)] += len(row.keys)
    routes = sorted({target.route for target in everywhere})
    off = [f"{name} ({route})" for name, part in PARTS.items() for route in routes if part.missing(route)]
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    print(f"not in the compiler yet: {', '.join(off) or 'nothing'}")
    native = sum(counts[str(target)] for target in (NATIVE, MAINTENANCE))
    ran = sum(counts.values()) - native
    print(
        f"{ran} cases on {device.name} and {native} as native modules, {len(pairs)} kernels, seed {arguments.seed},"
        f" in {time.monotonic() - start:.0f} s: {len(findings)} wrong, {len(lacking)} combinations without a case"
    )
    return 1 if findings or lacking or strange else 0


def _missing(route: str) -> list[tuple[str, ...]]:
    return missing(route, table.rows_on(route))


if __name__ == "__main__":
    sys.exit(main())
