"""Mutations of inputs: damage by tokens or words, and growth of existing parts."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable

from .corpus import Input

# The largest length of a mutated input.
_LONGEST = 200_000
_TOKEN = re.compile(r"[%@!#]?[A-Za-z_$][\w.$]*|[%@!#]?\d[\w.]*|\"[^\"\n]*\"|\s+|.")
_NUMBER = re.compile(r"\d+")
_TEXT = r"""
0 1 2 -1 16 64 1024 65536 2147483648 4294967295 18446744073709551615 1e400 0x1p-2000 ( ) [ ] { } ; , * & . -> ... =
int float half char struct union enum sizeof typedef __attribute__ const volatile global local private constant kernel
void return if for while goto switch case # ## \ " ' /* // i1 i7 i8 i32 i33 i64 i65536 ptr undef poison null <4 x
float> [0 x i8] %0 %1 @k !0 !{i32 0} x86_fp80 bfloat fp128 alwaysinline noinline
"""
_WORDS = (*_TEXT.split(), "\0")


def mutated(seed: Input, rng: random.Random) -> str | bytes:
    """Return a seed after one to four mutations; a seed that can grow is often only grown."""
    text = seed.text
    if seed.grows and isinstance(text, str) and rng.random() < 0.4:
        return _go_on(text, rng)[:_LONGEST]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if isinstance(text, bytes):
            text = rng.choice(_OF_WORDS)(text, rng)
            continue
        grow = rng.random() < (0.7 if seed.grows else 0.35)
        text = rng.choice(_GROWTH if grow else _DAMAGE)(text, rng)[:_LONGEST]
    return text


# --- damage ----------------------------------------------------------------------------------------


def _replace(text: str, rng: random.Random) -> str:
    tokens, places = _tokens(text)
    at = rng.choice(places)
    same = [
        tokens[i] for i in places if tokens[i][0] == tokens[at][0] or tokens[i][0].isalpha() == tokens[at][0].isalpha()
    ]
    tokens[at] = rng.choice(same if rng.random() < 0.6 else _WORDS)
    return "".join(tokens)


def _remove(text: str, rng: random.Random) -> str:
    tokens, places = _tokens(text)
    tokens[rng.choice(places)] = " "
    return "".join(tokens)


def _insert(text: str, rng: random.Random) -> str:
    tokens, places = _tokens(text)
    tokens[rng.choice(places)] += " " + rng.choice(_WORDS) + " "
    return "".join(tokens)


def _swap(text: str, rng: random.Random) -> str:
    tokens, places = _tokens(text)
    one, other = rng.choice(places), rng.choice(places)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _swap_lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def _remove_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def _cut(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


_DAMAGE: tuple[Callable[[str, random.Random], str], ...] = (
    _replace, _replace, _replace, _replace, _remove, _insert, _insert, _swap, _swap_lines, _remove_line, _cut,
)  # fmt: skip


# --- growth ----------------------------------------------------------------------------------------


def _go_on(text: str, rng: random.Random) -> str:
    """Return a text with a sequence of lines continued; references to its last line then refer to the new last line.

    Two consecutive lines that differ only in numbers begin a sequence.
    """
    lines = text.split("\n")
    rows = [n for n in range(1, len(lines)) if lines[n] != lines[n - 1] and _shape(lines[n]) == _shape(lines[n - 1])]
    rows = [n for n in rows if any(_steps(lines[n - 1], lines[n]))]
    if not rows:
        return _repeat_line(text, rng)
    start = rng.choice(rows)
    end = start
    while end + 1 < len(lines) and _shape(lines[end + 1]) == _shape(lines[end]):
        end += 1
    steps = _steps(lines[end - 1], lines[end])
    count = rng.choice((2, 5, 8, 10, 12, 16, 20, 24, 30, 40, 300, 1000))
    made = [lines[end]]
    while len(made) <= count and sum(map(len, made[-1:])) * len(made) < _LONGEST // 2:
        made.append(_moved(made[-1], steps))
    old, new = _first_name(lines[end]), _first_name(made[-1])
    rest = "\n".join(lines[end + 1 :])
    if old and new:
        rest = re.sub(rf"{re.escape(old)}(?!\w)", lambda _: new, rest)
    return "\n".join([*lines[:end], *made, rest])


def _shape(line: str) -> str:
    return _NUMBER.sub("0", line)


def _steps(before: str, after: str) -> list[int]:
    """Return the increment of each number between two lines, only for numbers that are indices."""
    pairs = zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=True)
    return [_step(a, b) if len(a + b) < 40 else 0 for a, b in pairs]


def _step(before: str, after: str) -> int:
    step = int(after) - int(before)
    return step if abs(step) < 9 else 0


def _moved(line: str, steps: list[int]) -> str:
    found = iter(steps)

    def move(match: re.Match[str]) -> str:
        step = next(found, 0)
        return str(int(match[0]) + step) if step else match[0]

    return _NUMBER.sub(move, line)


def _first_name(line: str) -> str:
    match = re.search(r"[%@]?[A-Za-z_]+\d+", line)
    return match[0] if match else ""


def _repeat_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    count = min(rng.choice((2, 10, 40, 300, 3000)), _LONGEST // (len(lines[at]) + 1))
    return "\n".join([*lines[:at], *[lines[at]] * count, *lines[at + 1 :]])


def _lengthen(text: str, rng: random.Random) -> str:
    """Return the text with all occurrences of a name made longer."""
    names = sorted(set(re.findall(r"(?<![\w#])[%@]?[A-Za-z_]\w*", text)))
    if not names:
        return text
    name = rng.choice(names)
    more = name.lstrip("%@")[-1] * rng.choice((20, 1000, 1023, 1024, 5000))
    return re.sub(rf"(?<![\w%@]){re.escape(name)}(?!\w)", lambda _: name + more, text)


def _multiply(text: str, rng: random.Random) -> str:
    """Return the text with a number, or all equal numbers, made larger: lengths, shapes, widths."""
    found = sorted(set(re.findall(r"(?<![\w.])\d{1,9}(?![\w.])", text)))
    if not found:
        return text
    number, factor = rng.choice(found), rng.choice((2, 3, 4, 8, 16, 64, 1000, 10**6, 10**12))
    new = str(int(number) * factor + rng.choice((0, 0, 1)))
    return re.sub(rf"(?<![\w.]){number}(?![\w.])", new, text, count=rng.choice((0, 1)))


def _nest(text: str, rng: random.Random) -> str:
    """Return the text with nested brackets around a token, or before and after a part."""
    tokens, places = _tokens(text)
    at, count = rng.choice(places), rng.choice((3, 20, 60, 250, 300, 3000))
    before, behind = rng.choice(
        (("(", ")"), ("{", "}"), ("[", "]"), ("-", ""), ("*", ""), ("sizeof(", ")"), ("f(", ")"), ("{ [2 x ", "] }"),
         ("<", ">"), ("struct { ", " a; }"), ("if (1) ", ""), ("x ? 1 : ", ""), ("", "[2]"), ("", "(1)"), ("!", ""),
         ("sizeof(struct { char a[", "]; })"))
    )  # fmt: skip
    tokens[at] = before * count + tokens[at] + behind * count
    return "".join(tokens)


def _double(text: str, rng: random.Random) -> str:
    """Return the text repeated at a line end, for duplicate definitions and long inputs."""
    at = rng.choice([match.start() for match in re.finditer("\n", text)] or [0])
    part = text[rng.randrange(at + 1) : at]
    return text[:at] + part * rng.choice((1, 2, 20)) + text[at:]


def _splice(text: str, rng: random.Random) -> str:
    tokens, places = _tokens(text)
    at = rng.choice(places)
    tokens[at] = "\\\n".join(tokens[at] * rng.choice((1, 50, 2000)))
    return "".join(tokens)


_GROWTH: tuple[Callable[[str, random.Random], str], ...] = (
    _go_on, _go_on, _go_on, _repeat_line, _lengthen, _multiply, _multiply, _nest, _double, _splice,
)  # fmt: skip


def _tokens(text: str) -> tuple[list[str], list[int]]:
    tokens = _TOKEN.findall(text) or [" "]
    places = [n for n, token in enumerate(tokens) if not token.isspace()] or [0]
    return tokens, places


# --- SPIR-V ----------------------------------------------------------------------------------------


def _change_word(data: bytes, rng: random.Random) -> bytes:
    words = _as_words(data)
    at = rng.randrange(len(words))
    change = rng.choice(("other", "small", "bit", "large"))
    words[at] = {
        "other": rng.choice(words),
        "small": rng.randrange(64),
        "bit": words[at] ^ 1 << rng.randrange(32),
        "large": rng.choice((0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 1 << 20, 65535, 1000)),
    }[change]
    return _as_bytes(words)


def _change_operand(data: bytes, rng: random.Random) -> bytes:
    """Return SPIR-V with an operand of an instruction changed: an id to another id, a literal to a larger one."""
    words, starts = _as_words(data), _instructions(data)
    if not starts:
        return _change_word(data, rng)
    start, length = rng.choice(starts)
    if length > 1:
        at = start + rng.randrange(1, length)
        words[at] = rng.choice(
            (rng.randrange(1, max(2, words[3])), words[at] * 16 & 0xFFFFFFFF, words[at] + 1 & 0xFFFFFFFF)
        )
    return _as_bytes(words)


def _move_instruction(data: bytes, rng: random.Random) -> bytes:
    words, starts = _as_words(data), _instructions(data)
    if not starts:
        return data
    start, length = rng.choice(starts)
    part = words[start : start + length]
    change = rng.choice(("remove", "repeat", "many", "move"))
    if change == "repeat" or change == "many":
        return _as_bytes(words[:start] + part * (2 if change == "repeat" else 500) + words[start + length :])
    rest = words[:start] + words[start + length :]
    if change == "move":
        to, _ = rng.choice(starts)
        to = min(to, len(rest))
        return _as_bytes(rest[:to] + part + rest[to:])
    return _as_bytes(rest)


def _cut_words(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


_OF_WORDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _change_word, _change_operand, _change_operand, _change_operand, _move_instruction, _move_instruction, _cut_words,
)  # fmt: skip


def _instructions(data: bytes) -> list[tuple[int, int]]:
    words, found, at = _as_words(data), [], 5
    while at < len(words) and words[at] >> 16:
        found.append((at, min(words[at] >> 16, len(words) - at)))
        at += words[at] >> 16
    return found


def _as_words(data: bytes) -> list[int]:
    data = data[: len(data) // 4 * 4] or bytes(4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def _as_bytes(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)
