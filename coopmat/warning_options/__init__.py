"""The effect of -W options on the table of warnings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .table import PARENTS, WARNINGS, Warning

ROWS: dict[str, Warning] = {row.name: row for row in WARNINGS}


def _members() -> dict[str, frozenset[str]]:
    """Return every name after -W, with the warnings that it stands for, its own included."""
    members: dict[str, set[str]] = {name: set() for name in (*PARENTS, "everything")}
    for row in WARNINGS:
        members.setdefault(row.name, set()).add(row.name)
        work = [*row.groups, "everything"]
        while work:
            group = work.pop()
            members[group].add(row.name)
            # A warning's name may stand for others too: -Wuninitialized for sometimes-uninitialized.
            work.extend(PARENTS.get(group, ()))
    return {name: frozenset(names) for name, names in members.items()}


MEMBERS = _members()


@dataclass(frozen=True, slots=True)
class Choices:
    """The result of the options: `states` maps the names that are on to whether they are errors; `unknown` are the
    names that do not exist, as they were spelled."""

    states: dict[str, bool]
    unknown: tuple[str, ...]


def resolve(words: Iterable[str]) -> Choices:
    """Return the effect of -W options, each without its -W, in order: later ones win.

    `X` and `no-X` turn on and off, `error=X` turns on as an error, `no-error=X` reverts that, also for `error`, which
    makes errors of all that are on; `no-error` reverts that one.
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
