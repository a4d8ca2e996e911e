"""Reduces failing programs: it drops statements while the program is defined and still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .machine import Undefined
from .programs import Launchable, Program
from .statements import Statement


def reduce_program(program: Program, fails: Callable[[Launchable], bool], tries: int = 150) -> Program:
    """Return a smaller program that fails; call `fails` at most `tries` times."""
    size = max(1, len(program.statements) // 2)
    while size:
        is_smaller = False
        for candidate in _candidates(program.statements, size):
            smaller = program.with_statements(candidate)
            try:
                launchable = smaller.launchable()
            except Undefined:
                continue
            if tries <= 0:
                return program
            tries -= 1
            if fails(launchable):
                program, is_smaller = smaller, True
                break
        if not is_smaller:
            size //= 2
    return program


def _candidates(statements: list[Statement], size: int) -> Iterator[list[Statement]]:
    """Yield the lists without `size` neighbours; with size 1, also those with changed blocks."""
    for start in reversed(range(0, len(statements), size)):
        yield statements[:start] + statements[start + size :]
    if size > 1:
        return
    for i, statement in enumerate(statements):
        for number, body in enumerate(statement.bodies):
            yield statements[:i] + body + statements[i + 1 :]
            for inner in _candidates(body, 1):
                bodies = [inner if k == number else old for k, old in enumerate(statement.bodies)]
                changed = Statement(statement.heads, statement.plan, bodies)
                yield [*statements[:i], changed, *statements[i + 1 :]]
