"""Check that the conformance runner finds faults: each mutant is a copy of the package with one fault, and must FAIL.

Usage: tools/cts-mutants [--jobs N] [--list] [NAME ...]
The exit status is 0 if the unchanged package passes, and every mutant fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import coopmat

PACKAGE = Path(coopmat.__file__).resolve().parent
# Seconds for all tests of a route, without a cache.
WHOLE_RUN_LIMIT = 3600.0
# Seconds for the tests of a mutant up to the first failure.
MUTANT_LIMIT = 900.0


@dataclass(frozen=True)
class Mutant:
    """A fault in the package: in `file`, the text `old`, which occurs exactly once, is replaced by `new`.

    route: the route on which the runner must find the fault.
    """

    name: str
    route: str
    file: str
    old: str
    new: str


_FILES = ("general", "lanes", "subgroup_of_one", "scratch", "x86")
_GENERAL, _LANES, _ONE, _SCRATCH, _X86 = (f"matrices/library/{name}.cl" for name in _FILES)
_LAYOUTS, _PRODUCTS = "matrices/lane_layouts.py", "matrices/hardware_multiplies.py"
_FUNCTIONS, _MULTIPLY_ADD = "matrices/library_functions.py", "matrices/multiply_add.py"
_SPELLING = "matrices/spelling.py"

MUTANTS = (
    # Loads and stores.
    Mutant(
        "row-major-transposed", "one", _FUNCTIONS, 'return f"({r} * stride + {c})"', 'return f"({c} * stride + {r})"'
    ),
    Mutant(
        "column-major-transposed",
        "lanes",
        _FUNCTIONS,
        'return f"({c} * stride + {r})"',
        'return f"({r} * stride + {c})"',
    ),
    Mutant(
        "stride-ignored", "lanes", _FUNCTIONS, 'return f"({r} * stride + {c})"', 'return f"({r} * CM_COLUMNS + {c})"'
    ),
    Mutant(
        "stride-0-taken-for-1",
        "one",
        _FUNCTIONS,
        'return f"({r} * stride + {c})"',
        'return f"({r} * max(stride, (size_t)1) + {c})"',
    ),
    Mutant("packed-rows-swapped", "one", _FUNCTIONS, "+ {r} % {pack})", "+ ({r} + 1) % {pack})"),
    Mutant(
        "last-row-not-stored",
        "lanes",
        _GENERAL,
        "if (CM_HOLDS(lane, s) && CM_INSIDE(",
        "if (CM_HOLDS(lane, s) && r != CM_ROWS - 1 && CM_INSIDE(",
    ),
    Mutant(
        "last-column-not-loaded",
        "lanes",
        _GENERAL,
        "out[s] = CM_HOLDS(lane, s) && CM_INSIDE(r, c) ? p[",
        "out[s] = CM_HOLDS(lane, s) && c != CM_COLUMNS - 1 && CM_INSIDE(r, c) ? p[",
    ),
    Mutant(
        "padding-written",
        "lanes",
        _LAYOUTS,
        '"1" if self.is_full else',
        '"1" if self else',
    ),
    Mutant(
        "one-beyond-the-edge",
        "lanes",
        _GENERAL,
        "#define CM_FITS(n, at, size) ((at) < (size) && (uint)(n) <= (size) - (at))",
        "#define CM_FITS(n, at, size) ((at) < (size) && (uint)(n) <= (size) - (at) + 1)",
    ),
    Mutant(
        "outside-not-zero",
        "one",
        _ONE,
        "CM_INSIDE(r, c) ? p[CM_OFFSET(r, c)] : (CM_T)0;",
        "CM_INSIDE(r, c) ? p[CM_OFFSET(r, c)] : (CM_T)1;",
    ),
    # The distribution over the lanes.
    Mutant("first-copy-alone", "wmma:emulated@gfx11", _GENERAL, "CM_HOLDER(r, c) == first", "CM_HOLDER(r, c) == lane"),
    Mutant(
        "length-even",
        "lanes",
        _GENERAL,
        "return CM_HELD;",
        "return CM_SLOTS;",
    ),
    Mutant("length-of-a-row", "one", _GENERAL, "return CM_HELD;", "return CM_COLUMNS;"),
    Mutant(
        "coordinates-swapped",
        "one",
        _GENERAL,
        "(uint2)(CM_ROW(CM_LANE, i), CM_COLUMN(CM_LANE, i))",
        "(uint2)(CM_COLUMN(CM_LANE, i), CM_ROW(CM_LANE, i))",
    ),
    Mutant(
        "coordinates-by-slot",
        "lanes",
        _GENERAL,
        "(uint2)(CM_ROW(CM_LANE, i), CM_COLUMN(CM_LANE, i))",
        "(uint2)(CM_ROW(CM_LANE, i), CM_LANE * (CM_SLOTS / CM_ROWS) + i / CM_ROWS)",
    ),
    Mutant("transpose-of-nothing", "one", _GENERAL, "sent[CM_FROM_SLOT(r, c)]", "sent[CM_SLOT(r, c)]"),
    Mutant(
        "transpose-from-the-first-slot",
        "lanes",
        _GENERAL,
        "sent[CM_FROM_SLOT(r, c)]",
        "sent[CM_FROM_SLOT(r, c) % CM_COLUMNS]",
    ),
    Mutant(
        "transpose-to-all-lanes", "scratch", _SCRATCH, "c < CM_COLUMNS && CM_HOLDER(r, c) == lane", "c < CM_COLUMNS"
    ),
    Mutant(
        "subgroups-share-memory",
        "scratch",
        _SCRATCH,
        "((__local type *)scratch + CM_LINEAR_ID / CM_SG * CM_SG * (count))",
        "((__local type *)scratch)",
    ),
    Mutant(
        "barrier-left-out",
        "scratch",
        _SCRATCH,
        "share[(i - top) * CM_SG + lane] = CM_WIDEN_A(a[first / CM_SG * CM_M + i]);\n            CM_EXCHANGE;",
        "share[(i - top) * CM_SG + lane] = CM_WIDEN_A(a[first / CM_SG * CM_M + i]);",
    ),
    Mutant(
        "local-stores-not-waited-for",
        "scratch",
        "matrices/routes.py",
        '_FENCES = {"local": _LOCAL, "generic": _LOCAL_AND_GLOBAL}',
        "_FENCES = {}",
    ),
    # Operations component by component.
    Mutant(
        "fill-short",
        "lanes",
        _GENERAL,
        "        out[s] = value;",
        "        out[s] = s + 1 < CM_SLOTS ? value : (CM_T)0;",
    ),
    Mutant("negative-zero-lost", "one", _SPELLING, 'return "(-(x))"', 'return "(0 - (x))"'),
    Mutant("division-rounds", "one", _SPELLING, "((x) / (y))", "(((x) + (y) - (y) / (y)) / (y))"),
    Mutant("divisor-odd", "lanes", _SPELLING, "((x) / (y))", "((x) / ((y) | 1))"),
    Mutant(
        "scalar-squared",
        "lanes",
        _GENERAL,
        "        out[s] = CM_MAP(m[s], scalar);",
        "        out[s] = CM_MAP(m[s], m[s]);",
    ),
    Mutant("conversion-rounds-up", "one", _SPELLING, "'_' + rounding if rounding else ''", "'_' + (rounding or 'rtp')"),
    Mutant(
        "columns-built-along-rows",
        "one",
        "passes/matrices.py",
        "lowering.Map(matrix, name, operands, width, down)",
        "lowering.Map(matrix, name, operands, width, e.down)",
    ),
    # Multiply-add.
    Mutant(
        "sign-lost", "one", _SPELLING, "read = integer(component.bits, signed)", "read = integer(component.bits, False)"
    ),
    Mutant(
        "sign-invented",
        "lanes",
        _SPELLING,
        "read = integer(component.bits, signed)",
        "read = integer(component.bits, True)",
    ),
    Mutant(
        "last-k-left-out", "one", _ONE, "for (int k = 0; k < CM_K; ++k)", "for (int k = 0; k < CM_K - (CM_K > 1); ++k)"
    ),
    Mutant(
        "first-k-left-out", "lanes", _LANES, "for (int k = 0; k < CM_K; ++k)", "for (int k = CM_K > 1; k < CM_K; ++k)"
    ),
    Mutant(
        "broadcast-from-the-next-lane",
        "lanes",
        _LANES,
        "a[k / CM_SG * CM_M + i]), k % CM_SG)",
        "a[k / CM_SG * CM_M + i]), (k + 1) % CM_SG)",
    ),
    Mutant(
        "a-transposed",
        "one",
        _ONE,
        "CM_WIDEN_A(a[(top + i) * CM_K + k])",
        "CM_WIDEN_A(a[((top + i) * CM_K + k) % CM_M * CM_K + ((top + i) * CM_K + k) / CM_M])",
    ),
    Mutant("bytes-of-one-sign", "x86:emulated", _PRODUCTS, '"0x80808080u" if a_signed', '"0" if a_signed'),
    Mutant(
        "tiles-turned",
        "mma:emulated",
        _LAYOUTS,
        "return number % down * tile.rows + row,",
        "return (number + 1) % down * tile.rows + row,",
    ),
    Mutant("next-row-of-mixed", "mma:emulated", _GENERAL, "x[CM_ROW(lane, s)]", "x[(CM_ROW(lane, s) + 1) % CM_M]"),
    Mutant("other-sign", "mma:emulated", _PRODUCTS, "{'s' if a_signed else 'u'}", "{'s' if b_signed else 'u'}"),
    Mutant("packs-turned", "x86:emulated", _LAYOUTS, "column * self.pack + row % self.pack", "column * self.pack"),
    Mutant(
        "dot-product-of-three",
        "x86:emulated",
        _X86,
        "for (int i = 0; i < 32; i += 8)\n        c +=",
        "for (int i = 8; i < 32; i += 8)\n        c +=",
    ),
    Mutant("columns-of-tiles-turned", "x86:emulated", _X86, "(j + 16) * CM_PACK", "j * CM_PACK"),
    Mutant("tiles-of-another-sign", "x86:emulated", _X86, "(tiles, n, 128, 0)", "(tiles, n, 0, 128)"),
    Mutant("a-tile-left-out", "x86:emulated", _X86, "CM_TILE_DOT(tiles, 3)", "CM_TILE_DOT(tiles, 2)"),
    Mutant(
        "operands-swapped",
        "lanes",
        _MULTIPLY_ADD,
        "a, Operands.A_SIGNED in mask, total, 1",
        "a, Operands.B_SIGNED in mask, total, 1",
    ),
    Mutant(
        "addend-left-out",
        "one",
        _MULTIPLY_ADD,
        'out["BEGIN(c)"] = spelling.convert("c", c, total, w)',
        'out["BEGIN(c)"] = f"({spelling.vector(total, w)})(0)"',
    ),
    Mutant("unsaturated", "one", _MULTIPLY_ADD, "if c.is_integer and Operands.SATURATING in mask:", "if False:"),
    Mutant(
        "saturates-as-signed",
        "lanes",
        _SPELLING,
        "result_signed, c_signed = Operands.RESULT_SIGNED in operands,",
        "result_signed, c_signed = True,",
    ),
    Mutant(
        "double-sums-in-float",
        "one",
        _SPELLING,
        "return DOUBLE if max(a.bits, b.bits, c.bits) == 64 else FLOAT",
        "return FLOAT",
    ),
)


def text_of(mutant: Mutant) -> str:
    """Return the text of the file with the fault.

    Raises ValueError if the text to replace does not occur exactly once.
    """
    text = (PACKAGE / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: {mutant.file} has the text to replace {text.count(mutant.old)} times")
    return text.replace(mutant.old, mutant.new)


def run(route: str, mutant: Mutant | None, jobs: int) -> tuple[int, str]:
    """Run the conformance runner on a mutant (None: the unchanged package), and return its exit status and output."""
    with tempfile.TemporaryDirectory(prefix="coopmat-mutant-") as place:
        copy = Path(place) / "coopmat"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            (copy / mutant.file).write_text(text_of(mutant), encoding="utf-8")
        command = [sys.executable, "-m", "coopmat", "cts", "--wimpy", "--route", route, "-j", str(jobs)]
        command += ["--keep", str(Path(place) / "failures")] + (["--fail-fast"] if mutant is not None else [])
        environment = {**os.environ, "PYTHONPATH": place, "COOPMAT_NO_CACHE": "1"}
        limit = WHOLE_RUN_LIMIT if mutant is None else MUTANT_LIMIT
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
        return done.returncode, done.stdout + done.stderr


def verdict(mutant: Mutant | None, status: int, text: str) -> str:
    """Return the fault of the runner's result, "" if the result is right."""
    failed = re.search(r"^.*\bFAILED\b.*$", text, re.MULTILINE)
    if mutant is None:
        return "" if status == 0 else f"the package as it is does not pass:\n{text[-3000:]}"
    if status == 1 and failed:
        return ""
    return "survived" if status == 0 else f"status {status}, without a failed variant:\n{text[-2000:]}"


