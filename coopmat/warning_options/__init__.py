"""The effect of -W options: which warnings are on, and which are errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .table import PARENTS, WARNINGS, Warning

ROWS: dict[str, Warning] = {row.name: row for row in WARNINGS}


def _members() -> dict[str, frozenset[str]]:
    """Return, for each name that -W accepts, the warnings that it controls: itself, and the members of a group."""
    members: dict[str, set[str]] = {name: set() for name in (*PARENTS, "everything")}
    for row in WARNINGS:
        members.setdefault(row.name, set()).add(row.name)
        work = [*row.groups, "everything"]
        while work:
            group = work.pop()
            members[group].add(row.name)
            # A warning may also be a group: -Wuninitialized controls sometimes-uninitialized.
            work.extend(PARENTS.get(group, ()))
    return {name: frozenset(names) for name, names in members.items()}


MEMBERS = _members()


@dataclass(frozen=True, slots=True)
class Choices:
    """The result of all -W options.

    states: the name of each warning that is on -> whether the warning is an error.
    unknown: names that are no warning and no group, as spelled.
    """

    states: dict[str, bool]
    unknown: tuple[str, ...]


def resolve(words: Iterable[str]) -> Choices:
    """Return the effect of -W options, given without "-W", in order; later options override earlier ones.

    X, no-X: turn a warning or group on or off.
    error=X: turn X on, as an error.
    no-error=X: keep X a warning, even under `error`.
    error, no-error: make all warnings that are on errors, or revert this.
    """
    on = {row.name for row in WARNINGS if row.on}
    errors: set[str] = set()
    never: set[str] = set()
    every, unknown = False, []
    for word in words:
        if word in ("error", "no-error"):
            every = word == "error"
            continue
        negative = word.startswith("no-")
        name = word[3:] if negative else word
        as_error = name.startswith("error=")
        name = name[6:] if as_error else name
        members = MEMBERS.get(name)
        if members is None:
            unknown.append(word)
        elif as_error and negative:
            errors -= members
            never |= members
        elif as_error:
            on |= members
            errors |= members
            never -= members
        elif negative:
            on -= members
            errors -= members
        else:
            on |= members
    return Choices({name: name in errors or (every and name not in never) for name in on}, tuple(unknown))
