"""The state of the uniformity analysis in one function.

The state consists of the values of variables and the divergence of control flow at the current point. Each varying
value, and the divergence, has a cause for messages. The state at a back edge (loop, backward goto) is stored for the
next walk. Walks are repeated until a fixpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import prod

from ...diagnostics import Span
from ...frontend import typed
from ...frontend.types import SCOPE_SUBGROUP, SCOPE_WORKGROUP, CoopMatrixType

# --- values ----------------------------------------------------------------------------------------


# The largest number of causes in the notes of a warning.
_LONGEST_PATH = 8
# The number of work-items that is assumed to divide an unknown subgroup size.
LEAST_SIZE = 8


@dataclass(frozen=True, slots=True)
class Cause:
    """A step on the path from the origin of a divergence to the value or condition in question.

    text: the note's text.
    span: the note's location.
    before: the previous step, or None at the origin.
    """

    text: str
    span: Span
    before: Cause | None = None

    def path(self) -> list[Cause]:
        """Return the causes from this one back to the origin; a long path is shortened by its middle part."""
        steps: list[Cause] = []
        step: Cause | None = self
        while step is not None:
            steps.append(step)
            step = step.before
        return steps if len(steps) <= _LONGEST_PATH else [*steps[: _LONGEST_PATH - 1], steps[-1]]


@dataclass(frozen=True, slots=True)
class Value:
    """An abstract value.

    cause: the reason why the value varies between work-items, or None if the value is uniform.
    parameters: a bit mask of the function's parameters that the value depends on.
    is_id: the value is a work-item id, consecutive within a subgroup, or a parameter that may be such an id.
    """

    cause: Cause | None = None
    parameters: int = 0
    is_id: bool = False

    @property
    def is_plain(self) -> bool:
        return self.cause is None and not self.parameters


UNIFORM = Value()


def join(*values: Value) -> Value:
    """Return the value of an expression that depends on all `values`; the first nonuniform value gives the cause."""
    nonuniform_values = [value for value in values if value is not UNIFORM]
    if len(nonuniform_values) <= 1:
        return nonuniform_values[0] if nonuniform_values else UNIFORM
    cause = next((value.cause for value in nonuniform_values if value.cause is not None), None)
    parameters = 0
    for value in nonuniform_values:
        parameters |= value.parameters
    return Value(cause, parameters) if cause is not None or parameters else UNIFORM


def of_binary(e: typed.Binary, left: Value, right: Value, size: int | None, group: Group) -> Value:
    """Return the value of `e` for groups with `size` work-items in dimension 0; None: the size is not known."""
    if _is_group_number(e, left, right, size) and not (group.is_work_group and _is_sub_group_size(e.right)):
        return replace(right, is_id=False)
    if e.op == "sub" and left.is_id and right.is_id:
        return UNIFORM  # both increase by 1 per work-item, so the difference is the same for the whole subgroup
    return replace(join(left, right), is_id=_stays_id(e, left, right, size))


def _is_group_number(e: typed.Binary, left: Value, right: Value, size: int | None) -> bool:
    """Return whether `e` maps all ids of a group to one value: `id / n`, `id >> n` or `id & ~(n - 1)`.

    If `n` is not constant, it is assumed to be the group's size.
    """
    if not left.is_id or right.cause is not None or e.op not in ("div", "shr", "and"):
        return False
    n = _constant(e.right)
    if n is None:
        return e.op != "and"
    step = {"div": n, "shr": 1 << min(max(n, 0), 63), "and": n & -n}[e.op]
    return step > 0 and step % (size or LEAST_SIZE) == 0


def _stays_id(e: typed.Binary, left: Value, right: Value, size: int | None) -> bool:
    """Return whether `e` maps the ids of a subgroup to consecutive values.

    These operations are `id % n`, `id & (n - 1)` and `row * width + id`.
    """
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
    e = _without_conversions(e)
    return isinstance(e, typed.Binary) and e.op in ("mul", "shl")


def _is_sub_group_size(e: typed.Expr) -> bool:
    e = _without_conversions(e)
    return isinstance(e, typed.BuiltinCall) and e.name in ("get_sub_group_size", "get_max_sub_group_size")


def _constant(e: typed.Expr) -> int | None:
    e = _without_conversions(e)
    return e.value if isinstance(e, typed.IntConst) else None


def _without_conversions(e: typed.Expr) -> typed.Expr:
    while isinstance(e, typed.Convert):
        e = e.operand
    return e


# --- walks -------------------------------------------------------------------------------------

State = dict[typed.VarDecl, Value]


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a matrix operation that must be uniform in the group.

    what: the operand's description for messages.
    span: the operand's location.
    """

    what: str
    span: Span


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a function for the analysis of its callers.

    returns: the returned value.
    stores: the value that the function stores through pointers.
    decides: number of a parameter that control flow depends on -> span of the first operation concerned.
    operands: number of a parameter that an operand depends on -> the operand.
    """

    returns: Value = UNIFORM
    stores: Value = UNIFORM
    decides: Mapping[int, Span] = field(default_factory=dict)
    operands: Mapping[int, Operand] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """The work-items that execute the operations on a matrix together.

    scope: the scope of the matrix type.
    name: the name for messages.
    has_barriers_only: whether only operations are checked that the route scratch implements with barriers of the
      work-group, and only whether they are executed together.
    reason: the end of messages: why the group executes an operation together.
    operation: what a called function does, for messages.
    """

    scope: int
    name: str
    has_barriers_only: bool = False
    reason: str = ""
    operation: str = "operation on matrices"

    @property
    def is_work_group(self) -> bool:
        return self.scope == SCOPE_WORKGROUP or self.has_barriers_only


SUB_GROUP = Group(SCOPE_SUBGROUP, "subgroup")
WORK_GROUP = Group(SCOPE_WORKGROUP, "work-group")
# The library for the route scratch exchanges values through local memory, with barriers of the work-group.
BARRIERS = Group(SCOPE_SUBGROUP, "work-group", True, ", as the route scratch requires", "exchange of values")


@dataclass(frozen=True, slots=True)
class Finding:
    """A warning: an operation that only some work-items reach, or an operand that is not uniform."""

    message: str
    span: Span
    cause: Cause


@dataclass(slots=True)
class Revisit:
    """The state that one walk stores at the back edge of a loop or label for the next walk."""

    state: State = field(default_factory=dict)
    divergence: Value = UNIFORM


@dataclass(slots=True)
class Frame:
    """A loop or switch that encloses the current point.

    control: the divergence of the condition that the body depends on.
    revisit: the state at the loop's back edge; None for a switch.
    broken: why some work-items have left the loop before the others.
    continued: why some work-items have left the current iteration before the others.
    exits: the states at breaks and at the condition's false edge.
    turns: the states at continues.
    entry: the state at the entry of a switch.
    conditional: the loop has a condition that is not always true.
    """

    control: Value
    revisit: Revisit | None
    broken: Value = UNIFORM
    continued: Value = UNIFORM
    exits: list[State] = field(default_factory=list)
    turns: list[State] = field(default_factory=list)
    entry: State = field(default_factory=dict)
    conditional: bool = False


class Walk:
    """The state of a walk through one function, for the matrices of one group.

    summaries: the summaries of the callees.
    with_matrices: the functions that have operations of the group, also in callees.
    """

    def __init__(
        self,
        group: Group,
        function: typed.FunctionDecl,
        summaries: Mapping[typed.FunctionDecl, Summary],
        with_matrices: Iterable[typed.FunctionDecl],
    ) -> None:
        self.group = group
        self.function = function
        self.summaries = summaries
        self.with_matrices = with_matrices
        self.size, self.dimensions = (work_group_of if group.is_work_group else sub_group_of)(function)
        self.revisits: dict[object, Revisit] = {}
        self.changed = False
        self.begin()

    def begin(self) -> None:
        self.state: State = {}
        if not self.function.is_kernel:
            self.state = {decl: Value(parameters=1 << n, is_id=True) for n, decl in enumerate(self.function.parameters)}
        self.dead = False
        self.control = UNIFORM
        self.early_returns = UNIFORM  # why some work-items have returned
        self.frames: list[Frame] = []
        self.awaited: dict[str, Value] = {}  # label ahead -> why some work-items have jumped there
        self.around: dict[str, Value] = {}  # label of a backward goto -> why only some work-items took that
        self.labels: set[str] = set()
        self.reports: dict[tuple[str, Span], Finding] = {}
        self.returns, self.stores = UNIFORM, UNIFORM
        self.decides: dict[int, Span] = {}
        self.operands: dict[int, Operand] = {}

    @property
    def findings(self) -> list[Finding]:
        return list(self.reports.values())

    @property
    def summary(self) -> Summary:
        return Summary(self.returns, self.stores, self.decides, self.operands)

    # --- divergence ------------------------------------------------------------------------------

    @property
    def unreached(self) -> str:
        """The predicate of messages about an operation that the group does not execute together."""
        return f"is not reached by all work-items of a {self.group.name} together{self.group.reason}"

    def current(self) -> Value:
        """Return why control flow diverges at the current point; UNIFORM if all work-items are here."""
        frames = [value for frame in self.frames for value in (frame.broken, frame.continued)]
        return join(self.early_returns, *self.awaited.values(), *self.around.values(), *frames, self.control)

    def operation(self, what: str, span: Span) -> None:
        current = self.current()
        if self.dead:
            return
        if current.cause is not None:
            # One report for each condition.
            message = f"{what} {self.unreached}"
            self.reports.setdefault((current.cause.text, current.cause.span), Finding(message, span, current.cause))
        self.decided_by(current, span)

    def operand(self, operand: Operand, value: Value) -> None:
        """Report an operand that is not uniform.

        For an operand that depends on parameters, record them in `operands`: callers check their arguments.
        """
        if self.dead or self.group.has_barriers_only:
            return
        if value.cause is not None:
            message = f"{operand.what} is not the same for all work-items of a {self.group.name}"
            self.reports.setdefault((message, operand.span), Finding(message, operand.span, value.cause))
        for n in _parameters(value):
            self.operands.setdefault(n, operand)

    def decided_by(self, value: Value, span: Span) -> None:
        """Record that the function's parameters in `value` decide whether control reaches the operation at `span`.

        The analysis of a caller checks the arguments of these parameters.
        """
        for n in _parameters(value):
            self.decides.setdefault(n, span)

    def under(self, condition: Value, span: Span) -> Value:
        """Return the divergence of the code controlled by `condition`, which includes the current `control`."""
        if condition.is_plain:
            return self.control
        before = condition.cause
        cause = Cause("this condition differs between work-items", span, before) if before is not None else None
        return join(self.control, Value(cause, condition.parameters))

    def stop(self) -> None:
        self.state, self.dead = {}, True

    def merge(self, *states: State) -> None:
        """Merge `states`, from other edges to this point, with the current state; without any, the code is dead."""
        ways = [*([] if self.dead else [self.state]), *states]
        self.dead = not ways
        self.state = {}
        for state in ways:
            add(self.state, state)

    def keep(self, revisit: Revisit, state: State, divergence: Value = UNIFORM) -> None:
        self.changed |= add(revisit.state, state)
        more = join(revisit.divergence, divergence)
        self.changed |= is_more(revisit.divergence, more)
        revisit.divergence = more

    # --- variables -------------------------------------------------------------------------------

    def set(self, decl: typed.VarDecl, value: Value, span: Span, *, whole: bool) -> None:
        if not _is_tracked(decl):
            return
        current = self.current()
        if value.cause is not None:
            value = replace(
                value,
                cause=Cause(f"'{decl.name}' is set here to a value that differs between work-items", span, value.cause),
            )
        elif current.cause is not None:
            cause = Cause(f"'{decl.name}' is set here by some work-items only", span, current.cause)
            value = Value(cause, value.parameters | current.parameters)
        elif current.parameters:
            value = join(value, current)
        if not whole:
            value = join(self.state.get(decl, UNIFORM), value)
        if value.is_plain:
            self.state.pop(decl, None)
        else:
            self.state[decl] = value


def _parameters(value: Value) -> list[int]:
    """Return the numbers of the parameters that a value depends on, ascending."""
    return [n for n in range(value.parameters.bit_length()) if value.parameters >> n & 1]


def _is_tracked(decl: typed.VarDecl) -> bool:
    return decl.storage in ("automatic", "parameter") and not isinstance(decl.type, CoopMatrixType)


def is_more(before: Value, after: Value) -> bool:
    return (before.cause is None) is not (after.cause is None) or before.parameters != after.parameters


def add(state: State, more: Mapping[typed.VarDecl, Value]) -> bool:
    """Join `more` into `state`, and return whether `state` changed."""
    changed = False
    for decl, value in more.items():
        previous = state.get(decl)
        if previous is None:
            state[decl] = value
            changed = True
        elif previous is not value:
            both = join(previous, value)
            if previous.is_id and value.is_id:
                both = previous
            if is_more(previous, both) or previous.is_id is not both.is_id:
                state[decl] = both
                changed = True
    return changed


def sub_group_of(function: typed.FunctionDecl) -> tuple[int | None, frozenset[int]]:
    """Return (subgroup size or None, dimensions in which ids vary within a subgroup) for a kernel.

    If the kernel does not fix the work-group size, the extent of dimension 0 is assumed to be a multiple of the
    subgroup size.
    """
    size = function.attributes.get("intel_reqd_sub_group_size")
    size = size if isinstance(size, int) else None
    sizes = function.attributes.get("reqd_work_group_size")
    if not isinstance(sizes, tuple):
        return size, frozenset({0})
    dimensions = set()
    stride = 1
    for dimension, extent in enumerate(sizes):
        if extent > 1 and stride % (size or LEAST_SIZE):
            dimensions.add(dimension)
        stride *= extent
    return size, frozenset(dimensions)


def work_group_of(function: typed.FunctionDecl) -> tuple[int | None, frozenset[int]]:
    """Return (work-group extent in dimension 0 or None, dimensions in which ids vary in a work-group) for a kernel."""
    sizes = function.attributes.get("reqd_work_group_size")
    if not isinstance(sizes, tuple):
        return None, frozenset({0, 1, 2})
    return sizes[0], frozenset(dimension for dimension, extent in enumerate(sizes) if extent > 1)


def has_one_sub_group(function: typed.FunctionDecl) -> bool:
    """Return whether a kernel requires work-groups of at most the size of the subgroups that it requires."""
    size, sizes = (function.attributes.get(name) for name in ("intel_reqd_sub_group_size", "reqd_work_group_size"))
    return isinstance(size, int) and isinstance(sizes, tuple) and prod(sizes) <= size
