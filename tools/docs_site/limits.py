"""The page of the limits of a compilation, from the table of budgets."""

from __future__ import annotations

from coopmat.budgets import BUDGETS, OPTION

_HEAD = f"""\
# Limits

A compilation has limits on time and memory, so that no input makes it endless. A *budget* is such a limit with a name.
Ordinary programs stay far below each. `{OPTION} NAME=N` sets another value; beyond a budget, the error
[`budget`](codes/budget.md) has its name and value. [The language](../language.md#limits) has its own limits.

| budget | value | unit | bounds |
|---|---|---|---|
"""


def pages() -> dict[str, str]:
    """Return path -> text of the page."""
    rows = (f"| `{row.name}` | {row.default:,} | {row.unit} | {row.bounds} |\n" for row in BUDGETS.values())
    return {"reference/limits.md": _HEAD + "".join(rows)}