Item = tuple[str, Mutant | None]


def judged(item: Item) -> tuple[str, float]:
    """Run an item, and return the fault of the runner's result ("" if there is none) and the duration in seconds."""
    route, mutant = item
    begun = time.monotonic()
    return verdict(mutant, *run(route, mutant, 1)), time.monotonic() - begun


def report(item: Item, fault: str, seconds: float) -> bool:
    route, mutant = item
    name = mutant.name if mutant else "as it is"
    how = fault or ("killed" if mutant else "passes")
    print(f"{route:8}{name:32}{how} ({seconds:.0f} s)", flush=True)
    return not fault


def on_cluster(cluster: str, work: list[Item]) -> list[bool]:
    from spread import reason, spread

    results = spread(cluster, judged, work, lambda line: print(line, file=sys.stderr))
    return [
        report(item, *(result if isinstance(result, tuple) else (reason(result), 0.0)))
        for item, result in zip(work, results, strict=True)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/cts-mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a scheduler of dask.distributed's, or local:N")
    parser.add_argument("--list", action="store_true", help="print the mutants instead of running them")
    parser.add_argument("name", nargs="*", default=["*"], help="of mutants; * stands for anything")
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if any(fnmatchcase(m.name, pattern) for pattern in arguments.name)]
    if arguments.list:
        print("\n".join(f"{m.name} ({m.route}, {m.file})" for m in chosen))
        return 0
    start = time.monotonic()
    routes = sorted({mutant.route for mutant in chosen})
    work: list[Item] = [*((m.route, m) for m in chosen), *((r, None) for r in routes)]

    if arguments.cluster:
        right = on_cluster(arguments.cluster, work)
    else:
        with ThreadPoolExecutor(arguments.jobs) as pool:
            right = [report(item, *result) for item, result in zip(work, pool.map(judged, work), strict=True)]
    killed = sum(right[: len(chosen)])
    print(f"{killed} of {len(chosen)} mutants killed in {time.monotonic() - start:.0f} s")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
