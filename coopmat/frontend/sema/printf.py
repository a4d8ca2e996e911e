"""Calls of printf (OpenCL C 3.0, section 6.15.14): argument promotion and the check against the format string.

The check is clang's -Wformat for OpenCL C. An argument whose type does not match its conversion is undefined behaviour,
which is not an error, so it is a warning. The check is stricter than clang's: a vector conversion with length hh
expects a vector of characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...diagnostics import Note
from .. import syntax, typed
from ..typed import Convert, ConvertKind, Expr, StringConst
from ..types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_SIZES,
    AddressSpace,
    CoopMatrixType,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    VectorType,
)
from .context import Context
from .conversions import assign_convert
from .values import convert_arithmetic, promote

FORMAT = PointerType(CHAR, Qualifiers(AddressSpace.CONSTANT, const=True))
_SPECIFICATION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?P<precision>\.(?:\*|\d+)?)?(?P<vector>v\d*)?"
    r"(?P<length>hh|hl|h|ll|l|j|z|t|L)?(?P<conversion>.)?",
    re.DOTALL,
)
_SIGNED, _UNSIGNED, _FLOATS, _OTHERS = "di", "ouxX", "fFeEgGaA", "csp"
# Family -> length -> component type of the vector that the conversion takes.
_VECTORS: dict[str, dict[str, ScalarType]] = {
    _SIGNED: {"": INT, "hh": CHAR, "h": SHORT, "hl": INT, "l": LONG},
    _UNSIGNED: {"": UINT, "hh": UCHAR, "h": USHORT, "hl": UINT, "l": ULONG},
    _FLOATS: {"": DOUBLE, "h": HALF, "hl": FLOAT, "l": DOUBLE},
}
# Length -> argument types, before promotion, that an integer conversion takes, signed or unsigned.
_CHARACTERS, _WORDS, _LONGS = (BOOL, CHAR, UCHAR), (INT, UINT), (LONG, ULONG)
_SMALL = (*_CHARACTERS, SHORT, USHORT, *_WORDS)
_INTEGERS: dict[str, tuple[ScalarType, ...]] = {
    **{"": _SMALL, "hh": (*_CHARACTERS, *_WORDS), "h": _SMALL, "hl": _SMALL},
    **dict.fromkeys(("l", "z", "t"), _LONGS),
}
# Conversions of scalars -> valid lengths; conversion -> flags without a meaning.
_LENGTHS = {_SIGNED: "hh h l z t ll j", _UNSIGNED: "hh h l z t ll j", _FLOATS: "L", "c": "", "s": "", "p": ""}
_BAD_FLAGS = {"d": "#", "i": "#", "u": "#+ ", "o": "+ ", "x": "+ ", "X": "+ ", "c": "#0+ ", "s": "#0+ ", "p": "#0+ "}


def call(c: Context, node: syntax.Call, arguments: list[Expr]) -> Expr:
    """Return the call with promoted arguments, after warnings about the format; `arguments` are rvalues."""
    if not arguments:
        c.fail("argument-count", "'printf' takes a format string", node.span)
    format_string, *rest = arguments
    converted = [assign_convert(c, format_string, FORMAT, format_string.span, "argument 1 of 'printf'")]
    converted += [_promoted(c, argument) for argument in rest]
    literals = string_literals(format_string)
    for literal in literals:
        _check(c, literal, rest)
    if not literals:
        code = "format-nonliteral" if rest else "format-security"
        c.warn(code, "the format string is not a string literal", format_string.span)
    return typed.BuiltinCall(node.span, INT, "printf", "printf", tuple(e.type for e in converted), converted)


def _promoted(c: Context, e: Expr) -> Expr:
    """Apply the default argument promotions; half and float become double if the device has it, as in clang."""
    t = e.type
    if isinstance(t, ScalarType) and t in (HALF, FLOAT):
        return convert_arithmetic(e, DOUBLE if "cl_khr_fp64" in c.features else FLOAT)
    if isinstance(t, ScalarType) and not t.is_bits:
        return promote(e)
    if not isinstance(t, (VectorType, PointerType)):
        notes = [Note("coop_mat_print(m) prints a matrix")] if isinstance(t, CoopMatrixType) else []
        c.fail("no-matching-function", f"'printf' does not take '{t}'", e.span, notes=notes)
    return e


def string_literals(e: Expr) -> list[StringConst]:
    """Return the string literals that the format may be, or none if it may be another string."""
    if isinstance(e, Convert) and e.kind in (ConvertKind.DECAY, ConvertKind.POINTER):
        return string_literals(e.operand)
    if isinstance(e, typed.Conditional):
        sides = [string_literals(side) for side in (e.then, e.otherwise)]
        return [*sides[0], *sides[1]] if all(sides) else []
    return [e] if isinstance(e, StringConst) else []


@dataclass(frozen=True, slots=True)
class _Specification:
    """A conversion specification of a format.

    stars: the number of `*` in it.
    count: the number of vector components, or 1.
    length: the length modifier.
    family: the key in the tables above.
    """

    text: str
    stars: int
    count: int
    length: str
    family: str

    @property
    def expected(self) -> str:
        """The description of the argument type, for messages."""
        if self.count > 1 and (element := _VECTORS.get(self.family, {}).get(self.length)):
            return f"'{VectorType(element, self.count)}'"
        if self.family in (_SIGNED, _UNSIGNED, "c"):
            types = _INTEGERS.get(self.length, ())
            return f"an integer like '{types[-2]}'" if types else "a type that OpenCL C does not have"
        return {"s": "a string", "p": "a pointer"}.get(self.family, "a floating scalar")

    def fits(self, t: Type) -> bool:
        if self.count > 1:
            element = _VECTORS.get(self.family, {}).get(self.length)
            return element is not None and t == VectorType(element, self.count)
        if self.family in (_SIGNED, _UNSIGNED, "c"):
            lengths = "" if self.family == "c" else self.length
            return t in _INTEGERS.get(lengths, ()) and not (self.family == "c" and t == BOOL)
        if self.family == _FLOATS:
            return t in (HALF, FLOAT, DOUBLE) and self.length != "L"
        if self.family == "s":
            return isinstance(t, PointerType) and t.pointee in (CHAR, UCHAR)
        return isinstance(t, PointerType)


def _check(c: Context, literal: StringConst, arguments: Sequence[Expr]) -> None:
    text, span = literal.value.decode("latin-1"), literal.span
    if "\0" in text:
        c.warn("format", "the format string ends at the '\\0' in it", span)
    text = text.partition("\0")[0]
    used = 0
    for match in _SPECIFICATION.finditer(text):
        if match["conversion"] == "%":
            continue
        spec = _specification(c, literal, match)
        if spec is None:
            return
        for number in range(spec.stars + 1):
            if used == len(arguments):
                c.warn("format-insufficient-args", f"'{spec.text}' has no argument", span)
                return
            argument = arguments[used]
            used += 1
            if number < spec.stars and argument.type not in _SMALL:
                c.warn("format", f"'*' takes an 'int', not '{argument.type}'", argument.span)
            elif number == spec.stars and not spec.fits(argument.type):
                c.warn("format", f"'{spec.text}' takes {spec.expected}, not '{argument.type}'", argument.span)
    if used < len(arguments):
        c.warn("format-extra-args", "the format string does not use this argument", arguments[used].span)


def _specification(c: Context, literal: StringConst, match: re.Match[str]) -> _Specification | None:
    """Return one checked conversion specification.

    If the rest of the format cannot be interpreted, report that and return None.
    """
    text, conversion, span = match[0], match["conversion"], literal.span
    if conversion is None:
        c.warn("format", f"the conversion '{text}' is incomplete", span)
        return None
    family = next((f for f in (_SIGNED, _UNSIGNED, _FLOATS, *_OTHERS) if conversion in f), None)
    count = int(match["vector"][1:] or 0) if match["vector"] else 1
    if family is None or (match["vector"] and count not in VECTOR_SIZES):
        prefix = text if text.isprintable() else text[:-1]
        c.warn("format-invalid-specifier", f"'{prefix}' is not a conversion of OpenCL C", span)
        return None
    length = match["length"] or ""
    lengths = " ".join(_VECTORS[family]) if count > 1 and family in _VECTORS else _LENGTHS[family]
    if length and length not in lengths.split():
        c.warn("format", f"the length '{length}' is not valid in '{text}'", span)
    for flag in dict.fromkeys(match["flags"]):
        if flag in _BAD_FLAGS.get(conversion, ""):
            c.warn("format", f"the flag '{flag}' has no effect in '{text}'", span)
    if match["precision"] is not None and conversion in "cp":
        c.warn("format", f"the precision has no effect in '{text}'", span)
    stars = (match["width"] == "*") + (match["precision"] == ".*")
    return _Specification(text, stars, count, length, family)
