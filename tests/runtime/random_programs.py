"""Random OpenCL C functions whose every step is defined, for comparing compilers.

Signed arithmetic wraps through unsigned casts, divisors are odd, shift counts are any (OpenCL C takes them modulo the
width), floats are compared and added but never made integers beyond their range.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
FLOATS = ("half", "float", "double")
SIZES = (1, 2, 3, 4, 8, 16)
PARTS = {2: (1, 1), 3: (1, 2), 4: (3, 1), 8: (4, 4), 16: (8, 8)}
DIGITS = "0123456789abcdef"


@dataclass(frozen=True)
class Kind:
    """A scalar (size 1) or vector type."""

    element: str
    size: int

    def __str__(self) -> str:
        return self.element if self.size == 1 else f"{self.element}{self.size}"

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    @property
    def unsigned(self) -> Kind:
        return self if self.element[0] == "u" else Kind("u" + self.element, self.size)


KINDS = tuple(Kind(element, size) for element in (*INTEGERS, *FLOATS) for size in SIZES)
ONE_INTEGER, ONE_FLOAT = ("popcount", "clz"), ("fabs", "floor", "trunc", "rint")
WIDTHS = {"char": 1, "short": 2, "int": 4, "long": 8, "half": 2, "float": 4, "double": 8}


@dataclass
class Scope:
    """The variables that a piece of a function may read; `fixed` may not be written (they count loops)."""

    draw: st.DrawFn
    variables: dict[str, Kind] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))


def mask_of(kind: Kind) -> Kind:
    """What comparing vectors of the kind gives."""
    width = WIDTHS[kind.element.removeprefix("u")]
    return Kind({1: "char", 2: "short", 4: "int", 8: "long"}[width], kind.size)


def constant(scope: Scope, kind: Kind) -> str:
    if kind.is_float:
        return f"({kind})({scope.draw(st.integers(-64, 64)) / 8!r}f)"
    edges = [0, 1, 2, 7, 127, 128, 255, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1]
    value = scope.draw(st.one_of(st.integers(-9, 99), st.sampled_from(edges)))
    return f"({kind})({value}{'L' if abs(value) > 2**31 - 1 else ''})"


def expression(scope: Scope, kind: Kind, depth: int) -> str:
    """An expression of exactly this type."""
    known = [name for name, other in scope.variables.items() if other == kind]
    if depth <= 0 or scope.draw(st.integers(0, 9)) == 0:
        return scope.draw(st.sampled_from(known)) if known else constant(scope, kind)
    makers = [_converted, _operation, _chosen, _parted, _called]
    return scope.draw(st.sampled_from(makers))(scope, kind, depth - 1)


def _converted(scope: Scope, kind: Kind, depth: int) -> str:
    source = Kind(scope.draw(st.sampled_from(INTEGERS if not kind.is_float else (*INTEGERS, *FLOATS))), kind.size)
    inner = expression(scope, source, depth)
    text = f"({kind})({inner})" if kind.size == 1 else f"convert_{kind}({inner})"
    return _bounded(kind, text) if kind.is_float else text


def _bounded(kind: Kind, text: str) -> str:
    """Small enough to stay finite, whatever is added up: no NaN comes up, whose sign would be anybody's."""
    return f"clamp({text}, ({kind})(-1e4f), ({kind})(1e4f))"


def _operation(scope: Scope, kind: Kind, depth: int) -> str:
    left, right = (expression(scope, kind, depth) for _ in range(2))
    if kind.is_float:
        operator = scope.draw(st.sampled_from("+-"))
        return _bounded(kind, f"({left}) {operator} ({right})")
    operator = scope.draw(st.sampled_from(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "~", "-1"]))
    cast = f"as_{kind.unsigned}" if kind.size > 1 else f"({kind.unsigned})"
    back = f"as_{kind}" if kind.size > 1 else f"({kind})"
    if operator == "~":
        return f"{back}(~({left}))"
    if operator == "-1":
        return f"{back}(-{cast}({left}))"
    if operator in "+-*":
        if kind.size == 1:
            return f"({kind})((ulong)({left}) {operator} (ulong)({right}))"
        return f"{back}({cast}({left}) {operator} {cast}({right}))"
    if operator in "/%":
        # An odd divisor; a dividend that is not the least number.
        dividend = left if kind.element[0] == "u" else f"(({kind})({left}) >> ({kind})1)"
        return f"{back}(({dividend}) {operator} (({right}) | ({kind})1))"
    return f"{back}(({left}) {operator} ({right}))"


