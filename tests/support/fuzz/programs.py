"""Whole programs: a kernel with its functions, structs, constants and macros."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from random import Random

from .expressions import expression
from .kinds import INTEGER_KINDS, KINDS, Array, Kind, Pointer, Record, Type, declaration, paths
from .objects import initialiser, place
from .scope import Function, Macro, Scope, Shared, Variable
from .statements import made, result_of, statement
from .tree import Node, Part, listed

ITEMS, SLOTS = 8, 24
# The bytes of a work-item's part of a buffer, and of local memory: 4 vectors of any type.
SLICE = 4 * 128
PARAMETERS = (
    "global ulong *out_0, const global int *x_0, const global float *y_0, global uchar *g_0, constant uchar *c_0, "
    "local uchar *l_0"
)
FILE_SCOPE = re.compile(r"\b(?=[fkSKEMP]_\d+\b)")


@dataclass(frozen=True)
class Program:
    """A program, whose `tree` prints as OpenCL C with one kernel, `k_0`."""

    seed: int
    tree: Node
    features: Counter[str]


def generate(seed: int) -> Program:
    random = Random(seed)
    shared = Shared(random, expression, exchanges=random.randrange(4) == 0)
    tops: list[Node] = []
    scope = Scope(shared)
    for maker, most in ((_enumeration, 1), (_record, 3), (_constant, 3), (_macro, 2), (_program_scope, 1), (_slots, 1)):
        tops += [maker(scope) for _ in range(random.randrange(most + 1))]
    for _ in range(random.randrange(4)):
        tops += _function(scope)
    tops.append(_kernel(scope))
    given = ("out_0", "x_0", "y_0", "g_0", "c_0", "l_0")
    return Program(seed, Node("program", (listed(tops),), given), shared.features)


def separated(text: str, number: int) -> str:
    """Return the program with unique names at file scope, so that many programs can be concatenated."""
    return FILE_SCOPE.sub(f"b{number}", text)


# --- file scope ------------------------------------------------------------------------------------


def _enumeration(scope: Scope) -> Node:
    constant = Scope(scope.shared, constant=True)
    parts: list[Part] = []
    names = [scope.name("E") for _ in range(scope.random.randrange(1, 4))]
    for name in names:
        parts += [f", {name}"]
        if scope.chance(60):
            # Leave room for the enumerators that follow, which count on.
            parts += [" = (", expression(constant, Kind("int"), 2), ") >> 1"]
    scope.shared.enumerators += names
    return Node("top", ("enum {", str(parts[0])[1:], *parts[1:], "};"), tuple(names))


def _record(scope: Scope) -> Node:
    members: list[tuple[str, Type]] = []
    for _ in range(scope.random.randrange(1, 5)):
        type_: Type = scope.random.choice(KINDS)
        if scope.shared.records and scope.chance(20):
            type_ = scope.random.choice(scope.shared.records)
        elif scope.chance(10):
            type_ = Kind("bool")
        if scope.chance(20):
            type_ = Array(type_, scope.pick(2, 4))
        members.append((scope.name("m"), type_))
    packed = scope.chance(15)
    record = Record(scope.name("S"), tuple(members), packed)
    scope.shared.records.append(record)
    attribute = "__attribute__((packed)) " if packed else ""
    text = "; ".join(declaration(type_, name) for name, type_ in members)
    names = (record.name, *(name for name, _ in members))
    return Node("top", (f"struct {attribute}{record.name} {{ {text}; }};",), names)


def _constant(scope: Scope) -> Node:
    """Return the definition of a table in constant memory."""
    type_: Type = scope.random.choice(KINDS)
    if scope.shared.records and scope.chance(40):
        type_ = scope.random.choice(scope.shared.records)
    if scope.chance(60):
        type_ = Array(type_, scope.pick(2, 4))
    variable = Variable(scope.name("K"), type_, "constant", writable=False)
    given = initialiser(Scope(scope.shared, constant=True), type_, 2)
    scope.add(variable)
    return Node("top", (f"constant {declaration(type_, variable.name)} = ", given, ";"), (variable.name,))


def _program_scope(scope: Scope) -> Node:
    """Return the definition of a table in global memory that no work-item writes."""
    type_ = Array(scope.random.choice(KINDS), 4)
    variable = Variable(scope.name("P"), type_, "global", writable=False)
    given = initialiser(Scope(scope.shared, constant=True), type_, 2)
    scope.add(variable)
    return Node("top", (f"const global {declaration(type_, variable.name)} = ", given, ";"), (variable.name,))


def _slots(scope: Scope) -> Node:
    # With three components, the fourth would be undefined.
    kind = scope.random.choice([kind for kind in KINDS if kind.size != 3])
    slots = Variable(scope.name("P"), Array(kind, 4 * ITEMS), "global")
    scope.shared.slots = slots
    return Node("top", (f"global {declaration(slots.type, slots.name)};",), (slots.name,))


def _macro(scope: Scope) -> Node:
    parameters = tuple(scope.random.choice(KINDS) for _ in range(scope.random.randrange(1, 3)))
    names = [scope.name("t") for _ in parameters]
    inner = Scope(scope.shared)
    for name, kind in zip(names, parameters, strict=True):
        inner.add(Variable(f"({name})", kind))
    macro = Macro(scope.name("M"), scope.random.choice((*parameters, *KINDS)), parameters)
    body = expression(inner, macro.result, 2)
    scope.shared.macros.append(macro)
    return Node("top", (f"#define {macro.name}({', '.join(names)}) (", body, ")"), (macro.name, *names))


def _parameter(scope: Scope) -> Type:
    kind: Type = scope.random.choice(KINDS)
    if scope.shared.records and scope.chance(25):
        kind = scope.random.choice(scope.shared.records)
    if scope.chance(60):
        return kind
    space = scope.pick("generic", "generic", "private", "global", "local", "constant", "const generic")
    return Pointer(space, kind, scope.pick(1, 1, 2, 4))


def _function(scope: Scope) -> list[Node]:
    """Return a function, sometimes with a prototype before it."""
    types = tuple(_parameter(scope) for _ in range(scope.random.randrange(1, 5)))
    result: Kind | Record | None = scope.random.choice(KINDS)
    if scope.shared.records and scope.chance(30):
        result = scope.random.choice(scope.shared.records)
    pure = all(type_.space.startswith("const") for type_ in types if isinstance(type_, Pointer))
    if not pure and scope.chance(20):
        result = None
    names = [scope.name("v") for _ in types]
    inner = Scope(scope.shared, dict(scope.variables), result=result)
    for name, type_ in zip(names, types, strict=True):
        inner.add(Variable(name, type_))
    function = Function(scope.name("f"), result, types, pure)
    given = ", ".join(declaration(type_, name) for type_, name in zip(types, names, strict=True))
    head = f"{result or 'void'} {function.name}({given})"
    body = listed([statement(inner, 1) for _ in range(scope.random.randrange(1, 4))])
    last: tuple[Part, ...] = ("return ", result_of(inner, result, 2), ";\n") if result else ()
    prototype = scope.chance(30)
    storage = "" if prototype else scope.pick("", "static ", "inline static ", "__attribute__((noinline)) ")
    found = [Node("top", (f"{storage}{head} {{\n", body, *last, "}"), (function.name, *names))]
    if prototype:
        found.insert(0, Node("top", (f"{head};",)))
    scope.shared.functions.append(function)
    return found


# --- the kernel ------------------------------------------------------------------------------------


def _kernel(scope: Scope) -> Node:
    inner = scope.inner()
    lines = _arguments(inner)
    for _ in range(3):
        lines.append(statement(inner, 0))
    for _ in range(scope.random.randrange(2, 6)):
        lines.append(_exchange(inner) if scope.shared.exchanges and scope.chance(40) else statement(inner, 2))
    lines += _observed(inner)
    return Node("top", (f"kernel void k_0({PARAMETERS}) {{\n", listed(lines), "}"), ("k_0",))


def _arguments(scope: Scope) -> list[Node]:
    """Return statements that set up a work-item's parts of the buffers, and add the variables to the scope."""
    lines = [made("int n_0 = get_global_id(0), n_1 = x_0[n_0];\nout_0 += n_0 * 24;", declares=("n_0", "n_1"))]
    scope.add(Variable("n_0", Kind("int"), writable=False))
    scope.add(Variable("n_1", Kind("int")))
    scope.add(Variable("x_0", Pointer("const global", Kind("int"), ITEMS)))
    scope.add(Variable("y_0", Pointer("const global", Kind("float"), ITEMS)))
    # With three components, the fourth would be undefined.
    kinds = [kind for kind in KINDS if kind.size != 3]
    table = scope.random.choice([kind for kind in INTEGER_KINDS if kind.size != 3])
    scope.add(Variable("c_1", Pointer("constant", table, 4), "private"))
    lines.append(made(f"constant {table} *c_1 = (constant {table} *)c_0;", declares=("c_1",)))
    shared = scope.random.choice(kinds)
    scope.add(Variable("g_1", Pointer("global", shared, 4), writable=False))
    lines.append(made(f"global {shared} *g_1 = (global {shared} *)g_0 + n_0 * 4;", declares=("g_1",)))
    own = scope.random.choice(kinds)
    slots = scope.shared.slots
    if slots is not None:
        assert isinstance(slots.type, Array)
        element = slots.type.element
        scope.add(Variable("q_1", Pointer("global", element, 4), writable=False))
        lines.append(made(f"global {element} *q_1 = {slots.name} + n_0 * 4;", declares=("q_1",)))
    start = f"local {own} *l_1 = (local {own} *)l_0 + n_0 * 4;\nfor (int i_0 = 0; i_0 < 4; ++i_0) l_1[i_0] = ({own})"
    lines.append(made(start, "(", expression(scope, own, 0), ");", declares=("l_1", "i_0")))
    scope.add(Variable("l_1", Pointer("local", own, 4), writable=False))
    return lines


