"""Overload resolution for builtins, with clang's rules for overloadable functions.

Each argument's conversion has a rank: exact match, promotion, conversion, or splat of a scalar to a vector. The best
overload is at least as good as every other overload in every argument, and better in one. If there is no best overload,
the call is ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

from ..types import (
    DOUBLE,
    EVENT,
    FLOAT,
    INT,
    SAMPLER,
    UINT,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    VoidType,
    in_space,
)
from .rows import Builtin, Overload, overloads

# (rank, qualifiers added): a lower cost is a better conversion.
_Cost = tuple[int, int]
_EXACT, _PROMOTION, _CONVERSION, _SPLAT = range(4)


@dataclass(frozen=True, slots=True)
class NoMatch:
    """A result for calls that no overload accepts; `candidates` are the signatures to show, in the table's notation."""

    name: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A result for calls that several overloads accept, none of them the best.

    `candidates` are the overloads that no other overload is better than.
    """

    name: str
    candidates: tuple[str, ...]


@lru_cache(maxsize=4096)
def resolve_row(row: Builtin, arguments: tuple[Type, ...]) -> Overload | NoMatch | Ambiguous:
    best, unbeaten = best_of(overloads(row), arguments)
    if best is not None:
        return best
    if not unbeaten:
        return NoMatch(row.name, row.signatures)
    return Ambiguous(row.name, tuple(map(str, unbeaten)))


class Callable(Protocol):
    """A candidate of overload resolution."""

    @property
    def parameters(self) -> Sequence[Type]: ...


C = TypeVar("C", bound=Callable)


def best_of(candidates: Iterable[C], arguments: Sequence[Type]) -> tuple[C | None, list[C]]:
    """Return the best candidate for arguments of these types and the candidates that no other candidate is better than.

    If no candidate is the best, the first element is None. The list is empty if no candidate accepts the arguments.
    """
    viable: list[tuple[tuple[_Cost, ...], C]] = []
    for candidate in candidates:
        costs = _costs(arguments, candidate.parameters)
        if costs is not None:
            viable.append((costs, candidate))
    for costs, candidate in viable:
        if all(other is costs or _better(costs, other) for other, _ in viable):
            return candidate, [candidate]
    unbeaten = [candidate for costs, candidate in viable if not any(_better(other, costs) for other, _ in viable)]
    return None, unbeaten


def converts(argument: Type, parameter: Type) -> bool:
    """Return whether overload resolution can convert the type `argument` to the type `parameter` implicitly."""
    return _cost(argument, parameter) is not None


def _costs(arguments: Sequence[Type], parameters: Sequence[Type]) -> tuple[_Cost, ...] | None:
    if len(arguments) != len(parameters):
        return None
    costs = []
    for argument, parameter in zip(arguments, parameters, strict=True):
        cost = _cost(argument, parameter)
        if cost is None:
            return None
        costs.append(cost)
    return tuple(costs)


def _better(a: tuple[_Cost, ...], b: tuple[_Cost, ...]) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def _cost(argument: Type, parameter: Type) -> _Cost | None:
    """Return the cost of passing `argument` to `parameter`, or None if there is no implicit conversion."""
    if argument == parameter:
        return _EXACT, 0
    if isinstance(argument, PointerType) and isinstance(parameter, PointerType):
        return _pointer_cost(argument, parameter)
    if not isinstance(argument, ScalarType):
        return None
    if parameter == EVENT:
        # The operand must be zero, which semantic analysis checks.
        return (_CONVERSION, 0) if argument.is_integer else None
    if parameter == SAMPLER:
        # The operand must be a constant, which semantic analysis checks.
        return (_CONVERSION, 0) if argument in (INT, UINT) else None
    if isinstance(parameter, VectorType):
        return _SPLAT, 0
    if not isinstance(parameter, ScalarType):
        return None
    return (_PROMOTION if _promotes(argument, parameter) else _CONVERSION), 0


def _promotes(source: ScalarType, target: ScalarType) -> bool:
    """Return whether clang ranks a conversion as a promotion, as in C++: small integers to int, float to double."""
    return (source.is_integer and source.rank < INT.rank and target == INT) or (source == FLOAT and target == DOUBLE)


def _pointer_cost(argument: PointerType, parameter: PointerType) -> _Cost | None:
    """Return the cost of a pointer conversion, or None if there is no implicit conversion.

    A conversion may add qualifiers. Every named address space but constant converts to the generic address space.
    """
    if argument.pointee != parameter.pointee and not isinstance(parameter.pointee, VoidType):
        return None
    have, want = argument.qualifiers, parameter.qualifiers
    if (have.const and not want.const) or (have.volatile and not want.volatile) or not in_space(have.space, want.space):
        return None
    rank = _EXACT if argument.pointee == parameter.pointee else _CONVERSION
    added = (have.const != want.const) + (have.volatile != want.volatile) + (have.space != want.space)
    return rank, added