def _condition(scope: Scope, depth: int) -> str:
    kind = Kind(scope.draw(st.sampled_from((*INTEGERS, *FLOATS))), 1)
    left, right = (expression(scope, kind, depth) for _ in range(2))
    text = f"({left}) {scope.draw(st.sampled_from(['<', '<=', '>', '>=', '==', '!=']))} ({right})"
    if depth > 0 and scope.draw(st.booleans()):
        return f"({text}) {scope.draw(st.sampled_from(['&&', '||']))} !({_condition(scope, depth - 1)})"
    return text


def _chosen(scope: Scope, kind: Kind, depth: int) -> str:
    left, right = (expression(scope, kind, depth) for _ in range(2))
    if kind.size == 1 or scope.draw(st.booleans()):
        return f"(({_condition(scope, depth - 1)}) ? ({left}) : ({right}))"
    other = scope.draw(st.sampled_from([k for k in KINDS if k.size == kind.size and mask_of(k) == mask_of(kind)]))
    one, two = (expression(scope, other, depth - 1) for _ in range(2))
    operator = scope.draw(st.sampled_from(["<", ">=", "=="]))
    return f"((({one}) {operator} ({two})) ? ({left}) : ({right}))"


def _parted(scope: Scope, kind: Kind, depth: int) -> str:
    """Components of a vector, or a vector from its parts."""
    if kind.size == 1 or scope.draw(st.booleans()):
        source = Kind(kind.element, scope.draw(st.sampled_from(SIZES[1:])))
        picks = "".join(scope.draw(st.sampled_from(DIGITS[: source.size])) for _ in range(kind.size))
        return f"(({expression(scope, source, depth)}).s{picks})"
    parts = [expression(scope, Kind(kind.element, size), depth) for size in PARTS[kind.size]]
    return f"(({kind})({', '.join(parts)}))"


def _called(scope: Scope, kind: Kind, depth: int) -> str:
    one, two = (expression(scope, kind, depth) for _ in range(2))
    if kind.is_float:
        name = scope.draw(st.sampled_from([*ONE_FLOAT, "max", "min", "copysign", "fmax"]))
        if name in ONE_FLOAT:
            return f"{name}({one})"
        return f"{name}({one}, {two})"
    name = scope.draw(st.sampled_from([*ONE_INTEGER, "max", "min", "add_sat", "sub_sat", "mul_hi", "rotate", "hadd"]))
    if name in ONE_INTEGER:
        return f"{name}(({kind})({one}))"
    return f"{name}(({kind})({one}), ({kind})({two}))"


# --- statements ------------------------------------------------------------------------------------


def statement(scope: Scope, depth: int, in_loop: bool) -> list[str]:
    makers = [_assign, _assign, _step, _part_assign, _declare]
    if depth > 0:
        makers += [_branch, _loop, _switch, _array]
    if in_loop:
        makers.append(_leave)
    return scope.draw(st.sampled_from(makers))(scope, depth)


def block(scope: Scope, depth: int, in_loop: bool) -> list[str]:
    """Statements with variables of their own."""
    inner = Scope(scope.draw, dict(scope.variables), set(scope.fixed), scope.names)
    lines = [line for _ in range(scope.draw(st.integers(1, 3))) for line in statement(inner, depth, in_loop)]
    scope.names = inner.names
    return lines


def _target(scope: Scope) -> str:
    return scope.draw(st.sampled_from([name for name in scope.variables if name not in scope.fixed]))


def _assign(scope: Scope, depth: int) -> list[str]:
    name = _target(scope)
    return [f"{name} = {expression(scope, scope.variables[name], 3)};"]


def _step(scope: Scope, depth: int) -> list[str]:
    name = _target(scope)
    kind = scope.variables[name]
    if kind.is_float:
        return [f"{name} -= {name};", f"{name} += {expression(scope, kind, 1)};"]
    if kind.element in ("int", "long"):
        return [f"{name} {scope.pick('&=', '|=', '^=', '>>=')} {expression(scope, kind, 2)};"]
    if kind.size == 1 and scope.draw(st.booleans()):
        return [f"{scope.pick('++', '--')}{name};"]
    operator = scope.pick("+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=")
    if kind.element in ("short", "ushort") and operator == "*=":
        operator = "+="  # promoted to int, it would overflow
    if kind.element in ("char", "short") and operator == "<<=":
        operator = ">>="
    return [f"{name} {operator} {expression(scope, kind, 2)};"]


