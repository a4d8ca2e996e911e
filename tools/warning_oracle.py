#!/usr/bin/env python3
"""Compare clang's warnings for tests/support/warning_cases.py with our table, and print the differences.

It compares the lines of each warning, and whether the warning is on by default and with each group. The output must be
judged by a reader: some names are our own, and clang omits a few warnings in OpenCL C (shift counts, which the language
defines).

Usage: PYTHONPATH=tests/support python tools/warning_oracle.py [CLANG]     (clang 19 was used)
"""

from __future__ import annotations

import re
import subprocess
import sys

from warning_cases import CASES, Case

from coopmat.warning_options import MEMBERS, ROWS

FLAGS = [
    *("-x", "cl", "-cl-std=CL3.0", "-target", "spir64", "-Xclang", "-finclude-default-header"),
    *("-fsyntax-only", "-fno-caret-diagnostics"),
]
HALF = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
FINDING = re.compile(r"^<stdin>:(\d+):\d+: (?:warning|(error)): .*?(?: \[-W([^\]]*)\])?$", re.M)
GROUPS = ("all", "extra", "conversion", "pedantic")


def warned(case: Case, *options: str, positive: bool) -> list[int]:
    """Return the lines where clang reports the case's warning, or an error."""
    program = sys.argv[1] if len(sys.argv) > 1 else "clang-19"
    source = HALF + case.source(positive).replace("§", "")
    run = subprocess.run([program, *FLAGS, *options, "-"], input=source, capture_output=True, text=True, check=False)
    found = FINDING.findall(run.stderr)
    return sorted(int(line) - 1 for line, error, name in found if error or name == case.name)


def main() -> None:
    for case in CASES:
        marked = [n for n, line in enumerate(case.source(True).split("\n"), 1) for _ in range(line.count("§"))]
        lines = warned(case, "-Weverything", positive=True)
        if lines != marked:
            print(f"{case.name}: clang warns in lines {lines}, not {marked}: {case.positive!r}")
            continue
        near = warned(case, "-Weverything", positive=False)
        if near:
            print(f"{case.name}: clang warns in lines {near}: {case.negative!r}")
        row = ROWS[case.name]
        here = {"default": row.on, **{group: row.on or row.name in MEMBERS[group] for group in GROUPS}}
        there = {group: bool(warned(case, f"-W{group}", positive=True)) for group in GROUPS}
        there["default"] = bool(warned(case, positive=True))
        for group in here:
            if here[group] != there[group]:
                print(f"{case.name}: {group}: {here[group]} in the table, {there[group]} in clang: {case.positive!r}")


if __name__ == "__main__":
    main()
