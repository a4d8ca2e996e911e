"""What LLVM would make of a module that says much in little: functions that must be inlined, loops that must be
unrolled, inside one another.

    text = bounded(text, 400_000)     # the same module, in which nothing of this is forced where it makes more

LLVM takes more than proportional time for the functions that come of it. Where nothing is forced, its own estimate of
what is worth it decides, and a device's compiler may still do what it finds right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_CALL = re.compile(r"\bcall\b[^@\n]*@(?:\"([^\"\n]*)\"|([-\w.$]+))\(")
_HEAD = re.compile(r"^define\b[^@\n]*@(?:\"([^\"\n]*)\"|([-\w.$]+))\(")
_LABEL = re.compile(r"^(?:\"([^\"\n]*)\"|([-\w.$]+)):")
_COMPARISON = re.compile(r"\bicmp \w+ i\d+ %[^,]+, (\d{1,9})$")
_BACK = re.compile(r"\bbr .*label %(?:\"([^\"\n]*)\"|([-\w.$]+)), !llvm\.loop !(\d+)")
_LOOP = re.compile(r"^!(\d+) = distinct !\{(.*)\}", re.MULTILINE)
_FORCED = re.compile(r"^!(\d+) = !\{ ?!\"llvm\.loop\.unroll\.(?:full|enable)\" ?\}", re.MULTILINE)
_UNROLL = re.compile(r"(?<=!\"llvm\.loop\.unroll\.)(?:full|enable)(?=\")")
_ATTRIBUTE = re.compile(r"^(define\b.*?|attributes #\d+ = \{.*?) alwaysinline\b", re.MULTILINE)
_GROUP = re.compile(r"^attributes #(\d+) = \{.* alwaysinline\b", re.MULTILINE)
_MOST = 1 << 62
# What a call that is inlined costs LLVM besides the function's own instructions: copies and variables to dissolve, of
# which it takes more than proportional time (measured: 3,000 calls of functions of six instructions take as long as two
# million instructions without).
_CALL_COST = 1000


def bounded(text: str, most: int) -> str:
    """Of LLVM IR, as llvmlite or LLVM print it."""
    if "alwaysinline" not in text and "llvm.loop.unroll" not in text:
        return text
    return text if instructions(text) <= most else _ATTRIBUTE.sub(r"\1", _UNROLL.sub("disable", text))


@dataclass(slots=True)
class _Function:
    """`calls` are the functions called, and how often."""

    inlined: bool
    size: int = 0
    calls: list[tuple[str, int]] = field(default_factory=list)


def instructions(text: str) -> int:
    """How many the module has once all is inlined and unrolled that must be; an estimate, for loops of which the number
    of rounds does not show."""
    functions = _read(text)
    sizes: dict[str, int] = {}
    total = 0
    for name, function in functions.items():
        size = _inlined_size(name, functions, sizes)
        total += 0 if function.inlined else size
    return min(total, _MOST)


def _inlined_size(root: str, functions: dict[str, _Function], sizes: dict[str, int]) -> int:
    """With what is called and must be inlined; calls in circles count once."""
    work = [(root, False)]
    begun: set[str] = set()
    while work:
        name, is_ready = work.pop()
        if name in sizes:
            continue
        called = [(c, n) for c, n in functions[name].calls if c in functions and functions[c].inlined]
        if is_ready:
            sizes[name] = min(functions[name].size + sum((sizes.get(c, 0) + _CALL_COST) * n for c, n in called), _MOST)
        elif name not in begun:
            begun.add(name)
            work.append((name, True))
            work += [(c, False) for c, _ in called if c not in sizes]
    return sizes[root]


def _read(text: str) -> dict[str, _Function]:
    forced = {match[1] for match in _FORCED.finditer(text)}
    unrolled = {m[1] for m in _LOOP.finditer(text) if any(n in forced for n in re.findall(r"!(\d+)", m[2])[1:])}
    groups = {match[1] for match in _GROUP.finditer(text)}
    functions: dict[str, _Function] = {}
    lines: list[str] | None = None
    for line in text.split("\n"):
        if line.startswith("define "):
            match = _HEAD.match(line)
            inlined = " alwaysinline" in line or any(n in groups for n in re.findall(r"#(\d+)", line))
            functions[_name(match) if match else line] = current = _Function(inlined)
            lines = []
        elif line == "}" and lines is not None:
            _measure(current, lines, unrolled)
            lines = None
        elif lines is not None and line and line != "{":
            lines.append(line)
    return functions


def _measure(function: _Function, lines: list[str], unrolled: set[str]) -> None:
    starts, ends = _loops(lines, unrolled) if unrolled else ({}, {})
    times = 1
    for at, line in enumerate(lines):
        for rounds in starts.get(at, ()):
            times *= rounds
        function.size = min(function.size + times, _MOST)
        if "call " in line and (match := _CALL.search(line)):
            function.calls.append((_name(match), min(times, _MOST)))
        for rounds in ends.get(at, ()):
            times //= rounds


def _loops(lines: list[str], unrolled: set[str]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """The rounds of the loops that begin and end at a line."""
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    labels: dict[str, int] = {}
    for at, line in enumerate(lines):
        if not line.startswith(" ") and (match := _LABEL.match(line)):
            labels[_name(match)] = at
        elif "!llvm.loop" in line and (match := _BACK.search(line)) and match[3] in unrolled:
            start = labels.get(_name(match))
            if start is not None:
                rounds = _rounds(lines, start, at)
                starts.setdefault(start, []).append(rounds)
                ends.setdefault(at, []).append(rounds)
    return starts, ends


def _rounds(lines: list[str], start: int, end: int) -> int:
    """What the first or the last block of a loop compares with; 1 where that is no number."""
    for at in range(start + 1, end):
        if (match := _COMPARISON.search(lines[at])) is not None:
            return max(int(match[1]), 1)
        if lines[at].lstrip().startswith("br "):
            break
    match = next((m for line in lines[max(start, end - 3) : end] if (m := _COMPARISON.search(line))), None)
    return max(int(match[1]), 1) if match else 1


def _name(match: re.Match[str]) -> str:
    return match[1] or match[2] or ""
