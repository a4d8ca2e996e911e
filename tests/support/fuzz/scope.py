"""What a piece of a random program may read and write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from .kinds import Kind, Path, Record, Type, paths
from .tree import Node

T = TypeVar("T")


@dataclass(frozen=True)
class Variable:
    name: str
    type: Type
    space: str = "private"
    writable: bool = True


@dataclass(frozen=True)
class Function:
    """`result`: None for void. A function changes nothing but what its pointers to writable objects point to; a `pure`
    one has no such parameters."""

    name: str
    result: Kind | Record | None
    parameters: tuple[Type, ...]
    pure: bool


@dataclass(frozen=True)
class Macro:
    name: str
    result: Kind
    parameters: tuple[Kind, ...]


@dataclass
class Shared:
    """What a whole program has."""

    random: Random
    # Makes an expression of a kind, that deep; `expressions.expression`, which the modules below it need too.
    grow: Callable[[Scope, Kind, int], Node]
    # Whether work-items give each other values, behind barriers. Such a program negates floats by a macro, as the
    # device's own compiler loses them otherwise (docs/backend.md).
    exchanges: bool = False
    records: list[Record] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    macros: list[Macro] = field(default_factory=list)
    # A table in global memory, of which every work-item has a part to write.
    slots: Variable | None = None
    enumerators: list[str] = field(default_factory=list)
    names: int = 0
    features: Counter[str] = field(default_factory=Counter)


@dataclass
class Scope:
    shared: Shared
    variables: dict[str, Variable] = field(default_factory=dict)
    # Only constant expressions may be made.
    constant: bool = False
    in_loop: bool = False
    # What a `return` gives here; None where there may not be one.
    result: Kind | Record | None = None

    @property
    def random(self) -> Random:
        return self.shared.random

    def name(self, prefix: str) -> str:
        self.shared.names += 1
        return f"{prefix}_{self.shared.names}"

    def add(self, variable: Variable) -> None:
        self.variables[variable.name] = variable

    def expression(self, kind: Kind, depth: int) -> Node:
        return self.shared.grow(self, kind, depth)

    def inner(self, **changes: Any) -> Scope:
        return replace(self, variables=dict(self.variables), **changes)

    def make(self, makers: Sequence[tuple[int, Callable[..., T]]], *arguments: Any) -> T:
        """One of the weighted makers, called, and counted by its name."""
        chosen = self.random.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]
        self.shared.features[chosen.__name__.strip("_")] += 1
        return chosen(self, *arguments)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def pick(self, *choices: T) -> T:
        return self.random.choice(choices)

    def places(self, fits: Callable[[Type], bool], writable: bool = False) -> list[tuple[Variable, Path]]:
        """The parts of all variables that have such a type."""
        return [
            (variable, path)
            for variable in self.variables.values()
            for path in paths(variable.type)
            if fits(path.type) and not (writable and not is_writable(variable, path))
        ]


def is_writable(variable: Variable, path: Path) -> bool:
    """Constant memory is not, and neither is what is const itself; what a pointer points to may be."""
    return not path.space.startswith("const") if path.space is not None else variable.writable
