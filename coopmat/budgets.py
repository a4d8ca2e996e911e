"""The limits of a compilation: the table of budgets, and the overrides that `--budget NAME=N` sets.

    limit("macro-tokens")                      # the limit in the current compilation
    raise Exceeded("type-members", "...")      # becomes a CompileError for the caller of the compilation

A budget bounds work that a small input could make endless. Ordinary programs stay far below every limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

OPTION = "--budget"


@dataclass(frozen=True, slots=True)
class Budget:
    """A row of the table of budgets.

    name: the name in `--budget NAME=N`.
    default: the limit unless an option sets another limit.
    unit: the unit of the limit, in the plural.
    bounds: a noun phrase for the bounded object or work, for the documentation.
    """

    name: str
    default: int
    unit: str
    bounds: str


_ROWS = (
    Budget("source-bytes", 64 << 20, "bytes", "a source, and a file that it includes"),
    Budget("macro-tokens", 200_000, "tokens", "the expansion of one use of a macro, with the blanks between tokens"),
    Budget("macro-work", 500_000, "tokens", "the results of all levels of the expansion of one use of a macro"),
    Budget("macro-characters", 8_000_000, "characters", "all results of the expansion of one use of a macro"),
    Budget("expansion-work", 10_000_000, "tokens", "the results of all levels of all macro expansions in a source"),
    Budget("type-members", 1_000_000, "members", "a type in a SPIR-V module, with the members of its members"),
    Budget("constant-members", 65_536, "members", "a constant that contains matrices, in a SPIR-V module"),
    Budget(
        "library-functions",
        600,
        "functions of the matrix library",
        "the different functions that a module calls; each combination of operation, types and shapes is one function",
    ),
    Budget(
        "inlined-instructions",
        400_000,
        "instructions",
        "the result of inlining and unrolling in a module; beyond the limit, no loop is unrolled, and if that is not "
        "enough, nothing is inlined; neither is an error",
    ),
    Budget(
        "optimised-loops",
        1000,
        "loops",
        "an optimised function; if inlining would exceed the limit, functions with loops are not inlined, and a "
        "function that exceeds the limit without inlining is not optimised; neither is an error",
    ),
    Budget(
        "optimised-branches",
        2000,
        "conditional branches",
        "an optimised function; a function with more branches is not optimised, which is no error",
    ),
    Budget("emitter-seconds", 120, "seconds", "LLVM's work on a module"),
    Budget("emitter-megabytes", 4096, "MiB", "LLVM's memory, if the system can limit it"),
    Budget("tool-seconds", 60, "seconds", "a run of spirv-val, spirv-as, spirv-dis or spirv-opt"),
    Budget("tool-megabytes", 4096, "MiB", "the memory of a run of these four tools, if the system can limit it"),
)
BUDGETS: Mapping[str, Budget] = {row.name: row for row in _ROWS}
_overrides: ContextVar[Mapping[str, int]] = ContextVar("coopmat budgets")


class Exceeded(Exception):
    """An exception that reports work beyond a budget.

    name: the name of the budget.
    what: the subject of the message, such as a macro or a type.

    str() also names the limit, and the option that raises the limit.
    """

    def __init__(self, name: str, what: str) -> None:
        self.name, self.what = name, what
        super().__init__(f"{what} takes more than {phrase(name)}")

    def __reduce__(self) -> tuple[type[Exceeded], tuple[str, str]]:
        return type(self), (self.name, self.what)


def limit(name: str) -> int:
    """Return the limit of the budget `name` in the current compilation.

    Outside of a compilation, return the default.
    """
    overrides = _overrides.get(None)
    return BUDGETS[name].default if overrides is None else overrides.get(name, BUDGETS[name].default)


def phrase(name: str) -> str:
    """Return the limit with its unit, its name and the option that raises it, for an error message."""
    return f"{limit(name):,} {BUDGETS[name].unit} (the budget {name}; {OPTION} {name}=N raises it)"


@contextmanager
def use(overrides: Mapping[str, int]) -> Iterator[None]:
    """Apply `overrides` (budget name -> limit) inside the context.

    A budget without an override has its default there.
    """
    token = _overrides.set(overrides)
    try:
        yield
    finally:
        _overrides.reset(token)


def parse(text: str) -> tuple[str, int]:
    """Parse NAME=N, and return the budget's name and its limit.

    Raises ValueError if the budget is unknown, or if N is not a positive decimal number of at most 15 digits.
    """
    name, _, number = text.partition("=")
    if name not in BUDGETS:
        raise ValueError(f"{OPTION} takes NAME=N, NAME one of {', '.join(BUDGETS)}, not '{text}'")
    if not number.isascii() or not number.isdigit() or not 1 <= len(number) <= 15 or int(number) < 1:
        raise ValueError(f"{OPTION} {name} takes a number from 1, not '{number}'")
    return name, int(number)
