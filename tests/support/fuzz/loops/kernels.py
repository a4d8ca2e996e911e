"""Whole kernels: guards, nests of loops with run-time bounds, reductions, early exits; their launches and results."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import values
from .values import TYPES, Undefined, Value, binary, both, cast, compare, constant, negated, variable

# Sizes around vector widths and their multiples.
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 39, 47, 48, 49, 63, 64, 65, 70)
# The number of elements of `a` that kernels may read, of those that a work-item may write, and of a guard zone.
READABLE, SLICE, GUARD = 256, 80, 64
# The largest number of loop iterations in a launch, and the number of launches of a kernel.
MOST_TURNS, RUNS = 1500, 5
# The value in guard zones: a sum that includes it is wrong.
POISON = 77
LIMITS = (3, 17, 33, 64)
ELEMENTS: dict[str, Any] = {
    **{"float": np.float32, "int": np.int32, "uint": np.uint32, "uchar": np.uint8, "short": np.int16},
    **{"ulong": np.uint64, "long": np.int64, "ushort": np.uint16, "char": np.int8},
}
_REVERSED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "==": "=="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "!=": "==", "==": "!="}


@dataclass(frozen=True)
class Run:
    """A launch: its sizes, the scalar arguments, and the expected contents of `out` and `rows` with guard zones."""

    groups: int
    local_size: int
    scalars: dict[str, int]
    out: Any
    rows: Any

    @property
    def items(self) -> int:
        return self.groups * self.local_size


@dataclass(frozen=True)
class Kernel:
    """A kernel; `scalars` are the names and types of the arguments after the buffers `a`, `lim`, `out` and `rows`."""

    seed: int
    text: str
    element: str
    total: str
    scalars: dict[str, str]
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        return f"k{self.seed}"


def readable(element: str, seed: int) -> Any:
    """Return the buffer `a` with guard zones: small numbers, so that sums of floats are exact in every order."""
    inner = np.random.default_rng(seed).integers(0, 4, READABLE)
    return np.pad(inner, GUARD, constant_values=POISON).astype(ELEMENTS[element])


def unwritten(element: str, count: int) -> Any:
    return np.full(count + 2 * GUARD, POISON, ELEMENTS[element])


def generate(seed: int) -> Kernel:
    """Return the kernel of a seed, with at least one launch."""
    for attempt in range(1000):
        kernel = _Maker(random.Random(f"{seed} {attempt}"), seed).kernel()
        if kernel.runs:
            return kernel
    raise AssertionError(f"no kernel for seed {seed}")


class _Maker:
    """A writer of a kernel in OpenCL C and in Python at once; `names` are the integers in scope."""

    def __init__(self, dice: random.Random, seed: int) -> None:
        self.dice, self.seed = dice, seed
        self.element = dice.choice(("float", "float", "int", "uint", "uchar", "short"))
        self.total = "float" if self.element == "float" else dice.choice(("int", "uint", "ulong", "long", "short"))
        self.scalars = {"n": dice.choice(TYPES), "m": dice.choice(TYPES)}
        self.names = [variable(name, kind) for name, kind in self.scalars.items()]
        self.local_size = dice.choice((1, 1, 4, 8, 16))
        self.text: list[str] = []
        self.python: list[str] = []
        self.indents = [1, 1]
        self.loops = 0

    def kernel(self) -> Kernel:
        guarded = self.dice.random() < 0.5
        self._ids()
        with self._guard() if guarded else self._nothing():
            self._add(f"{self.total} s = 0;", "s = 0")
            for _ in range(self.dice.choice((1, 1, 1, 2))):
                self._loop(self.dice.choice((0, 0, 0, 1, 1, 2)))
            self._add("out[G] = s;", "done(s)")
        parameters = [f"global const {self.element} *a", "global const int *lim", f"global {self.total} *out"]
        parameters += [f"global {self.element} *rows", *(f"{kind} {name}" for name, kind in self.scalars.items())]
        head = f"kernel void k{self.seed}({', '.join(parameters)})\n{{"
        text = "\n".join([head, *self.text, "}\n"])
        return Kernel(self.seed, text, self.element, self.total, self.scalars, tuple(self._runs(guarded)))

    # --- both texts ------------------------------------------------------------------------------

    def _add(self, text: str | None, python: str | None = None) -> None:
        if text is not None:
            self.text.append("    " * self.indents[0] + text)
        if python is not None:
            self.python.append("    " * self.indents[1] + python)

    @contextmanager
    def _block(self, text: str | None, python: str | None, end: str = "}") -> Iterator[None]:
        self._add(text, python)
        deeper = [text is not None, python is not None]
        self.indents = [indent + more for indent, more in zip(self.indents, deeper, strict=True)]
        yield
        if python is not None:
            self._add(None, "pass")
        self.indents = [indent - more for indent, more in zip(self.indents, deeper, strict=True)]
        if text is not None:
            self._add(end)

    @contextmanager
    def _nothing(self) -> Iterator[None]:
        yield

    # --- ids and guards --------------------------------------------------------------------------

    def _ids(self) -> None:
        kind = self.dice.choice(("int", "int", "uint", "ulong", "long"))
        for name, builtin in (("G", "get_global_id"), ("l", "get_local_id"), ("g", "get_group_id")):
            self._add(f"const {kind} {name} = {builtin}(0);")
            self.names.append(variable(name, kind))
        self._add(f"a += {GUARD}; out += {GUARD}; rows += {GUARD} + G * {SLICE};")

    def _guard(self) -> Any:
        test = self._id_test()
        if self.dice.random() < 0.3:
            test = both(test, self._id_test())
        if self.dice.random() < 0.4:
            self._add(f"if (!{test.text}) return;", f"if not {test.python}: return")
            return self._nothing()
        return self._block(f"if {test.text} {{", f"if {test.python}:")

    def _id_test(self) -> Value:
        """Return a comparison of an id, or of a sum with an id, with a bound."""
        G, lane, g = (value for value in self.names if value.text in ("G", "l", "g"))
        start = binary("*", constant(self.local_size), g)
        bound = self.dice.choice((constant(self.dice.choice(SIZES)), variable("n", self.scalars["n"])))
        small = constant(self.dice.randrange(1, 9))
        forms: tuple[Callable[[], tuple[Value, Value]], ...] = (
            lambda: (G, bound),
            lambda: (lane, small),
            lambda: (binary("+", start, lane), bound),
            lambda: (binary("-", bound, lane), start),
            lambda: (binary("-", bound, G), small),
            lambda: (binary("-", binary("-", bound, start), lane), constant(0)),
            lambda: (binary("+", binary("-", lane, small), start), bound),
            lambda: (binary("-", G, bound), constant(0)),
            lambda: (binary("+", G, small), bound),
            lambda: (lane, binary("-", bound, start)),
        )
        left, right = self.dice.choice(forms)()
        return self._compared(self.dice.choice(("<", "<=", ">", ">=", "<", "<=", "!=", "==")), left, right)

    def _compared(self, symbol: str, left: Value, right: Value) -> Value:
        """Return a comparison in one of several equivalent spellings."""
        if self.dice.random() < 0.2:
            left, right, symbol = right, left, _REVERSED[symbol]
        if self.dice.random() < 0.15:
            return negated(compare(_OPPOSITE[symbol], left, right))
        return compare(symbol, left, right)

    # --- loops -----------------------------------------------------------------------------------

    def _loop(self, inner: int) -> None:
        self.loops += 1
        name, kind = f"i{self.loops}", self.dice.choice(TYPES)
        counter = variable(name, kind)
        up = self.dice.random() < 0.75
        start, test, step = self._upwards(counter) if up else self._downwards(counter)
        form = self.dice.choice(("for", "for", "for", "while", "do", "turned"))
        changed = binary("+" if up else "-", counter, step)
        forwards = f"{name} = {values.cast(kind, changed).python}"
        one = step.python == "1"
        stepping = f"{name} {'+=' if up else '-='} {step.text}"
        if one:
            sign = "++" if up else "--"
            stepping = self.dice.choice((name + sign, sign + name))
        begin = f"{name} = {values.cast(kind, start).python}"
        if form == "turned" and not one:
            form = "while"
        if form == "for":
            head = f"for ({kind} {name} = {start.text}; {test.text}; {stepping}) {{"
            self._add(None, begin)
            with self._block(head, f"while {test.python}:"):
                self._body(counter, inner)
                self._add(None, forwards)
            return
        self._add(f"{kind} {name} = {start.text};", begin)
        if form == "while":
            with self._block(f"while {test.text} {{", f"while {test.python}:"):
                self._body(counter, inner)
                self._add(f"{stepping};", forwards)
        elif form == "do":
            with self._block(f"if {test.text} {{", f"if {test.python}:"), self._block("do {", "while True:", ""):
                self._body(counter, inner)
                self._add(f"{stepping};", forwards)
                self._add(None, f"if not {test.python}: break")
                self.text.append("    " * (self.indents[0] - 1) + f"}} while {test.text};")
        else:
            old = Value(kind, f"{name}{'++' if up else '--'}", "old")
            turned = Value("int", test.text.replace(name, old.text, 1), test.python.replace(name, "old"))
            if test.text.count(name) != 1:
                turned = Value("int", f"({old.text} {'<' if up else '>'} 20)", f"(old {'<' if up else '>'} 20)")
            with self._block(f"while {turned.text} {{", "while True:"):
                self._add(None, f"old = {name}")
                self._add(None, forwards)
                self._add(None, f"if not {turned.python}: break")
                self._body(counter, inner)

    def _bound(self) -> Value:
        base = self.dice.choice([*self.names, self._limit(), variable("n", self.scalars["n"])])
        if base.text in ("G", "g"):
            base = variable("m", self.scalars["m"])
        change = self.dice.random()
        if change < 0.5:
            return base
        if change < 0.6:
            return cast(self.dice.choice(TYPES), base)
        other = self.dice.choice((constant(1), constant(1), constant(self.dice.randrange(2, 20)), self._small()))
        return binary(self.dice.choice("+-"), base, other)

    def _limit(self) -> Value:
        at = self.dice.randrange(len(LIMITS))
        return Value("int", f"lim[{at}]", str(LIMITS[at]))

    def _small(self) -> Value:
        return self.dice.choice([value for value in self.names if value.text not in ("G", "n", "m")])

    def _upwards(self, counter: Value) -> tuple[Value, Value, Value]:
        start = self.dice.choice((constant(0), constant(0), constant(0), constant(1), constant(3), self._small()))
        step = self.dice.choice((*(constant(1),) * 6, constant(2), constant(3), constant(16), self._limit()))
        symbols = ("<", "<", "<=", "<=", "!=") if step.python == "1" else ("<", "<=")
        symbol, left = self.dice.choice(symbols), counter
        if symbol != "!=" and self.dice.random() < 0.15:
            left = binary("+", counter, constant(self.dice.randrange(1, 5)))
        test = self._compared(symbol, left, self._bound())
        if self.dice.random() < 0.1:
            test = both(test, self._compared("<", counter, constant(self.dice.choice(SIZES))))
        return start, test, step

    def _downwards(self, counter: Value) -> tuple[Value, Value, Value]:
        step = self.dice.choice((*(constant(1),) * 5, constant(2), constant(5)))
        symbols = (">", ">", ">=", ">=", "!=") if step.python == "1" else (">", ">=")
        end = self.dice.choice((constant(0), constant(1), constant(2), self._small(), self._bound()))
        return self._bound(), self._compared(self.dice.choice(symbols), counter, end), step

    # --- bodies ----------------------------------------------------------------------------------

    def _body(self, counter: Value, inner: int) -> None:
        self._add(None, "turn()")
        self.names.append(counter)
        known = len(self.names)
        if inner:
            if self.dice.random() < 0.4:
                self._statement(counter)
            self._loop(inner - 1)
        for _ in range(self.dice.choice((1, 1, 2)) if not inner else self.dice.choice((0, 1))):
            self._statement(counter)
        del self.names[known - 1 :]

    def _index(self, counter: Value) -> Value:
        other = self.dice.choice([constant(self.dice.randrange(1, 9)), *self.names])
        forms: tuple[Callable[[], Value], ...] = (
            *(lambda: counter,) * 5,
            lambda: cast("int", counter),
            lambda: cast("uint", counter),
            lambda: binary("+", counter, other),
            lambda: binary("*", constant(2), counter),
            lambda: binary("-", other, counter),
            lambda: binary("-", constant(200), counter),
        )
        return self.dice.choice(forms)()

    def _read(self, counter: Value) -> Value:
        index = self._index(counter)
        return Value(self.element, f"a[{index.text}]", f"read({index.python})")

    def _sum(self, old: str, new: Value) -> str:
        if self.total == "float":
            return f"{old} + {new.python}"
        return cast(self.total, binary("+", variable(old, self.total), new)).python

    def _statement(self, counter: Value) -> None:
        read = self._read(counter)
        form = self.dice.random()
        if form < 0.35:
            self._add(f"s += {read.text};", f"s = {self._sum('s', read)}")
        elif form < 0.5:
            second = self._read(counter)
            product = Value("float", f"{read.text} * {second.text}", f"({read.python} * {second.python})")
            if self.element != "float":
                product = binary("*", read, second)
            self._add(f"s += {product.text};", f"s = {self._sum('s', product)}")
        elif form < 0.6:
            added = constant(1)
            self._add(f"if ({read.text} == 2) s += 1;", f"if {read.python} == 2: s = {self._sum('s', added)}")
        elif form < 0.68:
            new = read.python if self.total == "float" else cast(self.total, read).python
            self._add(f"if ({read.text} > s) s = {read.text};", f"if {read.python} > s: s = {new}")
        elif form < 0.85:
            index = self._index(counter)
            value = read.python if self.element == "float" else f"converted({self.element!r}, {read.python} + 1)"
            text = read.text if self.element == "float" else f"{read.text} + 1"
            self._add(f"rows[{index.text}] = {text};", f"write({index.python}, {value})")
        elif form < 0.92:
            second = self._read(counter)
            test = f"if ({read.text} == 3 && {second.text} == 3) break;"
            self._add(test, f"if {read.python} == 3 and {second.python} == 3: break")
        elif form < 0.96:
            self._add(f"if ({read.text} != 1) {{ s += {read.text}; }}")
            self._add(None, f"if {read.python} != 1: s = {self._sum('s', read)}")
        else:
            # A condition that is the same in every iteration, but differs between work-items.
            test = self._id_test()
            self._add(f"if ({test.text}) s += {read.text};", f"if {test.python}: s = {self._sum('s', read)}")

    # --- launches --------------------------------------------------------------------------------

    def _runs(self, guarded: bool) -> Iterator[Run]:
        body = [*self.python, "    pass"]
        source = "\n".join(["def item(G, l, g, n, m, read, write, turn, done):", *body])
        scope: dict[str, Any] = {"exact": values.exact, "converted": values.converted}
        exec(compile(source, f"kernel {self.seed}", "exec"), scope)  # the source is made by this module
        found = 0
        for _ in range(24):
            groups = self.dice.choice((1, 2, 3, 4, 5)) if guarded else self.dice.choice((1, 1, 2))
            scalars = {name: values.converted(kind, self.dice.choice(SIZES)) for name, kind in self.scalars.items()}
            try:
                yield _calculated(scope["item"], self, groups, scalars)
            except Undefined:
                continue
            found += 1
            if found == RUNS:
                return


def _calculated(item: Callable[..., None], made: _Maker, groups: int, scalars: dict[str, int]) -> Run:
    items = groups * made.local_size
    out, rows = unwritten(made.total, items), unwritten(made.element, items * SLICE)
    a = [int(x) for x in readable(made.element, made.seed)[GUARD : GUARD + READABLE]]
    turns = 0

    def read(index: int) -> int:
        if not 0 <= index < READABLE:
            raise Undefined("read outside")
        return a[index]

    def turn() -> None:
        nonlocal turns
        turns += 1
        if turns > MOST_TURNS:
            raise Undefined("too long")

    finished = False
    for number in range(items):

        def write(index: int, value: int, first: int = GUARD + number * SLICE) -> None:
            if not 0 <= index < SLICE:
                raise Undefined("written outside")
            rows[first + index] = value

        def done(total: int, at: int = GUARD + number) -> None:
            if abs(total) >= 1 << 24 and made.total == "float":
                raise Undefined("inexact")
            nonlocal finished
            finished = True
            out[at] = total

        ids = (number, number % made.local_size, number // made.local_size)
        item(*ids, scalars["n"], scalars["m"], read, write, turn, done)
    # If no launch finishes, a loop may be infinite.
    if not finished:
        raise Undefined("nothing calculated")
    return Run(groups, made.local_size, scalars, out, rows)
