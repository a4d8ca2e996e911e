"""The variables and functions that a part of a random program may use."""

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
    """A function of the program, with the result type None for void.

    A function changes only the objects of its pointers to writable types; a `pure` function has no such parameter.
    """

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
    """The state that a whole program shares."""

    random: Random
    # The maker of an expression of a kind and a depth: `expressions.expression`, which lower modules need too.
    grow: Callable[[Scope, Kind, int], Node]
    # Whether work-items exchange values, with barriers. Such a program negates floats by a macro: otherwise, the
    # device's own compiler loses negations (docs/backend.md).
    exchanges: bool = False
    records: list[Record] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    macros: list[Macro] = field(default_factory=list)
    # A table in global memory, of which every work-item writes a part.
    slots: Variable | None = None
    enumerators: list[str] = field(default_factory=list)
    names: int = 0
    features: Counter[str] = field(default_factory=Counter)


@dataclass
class Scope:
    shared: Shared
    variables: dict[str, Variable] = field(default_factory=dict)
    # Whether only constant expressions are allowed.
    constant: bool = False
    in_loop: bool = False
    # The type for a `return` here; None if a `return` is not allowed.
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
        """Call one of the weighted makers, count its name as a feature, and return its result."""
        chosen = self.random.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]
        self.shared.features[chosen.__name__.strip("_")] += 1
        return chosen(self, *arguments)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def pick(self, *choices: T) -> T:
        return self.random.choice(choices)

    def places(self, fits: Callable[[Type], bool], writable: bool = False) -> list[tuple[Variable, Path]]:
        """Return the parts of all variables with a type that fits."""
        return [
            (variable, path)
            for variable in self.variables.values()
            for path in paths(variable.type)
            if fits(path.type) and not (writable and not is_writable(variable, path))
        ]


def is_writable(variable: Variable, path: Path) -> bool:
    """Return whether a part may be written.

    Constant memory and const objects may not; the object of a pointer may, even if the pointer is const.
    """
    return not path.space.startswith("const") if path.space is not None else variable.writable
