"""Calls of OpenCL C's builtins with exact results, and of the program's functions."""

from __future__ import annotations

from collections.abc import Callable

from .kinds import Array, Kind, Pointer
from .objects import accessed, bounded, call, place
from .scope import Scope
from .tree import Node

UNARY = ("popcount", "clz", "ctz")
BINARY = ("max", "min", "add_sat", "sub_sat", "mul_hi", "rotate", "hadd", "rhadd")
FLOAT_UNARY = ("fabs", "floor", "ceil", "trunc", "rint", "round", "sign")
FLOAT_BINARY = ("max", "min", "copysign", "step", "fmax", "fmin")
PREDICATES = ("isequal", "isnotequal", "isgreater", "islessequal", "isless", "islessgreater", "isordered")
# size of a float in bytes -> the mask of its mantissa, and the pattern of 1.0
TAME = {2: ("0x3ff", "0x3c00"), 4: ("0x7fffff", "0x3f800000"), 8: ("0xfffffffffffffUL", "0x3ff0000000000000UL")}
NARROWER = {"short": "char", "ushort": "uchar", "int": "short", "uint": "ushort", "long": "int", "ulong": "uint"}


def called(scope: Scope, kind: Kind, depth: int) -> Node:
    if scope.chance(30):
        found = _function(scope, kind, depth)
        if found:
            return found
    return scope.make(FLOAT_MAKERS if kind.is_float else INTEGER_MAKERS, kind, depth)


def _function(scope: Scope, kind: Kind, depth: int) -> Node | None:
    functions = [function for function in scope.shared.functions if function.result == kind and function.pure]
    return call(scope, scope.random.choice(functions), depth) if functions else None


def _simple(scope: Scope, kind: Kind, depth: int) -> Node:
    names = (FLOAT_UNARY, FLOAT_BINARY) if kind.is_float else (UNARY, BINARY)
    one = scope.expression(kind, depth)
    if scope.chance(25):
        return Node(kind, (f"{scope.random.choice(names[0])}(", one, ")"))
    name = scope.random.choice(names[1])
    two = scope.expression(kind.scalar if name in ("max", "min") and scope.chance(25) else kind, depth)
    if kind.is_float and name[-3:] in ("max", "min"):
        # The sign of a zero result is unspecified for fmax and fmin, and differs on the device for max and min: add 0.
        return Node(kind, (f"({name}(", one, ", ", two, f") + ({kind})(0))"))
    return Node(kind, (f"{name}(", one, ", ", two, ")"))


def _clamped(scope: Scope, kind: Kind, depth: int) -> Node:
    if kind.is_float:
        limits = ("-2.5", "1000")
    else:
        limits = scope.pick(("3", "100"), ("1", "77"), ("0", "127"))
    of = kind.scalar if scope.chance(40) else kind
    return Node(kind, ("clamp(", scope.expression(kind, depth), *(f", ({of})({limit})" for limit in limits), ")"))


