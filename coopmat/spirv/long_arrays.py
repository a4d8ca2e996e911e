"""Long arrays of numbers in LLVM IR text, which bypass LLVM's SPIR-V backend (`constant_arrays`).

This file uses only the standard library: the emitter (`emitter.py`) loads it without the package.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

# Minimum number of elements; the backend's time for shorter arrays is negligible.
_LONG = 64
# A definition may follow the target on the first line, which the emitter inserts.
_GLOBAL_ARRAY = re.compile(
    r'(?:^|(?<=" ))(@(?:"([^"\\\n]+)"|([-\w.$]+)) = [^\n\[]*\b(?:constant|global) '
    r"((?:\[\d+ x )+)(i8|i16|i32|i64|half|float|double)\]+ )"
    r'((?:\[|c")[^\n]*?)((?:, (?:align|section|comdat|!)[^\n]*)?)$',
    re.MULTILINE,
)
_ELEMENT = re.compile(r'c"((?:[^"\\]|\\[0-9A-Fa-f]{2})*)"|\[\d+ x [^\[\]]+\]+ |\w+ (-?[\w.+-]+)|[\[\], ]+|(.)')
_BYTE = re.compile(r"\\([0-9A-Fa-f]{2})|(.)", re.DOTALL)


def without_arrays(ir: str) -> tuple[str, dict[str, dict[str, list[Any]]]]:
    """Replace the initializers of long arrays of numbers by zeroinitializer.

    Return the text, and the variable's name -> the array's `shape` and the `words` of a SPIR-V constant for each
    element.
    """
    arrays: dict[str, dict[str, list[Any]]] = {}

    def cut(match: re.Match[str]) -> str:
        head, quoted, plain, dimensions, kind, text, tail = match.groups()
        shape = [int(length) for length in re.findall(r"\d+", dimensions)]
        count = math.prod(shape)
        words = _elements(text, kind) if count >= _LONG else None
        if words is None or len(words) != count:
            return match[0]
        arrays[quoted or plain] = {"shape": shape, "words": words}
        return f"{head}zeroinitializer{tail}"

    return _GLOBAL_ARRAY.sub(cut, ir), arrays


def _elements(text: str, kind: str) -> list[list[int]] | None:
    """Return the words of each element of an initializer; None if an element is not a number."""
    words: list[list[int]] = []
    for match in _ELEMENT.finditer(text):
        string, number, other = match.groups()
        if other is not None:
            return None
        if string is not None:
            words += [[int(byte[1], 16) if byte[1] else ord(byte[2])] for byte in _BYTE.finditer(string)]
        elif number is not None:
            element = _words(number, kind)
            if element is None:
                return None
            words.append(element)
    return words


_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "float": 32, "double": 64}


def _words(number: str, kind: str) -> list[int] | None:
    """Return the words of a constant as LLVM prints it; None if the text cannot be converted exactly.

    Floats are decimal, or the bits of a double (0x), or the bits of a half (0xH).
    """
    try:
        if kind.startswith("i"):
            bits = int(number) & (1 << _BITS[kind]) - 1
        elif number.startswith("0xH"):
            bits = int(number[3:], 16)
        else:
            value = struct.unpack(">d", int(number, 16).to_bytes(8, "big"))[0] if number[:2] == "0x" else float(number)
            code, integer = {"half": ("<e", "<H"), "float": ("<f", "<I"), "double": ("<d", "<Q")}[kind]
            if value != value and kind != "double":
                return None
            bits = struct.unpack(integer, struct.pack(code, value))[0]
    except (ValueError, OverflowError):
        return None
    return [bits] if _BITS[kind] <= 32 else [bits & 0xFFFFFFFF, bits >> 32]