def _exchange(scope: Scope) -> Node:
    """Return statements that pass a value to the next work-item."""
    pointer = scope.variables["l_1"].type
    assert isinstance(pointer, Pointer) and isinstance(pointer.target, Kind)
    name, at = scope.name("v"), scope.random.randrange(4)
    scope.shared.features["exchange"] += 1
    given = expression(scope, pointer.target, 2)
    fence = "barrier(CLK_LOCAL_MEM_FENCE);"
    start = f"(n_0 + 1) % {ITEMS} * 4 + {at} - n_0 * 4"
    parts = (f"l_1[{at}] = ", given, f"; {fence}\n{pointer.target} {name} = l_1[{start}]; {fence}")
    scope.add(Variable(name, pointer.target))
    return made(*parts, declares=(name,))


def _observed(scope: Scope) -> list[Node]:
    """Return statements that store the variables' values, the last ones first, as many as there is room for."""
    lines: list[Node] = []
    for variable in reversed(list(scope.variables.values())):
        if variable.space in ("constant", "global"):
            continue
        found = [path for path in paths(variable.type) if isinstance(path.type, Kind)]
        scalars = [path for path in found if isinstance(path.type, Kind) and path.type.size == 1]
        for path in scope.random.sample(scalars, min(4, len(scalars))):
            if len(lines) == SLOTS:
                return lines
            read = place(scope, variable, path, 0)
            kind = path.type
            assert isinstance(kind, Kind)
            shown: tuple[Part, ...] = ("as_ulong((double)(", read, "))") if kind.is_float else ("(ulong)(", read, ")")
            lines.append(made(f"out_0[{len(lines)}] = ", *shown, ";"))
    return lines
