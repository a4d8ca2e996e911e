"""Statements: declarations, assignments, control flow.

Only statements have side effects, and only at sequence points (C99 6.5.2.3). `effects` returns expressions that write
plain variables before a comma, `&&`, `||` or `?`. They occur only on the right of an assignment to another plain
variable, or in a controlling expression.
"""

from __future__ import annotations

from collections.abc import Callable

from .detours import DETOURS
from .expressions import condition, expression, selection, value
from .kinds import INTEGERS, KINDS, SIZES, Array, Kind, Path, Pointer, Record, Type, declaration
from .objects import bounded, call, declared, index, initialiser, place, pointer_value, record_value
from .scope import Scope, Variable
from .tree import CONDITION, STATEMENT, Node, Part, listed

COUNTS = (2, 4, 8)
BITWISE = ("&=", "|=", "^=", ">>=", "<<=")


Makers = tuple[tuple[int, Callable[[Scope, int], Node]], ...]


def statement(scope: Scope, depth: int) -> Node:
    makers: Makers = SIMPLE
    if depth > 0:
        makers += NESTED
    if scope.in_loop:
        makers += ((3, _leave),)
    if scope.result is not None:
        makers += ((1, _return),)
    return scope.make(makers, depth)


def block(scope: Scope, depth: int, most: int = 3, **changes: object) -> Node:
    """Return statements with their own variables."""
    inner = scope.inner(**changes)
    return listed([statement(inner, depth) for _ in range(scope.random.randrange(1, most + 1))])


def made(*parts: Part, declares: tuple[str, ...] = ()) -> Node:
    return Node(STATEMENT, parts, declares)


# --- declarations ----------------------------------------------------------------------------------


def _declare(scope: Scope, depth: int) -> Node:
    kind = scope.random.choice(KINDS) if scope.chance(90) else Kind("bool")
    name = scope.name("v")
    form = scope.random.randrange(10)
    if form == 0:
        parts: tuple[Part, ...] = (f"{kind} {name}; {name} = ", value(scope, kind, 2), ";")
    elif form == 1 and kind.size > 1:
        parts = (f"{kind} {name} = ({kind})(", expression(scope, kind, 2), ");")
    else:
        parts = (f"{kind} {name} = ", value(scope, kind, 2), ";")
    scope.add(Variable(name, kind))
    return made(*parts, declares=(name,))


def _declare_several(scope: Scope, depth: int) -> Node:
    """Return one declaration of a variable, a pointer to it, and an array."""
    kind = scope.random.choice(KINDS)
    one, two, three = (scope.name(prefix) for prefix in "vpa")
    array = Array(kind, scope.random.choice(COUNTS))
    given = initialiser(scope, array, 1)
    parts = (f"{kind} {one} = ", value(scope, kind, 1), f", *{two} = &{one}, {three}[{array.count}] = ", given, ";")
    for name, type_ in ((one, kind), (two, Pointer("generic", kind)), (three, array)):
        scope.add(Variable(name, type_))
    return made(*parts, declares=(one, two, three))


def _declare_array(scope: Scope, depth: int) -> Node:
    element: Type = scope.random.choice(KINDS)
    if scope.shared.records and scope.chance(25):
        element = scope.random.choice(scope.shared.records)
    if scope.chance(25):
        element = Array(element, 2)
    return _declare_object(scope, Array(element, scope.random.choice(COUNTS)), "a")


def _declare_record(scope: Scope, depth: int) -> Node:
    if not scope.shared.records:
        return _declare(scope, depth)
    record = scope.random.choice(scope.shared.records)
    if scope.chance(50):
        name = scope.name("s")
        given = record_value(scope, record, 2)
        scope.add(Variable(name, record))
        return made(f"{record} {name} = ", given, ";", declares=(name,))
    return _declare_object(scope, record, "s")


def _declare_object(scope: Scope, type_: Type, prefix: str) -> Node:
    variable = Variable(scope.name(prefix), type_, writable=scope.chance(90))
    given = initialiser(scope, type_, 1)
    scope.add(variable)
    return made(f"{declared(variable)} = ", given, ";", declares=(variable.name,))


