"""Expressions of scalars and vectors: defined for all values of their variables, and without side effects.

Signed arithmetic stays in range by shifted operands, or wraps through unsigned types. Divisors are odd. Shift counts
are arbitrary (OpenCL C 3.0, 6.3.j, takes them modulo the width). Results of float arithmetic are clamped, which also
keeps multiplications and additions from being contracted.
"""

from __future__ import annotations

from collections.abc import Callable

from .builtins import called
from .kinds import FLOATS, INTEGERS, KINDS, SIZES, VECTORS, Kind, promoted, usual
from .literals import integer, literal
from .objects import accessed, bounded, distance, read, record_member
from .scope import Scope
from .tree import CONDITION, Node

PARTS = {2: ((1, 1),), 3: ((1, 2), (2, 1), (1, 1, 1)), 4: ((3, 1), (2, 2), (1, 1, 1, 1), (1, 2, 1))}
PARTS |= {8: ((4, 4), (1, 3, 4), (2, 2, 2, 2)), 16: ((8, 8), (4, 4, 8), (3, 1, 4, 8))}
DIGITS, LETTERS = "0123456789abcdef", "xyzw"
ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
Makers = tuple[tuple[int, Callable[[Scope, Kind, int], Node]], ...]


def expression(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return an expression of exactly this type."""
    if depth <= 0 or scope.chance(8):
        return leaf(scope, kind)
    if scope.constant:
        return scope.make(CONSTANT_MAKERS, kind, depth - 1)
    if kind.element == "bool":
        return scope.make(BOOL_MAKERS, kind, depth - 1)
    makers = FLOAT_MAKERS if kind.is_float else INTEGER_MAKERS
    return scope.make(makers if kind.size == 1 else makers + VECTOR_MAKERS, kind, depth - 1)


def leaf(scope: Scope, kind: Kind) -> Node:
    if scope.constant or scope.chance(15):
        return Node(kind, (literal(scope, kind),))
    return read(scope, kind, 0) or _borrowed(scope, kind) or Node(kind, (literal(scope, kind),))


def _borrowed(scope: Scope, kind: Kind) -> Node | None:
    """Return a scalar variable of another type, converted to this type."""
    elements = FLOATS if kind.is_float else INTEGERS
    fallback = Kind("float" if kind.is_float else "int")
    found = read(scope, Kind(scope.random.choice(elements)), 0) or read(scope, fallback, 0)
    if found is None or kind.element == "bool":
        return None
    return Node(kind, (f"({kind})" if kind.size > 1 else "", f"(({kind.scalar})", found, ")"))


def value(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return an expression that converts implicitly to this type."""
    if kind.size > 1 or scope.chance(50):
        if kind.size > 1 and scope.chance(10):
            return Node(kind, (expression(scope, kind.scalar, depth),))
        return expression(scope, kind, depth)
    if kind.is_float:
        # Wider integers would exceed the bound of floats.
        return Node(kind, (expression(scope, Kind(scope.pick(*FLOATS, "char", "uchar", "bool")), depth),))
    if kind.element in ("short", "int", "long", "bool") and not scope.constant and scope.chance(20):
        return Node(kind, (expression(scope, Kind(scope.random.choice(FLOATS)), depth),))
    return Node(kind, ("(", _natural(scope, depth)[0], ")"))


def condition(scope: Scope, depth: int) -> Node:
    """Return a scalar of any type, which is compared with zero."""
    return scope.make(CONDITION_MAKERS, depth - 1)


def any_kind(scope: Scope, size: int, floats: bool = True) -> Kind:
    return Kind(scope.random.choice((*INTEGERS, *FLOATS) if floats else INTEGERS), size)


# --- conversions -----------------------------------------------------------------------------------


def _converted(scope: Scope, kind: Kind, depth: int) -> Node:
    source = any_kind(scope, kind.size)
    if kind.size == 1 and scope.chance(10):
        source = Kind("bool")
    inner = expression(scope, source, depth)
    if source.element == "bool" or (kind.size == 1 and scope.chance(40) and not source.is_float and not kind.is_float):
        return Node(kind, (f"({kind})(", inner, ")"))
    rounding = scope.random.choice(ROUNDINGS)
    if kind.is_float:
        converted = (f"convert_{kind}{rounding}(", inner, ")")
        return Node(kind, converted) if source.is_float else bounded(kind, *converted)
    if source.is_float and scope.chance(50):
        return _cut(scope, kind, source, rounding, inner)
    saturated = "_sat" if source.is_float or scope.chance(40) else ""
    return Node(kind, (f"convert_{kind}{saturated}{rounding}(", inner, ")"))


def _cut(scope: Scope, kind: Kind, source: Kind, rounding: str, inner: Node) -> Node:
    """Return a float converted, without saturation, to an integer that can represent it."""
    if kind.element == "char":
        inner = Node(source, ("clamp(", inner, f", ({source})(-99), ({source})(99))"))
    elif kind.element == "uchar":
        inner = Node(source, ("clamp(", inner, f", ({source})(0), ({source})(200))"))
    elif kind.is_unsigned:
        inner = Node(source, ("fabs(", inner, ")"))
    if kind.size == 1 and scope.chance(50):
        return Node(kind, (f"({kind})(", inner, ")"))
    return Node(kind, (f"convert_{kind}{rounding}(", inner, ")"))


def _sign(kind: Kind) -> str:
    """Return the sign bit of a float, as a macro of `workers`."""
    return f"SIGN({kind.mask.unsigned.scalar}, {kind.width * 8 - 1})"


def _reinterpreted(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return reinterpreted bits: integers from any type, floats only from floats with another sign."""
    if kind.is_float:
        bits = kind.mask.unsigned
        inner = expression(scope, kind, depth)
        sign = f"({bits})({_sign(kind)})"
        return Node(kind, (f"as_{kind}(({bits})(as_{bits}(", inner, f") {scope.pick('^', '|')} {sign}))"))
    total = kind.width * kind.size
    sources = [other for other in KINDS if other.width * other.size == total and (other.size == 3) == (kind.size == 3)]
    return Node(kind, (f"as_{kind}(", expression(scope, scope.random.choice(sources), depth), ")"))


# --- arithmetic ------------------------------------------------------------------------------------


def _operation(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a binary operation on two operands of the same type, or on a vector and a scalar."""
    left = expression(scope, kind, depth)
    if kind.is_float:
        if kind.size == 1 or scope.chance(60):
            right = expression(scope, kind, depth)
        else:
            right = expression(scope, Kind(scope.pick(kind.element, "char", "uchar", "short")), depth)
        return bounded(kind, "(", left, f") {scope.random.choice('+-*')} (", right, ")")
    right = expression(scope, kind if kind.size == 1 or scope.chance(70) else kind.scalar, depth)
    operator = scope.pick("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%")
    if operator in "+-*":
        wide = Kind("ulong") if kind.size == 1 else kind.unsigned
        cast = f"({wide})" if kind.size == 1 else f"as_{wide}"
        if right.kind != kind:
            return Node(kind, (f"as_{kind}({cast}(", left, f") {operator} ({wide.scalar})(", right, "))"))
        back = f"({kind})" if kind.size == 1 else f"as_{kind}"
        return Node(kind, (f"{back}({cast}(", left, f") {operator} {cast}(", right, "))"))
    back = f"({kind})" if kind.size == 1 else ""
    if operator in "/%":
        shift = "" if kind.is_unsigned else f" >> ({kind})1"
        return Node(kind, (f"({back}(((", left, f"){shift}) {operator} (", _odd(kind, right), ")))"))
    return Node(kind, (f"({back}((", left, f") {operator} (", right, ")))"))


def _odd(kind: Kind, right: Node) -> Node:
    assert isinstance(right.kind, Kind)
    return Node(right.kind, (f"({right.kind})((", right, f") | ({right.kind})1)"))


def _unary(scope: Scope, kind: Kind, depth: int) -> Node:
    inner = expression(scope, kind, depth)
    if kind.is_float:
        if scope.shared.exchanges and not scope.constant and scope.chance(50):
            return Node(kind, (f"NEGATED({kind}, {kind.mask.unsigned}, {_sign(kind)}, ", inner, ")"))
        return Node(kind, (scope.pick("(-(", "(+(") if not scope.shared.exchanges else "(+(", inner, "))"))
    back = f"({kind})" if kind.size == 1 else ""
    if scope.chance(50):
        return Node(kind, (f"({back}(~(", inner, ")))"))
    cast = f"(ulong)({kind})" if kind.size == 1 else f"as_{kind.unsigned}"
    return Node(kind, (f"{f'({kind})' if kind.size == 1 else f'as_{kind}'}(-{cast}(", inner, "))"))


def _mixed(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return an operation on different scalar types, with the usual arithmetic conversions."""
    if not kind.is_float:
        return Node(kind, (f"({kind})(", _natural(scope, depth)[0], ")"))
    elements = [scope.random.choice(FLOATS), scope.random.choice((*FLOATS, *INTEGERS))]
    scope.random.shuffle(elements)
    result = Kind(usual(*elements))
    operator = scope.random.choice("+-*")
    if operator == "*" and result.element == "half" and not set(elements) <= {"half", "char", "uchar", "short"}:
        operator = "+"  # infinity times zero
    left, right = (expression(scope, Kind(element), depth) for element in elements)
    return Node(kind, (f"({kind})", bounded(result, "(", left, f") {operator} (", right, ")")))


def _natural(scope: Scope, depth: int) -> tuple[Node, str]:
    """Return an integer expression without a cast, and its type by C's rules."""
    form = scope.random.randrange(10)
    if form == 0 or depth <= 0:
        text, element = integer(scope)
        return Node(Kind(element), (text,)), element
    left, right = (scope.pick(*INTEGERS, "bool") for _ in range(2))
    one = expression(scope, Kind(left), depth - 1)
    if form == 1:
        return _natural_unary(scope, left, one)
    two = expression(scope, Kind(right), depth - 1)
    result = usual(left, right)
    if form == 2:
        return Node(Kind(result), (condition(scope, depth - 1), " ? ", one, " : ", two)), result
    if form == 3:
        return Node(Kind("int"), ("(", one, f") {scope.random.choice(COMPARISONS)} (", two, ")")), "int"
    operator = scope.pick("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
    if operator in ("<<", ">>"):
        return Node(Kind(promoted(left)), ("(", one, f") {operator} (", two, ")")), promoted(left)
    if operator in "/%":
        two = Node("odd", ("((", two, ") | 1)"))
    shifts = [_room(operator, element, result, number) for number, element in enumerate((left, right))]
    parts = ("((", one, f"){shifts[0]}) {operator} ((", two, f"){shifts[1]})")
    return Node(Kind(result), parts), result


def _room(operator: str, element: str, result: str, number: int) -> str:
    """Return the suffix that makes an operand so small that a signed result does not overflow."""
    if result[0] == "u" or operator in "&|^" or (operator in "/%" and number == 1):
        return ""
    if operator == "*":
        if element == result:
            return f" >> {4 * Kind(result).width}"
        return " >> 1" if element == "ushort" and result == "int" else ""
    return " >> 1" if element == result else ""


def _natural_unary(scope: Scope, element: str, inner: Node) -> tuple[Node, str]:
    operator, result = scope.pick("-", "~", "+", "!"), promoted(element)
    if operator == "!":
        return Node(Kind("int"), ("!(", inner, ")")), "int"
    room = " >> 1" if operator == "-" and element == result and result[0] != "u" else ""
    return Node(Kind(result), (f"{operator}((", inner, f"){room})")), result


# --- choices ---------------------------------------------------------------------------------------


def _chosen(scope: Scope, kind: Kind, depth: int) -> Node:
    left, right = (expression(scope, kind, depth) for _ in range(2))
    if kind.size == 1 or scope.chance(40):
        # Narrow operands are promoted, so cast the result.
        cast = f"({kind})" if kind.size == 1 and promoted(kind.element) != kind.element else ""
        return Node(kind, (f"({cast}((", condition(scope, depth), ") ? (", left, ") : (", right, ")))"))
    mask = expression(scope, scope.pick(kind.mask, kind.mask.unsigned), depth)
    if scope.chance(40):
        return Node(kind, ("select(", right, ", ", left, ", ", mask, ")"))
    return Node(kind, (f"((as_{kind.mask}(", mask, ")) ? (", left, ") : (", right, "))"))


def _compared(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a mask from a comparison or logical operation on vectors: all bits of an element are set, or none."""
    others = [other for other in VECTORS if other.mask == kind]
    if not others:
        return _operation(scope, kind, depth)
    other = scope.random.choice(others)
    one = expression(scope, other, depth)
    if scope.chance(10) and not other.is_float:
        return Node(kind, ("(!(", one, "))"))
    operators = COMPARISONS if other.is_float else (*COMPARISONS, "&&", "||")
    two = expression(scope, other if scope.chance(80) else other.scalar, depth)
    return Node(kind, ("((", one, f") {scope.random.choice(operators)} (", two, "))"))


def _comparison(scope: Scope, depth: int) -> Node:
    elements = (*INTEGERS, *FLOATS, "bool") if not scope.constant else INTEGERS
    left, right = (Kind(scope.random.choice(elements)) for _ in range(2))
    if scope.chance(50):
        right = left
    one, two = (expression(scope, kind, depth) for kind in (left, right))
    return Node(CONDITION, ("(", one, f") {scope.random.choice(COMPARISONS)} (", two, ")"))


def _joined(scope: Scope, depth: int) -> Node:
    one, two = (condition(scope, depth) for _ in range(2))
    return Node(CONDITION, ("(", one, f") {scope.pick('&&', '||')} {scope.pick('', '!')}(", two, ")"))


def _truth(scope: Scope, depth: int) -> Node:
    """Return a number as a truth value; a float is negated, since it may not precede a `?` (6.3.i)."""
    kind = Kind(scope.pick(*INTEGERS, *FLOATS, "bool") if not scope.constant else scope.random.choice(INTEGERS))
    return Node(CONDITION, (scope.pick("!", "!!" if kind.is_float else ""), "(", expression(scope, kind, depth), ")"))


def _tested(scope: Scope, depth: int) -> Node:
    if scope.constant:
        return _truth(scope, depth)
    kind = scope.random.choice(VECTORS)
    return Node(CONDITION, (f"{scope.pick('any', 'all')}(", expression(scope, kind.mask, depth), ")"))


def _as_bool(scope: Scope, kind: Kind, depth: int) -> Node:
    return Node(kind, ("(bool)(", condition(scope, depth), ")"))


def _by_type(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a _Generic selection, whose controlling expression is not evaluated."""
    told = scope.random.choice(KINDS)
    other = told if scope.chance(50) else scope.random.choice(KINDS)
    one, two = (expression(scope, kind, depth) for _ in range(2))
    # The cast is necessary: clang keeps the address space in the type of a swizzle, which then matches no association.
    parts = (f"_Generic(({told})(", expression(scope, told, 1), f"), {other}: (", one, "), default: (", two, "))")
    return Node(kind, parts)


# --- vectors ---------------------------------------------------------------------------------------


def _component(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return some components of a vector."""
    inner = expression(scope, Kind(kind.element, scope.random.choice(SIZES[1:])), depth)
    return Node(kind, ("(", inner, f").{selection(scope, inner.kind.size, kind.size)}"))  # type: ignore[attr-defined]


def selection(scope: Scope, size: int, count: int, distinct: bool = False) -> str:
    """Return a name for `count` components of a vector, distinct ones if they are written."""
    halves = [name for name in ("lo", "hi", "even", "odd") if count * 2 == size]
    if halves and scope.chance(30):
        return scope.random.choice(halves)
    numbers = range(size)
    taken = scope.random.sample(numbers, count) if distinct else [scope.random.choice(numbers) for _ in range(count)]
    if max(taken) < 4 and scope.chance(40):
        return "".join(LETTERS[number] for number in taken)
    names = "".join(DIGITS[number] for number in taken)
    return scope.pick("s", "S") + (names.upper() if scope.chance(20) else names)


def _assembled(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a vector made from parts, or from one scalar."""
    if scope.chance(25):
        return Node(kind, (f"(({kind})(", value(scope, kind.scalar, depth), "))"))
    parts: list[str | Node] = []
    for size in scope.random.choice(PARTS[kind.size]):
        parts += [", ", expression(scope, Kind(kind.element, size), depth)]
    return Node(kind, (f"(({kind})(", *parts[1:], "))"))


def _measured(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a size or an enumerator."""
    if scope.shared.enumerators and scope.chance(40):
        return Node(kind, (f"({kind})", scope.random.choice(scope.shared.enumerators)))
    if scope.constant or scope.chance(40):
        named = scope.random.choice([*map(str, KINDS), *map(str, scope.shared.records)])
        return Node(kind, (f"({kind})sizeof({named})",))
    inner = expression(scope, scope.random.choice(KINDS), min(depth, 1))
    return Node(kind, (f"({kind}){scope.pick('sizeof(', 'vec_step(')}", inner, ")"))


def _macro(scope: Scope, kind: Kind, depth: int) -> Node:
    found = [macro for macro in scope.shared.macros if macro.result == kind]
    if not found:
        return _converted(scope, kind, depth)
    macro = scope.random.choice(found)
    parts: list[str | Node] = []
    for parameter in macro.parameters:
        parts += [", ", expression(scope, parameter, depth - 1)]
    return Node(kind, (f"{macro.name}(", *parts[1:], ")"))


CONDITION_MAKERS = ((5, _comparison), (2, _joined), (2, _truth), (1, _tested))
BOOL_MAKERS = ((1, _as_bool),)
SHARED_MAKERS: Makers = (
    *((6, _converted), (5, _operation), (2, _unary), (3, _chosen), (5, called), (3, accessed)),
    *((1, _reinterpreted), (2, record_member), (2, _macro), (1, _by_type)),
)
INTEGER_SCALARS: Makers = ((12, _mixed), (2, _measured), (1, distance))
CONSTANT_MAKERS: Makers = ((4, _mixed), (3, _operation), (1, _measured), (2, _chosen), (2, _unary))


def _scalar_or_vector(scope: Scope, kind: Kind, depth: int) -> Node:
    if kind.size > 1:
        return _assembled(scope, kind, depth)
    return scope.make(INTEGER_SCALARS if not kind.is_float else ((1, _mixed),), kind, depth)


INTEGER_MAKERS: Makers = (*SHARED_MAKERS, (7, _scalar_or_vector), (3, _component))
FLOAT_MAKERS: Makers = (*SHARED_MAKERS, (3, _scalar_or_vector), (3, _component))
VECTOR_MAKERS: Makers = ((3, _assembled),)
