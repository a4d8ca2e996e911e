#!/usr/bin/env python3
"""Compare clang's and our verdict on random expressions of matrix types: print those that only one of them rejects.

The expressions are valid and invalid ones in the common language: no clauses, no casts of scalars, none of our
builtins. Known differences are left out: clang 19 accepts more subscripts than an element has and more casts than it
should, divides a matrix by a scalar, and compares pointers with integers with a warning.

Usage: tools/matrix_type_oracle.py [-n EXPRESSIONS] [--seed N] [--clang PROGRAM]
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

import coopmat  # noqa: E402
from coopmat.diagnostics import CompileError  # noqa: E402

FLAGS = [
    *("-x", "cl", "-cl-std=CL3.0", "-target", "spir64", "-Xclang", "-finclude-default-header"),
    *("-Xclang", "-fdeclare-opencl-builtins", "-Xclang", "-fenable-matrix", "-fsyntax-only", "-w", "-ferror-limit=0"),
]
HEAD = """\
typedef float M __attribute__((matrix_type(4, 4)));
typedef int I __attribute__((matrix_type(4, 4)));
typedef float W __attribute__((matrix_type(4, 8)));
typedef float T __attribute__((matrix_type(8, 4)));
typedef float Row __attribute__((matrix_type(1, 4)));
struct S { M m; int n; };
M g(M m) { return m; }
M h(M m, float x) { return m; }
"""
PARAMETERS = "M m, I i, W w, T t, Row row, struct S s, global M *p, int n, float x, float4 v, char c, long l, bool b"
ATOMS = [
    *("m", "m", "i", "w", "t", "row", "s.m", "*p", "p[n]", "n", "x", "2", "1.5f", "g(m)", "h(m, x)", "v", "p", "s"),
    *("m[1][2]", "m[n][0]", "i[0][0]", "p[1][n][2]", "g(m)[0][0]", "c", "l", "b"),
]
BINARY = [*("+", "-", "*") * 3, "==", "&", "<", "%", "&&", "<<"]
TARGETS = ["m", "i", "w", "s.m", "p[0]", "m[0][1]", "n", "x", "row", "s"]
MATRICES = ["m", "i", "w", "(m + m)", "(w * t)", "s.m"]
KNOWN = re.compile(r"\]\[\w\]\[")


def expression(rng: random.Random, depth: int) -> str:
    def inner() -> str:
        return expression(rng, depth - 1)

    if depth <= 0:
        return rng.choice(ATOMS)
    forms = [
        lambda: rng.choice(ATOMS),
        lambda: f"({inner()} {rng.choice(BINARY)} {inner()})",
        lambda: f"{rng.choice('-!~&*+')}({inner()})",
        lambda: f"__builtin_matrix_transpose({inner()})",
        lambda: f"(n ? {inner()} : {inner()})",
        lambda: f"(({rng.choice('MIW')}){rng.choice(MATRICES)})",
        lambda: f"{inner()}[{rng.choice('01n34')}][{rng.choice('0n37x')}]",
        lambda: f"g({inner()})",
        lambda: f"({rng.choice(TARGETS)} {rng.choice(['=', '+=', '-=', '*='])} {inner()})",
    ]
    return rng.choices(forms, [25, 35, 6, 8, 6, 6, 6, 4, 4])[0]()


def clang(program: str, source: str) -> dict[int, str]:
    """Return line -> clang's first error in the line."""
    run = subprocess.run([program, *FLAGS, "-"], input=source, capture_output=True, text=True, check=False)
    found: dict[int, str] = {}
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", run.stderr, re.M):
        found.setdefault(int(line), message)
    return found


def ours(source: str) -> dict[int, str]:
    found: dict[int, str] = {}
    try:
        coopmat.compile(source, ["-w", "-ferror-limit=0"])
    except CompileError as error:
        for item in error.diagnostics:
            if item.severity.is_error and item.span is not None:
                found.setdefault(item.span.line, f"{item.message} [{item.code}]")
    return found


def differences(seed: int, count: int, program: str) -> Iterator[str]:
    rng = random.Random(seed)
    expressions = [expression(rng, rng.choice((1, 2, 2, 3))) for _ in range(count)]
    source = HEAD + "".join(f"void f{i}({PARAMETERS}) {{ {e}; }}\n" for i, e in enumerate(expressions))
    here, there = ours(source), clang(program, source)
    print(f"seed {seed}: {count} expressions, errors: {len(here)} of ours, {len(there)} of clang's")
    first = HEAD.count("\n") + 1
    for line, e in enumerate(expressions, first):
        pointers = "invalid-operands" in here.get(line, "")
        if (line in here) != (line in there) and not KNOWN.search(e) and not pointers:
            yield f"{e}\n    ours: {here.get(line, 'fine')}\n    clang: {there.get(line, 'fine')}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-n", type=int, default=5000, metavar="EXPRESSIONS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clang", default="clang-19", metavar="PROGRAM")
    options = parser.parse_args()
    found = list(differences(options.seed, options.n, options.clang))
    print("\n".join(found) or "no differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
