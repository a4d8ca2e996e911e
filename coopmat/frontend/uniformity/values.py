"""What is known of a value: whether it is the same for all work-items of a subgroup, and why not."""

from __future__ import annotations

from dataclasses import dataclass

from ...diagnostics import Span
from .. import typed

_LONGEST_PATH = 8
# What a subgroup's size is taken for a multiple of where nothing tells it.
LEAST_SIZE = 8


@dataclass(frozen=True, slots=True)
class Cause:
    """A step on the way from what makes work-items differ (no `before`) to the value or the condition in question."""

    text: str
    span: Span
    before: Cause | None = None

    def path(self) -> list[Cause]:
        """From here back to the origin; of a long way the middle is left out."""
        steps: list[Cause] = []
        step: Cause | None = self
        while step is not None:
            steps.append(step)
            step = step.before
        return steps if len(steps) <= _LONGEST_PATH else [*steps[: _LONGEST_PATH - 1], steps[-1]]


@dataclass(frozen=True, slots=True)
class Value:
    """`cause`: why it differs between work-items (None: it does not). `parameters`: a bit for each parameter of the
    function that it depends on. `is_id`: it is the work-item's number itself, of which a subgroup's are consecutive, or
    may be, being a parameter."""

    cause: Cause | None = None
    parameters: int = 0
    is_id: bool = False

    @property
    def is_plain(self) -> bool:
        return self.cause is None and not self.parameters


UNIFORM = Value()


def join(*values: Value) -> Value:
    """Differs where one of them does, for the first one's reason."""
    known = [value for value in values if value is not UNIFORM]
    if len(known) <= 1:
        return known[0] if known else UNIFORM
    cause = next((value.cause for value in known if value.cause is not None), None)
    parameters = 0
    for value in known:
        parameters |= value.parameters
    return Value(cause, parameters) if cause is not None or parameters else UNIFORM


def sub_group_number(e: typed.Binary, left: Value, right: Value, size: int | None) -> bool:
    """Whether `e` makes of a work-item's number what is the same for a subgroup, of `size` or of unknown size:
    `id / n`, `id >> n` or `id & ~(n - 1)`. An n that is no constant is taken for the subgroup's size."""
    if not left.is_id or right.cause is not None or e.op not in ("div", "shr", "and"):
        return False
    n = _constant(e.right)
    if n is None:
        return e.op != "and"
    step = {"div": n, "shr": 1 << min(max(n, 0), 63), "and": n & -n}[e.op]
    return step > 0 and step % (size or LEAST_SIZE) == 0


def _constant(e: typed.Expr) -> int | None:
    while isinstance(e, typed.Convert):
        e = e.operand
    return e.value if isinstance(e, typed.IntConst) else None