def _part_assign(scope: Scope, depth: int) -> list[str]:
    vectors = [name for name, kind in scope.variables.items() if kind.size > 1 and name not in scope.fixed]
    if not vectors:
        return _declare(scope, depth)
    name = scope.draw(st.sampled_from(vectors))
    kind = scope.variables[name]
    count = scope.draw(st.sampled_from([size for size in SIZES if size <= kind.size]))
    parts = scope.draw(st.permutations(DIGITS[: kind.size]))[:count]
    return [f"{name}.s{''.join(parts)} = {expression(scope, Kind(kind.element, count), 2)};"]


def _declare(scope: Scope, depth: int) -> list[str]:
    kind = scope.draw(st.sampled_from(KINDS))
    line = f"{kind} {{}} = {expression(scope, kind, 2)};"
    name = scope.name()
    scope.variables[name] = kind
    return [line.format(name)]


def _branch(scope: Scope, depth: int) -> list[str]:
    lines = [f"if ({_condition(scope, 1)}) {{", *block(scope, depth - 1, False), "}"]
    if scope.draw(st.booleans()):
        lines[-1:] = ["} else {", *block(scope, depth - 1, False), "}"]
    return lines


def _loop(scope: Scope, depth: int) -> list[str]:
    name, count = scope.name(), scope.draw(st.integers(1, 5))
    inner = Scope(scope.draw, {**scope.variables, name: Kind("int", 1)}, {*scope.fixed, name}, scope.names)
    body = block(inner, depth - 1, True)
    scope.names = inner.names
    form = scope.pick("for", "while", "do")
    if form == "for":
        return [f"for (int {name} = 0; {name} < {count}; ++{name}) {{", *body, "}"]
    if form == "while":
        return [f"{{ int {name} = {count}; while ({name}-- > 0) {{", *body, "} }"]
    return [f"{{ int {name} = 0; do {{", *body, f"}} while (++{name} < {count}); }}"]


def _leave(scope: Scope, depth: int) -> list[str]:
    return [f"if ({_condition(scope, 1)}) {scope.pick('break', 'continue')};"]


def _switch(scope: Scope, depth: int) -> list[str]:
    lines = [f"switch (({expression(scope, Kind(scope.draw(st.sampled_from(INTEGERS)), 1), 2)}) & 3) {{"]
    for label in scope.draw(st.permutations(["case 0", "case 1", "case 2", "default"])):
        lines += [f"{label}: {{", *block(scope, depth - 1, False), "}"]
        lines += ["break;"] if scope.draw(st.booleans()) else []
    return [*lines, "}"]


def _array(scope: Scope, depth: int) -> list[str]:
    """An array with a computed index, or the same through a pointer."""
    kind = scope.draw(st.sampled_from(KINDS))
    name, array, size = scope.name(), scope.name(), scope.draw(st.sampled_from((2, 4, 8)))
    index = f"({expression(scope, Kind('uint', 1), 1)}) & {size - 1}"
    given = ", ".join(expression(scope, kind, 1) for _ in range(scope.draw(st.integers(1, size))))
    value = expression(scope, kind, 2)
    lines = [f"{kind} {array}[{size}] = {{{given}}}; {array}[{index}] = {value};"]
    if scope.draw(st.booleans()):
        lines += [f"{kind} *p{array} = {array} + {size // 2}; *(p{array} - 1) = p{array}[0];"]
    lines += [f"{kind} {name} = {array}[{index}];"]
    scope.variables[name] = kind
    return lines


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The body of `void f(int n, int i, global ulong *out)`: 8 results, from two arguments of which i is an index."""
    scope = Scope(draw, {"n": Kind("int", 1), "i": Kind("int", 1)}, {"i"})
    lines: list[str] = []
    for _ in range(3):
        lines += _declare(scope, 0)
    for _ in range(draw(st.integers(2, 6))):
        lines += statement(scope, 2, False)
    for slot, (name, kind) in enumerate(list(scope.variables.items())[-8:]):
        for part in range(min(kind.size, 2)):
            value = name if kind.size == 1 else f"{name}.s{DIGITS[(part + slot) % kind.size]}"
            if kind.is_float:
                value = f"as_ulong((double)({value}))"
            lines.append(f"out[{slot * 2 + part}] = (ulong)({value});")
    return "\n    ".join(lines)