def _distance(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a call for absolute values or differences, whose results are unsigned."""
    if not kind.is_unsigned:
        return _simple(scope, kind, depth)
    source = scope.pick(kind, kind.signed)
    one, two = (scope.expression(source, depth) for _ in range(2))
    return Node(kind, ("abs(", one, ")") if scope.chance(50) else ("abs_diff(", one, ", ", two, ")"))


def _widened(scope: Scope, kind: Kind, depth: int) -> Node:
    if kind.element not in NARROWER:
        return _simple(scope, kind, depth)
    high = Kind(NARROWER[kind.element], kind.size)
    parts = (scope.expression(high, depth), ", ", scope.expression(high.unsigned, depth))
    return Node(kind, ("upsample(", *parts, ")"))


def _short_products(scope: Scope, kind: Kind, depth: int) -> Node:
    if kind.element not in ("int", "uint"):
        return _widened(scope, kind, depth)
    one, two = (Node(kind, ("((", scope.expression(kind, depth), f") & ({kind})(0x7ff))")) for _ in range(2))
    if scope.chance(50):
        return Node(kind, ("mul24(", one, ", ", two, ")"))
    third = Node(kind, ("((", scope.expression(kind, depth), f") >> ({kind})1)"))
    third = Node(kind, ("(", third, f" & ({kind})(0xffffff))"))
    return Node(kind, ("mad24(", one, ", ", two, ", ", third, ")"))


def _selected(scope: Scope, kind: Kind, depth: int) -> Node:
    one, two = (scope.expression(kind, depth) for _ in range(2))
    if kind.is_float or scope.chance(50):
        mask = scope.expression(scope.pick(kind.mask, kind.mask.unsigned), depth)
        return Node(kind, ("select(", one, ", ", two, ", ", mask, ")"))
    return Node(kind, ("bitselect(", one, ", ", two, ", ", scope.expression(kind, depth), ")"))


def _predicate(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a named comparison: an int for scalars, a mask for vectors."""
    if kind.size == 1:
        if kind.element != "int":
            return _simple(scope, kind, depth)
        operand = Kind(scope.pick("half", "float", "double"))
    else:
        floats = {"short": "half", "int": "float", "long": "double"}
        if kind.element not in floats:
            return _simple(scope, kind, depth)
        operand = Kind(floats[kind.element], kind.size)
    one, two = (scope.expression(operand, depth) for _ in range(2))
    if scope.chance(20):
        return Node(kind, (f"{scope.pick('signbit', 'isnan', 'isfinite')}(", one, ")"))
    return Node(kind, (f"{scope.random.choice(PREDICATES)}(", one, ", ", two, ")"))


def _shuffled(scope: Scope, kind: Kind, depth: int) -> Node:
    # The device lacks `shuffle` of halves, and the language lacks that of three components.
    if kind.size in (1, 3) or kind.element == "half":
        return _simple(scope, kind, depth)
    source = Kind(kind.element, scope.pick(2, 4, 8, 16))
    places = Kind(kind.mask.unsigned.element, kind.size)
    mask = scope.expression(places, depth)
    one, two = (scope.expression(source, depth) for _ in range(2))
    # If Intel's own compiler can compute a mask at compile time, it also uses bits that must not count: seeds 920908,
    # 923384.
    if scope.chance(50):
        return Node(kind, ("shuffle(", one, ", (", mask, f") & ({places})({source.size - 1}))"))
    return Node(kind, ("shuffle2(", one, ", ", two, ", (", mask, f") & ({places})({2 * source.size - 1}))"))


def _loaded(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return a vector loaded from an array of its elements."""
    found = [
        (variable, path)
        for variable, path in scope.places(lambda type_: _holds(type_, kind))
        if path.addressable or isinstance(path.type, Pointer)
    ]
    if kind.size == 1 or not found:
        return accessed(scope, kind, depth)
    variable, path = scope.random.choice(found)
    return Node(kind, (f"vload{kind.size}(0, ", place(scope, variable, path), ")"))


def _holds(type_: object, kind: Kind) -> bool:
    if isinstance(type_, Pointer):
        return type_.target == kind.scalar and type_.count >= kind.size
    return isinstance(type_, Array) and type_.element == kind.scalar and type_.count >= kind.size


def _fused(scope: Scope, kind: Kind, depth: int) -> Node:
    one, two, three = (scope.expression(kind, depth) for _ in range(3))
    return bounded(kind, "fma(", one, ", ", two, ", ", three, ")")


def _scaled(scope: Scope, kind: Kind, depth: int) -> Node:
    count = scope.random.randrange(-3, 4)
    # The device's own compiler lacks `ldexp` of a vector of halves and a scalar.
    exponent = Kind("int", kind.size if kind.element == "half" else scope.pick(1, kind.size))
    return bounded(kind, "ldexp(", scope.expression(kind, depth), f", ({exponent})({count}))")


def _tame_bits(scope: Scope, kind: Kind, depth: int) -> Node:
    """Return random mantissa bits with the exponent of 1.0."""
    bits = kind.mask.unsigned
    low, one = TAME[kind.width]
    inner = scope.expression(bits, depth)
    return Node(kind, (f"as_{kind}(({bits})(((", inner, f") & ({bits})({low})) | ({bits})({one})))"))


Maker = Callable[[Scope, Kind, int], Node]
INTEGER_MAKERS: tuple[tuple[int, Maker], ...] = (
    *((6, _simple), (2, _clamped), (2, _distance), (1, _widened), (1, _short_products)),
    *((2, _selected), (2, _predicate), (2, _shuffled), (2, _loaded)),
)
FLOAT_MAKERS: tuple[tuple[int, Maker], ...] = (
    *((6, _simple), (2, _clamped), (2, _selected), (1, _shuffled), (2, _loaded), (1, _fused), (1, _scaled)),
    (1, _tame_bits),
)
