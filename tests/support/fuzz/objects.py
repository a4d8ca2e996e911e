"""Objects in memory: reads, pointers to them, and whole structs."""

from __future__ import annotations

from .kinds import Array, Kind, Path, Pointer, Record, Type, declaration
from .literals import literal
from .scope import Function, Scope, Variable
from .tree import Node, Part

BOUND = "10000"


def bounded(kind: Kind, *parts: Part) -> Node:
    """Return a node whose value is clamped to BOUND.

    Then sums stay finite, and no NaN occurs, whose sign would be unspecified.
    """
    return Node(kind, ("clamp(", *parts, f", ({kind})(-{BOUND}), ({kind})({BOUND}))"))


def index(scope: Scope, count: int, depth: int = 1) -> Node:
    """Return a number below `count`, a power of two."""
    if count == 1 or depth <= 0 or scope.chance(30):
        return Node("index", (str(scope.random.randrange(count)),))
    kind = Kind(scope.pick("int", "uint", "uchar", "long", "ulong"))
    return Node("index", ("((", scope.expression(kind, depth), f") & {count - 1})"))


def place(scope: Scope, variable: Variable, path: Path, depth: int = 1) -> Node:
    """Return a part of an object as an lvalue."""
    parts: list[Part] = [variable.name]
    pointed = isinstance(variable.type, Pointer)
    for number, (step, what) in enumerate(path.steps):
        if step == "index":
            assert isinstance(what, int)
            parts = _indexed(scope, parts, what, depth, pointed and number == 0)
        elif step == "member":
            parts += [f".{what}"]
        else:
            assert isinstance(what, int)
            parts += [f".s{'0123456789abcdef'[scope.random.randrange(what)]}"]
    return Node(path.type, tuple(_arrows(parts)))


def _indexed(scope: Scope, parts: list[Part], count: int, depth: int, pointed: bool) -> list[Part]:
    if pointed and count == 1 and scope.chance(70):
        return ["(*", *parts, ")"]
    if scope.chance(10):
        return ["(*(", *parts, " + ", index(scope, count, depth), "))"]
    return [*parts, "[", index(scope, count, depth), "]"]


def _arrows(parts: list[Part]) -> list[Part]:
    """Return the text with `(*p).m` replaced by `p->m`."""
    if len(parts) > 3 and parts[0] == "(*" and parts[2] == ")" and str(parts[3])[:1] == "." and str(parts[3])[1] == "m":
        return [parts[1], "->" + str(parts[3])[1:], *parts[4:]]
    return parts


def read(scope: Scope, type_: Type, depth: int = 1) -> Node | None:
    """Return a part of this type of some variable, or None if there is none."""
    found = scope.places(lambda other: other == type_)
    return place(scope, *scope.random.choice(found), depth) if found else None


def accessed(scope: Scope, kind: Kind, depth: int) -> Node:
    return read(scope, kind, depth) or Node(kind, (literal(scope, kind),))


# --- pointers --------------------------------------------------------------------------------------


def pointer_value(scope: Scope, wanted: Pointer, before: str | None = None) -> Node | None:
    """Return a pointer of this type, or None if no object fits.

    With `before`, the object is declared before that variable, and so outlives it.
    """
    known = list(scope.variables.values())
    if before is not None:
        known = known[: list(scope.variables).index(before)]
    inner = Scope(scope.shared, {variable.name: variable for variable in known})
    fitting = [(v, p) for v, p in inner.places(lambda other: _points(other, wanted)) if _reaches(v, p, wanted)]
    return _pointer_to(scope, *scope.random.choice(fitting), wanted) if fitting else None


def _points(type_: Type, wanted: Pointer) -> bool:
    if isinstance(type_, Pointer):
        return type_.target == wanted.target and type_.count >= wanted.count and _goes(type_.space, wanted.space)
    if isinstance(type_, Array):
        return type_.element == wanted.target and type_.count >= wanted.count
    return type_ == wanted.target and wanted.count == 1


def _goes(space: str, wanted: str) -> bool:
    """Return whether a pointer to one address space converts implicitly to the other."""
    if space.startswith("const ") and not wanted.startswith("const "):
        return False
    space, wanted = space.removeprefix("const "), wanted.removeprefix("const ")
    return space == wanted or (wanted == "generic" and space != "constant")


def _reaches(variable: Variable, path: Path, wanted: Pointer) -> bool:
    if isinstance(path.type, Pointer) and not isinstance(wanted.target, Pointer):
        return True
    space = path.space if path.space is not None else variable.space
    if path.space is None and not variable.writable and space != "constant":
        space = f"const {space}"
    return path.addressable and _goes(space, wanted.space)


