"""`python -m fuzz.strides`: loops on strided elements that call builtins. See tools/fuzz-strides.

If the device's compiler builds a kernel from source, it must build the SPIR-V, too. Its vectorizer can crash, so
programs are built in child processes.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

from coopmat.frontend import builtins as table
from coopmat.frontend.builtins import Overload
from coopmat.frontend.types import VOID, ScalarType, Type, VectorType, element_type, is_bits, size_of

from .workers import Batch, Finding, each

# Kernels in one program.
BATCH = 48
# has a matrix -> routes
ROUTES = {False: ("native", "one"), True: ("one", "lanes")}
COUNTERS = ("int", "int", "int", "uint", "long", "ulong", "short", "size_t")
OPTIONS = ((), (), ("-cl-fast-relaxed-math",), ("-O0",), ("-fwrapv",))
_MATRIX = """#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float M __attribute__((coop_mat(SG, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
"""
_USE = "M c = coop_mat_load(t + get_group_id(0) * 64, ROW, 8); coop_mat_store(t, c * 2.0f, ROW, 8); "
_PROLOGUE = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
# bytes -> integer type
_INTEGERS = {1: "char", 2: "short", 4: "int", 8: "long"}
_INDICES = (
    *("S * i", "S * i", "i * S + C", "S * i + C", "S * (i + C)", "i << 1", "S * i + k", "S * i + m", "S * (i + k)"),
    *("S * i + C * k", "i * m", "S * (i - C) + C", "S * i - k", "(uint)(S * i)", "(long)S * i", "S * (n - i)"),
    *("S * i + C * k + m", "i + S * i"),
)
_HEADS = (*("i = 0; i < n; ++i",) * 4, "i = 0; i <= n; ++i", "i = 1; i < n; i += S", "i = n; i > 0; --i")
_OUTER = (*("int k = m; ",) * 3, *("for (int k = 0; k < m; ++k) ",) * 2, "int k = get_group_id(0); ")
_STORES = ("z[i] = V;", "z[i] = V;", "z[X] = V;", "sum += V;", "if (i != m) z[i] = V;")


@cache
def functions() -> dict[str, tuple[Overload, ...]]:
    """Return the overloads of the builtins that are functions of values, by name."""
    names: dict[str, list[Overload]] = {}
    for row in (row for family in table.FAMILIES for row in family.TABLE):
        if row.pure and not row.name.startswith("get_"):
            found = (o for o in table.overloads(row) if o.parameters and all(map(_is_value, (o.result, *o.parameters))))
            names.setdefault(row.name, []).extend(found)
    return {name: tuple(overloads) for name, overloads in sorted(names.items()) if overloads}


def _is_value(t: Type) -> bool:
    return isinstance(t, ScalarType | VectorType) and t != VOID and not is_bits(element_type(t))


class Kernel:
    """The kernel of a seed, named `f<seed>`. Consecutive seeds cover all builtins."""

    def __init__(self, seed: int) -> None:
        self.seed, self.random = seed, random.Random(seed)
        overloads = [*functions().values()][seed % len(functions())]
        scalars = [o for o in overloads if not any(isinstance(t, VectorType) for t in (o.result, *o.parameters))]
        self.overload = self.random.choice(scalars if scalars and self.random.random() < 0.8 else overloads)
        self.stride = self.random.randint(1, 8)
        self.counter = self.random.choice(COUNTERS)
        self.restrict = self.random.choice(("restrict ",) * 3 + ("",))
        self.has_matrix = self.random.random() < 0.3
        self.parameters: list[str] = []
        self.before: list[str] = []
        self.moves: list[str] = []
        self.text = self._written()

    def without_matrix(self) -> str:
        return self.text.replace(_USE, "")

    def _written(self) -> str:
        pick, result = self.random.choice, self.overload.result
        arguments = [self._argument(number, t) for number, t in enumerate(self.overload.parameters)]
        value = f"{self._function()}({', '.join(arguments)})"
        if pick((False, False, True)):
            value = f"{value} {pick('+-*')} {f'({result})1'}"
        self.parameters.append(f"global {result} *{self.restrict}z")
        if self.has_matrix:
            self.parameters.append("global float *t")
        bound = "ulong" if self.counter == "size_t" else self.counter
        parameters = ", ".join((*self.parameters, f"{bound} n", "int m"))
        store = pick(_STORES).replace("V", value).replace("X", self._index())
        head = pick(_HEADS).replace("S", str(self.stride))
        loop = f"{pick(_OUTER)}for ({self.counter} {head}) {{ {store}{''.join(self.moves)} }}"
        body = f"{_USE * self.has_matrix}{result} sum = 0; {loop} if (m < 0) z[0] = sum;"
        return f"{''.join(self.before)}kernel void f{self.seed}({parameters}) {{ {body} }}"

    def _function(self) -> str:
        """Return the builtin, or a function that calls it."""
        if self.random.random() < 0.8:
            return self.overload.name
        names = [f"a{n}" for n in range(len(self.overload.parameters))]
        given = ", ".join(f"{t} {name}" for t, name in zip(self.overload.parameters, names, strict=True))
        body = f"return {self.overload.name}({', '.join(names)});"
        self.before.append(f"{self.overload.result} g{self.seed}({given}) {{ {body} }} ")
        return f"g{self.seed}"

    def _argument(self, number: int, t: Type) -> str:
        """Return strided elements of a new array."""
        name, kind, member = f"x{number}", str(t), self.random.randrange(self.stride)
        pointer = f"*{self.restrict}{name}"
        forms = ("index",) * 5 + ("record", "record", "rows", "pointer", "value", "bits", "component")
        form = self.random.choice(forms)
        if form == "component" and isinstance(t, ScalarType):
            self.parameters.append(f"global const {kind}{self.random.choice((2, 4, 8))} {pointer}")
            return f"{name}[i].{self.random.choice('xy')}"
        if form == "value":
            self.parameters.append(f"{kind} {name}")
            return name
        if form == "record":
            record = f"struct r{self.seed}_{number}"
            self.before.append(f"{record} {{ {' '.join(f'{kind} m{n};' for n in range(self.stride))} }}; ")
            self.parameters.append(f"global const {record} {pointer}")
            return f"{name}[i].m{member}"
        if form == "rows":
            self.parameters.append(f"global const {kind} ({pointer})[{self.stride}]")
            return f"{name}[i][{member}]"
        if form == "bits":
            count = kind.lstrip("abcdefghijklmnopqrstuvwxyz")
            self.parameters.append(f"global const {_INTEGERS[size_of(element_type(t))]}{count} {pointer}")
            return f"as_{kind}({name}[{self._index()}])"
        self.parameters.append(f"global const {kind} {pointer}")
        if form == "pointer":
            self.moves.append(f" {name} += {self.stride};")
            return f"{name}[{member}]"
        terms = self.random.choice((1, 1, 1, 2, 3)) if element_type(t).is_float else 1
        return " + ".join(f"{name}[{self._index()}]" for _ in range(terms))

    def _index(self) -> str:
        form = self.random.choice(_INDICES)
        return form.replace("S", str(self.stride)).replace("C", str(self.random.randint(0, 8)))


# --- building ------------------------------------------------------------------------------------


def run(
    seeds: Sequence[int], jobs: int, say: Callable[[str], None] = lambda line: None
) -> Iterator[tuple[int, Finding]]:
    """Yield (seed, finding) for kernels that are built from source, but not as SPIR-V."""
    waiting, done = [tuple(seeds[at : at + BATCH]) for at in range(0, len(seeds), BATCH)], 0
    while waiting:
        parts: list[tuple[int, ...]] = []
        for batch, findings in each((Batch(part) for part in waiting), jobs, serve):
            found = tuple(int(seed) for seed in batch.programs)
            if findings and len(found) > 1:
                parts += [found[: len(found) // 2], found[len(found) // 2 :]]
                continue
            done += len(found)
            say(f"{done} of {len(seeds)} kernels")
            if findings and not any(theirs for _, theirs in each(iter([Batch((str(found[0]),))]), 1, serve)):
                yield found[0], findings[0]
        waiting = parts


def serve(pipe: Connection) -> None:
    """Build the kernels of the batches from the pipe, with the device's vectorizer on.

    Seeds are built as SPIR-V, by every route; seeds as text by the device's own compiler.
    """
    from coopmat.devices import list_devices, opencl

    name = os.environ.get("COOPMAT_FUZZ_DEVICE", "")
    device = next(d for d in list_devices() if d.takes_spirv and name.casefold() in f"{d.platform} {d.name}".casefold())
    context = opencl().Context([device.handle])
    while True:
        try:
            batch = pipe.recv()
        except EOFError:
            return
        build = _build_theirs if isinstance(batch.programs[0], str) else _build
        seeds = [int(seed) for seed in batch.programs]
        try:
            build(context, seeds, OPTIONS[seeds[0] // BATCH % len(OPTIONS)], pipe.send)
            pipe.send([])
        except Exception:
            pipe.send([Finding("exception", None, traceback.format_exc())])


def _build(context: Any, seeds: Sequence[int], options: Sequence[str], stage: Callable[[str], None]) -> None:
    import coopmat
    from coopmat.devices import opencl

    kernels = [Kernel(seed) for seed in seeds]
    for has_matrix in {kernel.has_matrix for kernel in kernels}:
        texts = (kernel.text for kernel in kernels if kernel.has_matrix == has_matrix)
        source = _PROLOGUE + _MATRIX * has_matrix + "\n".join(texts)
        for route in ROUTES[has_matrix]:
            stage(f"{route} {' '.join(options)}: compile")
            binary = coopmat.compile(source, ["--matrices", route, "-w", *options], name="strides.cl").spirv
            stage(f"{route} {' '.join(options)}: build")
            opencl().Program(context, binary).build()


def _build_theirs(context: Any, seeds: Sequence[int], options: Sequence[str], stage: Callable[[str], None]) -> None:
    from coopmat.devices import opencl

    stage("the device's own compiler")
    source = _PROLOGUE + "\n".join(Kernel(seed).without_matrix() for seed in seeds)
    own = [option for option in options if option.startswith("-cl")]
    opencl().Program(context, source).build(["-w", "-cl-std=CL3.0", *own], cache_dir=False)


def main() -> int:
    """Return the exit status: 1 if a kernel is not built."""
    parser = argparse.ArgumentParser(
        prog="tools/fuzz-strides", description="Builds random loops over strided elements that call builtins."
    )
    parser.add_argument("--count", type=int, default=2400, help="kernels; each has a seed of its own (2400)")
    parser.add_argument("--seed", type=int, help="the first kernel's; the others count on (random)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    start, count = time.monotonic(), 0
    for seed, finding in run(range(first, first + options.count), options.jobs):
        count += 1
        print(f"seed {seed}: {finding.stage}: {finding.text[-300:]}\n{Kernel(seed).text}", flush=True)
    print(f"{options.count} kernels, seeds from {first}: {count} not built; {time.monotonic() - start:.0f} s")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
