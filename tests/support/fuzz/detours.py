"""Declarations of variables that get their value indirectly.

The value passes a union, volatile memory, or a pointer to which a builtin writes.
"""

from __future__ import annotations

from collections.abc import Callable

from .kinds import FLOATS, INTEGER_KINDS, KINDS, SIZES, Kind
from .scope import Scope, Variable
from .tree import STATEMENT, Node


def through_union(scope: Scope, depth: int) -> Node:
    """Return a declaration with a value read from a union after another member was written that contains it."""
    # With three components, the fourth would be undefined.
    written = scope.random.choice([kind for kind in KINDS if kind.size != 3])
    room = written.width * written.size
    read = scope.random.choice([k for k in INTEGER_KINDS if k.size != 3 and k.width * k.size <= room])
    one, other, union, name = (scope.name(prefix) for prefix in "mmuv")
    members = [f"{written} {one};", f"{read} {other};"]
    scope.random.shuffle(members)
    given = scope.expression(written, 2)
    scope.add(Variable(name, read))
    start = f"union {{ {' '.join(members)} }} {union}; {union}.{one} = "
    return Node(STATEMENT, (start, given, f"; {read} {name} = {union}.{other};"), (one, other, union, name))


def through_volatile(scope: Scope, depth: int) -> Node:
    kind = scope.random.choice(KINDS)
    inner, name = scope.name("v"), scope.name("v")
    given = scope.expression(kind, 2)
    scope.add(Variable(name, kind))
    return Node(STATEMENT, (f"volatile {kind} {inner} = ", given, f"; {kind} {name} = {inner};"), (inner, name))


def through_pointer(scope: Scope, depth: int) -> Node:
    """Return a declaration with one of the results of an exact builtin with two results."""
    kind = Kind(scope.random.choice(FLOATS), scope.random.choice(SIZES))
    function = scope.pick("modf", "frexp")
    second = kind if function == "modf" else Kind("int", kind.size)
    one, two = scope.name("v"), scope.name("v")
    given = scope.expression(kind, 2)
    scope.add(Variable(one, kind))
    scope.add(Variable(two, second))
    return Node(STATEMENT, (f"{second} {two}; {kind} {one} = {function}(", given, f", &{two});"), (one, two))


DETOURS: tuple[tuple[int, Callable[[Scope, int], Node]], ...] = (
    *((1, through_union), (1, through_volatile), (1, through_pointer)),
)