def _declare_pointer(scope: Scope, depth: int) -> Node:
    """Return a declaration of a pointer to an object, sometimes to a pointer."""
    found = scope.places(lambda type_: not isinstance(type_, Pointer) or not isinstance(type_.target, Pointer))
    found = [(v, p) for v, p in found if p.addressable or isinstance(p.type, Pointer)]
    if not found:
        return _declare(scope, depth)
    wanted = _pointer_type(scope, *scope.random.choice(found))
    given = pointer_value(scope, wanted)
    if given is None:
        return _declare(scope, depth)
    name = scope.name("p")
    scope.add(Variable(name, wanted))
    return made(f"{declaration(wanted, name)} = ", given, ";", declares=(name,))


def _pointer_type(scope: Scope, variable: Variable, path: Path) -> Pointer:
    space = path.space if path.space is not None else variable.space
    target, count = path.type, 1
    if isinstance(target, Array):
        count = scope.pick(1, target.count // 2, target.count)
        target = target.element
    elif isinstance(target, Pointer):
        space, count, target = target.space, scope.pick(1, target.count), target.target
    if isinstance(target, Pointer):
        return Pointer("private", target)
    if not space.startswith("const") and scope.chance(20):
        space = f"const {space}"
    if path.space is None and not variable.writable and not space.startswith("const"):
        space = f"const {space}"
    if scope.chance(40) and not space.endswith("constant"):
        space = space.replace(space.split()[-1], "generic")
    return Pointer(space, target, count)


# --- assignments -----------------------------------------------------------------------------------


def _plain(scope: Scope, *without: str) -> list[Variable]:
    """Return the writable variables that are scalars or vectors."""
    return [v for v in scope.variables.values() if isinstance(v.type, Kind) and v.writable and v.name not in without]


def effects(scope: Scope, kind: Kind, depth: int, *without: str) -> Node:
    """Return an expression of the kind that writes plain variables, except the named ones."""
    names = _plain(scope, *without)
    if not names or depth <= 0:
        return expression(scope, kind, depth)
    name = scope.random.choice(names).name
    form = scope.random.randrange(4)
    if form == 0 and scope.variables[name].type == kind:
        return Node(kind, (f"({name} = ", effects(scope, kind, depth - 1, *without, name), ")"))
    written = _effect(scope, scope.random.choice(names))
    rest = effects(scope, kind, depth - 1, *without)
    if form == 1:
        other = effects(scope, kind, depth - 1, *without)
        return Node(kind, ("((", effects(scope, Kind("int"), depth - 1, *without), ") ? ", rest, " : ", other, ")"))
    if form == 2 and kind.size == 1 and kind.element == "int":
        return Node(kind, ("((", condition(scope, 1), f") {scope.pick('&&', '||')} (", written, ", ", rest, "))"))
    return Node(kind, ("(", written, ", ", rest, ")"))


def _effect(scope: Scope, variable: Variable) -> Node:
    kind = variable.type
    assert isinstance(kind, Kind)
    if steps(kind) and scope.chance(40):
        return Node("effect", (scope.pick(f"++{variable.name}", f"{variable.name}--"),))
    return Node("effect", (f"{variable.name} = ", value(scope, kind, 1)))


def steps(kind: Kind) -> bool:
    """Return whether `++` cannot overflow."""
    return kind.size == 1 and (kind.is_unsigned or kind.element in ("char", "short"))


def _assign(scope: Scope, depth: int) -> Node:
    found = scope.places(lambda type_: isinstance(type_, Kind), writable=True)
    if not found:
        return _declare(scope, depth)
    variable, path = scope.random.choice(found)
    kind = path.type
    assert isinstance(kind, Kind)
    if not path.steps and scope.chance(25):
        return made(f"{variable.name} = ", effects(scope, kind, 2, variable.name), ";")
    return made(place(scope, variable, path, 2), " = ", value(scope, kind, 3), ";")


def _compound(scope: Scope, depth: int) -> Node:
    """Return a compound assignment to any lvalue; the operand has a type with which the operation cannot overflow."""
    found = scope.places(lambda type_: isinstance(type_, Kind) and type_.element != "bool", writable=True)
    if not found:
        return _declare(scope, depth)
    variable, path = scope.random.choice(found)
    kind = path.type
    assert isinstance(kind, Kind)
    if kind.is_float:
        return _compound_float(scope, variable, kind)
    target = place(scope, variable, path)
    if steps(kind) and scope.chance(30):
        operator = scope.pick("++", "--")
        return made(operator, target, ";") if scope.chance(50) else made(target, operator, ";")
    if kind.size > 1:
        operand = expression(scope, kind if scope.chance(80) else kind.scalar, 2)
        wrapping = ("+=", "-=", "*=") if kind.is_unsigned else ()
        return made(target, f" {scope.pick(*wrapping, *BITWISE)} ", operand, ";")
    operators = list(BITWISE)
    if kind.is_unsigned or kind.element in ("char", "short"):
        operators += ["/=", "%=", "+=", "-="]
    operator = scope.random.choice(operators)
    if operator in BITWISE:
        return made(target, f" {operator} ", expression(scope, Kind(scope.random.choice(INTEGERS)), 2), ";")
    # With an unsigned type that is at least as wide as int and the operand, the common type is unsigned.
    operand = expression(scope, Kind(scope.pick(kind.unsigned.element, "uint", "ulong", "uchar", "char")), 2)
    if operand.kind == Kind("ulong") and kind.element in ("uint", "ulong") and operator in ("+=", "-="):
        operator = "*="
    elif operand.kind == Kind("char") and operator in ("/=", "%="):
        operator = "+="
    if operator in ("/=", "%="):
        return made(target, f" {operator} (", operand, ") | 1;")
    return made(target, f" {operator} ", operand, ";")


def _compound_float(scope: Scope, variable: Variable, kind: Kind) -> Node:
    plain = [v for v in _plain(scope) if v.type == kind]
    if not plain:
        return _declare(scope, 0)
    name = scope.random.choice(plain).name
    operand = expression(scope, kind if scope.chance(70) else kind.scalar, 2)
    limited = bounded(kind, name)
    return made(f"{name} {scope.pick('+=', '-=', '*=')} ", operand, f"; {name} = ", str(limited), ";")


def _assign_parts(scope: Scope, depth: int) -> Node:
    """Return an assignment to some components of a vector."""
    found = scope.places(lambda type_: isinstance(type_, Kind) and type_.size > 1, writable=True)
    if not found:
        return _declare(scope, depth)
    variable, path = scope.random.choice(found)
    kind = path.type
    assert isinstance(kind, Kind)
    part = Kind(kind.element, scope.random.choice([size for size in SIZES if size <= kind.size]))
    target = Node(part, (place(scope, variable, path), ".", selection(scope, kind.size, part.size, distinct=True)))
    operator = "="
    if not kind.is_float and scope.chance(40):
        operator = scope.pick("&=", "|=", "^=", ">>=", *(("+=", "-=", "*=") if kind.is_unsigned else ()))
        if operator == "*=" and kind.element == "ushort":
            operator = "+="
    return made(target, f" {operator} ", expression(scope, part, 2), ";")


def _assign_record(scope: Scope, depth: int) -> Node:
    found = scope.places(lambda type_: isinstance(type_, Record), writable=True)
    if not found:
        return _declare_record(scope, depth)
    variable, path = scope.random.choice(found)
    assert isinstance(path.type, Record)
    return made(place(scope, variable, path), " = ", record_value(scope, path.type, 2), ";")


def _assign_pointer(scope: Scope, depth: int) -> Node:
    found = [v for v in scope.variables.values() if isinstance(v.type, Pointer) and v.writable]
    if not found:
        return _declare_pointer(scope, depth)
    variable = scope.random.choice(found)
    assert isinstance(variable.type, Pointer)
    if isinstance(variable.type.target, Pointer):
        return _assign(scope, depth)
    given = pointer_value(scope, variable.type, before=variable.name)
    if given is None:
        return _assign(scope, depth)
    return made(f"{variable.name} = ", given, ";")


def _call_for_effect(scope: Scope, depth: int) -> Node:
    """Return a call of a function that writes through its pointers."""
    functions = [function for function in scope.shared.functions if not function.pure or function.result is None]
    if not functions:
        return _assign(scope, depth)
    called = call(scope, scope.random.choice(functions), 2)
    if called is None:
        return _assign(scope, depth)
    plain = [v.name for v in _plain(scope) if v.type == called.kind]
    if plain and scope.chance(80):
        return made(f"{scope.random.choice(plain)} = ", called, ";")
    return made(scope.pick("", "(void)"), called, ";")


def _store(scope: Scope, depth: int) -> Node:
    """Return a store of a vector to an array of its elements."""
    found = scope.places(
        lambda type_: isinstance(type_, Pointer) and isinstance(type_.target, Kind) and type_.target.size == 1
    )
    found = [(v, p) for v, p in found if not p.type.space.startswith("const") and p.type.count > 1]  # type: ignore[union-attr]
    if not found:
        return _declare_pointer(scope, depth)
    variable, path = scope.random.choice(found)
    pointer = path.type
    assert isinstance(pointer, Pointer) and isinstance(pointer.target, Kind)
    if pointer.target.element == "bool":
        return _assign(scope, depth)
    kind = Kind(pointer.target.element, scope.random.choice([size for size in SIZES[1:] if size <= pointer.count]))
    return made(f"vstore{kind.size}(", expression(scope, kind, 2), ", 0, ", place(scope, variable, path), ");")


def _bytes(scope: Scope, depth: int) -> Node:
    """Return a store to a byte of an integer through a pointer to uchar."""
    found = [v for v in _plain(scope) if v.type.size != 3 and not v.type.is_float and v.type.element != "bool"]  # type: ignore[union-attr]
    if not found:
        return _declare(scope, depth)
    variable = scope.random.choice(found)
    kind = variable.type
    assert isinstance(kind, Kind)
    at = index(scope, kind.width * kind.size)
    return made(f"((uchar *)&{variable.name})[", at, "] = ", expression(scope, Kind("uchar"), 2), ";")


def _atomic(scope: Scope, depth: int) -> Node:
    """Return an atomic function on memory that no other work-item uses; overflow wraps."""
    kind = Kind(scope.pick("int", "uint"))
    found = [(v, p) for v, p in scope.places(lambda type_: type_ == kind, writable=True) if p.addressable]
    found = [(v, p) for v, p in found if p.space in ("global", "local")]
    plain = [v.name for v in _plain(scope) if v.type == kind]
    if not found or not plain:
        return _compound(scope, depth)
    variable, path = scope.random.choice(found)
    space, target = path.space, place(scope, variable, path)
    name = scope.pick("add", "sub", "xchg", "min", "max", "and", "or", "xor", "inc", "dec", "cmpxchg")
    parts: list[Part] = []
    for _ in range({"inc": 0, "dec": 0, "cmpxchg": 2}.get(name, 1)):
        parts += [", ", expression(scope, kind, 2)]
    head = f"{scope.random.choice(plain)} = atomic_{name}((volatile {space} {kind} *)&"
    return made(head, target, *parts, ");")


# --- control flow ----------------------------------------------------------------------------------


def _test(scope: Scope, depth: int) -> Node:
    if scope.chance(20):
        return Node(CONDITION, ("(", effects(scope, Kind("int"), 2), ")"))
    return condition(scope, depth)


def _branch(scope: Scope, depth: int) -> Node:
    parts: list[Part] = ["if (", _test(scope, 2), ") {\n", block(scope, depth - 1), "}"]
    while scope.chance(30):
        parts += [" else if (", _test(scope, 1), ") {\n", block(scope, depth - 1, 2), "}"]
    if scope.chance(50):
        parts += [" else {\n", block(scope, depth - 1), "}"]
    return made(*parts)


def _loop(scope: Scope, depth: int) -> Node:
    name, count = scope.name("i"), scope.random.randrange(1, 5)
    inner = scope.inner()
    inner.add(Variable(name, Kind("int"), writable=False))
    body = block(inner, depth - 1, in_loop=True)
    form = scope.random.randrange(5)
    if form == 0:
        return made(f"{{ int {name} = {count}; while ({name}-- > 0) {{\n", body, "} }", declares=(name,))
    if form == 1:
        return made(f"{{ int {name} = 0; do {{\n", body, f"}} while (++{name} < {count}); }}", declares=(name,))
    if form == 2:
        also = condition(scope, 1)
        head = f"for (int {name} = {count}; {name} > 0 && ("
        return made(head, also, f"); {name}--) {{\n", body, "}", declares=(name,))
    if form == 3:
        head = f"{{ int {name} = -1; for (;;) {{ if (++{name} >= {count}) break;\n"
        return made(head, body, "} }", declares=(name,))
    return made(f"for (int {name} = 0; {name} < {count}; ++{name}) {{\n", body, "}", declares=(name,))


def _walk(scope: Scope, depth: int) -> Node:
    """Return a loop in which a pointer steps through an array."""
    found = scope.places(lambda type_: isinstance(type_, Array) and isinstance(type_.element, Kind), writable=True)
    found = [(v, p) for v, p in found if p.addressable and p.space is None and v.space == "private"]
    found = [(v, p) for v, p in found if not any(step == "index" for step, _ in p.steps)]
    if not found:
        return _declare_array(scope, depth)
    variable, path = scope.random.choice(found)
    assert isinstance(path.type, Array) and isinstance(path.type.element, Kind)
    name, kind, array = scope.name("q"), path.type.element, str(place(scope, variable, path))
    given = value(scope, kind, 2)
    forms: list[tuple[str, str]] = [
        (f"for ({kind} *{name} = {array}; {name} < {array} + {path.type.count}; ++{name}) *{name} = ", ";"),
        (f"{{ {kind} *{name} = {array} + {path.type.count}; while ({name} != {array}) *--{name} = ", "; }"),
        (f"{{ {kind} *{name} = {array}; do *{name}++ = ", f"; while ({name} - {array} != {path.type.count}); }}"),
    ]
    head, tail = scope.random.choice(forms)
    return made(head, given, tail, declares=(name,))


def _switch(scope: Scope, depth: int) -> Node:
    kind = Kind(scope.random.choice(INTEGERS))
    parts: list[Part] = []
    labels = scope.random.sample([0, 1, 2, 3], scope.random.randrange(1, 4))
    cases = [scope.pick(f"case {n}", f"case ({n})", f"case {n}L", f"case sizeof(char) * {n}") for n in labels]
    cases.insert(scope.random.randrange(len(cases) + 1), "default")
    for case in cases:
        ending = scope.pick("break;\n", "break;\n", "")
        parts += [f"{case}: ", "{\n", block(scope, depth - 1, 2), "}\n", ending] if scope.chance(85) else [f"{case}:\n"]
    return made("switch ((", expression(scope, kind, 2), ") & 3) {\n", *parts, ";\n}")


def _forwards(scope: Scope, depth: int) -> Node:
    label = scope.name("L")
    body = block(scope, depth - 1)
    parts = ("{ if (", condition(scope, 2), f") goto {label};\n{{\n", body, f"}}\n{label}: ;\n}}")
    return made(*parts, declares=(label,))


def _backwards(scope: Scope, depth: int) -> Node:
    label, counter = scope.name("L"), scope.name("i")
    body = block(scope, depth - 1, in_loop=False)
    again = f"}} if (++{counter} < {scope.random.randrange(2, 5)} && ("
    parts = (f"{{ int {counter} = 0;\n{label}: {{\n", body, again, condition(scope, 2), f")) goto {label};\n}}")
    return made(*parts, declares=(label, counter))


def _leave(scope: Scope, depth: int) -> Node:
    return made("if (", condition(scope, 2), f") {scope.pick('break', 'continue')};")


def _return(scope: Scope, depth: int) -> Node:
    assert scope.result is not None
    return made("if (", condition(scope, 2), ") return ", result_of(scope, scope.result, 2), ";")


def result_of(scope: Scope, type_: Kind | Record, depth: int) -> Node:
    return value(scope, type_, depth) if isinstance(type_, Kind) else record_value(scope, type_, depth)


def _enclosed(scope: Scope, depth: int) -> Node:
    """Return a block in which an outer name may be redeclared."""
    outer = _plain(scope)
    if not outer or scope.chance(50):
        return made("{\n", block(scope, depth - 1), "}")
    name = scope.random.choice(outer).name
    kind = scope.random.choice(KINDS)
    inner = scope.inner()
    del inner.variables[name]
    given = expression(inner, kind, 2)
    inner.add(Variable(name, kind))
    return made(f"{{ {kind} {name} = ", given, ";\n", block(inner, depth - 1), "}")


SIMPLE: Makers = (
    *((6, _assign), (4, _compound), (3, _assign_parts), (2, _assign_record), (2, _assign_pointer)),
    *((5, _declare), (2, _declare_array), (3, _declare_record), (3, _declare_pointer), (1, _declare_several)),
    *((2, _call_for_effect), (1, _store), (1, _bytes), (1, _walk), (1, _atomic)),
    *DETOURS,
)
NESTED: Makers = ((4, _branch), (4, _loop), (2, _switch), (1, _forwards), (1, _backwards), (1, _enclosed))
