"""Values of integer, floating, character and string constants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple


class LiteralError(Exception):
    """An exception for a malformed constant.

    code, message: those of the diagnostic.
    offset: the offset of the fault in the constant's text.
    """

    def __init__(self, code: str, message: str, offset: int = 0) -> None:
        self.code, self.message, self.offset = code, message, offset
        super().__init__(message)


class IntegerValue(NamedTuple):
    """The value of an integer constant.

    suffix: "", "u", "l", "ul", "ll" or "ull".
    decimal: whether the constant is decimal, on which the choice of its type depends (C99, 6.4.4.1).
    """

    value: int
    suffix: str
    decimal: bool


@dataclass(frozen=True, slots=True)
class FloatValue:
    """The value of a floating constant.

    value: the value, rounded once, to double.
    suffix: "", "f", "h" or "l".
    exact: the exact value, as (numerator, denominator).
    """

    value: float
    suffix: str
    exact: tuple[int, int]


_INTEGER = re.compile(
    r"(0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<dec>(?!0[xXbB])[0-9]+))(?P<suffix>[A-Za-z_][\w.]*)?\Z"
)
_DECIMAL = re.compile(
    r"(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?(?P<suffix>[A-Za-z_]\w*)?\Z"
)
_HEX = re.compile(
    r"0[xX](?P<digits>[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)"
    r"[pP](?P<exponent>[+-]?[0-9]+)(?P<suffix>[A-Za-z_]\w*)?\Z"
)
_INTEGER_SUFFIXES = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"}
#: Numbers with more digits fit no type, and int() would be slow for them.
_MOST_DIGITS = 400
_LARGEST_EXPONENT = 5000


def decode_integer(text: str) -> IntegerValue:
    """Return the value of an integer constant of any base; the caller chooses the type. Raises LiteralError."""
    if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0") and len(text) < 19:
        return IntegerValue(int(text), "", True)
    match = _INTEGER.match(text)
    if match is None:
        raise LiteralError("invalid-literal", f"'{_short(text)}' is not a valid number")
    suffix = match["suffix"]
    if suffix is None:
        suffix = ""
    elif (suffix := suffix.lower()) not in _INTEGER_SUFFIXES or "lL" in text or "Ll" in text:
        raise LiteralError(
            "invalid-suffix", f"invalid suffix '{match['suffix']}' on integer constant", match.start("suffix")
        )
    else:
        suffix = "u" * ("u" in suffix) + "l" * suffix.count("l")
    for group, base in (("hex", 16), ("bin", 2), ("dec", 10)):
        digits = match[group]
        if digits is None:
            continue
        decimal = base == 10 and (digits == "0" or not digits.startswith("0"))
        if base == 10 and not decimal:
            base = 8
            bad = re.search("[89]", digits)
            if bad:
                raise LiteralError("invalid-literal", f"invalid digit '{bad.group()}' in octal constant", bad.start())
        significant = digits.lstrip("0") or "0"
        if len(significant) > _MOST_DIGITS or int(significant, base) >= 1 << 64:
            raise LiteralError("integer-too-large", "integer constant is too large for any integer type")
        return IntegerValue(int(significant, base), suffix, decimal)
    raise AssertionError("one group always matches")


def decode_float(text: str) -> FloatValue:
    """Return the value of a decimal or hexadecimal floating constant. Raises LiteralError."""
    match = _HEX.match(text) or _DECIMAL.match(text)
    if match is None:
        message = f"'{_short(text)}' is not a valid number"
        if text[:2] in ("0x", "0X") and "." in text and "p" not in text.lower():
            message = "hexadecimal floating constant requires an exponent"
        raise LiteralError("invalid-literal", message)
    suffix = (match["suffix"] or "").lower()
    if suffix not in ("", "f", "h", "l"):
        raise LiteralError(
            "invalid-suffix", f"invalid suffix '{match['suffix']}' on floating constant", match.start("suffix")
        )
    whole, _, fraction = match["digits"].partition(".")
    if len(whole) + len(fraction) > _MOST_DIGITS * 4:
        raise LiteralError("invalid-literal", "floating constant has too many digits")
    exponent = max(-_LARGEST_EXPONENT, min(_LARGEST_EXPONENT, _small_int(match["exponent"] or "0")))
    if match.re is _HEX:
        numerator, base, exponent = int(whole + fraction, 16), 2, exponent - 4 * len(fraction)
    else:
        numerator, base, exponent = int(whole + fraction), 10, exponent - len(fraction)
    denominator = 1
    if exponent >= 0:
        numerator *= base**exponent
    else:
        denominator = base**-exponent
    try:
        value = numerator / denominator
    except OverflowError:
        value = float("inf")
    return FloatValue(value, suffix, (numerator, denominator))


def _small_int(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-").lstrip("0")
    return sign * (int(digits or "0") if len(digits) < 9 else 10**9)


_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63, "e": 27}
_ESCAPE = re.compile(r"\\(?:x(?P<hex>[0-9a-fA-F]*)|(?P<oct>[0-7]{1,3})|(?P<char>.))", re.DOTALL)


def _bytes(text: str) -> bytes:
    """Return the bytes between the quotes of a character or string constant. Raises LiteralError."""
    out, at, end = bytearray(), 1, len(text) - 1
    while at < end:
        if text[at] != "\\":
            stop = text.find("\\", at, end)
            stop = end if stop < 0 else stop
            out += text[at:stop].encode("utf-8", "surrogatepass")
            at = stop
            continue
        match = _ESCAPE.match(text, at, end)
        if match is None:
            raise LiteralError("invalid-escape", "incomplete escape sequence", at)
        out.append(_escape(match, at))
        at = match.end()
    return bytes(out)


def _escape(match: re.Match[str], at: int) -> int:
    if match["hex"] is not None:
        digits = match["hex"].lstrip("0")
        if not match["hex"]:
            raise LiteralError("invalid-escape", "\\x is not followed by hexadecimal digits", at)
        if len(digits) > 2:
            raise LiteralError("invalid-escape", "hexadecimal escape sequence is out of range", at)
        return int(digits or "0", 16)
    if match["oct"] is not None:
        value = int(match["oct"], 8)
        if value > 255:
            raise LiteralError("invalid-escape", "octal escape sequence is out of range", at)
        return value
    if match["char"] not in _ESCAPES:
        raise LiteralError("invalid-escape", f"unknown escape sequence '\\{match['char']}'", at)
    return _ESCAPES[match["char"]]


def decode_char(text: str) -> int:
    """Return the value of a character constant; several characters are packed in clang's order. Raises LiteralError."""
    content = _bytes(text)
    if not content:
        raise LiteralError("invalid-literal", "empty character constant")
    if len(content) > 4:
        raise LiteralError("invalid-literal", "character constant is too long")
    if len(content) == 1:
        return content[0] - 256 if content[0] > 127 else content[0]
    value = int.from_bytes(content, "big")
    return value - (1 << 32) if value >= 1 << 31 else value


def decode_string(texts: list[str]) -> bytes:
    """Return the bytes of adjacent string literals, each given with its quotes, without the final NUL."""
    return b"".join(_bytes(text) for text in texts)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
