"""Literal texts to values, against Python's own readers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from coopmat.frontend.literals import LiteralError, decode_char, decode_float, decode_integer, decode_string

SUFFIXES = st.sampled_from(["", "u", "U", "l", "L", "ul", "LU", "ll", "ULL", "llu"])


@given(st.integers(0, 2**64 - 1), st.sampled_from(["d", "#x", "#X", "#b"]), SUFFIXES)
def test_integers(value: int, form: str, suffix: str) -> None:
    decoded = decode_integer(format(value, form) + suffix)
    assert decoded.value == value and decoded.decimal == (form == "d")
    assert sorted(decoded.suffix) == sorted(suffix.lower())


@given(st.integers(1, 2**64 - 1))
def test_octal(value: int) -> None:
    assert decode_integer(f"0{value:o}") == decode_integer(f"0x{value:x}")


@given(st.floats(0, allow_nan=False, allow_infinity=False), st.sampled_from(["", "f", "h", "F"]))
def test_floats(value: float, suffix: str) -> None:
    decimal, hexadecimal = decode_float(repr(value) + suffix), decode_float(value.hex() + suffix)
    assert decimal.value == hexadecimal.value == value
    assert hexadecimal.exact[0] / Fraction(hexadecimal.exact[1]) == Fraction(value)
    assert decimal.suffix == suffix.lower()


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.", 1.0), (".5", 0.5), ("1e400", float("inf")), ("0x1p-2000", 0.0), ("1e999999999999", float("inf"))],
)
def test_unusual_floats(text: str, value: float) -> None:
    assert decode_float(text).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("'a'", 97), (r"'\n'", 10), (r"'\0'", 0), (r"'\x7f'", 127), (r"'\377'", -1), ("'ab'", 0x6162), (r"'\''", 39)],
)
def test_characters(text: str, value: int) -> None:
    assert decode_char(text) == value


def test_strings_join() -> None:
    assert decode_string(['"a\\x41"', '"\\101é"']) == b"aAA\xc3\xa9"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("089", "invalid-literal"),
        ("1uu", "invalid-suffix"),
        ("1lL", "invalid-suffix"),
        ("12abc", "invalid-suffix"),
        ("0x", "invalid-literal"),
        ("18446744073709551616", "integer-too-large"),
        ("9" * 5000, "integer-too-large"),
    ],
)
def test_bad_integers(text: str, code: str) -> None:
    with pytest.raises(LiteralError) as caught:
        decode_integer(text)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1.0q", "invalid-suffix"),
        ("1e", "invalid-suffix"),
        ("1.2.3", "invalid-literal"),
        ("0x1.8", "invalid-literal"),
        ("1" * 9000 + ".0", "invalid-literal"),
    ],
)
def test_bad_floats(text: str, code: str) -> None:
    with pytest.raises(LiteralError) as caught:
        decode_float(text)
    assert caught.value.code == code


@pytest.mark.parametrize("text", [r"'\q'", r"'\x'", r"'\xfff'", r"'\777'", "'abcde'", "''"])
def test_bad_characters(text: str) -> None:
    with pytest.raises(LiteralError):
        decode_char(text)


@given(st.text(max_size=30))
def test_anything_else_is_a_literal_error(text: str) -> None:
    for decode in (decode_integer, decode_float, lambda t: decode_char(f"'{t}'"), lambda t: decode_string([f'"{t}"'])):
        try:
            decode(text)
        except LiteralError as error:
            assert error.message
