"""What is known of a value: whether it is the same for all work-items of a subgroup, and why not."""

from __future__ import annotations

from dataclasses import dataclass, replace

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


def of_binary(e: typed.Binary, left: Value, right: Value, size: int | None) -> Value:
    """The value of `e` for subgroups of `size`, or of unknown size."""
    if _is_sub_group_number(e, left, right, size):
        return replace(right, is_id=False)
    if e.op == "sub" and left.is_id and right.is_id:
        return UNIFORM  # both go up by one from work-item to work-item: where the subgroup begins
    return replace(join(left, right), is_id=_stays_id(e, left, right, size))


def _is_sub_group_number(e: typed.Binary, left: Value, right: Value, size: int | None) -> bool:
    """Whether `e` makes of a work-item's number what is the same for a subgroup: `id / n`, `id >> n` or
    `id & ~(n - 1)`. An n that is no constant is taken for the subgroup's size."""
    if not left.is_id or right.cause is not None or e.op not in ("div", "shr", "and"):
        return False
    n = _constant(e.right)
    if n is None:
        return e.op != "and"
    step = {"div": n, "shr": 1 << min(max(n, 0), 63), "and": n & -n}[e.op]
    return step > 0 and step % (size or LEAST_SIZE) == 0


def _stays_id(e: typed.Binary, left: Value, right: Value, size: int | None) -> bool:
    """Whether `e` makes of a work-item's number one that is still consecutive within a subgroup: `id % n`,
    `id & (n - 1)`, or behind whole rows of them, `row * width + id`."""
    if e.op == "add" and left.is_id is not right.is_id:
        other, value = (e.right, right) if left.is_id else (e.left, left)
        return value.cause is None and _is_product(other)
    if not left.is_id or right.cause is not None:
        return False
    n = _constant(e.right)
    if e.op == "rem":
        return n is None or (n > 0 and n % (size or LEAST_SIZE) == 0)
    return e.op == "and" and n is not None and n > 0 and n & (n + 1) == 0 and (n + 1) % (size or LEAST_SIZE) == 0


def _is_product(e: typed.Expr) -> bool:
    while isinstance(e, typed.Convert):
        e = e.operand
    return isinstance(e, typed.Binary) and e.op in ("mul", "shl")


def _constant(e: typed.Expr) -> int | None:
    while isinstance(e, typed.Convert):
        e = e.operand
    return e.value if isinstance(e, typed.IntConst) else None
