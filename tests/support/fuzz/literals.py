"""Constants in all spellings."""

from __future__ import annotations

from .kinds import FLOATS, Kind
from .scope import Scope

EDGES = (0, 1, 2, 7, 127, 128, 255, 256, 32767, 32768, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1)
SUFFIXES = {"int": "", "uint": "u", "long": "L", "ulong": "UL"}
LIMITS = {
    **{"char": ("CHAR_MAX", "SCHAR_MIN"), "uchar": ("UCHAR_MAX",), "short": ("SHRT_MAX", "SHRT_MIN")},
    **{"ushort": ("USHRT_MAX",), "int": ("INT_MAX", "INT_MIN", "CHAR_BIT"), "uint": ("UINT_MAX",)},
    **{"long": ("LONG_MAX", "LONG_MIN"), "ulong": ("ULONG_MAX",)},
}
FLOAT_SUFFIXES = {"half": "h", "float": "f", "double": ""}


def literal(scope: Scope, kind: Kind) -> str:
    """Return a constant of exactly this type."""
    if kind.element == "bool":
        return scope.pick("true", "false", "(bool)2")
    if kind.is_float:
        element = scope.random.choice(FLOATS) if scope.chance(20) else kind.element
        return _of_kind(kind, _float(scope, element), Kind(element))
    if scope.chance(8):
        return _of_kind(kind, scope.random.choice(LIMITS[kind.element]), None)
    text, element = integer(scope)
    return _of_kind(kind, text, Kind(element))


def _of_kind(kind: Kind, text: str, natural: Kind | None) -> str:
    return text if kind == natural else f"({kind})({text})"


def _float(scope: Scope, element: str) -> str:
    value = scope.random.randrange(0, 512) / scope.pick(1, 8, 64)
    sign, suffix = scope.pick("", "", "-"), FLOAT_SUFFIXES[element]
    form = scope.random.randrange(4)
    if form == 0 and suffix != "h":
        return f"{sign}{value.hex()}{suffix}"
    if form == 1:
        return f"{sign}{value:.6e}{suffix}"
    if form == 2 and value < 1:
        return f"{sign}{repr(value)[1:]}{suffix}"
    return f"{sign}{value!r}{suffix}"


def integer(scope: Scope) -> tuple[str, str]:
    """Return an integer literal and its type (OpenCL C 3.0, 6.1 and C99 6.4.4.1)."""
    if scope.chance(4):
        return scope.pick("'a'", "'\\n'", "'\\x41'", "'\\0'", "'\\\\'"), "int"
    value = scope.pick(scope.random.randrange(100), scope.random.choice(EDGES), scope.random.getrandbits(30))
    base = scope.pick("d", "d", "x", "o")
    suffix = scope.pick("", "", "u", "L", "UL", "U", "l", "lu")
    digits = {"d": f"{value}", "x": f"0x{value:X}", "o": f"0{value:o}"}[base]
    candidates = [name for name in ("int", "uint", "long", "ulong") if _allowed(name, base, suffix.lower())]
    fitting = [name for name in candidates if value <= _greatest(name)]
    return digits + suffix, fitting[0]


def _allowed(name: str, base: str, suffix: str) -> bool:
    """Return whether a literal with this base and suffix may have this type."""
    unsigned, long = name[0] == "u", name.endswith("long")
    if "l" in suffix and not long:
        return False
    return unsigned if "u" in suffix else not unsigned or base != "d"


def _greatest(name: str) -> int:
    bits = 8 * Kind(name).width - (name[0] != "u")
    return (1 << bits) - 1
