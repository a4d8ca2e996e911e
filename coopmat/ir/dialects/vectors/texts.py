"""Pieces of text: types of pieces, constants, masks, alignments."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..text import Argument, Instruction, Malformed, operands, split, tokens, type_end
from .nodes import Vector, vector_of

_SPLAT = re.compile(r"splat \((\S+) (.*)\)", re.DOTALL)


def sized(vector: Vector, count: int) -> str:
    return vector.element if count == 1 else f"<{count} x {vector.element}>"


_VARIABLE = re.compile(r"(@.* (?:global|constant) )(<\d+ x \w+>) (undef|poison|zeroinitializer|<[^<>]*>)(, .*|)")


def variable(line: str) -> str:
    """A variable that is a vector, as one that is its storage."""
    match = _VARIABLE.fullmatch(line)
    vector = vector_of(match[2]) if match else None
    if match is None or vector is None or not vector.is_wide or vector.element == "i1":
        return line
    value = f"[{match[3][1:-1]}]" if match[3][0] == "<" else match[3]
    return f"{match[1]}{vector.storage} {value}{match[4]}"


def contracts(words: str) -> bool:
    return re.search(r"\b(?:contract|fast)\b", words.partition("<")[0]) is not None


def align(text: str) -> int:
    found = re.search(r", align (\d+)", text)
    return int(found[1]) if found else 1 << 16


def is_aligned(pointer: Argument, vector: Vector) -> bool:
    found = re.search(r"\balign (\d+)", pointer.attributes)
    return found is None or int(found[1]) >= vector.size


def is_splat(item: Instruction) -> bool:
    return item.opcode == "shufflevector" and operands(item.text)[2].endswith("zeroinitializer")


def splat(value: str, vector: Vector) -> str | None:
    """The scalar that every element of a constant is."""
    if value == "zeroinitializer":
        return {"half": "0xH0000", "i1": "false"}.get(vector.element, "0" if vector.element[0] == "i" else "0.0")
    match = _SPLAT.fullmatch(value)
    return match[2] if match else None


def constant(vector: Vector, value: str, at: int, count: int, fail: Callable[[str], Malformed]) -> str:
    """Elements of a constant."""
    scalar = splat(value, vector)
    if scalar is not None:
        return scalar if count == 1 else f"splat ({vector.element} {scalar})"
    if value[:1] != "<":
        raise fail(f"the constant {value} of type {vector} is not supported yet")
    parts = ["".join(part) for part in split(tokens(value[1:-1]))][at : at + count]
    return parts[0].partition(" ")[2] if count == 1 else f"<{', '.join(parts)}>"


def numbers(mask: str, count: int, fail: Callable[[str], Malformed]) -> list[int | None]:
    """Of a shuffle's mask; None for elements that are not defined."""
    if mask in ("undef", "poison"):
        return [None] * count
    scalar = splat(mask, Vector(count, "i32"))
    if scalar is not None:
        return [int(scalar)] * count
    if mask[:1] != "<":
        raise fail(f"the mask {mask} is not supported")
    words = ["".join(part).partition(" ")[2] for part in split(tokens(mask[1:-1]))]
    return [int(word) if word.isdigit() else None for word in words]


def runs(numbers: list[int | None], count: int) -> list[tuple[int, int, int]]:
    """Elements that follow each other in one operand: where they go, the first one's number, how many."""
    found: list[tuple[int, int, int]] = []
    for at, number in enumerate(numbers):
        if number is None:
            continue
        if found:
            start, first, length = found[-1]
            if start + length == at and first + length == number and first // count == number // count:
                found[-1] = (start, first, length + 1)
                continue
        found.append((at, number, 1))
    return found


def incoming(text: str) -> list[tuple[str, str]]:
    """The values and labels of a phi."""
    first, *rest = operands(text)
    words = tokens(first)
    found = []
    for part in ["".join(words[type_end(words, 0) :]).strip(), *rest]:
        value, label = split(tokens(part[1:-1]))
        found.append(("".join(value), "".join(label)[1:].strip('"')))
    return found


_NO_INLINING = re.compile(r" (?:noinline|optnone|minsize|optsize)\b")


def inlinable(group: str) -> str:
    """A group of attributes without those that keep a function from being inlined; no group is empty."""
    return re.sub(r"\{ *\}$", "{ nounwind }", _NO_INLINING.sub("", group))
