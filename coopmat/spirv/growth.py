"""Limits for the growth of a module under optimisation, by nested forced inlining and forced unrolling.

    text = limit_inlining(text, 400_000, 1000, 2000)   # the same module, within these limits

LLVM's time grows faster than the size of the resulting functions. It grows with the square of the number of loops in
sequence: 3,000 loops take 26 s. It also grows with conditional branches: 3,000 in a loop take 8 to 13 s, and if they
all test the same condition, an assertion fails. SPIR-V does not record these limits, so a device's compiler may still
inline and unroll.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from coopmat.graphs import postorder
from coopmat.spirv import llvm_text

# The budgets for the parameters `instructions`, `loops` and `branches` of `limit_inlining`.
BUDGETS = ("inlined-instructions", "optimised-loops", "optimised-branches")

_CALL = re.compile(r"\bcall\b[^@\n]*@(?:\"([^\"\n]*)\"|([-\w.$]+))\(")
_HEAD = re.compile(r"^define\b[^@\n]*@(?:\"([^\"\n]*)\"|([-\w.$]+))\(")
_LABEL = re.compile(r"^(?:\"([^\"\n]*)\"|([-\w.$]+)):")
_COMPARISON = re.compile(r"\bicmp \w+ i\d+ %[^,]+, (\d{1,9})$")
_BACK = re.compile(r" *br .*label %(?:\"([^\"\n]*)\"|([-\w.$]+)), !llvm\.loop !(\d+)")
_LOOP = re.compile(r"^!(\d+) = distinct !\{(.*)\}", re.MULTILINE)
_HOW = r"(?:full\"|enable\"|count\", ?i32 (\d+))"
_FORCED = re.compile(rf"^!(\d+) = !\{{ ?!\"llvm\.loop\.unroll\.{_HOW} ?\}}", re.MULTILINE)
_UNROLL = re.compile(rf"(?<=!\"llvm\.loop\.unroll\.){_HOW}")
_GROUP = re.compile(r"^(attributes #(\d+) = \{.*?) alwaysinline\b", re.MULTILINE)
_TARGET = re.compile(r"\blabel %(?:\"([^\"\n]*)\"|([-\w.$]+))")
_MOST = 1 << 62
# LLVM inlines functions up to an estimated cost of 225, and an instruction costs about 5.
_SMALL = 60
# The cost of an inlined call besides the callee's instructions: copies, and variables that SROA must dissolve. LLVM's
# time for these grows faster than their number. Measured: 3,000 calls of functions of six instructions take as long as
# two million instructions without calls.
_CALL_COST = 1000


def limit_inlining(text: str, instructions: int, loops: int, branches: int) -> str:
    """Return LLVM IR with less forced inlining and unrolling, if they would make too much code.

    The text is as printed by llvmlite or LLVM.
    `instructions` limits the module's size, `loops` and `branches` each function's, after inlining and unrolling. A
    module that exceeds `instructions` is not unrolled; if it is still too large, nothing is inlined either. A function
    that exceeds `loops` or `branches` without inlining is marked optnone.
    """
    forces = "alwaysinline" in text or "llvm.loop.unroll" in text
    if not forces and text.count(" br ") + _SMALL * text.count(" call ") <= min(loops, branches):
        return text
    functions = _read(text)
    if is_large := _total(functions) > instructions:
        text = _UNROLL.sub('disable"', text)
        functions = _read(text)
        is_large = _total(functions) > instructions
    has_loops = max(_with_callees(functions, "loops", _may_be_inlined, 0).values(), default=0) > loops
    if not is_large and not has_loops and all(function.branches <= branches for function in functions.values()):
        return text

    def mark(head: re.Match[str]) -> str:
        function = functions[head[2].strip('"')]
        if function.loops > loops or function.branches > branches:
            return f"{head[1]} optnone{llvm_text.not_inlined(head[3])}"
        if (has_loops and function.loops) or (is_large and function.inlined):
            return f"{head[1]}{llvm_text.not_inlined(head[3])}"
        return head[0]

    # Remove alwaysinline from attribute groups too: it would force the functions marked noinline above.
    return _GROUP.sub(r"\1", llvm_text.HEAD.sub(mark, text))


@dataclass(slots=True)
class _Function:
    """The measures of a function definition.

    inlined: whether it is marked alwaysinline.
    noinline: whether it is marked noinline.
    size: the number of its instructions after forced unrolling.
    loops: the number of its loop headers.
    branches: the number of its conditional branches.
    calls: (callee, number of calls) after forced unrolling.
    """

    inlined: bool
    noinline: bool = False
    size: int = 0
    loops: int = 0
    branches: int = 0
    calls: list[tuple[str, int]] = field(default_factory=list)


def instructions(text: str) -> int:
    """Return the number of instructions of the module after forced inlining and unrolling.

    For loops without a visible constant trip count the number is an estimate.
    """
    return _total(_read(text))


def _total(functions: dict[str, _Function]) -> int:
    """Return the number of instructions of all functions that are not inlined, including their inlined callees."""
    sizes = _with_callees(functions, "size", lambda function: function.inlined, _CALL_COST)
    return min(sum(size for name, size in sizes.items() if not functions[name].inlined), _MOST)


def _may_be_inlined(function: _Function) -> bool:
    """Return whether LLVM may inline the function: by force, or because the function is small."""
    return function.inlined or (not function.noinline and function.size <= _SMALL)


def _with_callees(
    functions: dict[str, _Function], what: str, joins: Callable[[_Function], bool], cost: int
) -> dict[str, int]:
    """Return for each function its measure `what` ("size", "loops"), with its callees that `joins` accepts.

    Each inlined call adds `cost`. Recursive calls count once. The results are at most `_MOST`.
    """

    def joined(name: str) -> list[tuple[str, int]]:
        return [(c, n) for c, n in functions[name].calls if c in functions and joins(functions[c])]

    sizes: dict[str, int] = {}
    for name in postorder(functions, lambda name: [callee for callee, _ in joined(name)]):
        own = getattr(functions[name], what)
        sizes[name] = min(own + sum((sizes.get(c, 0) + cost) * n for c, n in joined(name)), _MOST)
    return sizes


def _read(text: str) -> dict[str, _Function]:
    """Return name -> measures for all functions that the text defines."""
    forced = {match[1]: int(match[2] or _MOST) for match in _FORCED.finditer(text)}
    unrolled = {
        loop[1]: forced[number]
        for loop in _LOOP.finditer(text)
        for number in re.findall(r"!(\d+)", loop[2])[1:]
        if number in forced
    }
    groups = {match[2] for match in _GROUP.finditer(text)}
    functions: dict[str, _Function] = {}
    lines: list[str] | None = None
    for line in text.split("\n"):
        if line.startswith("define "):
            match = _HEAD.match(line)
            inlined = " alwaysinline" in line or any(n in groups for n in re.findall(r"#(\d+)", line))
            functions[_name(match) if match else line] = current = _Function(inlined, noinline=" noinline" in line)
            lines = []
        elif line == "}" and lines is not None:
            _measure(current, lines, unrolled)
            lines = None
        elif lines is not None and line and line != "{":
            lines.append(line)
    return functions


def _measure(function: _Function, lines: list[str], unrolled: Mapping[str, int]) -> None:
    """Set a function's size, branches, loops and calls from the lines of its body.

    `unrolled` maps loop metadata to forced unroll counts, which multiply the size and the calls inside the loops.
    """
    starts, ends = _loops(lines, unrolled) if unrolled else ({}, {})
    labels: set[str] = set()
    heads: set[str] = set()
    times = 1
    for at, line in enumerate(lines):
        for rounds in starts.get(at, ()):
            times *= rounds
        function.size = min(function.size + times, _MOST)
        if "call " in line and (match := _CALL.search(line)):
            function.calls.append((_name(match), min(times, _MOST)))
        elif not line.startswith(" "):
            labels.update(_name(match) for match in (_LABEL.match(line),) if match)
        elif " br " in line:
            function.branches += " br i1 " in line
            heads.update(name for match in _TARGET.finditer(line) if (name := _name(match)) in labels)
        for rounds in ends.get(at, ()):
            times //= rounds
    function.loops = len(heads)


def _loops(lines: list[str], unrolled: Mapping[str, int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return the first and the last lines of loops with forced unrolling: each a dict line -> numbers of copies."""
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    labels: dict[str, int] = {}
    for at, line in enumerate(lines):
        if not line.startswith(" ") and (match := _LABEL.match(line)):
            labels[_name(match)] = at
        elif (match := _BACK.match(line)) and match[3] in unrolled and (start := labels.get(_name(match))) is not None:
            rounds = _copies(_rounds(lines, start, at), unrolled[match[3]])
            starts.setdefault(start, []).append(rounds)
            ends.setdefault(at, []).append(rounds)
    return starts, ends


def _copies(rounds: int, most: int) -> int:
    """Return the number of copies of a loop's body; `rounds` is 1 if the trip count is not visible."""
    return most if rounds == 1 and most < _MOST else min(rounds, most)


def _rounds(lines: list[str], start: int, end: int) -> int:
    """Return the constant that the first or the last block of a loop compares with, or 1 if there is none."""
    for at in range(start + 1, end):
        if (match := _COMPARISON.search(lines[at])) is not None:
            return max(int(match[1]), 1)
        if lines[at].lstrip().startswith("br "):
            break
    match = next((m for line in lines[max(start, end - 3) : end] if (m := _COMPARISON.search(line))), None)
    return max(int(match[1]), 1) if match else 1


def _name(match: re.Match[str]) -> str:
    """Return the name that a pattern matched, quoted or plain."""
    return match[1] or match[2] or ""