def _pointer_to(scope: Scope, variable: Variable, path: Path, wanted: Pointer) -> Node:
    place_ = place(scope, variable, path)
    if path.type == wanted.target:
        return Node(wanted, ("(&", place_, ")"))
    assert isinstance(path.type, (Array, Pointer))
    room = path.type.count - wanted.count
    if room == 0 or scope.chance(30):
        return place_
    offset = index(scope, 1 << ((room + 1).bit_length() - 1))
    form = scope.random.randrange(3)
    if form == 0:
        return Node(wanted, ("(&", place_, "[", offset, "])"))
    return Node(wanted, ("(", place_, " + ", offset, ")") if form == 1 else ("(", offset, " + ", place_, ")"))


def distance(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return the difference of two pointers into one array, or their comparison."""
    found = scope.places(lambda other: isinstance(other, (Array, Pointer)) and other.count > 1)
    found = [(variable, path) for variable, path in found if not any(step == "index" for step, _ in path.steps)]
    if not found:
        return accessed(scope, kind, depth)
    variable, path = scope.random.choice(found)
    assert isinstance(path.type, (Array, Pointer))
    one, two = (index(scope, path.type.count, depth) for _ in range(2))
    array = str(place(scope, variable, path))
    operator = scope.pick("-", "<", "==", ">=")
    return Node(kind, (f"({kind})(&{array}[", one, f"] {operator} &{array}[", two, "])"))


# --- records ---------------------------------------------------------------------------------------


def initialiser(scope: Scope, type_: Type, depth: int) -> Node:
    """Return an initializer for a declaration; arrays and structs have inner braces."""
    if isinstance(type_, Kind):
        if scope.constant and (type_.size > 1 or type_.is_float):
            return Node(type_, (_constant_vector(scope, type_),))
        return scope.expression(type_, depth)
    if isinstance(type_, Record):
        return _record_initialiser(scope, type_, depth)
    assert isinstance(type_, Array)
    count = scope.random.randrange(1, type_.count + 1)
    parts: list[Part] = []
    for _ in range(count):
        parts += [", ", initialiser(scope, type_.element, depth)]
    if count < type_.count and isinstance(type_.element, Kind) and scope.chance(40):
        at = scope.random.randrange(count, type_.count)
        last = f" ... {scope.random.randrange(at, type_.count)}" if scope.chance(30) else ""
        parts += [f", [{at}{last}] = ", initialiser(scope, type_.element, depth)]
    return Node("initialiser", ("{", *parts[1:], "}"))


def _constant_vector(scope: Scope, kind: Kind) -> str:
    if kind.size == 1 or scope.chance(30):
        return literal(scope, kind)
    return f"({kind})({', '.join(literal(scope, kind.scalar) for _ in range(kind.size))})"


def _record_initialiser(scope: Scope, record: Record, depth: int) -> Node:
    members = list(record.members)[: scope.random.randrange(1, len(record.members) + 1)]
    designated = scope.chance(30)
    if designated:
        members = scope.random.sample(record.members, len(members))
    parts: list[Part] = []
    for name, type_ in members:
        parts += [", ", f".{name} = " if designated else "", initialiser(scope, type_, depth)]
    return Node("initialiser", ("{", *parts[1:], "}"))


def record_value(scope: Scope, record: Record, depth: int) -> Node:
    """Return a struct as a value."""
    if depth > 0 and scope.chance(20):
        condition = scope.expression(Kind("int"), depth - 1)
        one, two = (record_value(scope, record, depth - 1) for _ in range(2))
        return Node(record, ("((", condition, ") ? ", one, " : ", two, ")"))
    makers = [function for function in scope.shared.functions if function.result == record and function.pure]
    if makers and depth > 0 and scope.chance(50):
        found = call(scope, scope.random.choice(makers), depth - 1)
        if found:
            return found
    known = read(scope, record) if scope.chance(70) else None
    return known or Node(record, (f"(({record})", initialiser(scope, record, min(depth, 1)), ")"))


def record_member(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a member of a struct that is an rvalue."""
    records = [r for r in scope.shared.records if any(type_ == kind for _, type_ in r.members)]
    if not records:
        return accessed(scope, kind, depth)
    record = scope.random.choice(records)
    member = scope.random.choice([name for name, type_ in record.members if type_ == kind])
    return Node(kind, (record_value(scope, record, depth), f".{member}"))


# --- calls of functions -----------------------------------------------------------------------------


def argument(scope: Scope, type_: Type, depth: int) -> Node | None:
    if isinstance(type_, Kind):
        return scope.expression(type_, depth)
    if isinstance(type_, Record):
        return record_value(scope, type_, depth)
    return pointer_value(scope, type_) if isinstance(type_, Pointer) else None


def call(scope: Scope, function: Function, depth: int) -> Node | None:
    """Return a call of a function, or None if a pointer parameter has no object to point to."""
    parts: list[Part] = []
    for type_ in function.parameters:
        given = argument(scope, type_, depth)
        if given is None:
            return None
        parts += [", ", given]
    return Node(function.result or "void", (f"{function.name}(", *parts[1:], ")"))


def declared(variable: Variable) -> str:
    qualifier = "const " if not variable.writable else ""
    return qualifier + declaration(variable.type, variable.name)
