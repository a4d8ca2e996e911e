"""Write kernels of 20 to 200 lines, and a batch file that compiles them for five routes.

Usage: tools/batch-sources COUNT DIRECTORY [--seed 0] [--broken 0]
Each kernel is different: it has loops, vectors and matrices of random types and shapes. `--broken` kernels contain one
of several errors.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

ROUTES = ("one", "lanes", "scratch", "native", "wmma:emulated")
_SHAPES = (8, 16)
_INPUTS = {"float": "float", "half": "half", "int": "int", "uint": "uint"}
_FAULTS = ("undeclared = 1;", "c[0] = ;", 'float x = "text" * 2;', "return 1", "coop_mat_store(c);", "@")
HEADER = """#ifndef SHARED_H
#define SHARED_H
#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define MATRIX(T, r, c, use) T __attribute__((coop_mat(SG, r, c, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#endif
"""


def kernel(rng: random.Random, number: int, fault: str) -> str:
    """Return a source of 20 to 200 lines with a matrix product, `fault` as a statement of it, and random functions."""
    kind = rng.choice(list(_INPUTS))
    m, n, k = (rng.choice(_SHAPES) for _ in range(3))
    half = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" if kind == "half" else ""
    accumulator = "float" if kind in ("float", "half") else kind
    lines = [
        f'{half}#include "shared.h"',
        f"// Kernel {number}.",
        f"float helper{number}(float x, int n) {{",
        f"    for (int i = 0; i < n; i++) x = x * {rng.random():.3f}f + i;",
        "    return x;",
        "}",
        f"kernel void product{number}(global const {kind} *a, global const {kind} *b,",
        f"    global {accumulator} *c, int n) {{",
        f"    MATRIX({accumulator}, {m}, {n}, ACCUMULATOR) sum = coop_mat_init(0);",
        f"    for (int i = 0; i < n; i += {k}) {{",
        f"        MATRIX({kind}, {m}, {k}, A) x = coop_mat_load(a + i, ROW, n);",
        f"        MATRIX({kind}, {k}, {n}, B) y = coop_mat_load(b + i * {n}, ROW, {n});",
        "        sum = coop_mat_mulAdd(x, y, sum);",
        "    }",
        f"    coop_mat_store(c, sum * {rng.randrange(1, 9)}, ROW, {n});",
        f"    {fault}" if fault else "",
        "}",
    ]
    length = rng.randrange(20, 201)
    while len(lines) < length - 6:
        lines += part(rng, f"{number}_{len(lines)}")
    return "\n".join(lines) + "\n"


def part(rng: random.Random, name: str) -> list[str]:
    width = rng.choice((2, 4, 8))
    body = [
        f"    float{width} v{i} = vload{width}(get_global_id(0) + {i}, p) {rng.choice('+-*')} {rng.random():.4f}f;"
        for i in range(rng.randrange(1, 12))
    ]
    total = " + ".join(f"v{i}" for i in range(len(body)))
    return [
        f"kernel void part{name}(global float *p, uint count) {{",
        f"    for (uint i = get_local_id(0); i < count; i += {rng.randrange(1, 9)}u)",
        f"        p[i] = fma(p[i], {rng.random():.4f}f, helper{name.split('_')[0]}(p[i], {rng.randrange(1, 9)}));",
        *body,
        f"    vstore{width}({total}, get_global_id(0), p);",
        "}",
    ]


def write(count: int, directory: Path, seed: int, broken: int) -> Path:
    """Write the sources and the batch file to the directory, and return the path of the batch file."""
    rng = random.Random(seed)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "shared.h").write_text(HEADER, encoding="utf-8")
    faults = set(rng.sample(range(count), broken))
    entries = []
    for number in range(count):
        name = f"kernel{number:04}.cl"
        fault = rng.choice(_FAULTS) if number in faults else ""
        (directory / name).write_text(kernel(rng, number, fault), encoding="utf-8")
        options = ["--matrices", ROUTES[number % len(ROUTES)], "-O1"]
        entries.append({"source": name, "options": options, "output": f"kernel{number:04}.spv"})
    path = directory / "batch.json"
    path.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/batch-sources", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--broken", type=int, default=0)
    arguments = parser.parse_args()
    print(write(arguments.count, arguments.directory, arguments.seed, arguments.broken))
    return 0


if __name__ == "__main__":
    sys.exit(main())
