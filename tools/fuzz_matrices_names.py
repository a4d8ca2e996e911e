"""Identifiers for the matrix fuzzer's programs: those of the library's texts, which programs may declare."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

_LIBRARY = Path(__file__).resolve().parent.parent / "coopmat" / "matrices" / "library"
_PLAIN = """
    s r c lane out x0 x1 x2 m i p t n e f y stride row column part index col base tile size count v w a q d j k value
"""
_RESERVED_TEXT = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool half kernel
    global local constant private generic uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t event_t sampler_t
    true false pipe read_only write_only read_write defined ifdef ifndef endif include define undef elif error line
    pragma min max clamp step sign mix select fma mad abs any all dot cross length distance normalize barrier mem_fence
    rotate round floor ceil trunc rint exp log pow sin cos tan sqrt hypot fmin fmax fabs fmod shuffle shuffle2 popcount
    clz ctz hadd rhadd add_sat sub_sat mul_hi mad_hi mad_sat mul24 mad24 printf prefetch bitselect radians degrees
    lsg sg pw pair first second inside at asm typeof complex imaginary vec_step fract modf nan vector pixel
    bfloat16 NULL CPU CPUs ldexp ilogb
    device gentype uniform varying this class new delete template namespace operator public protected virtual
    friend try catch throw using typename explicit export mutable wchar_t or and not xor events quad double_t float_t
"""
_RESERVED = frozenset(_RESERVED_TEXT.split())
_PATTERN = re.compile(
    r"(__|_[A-Z]|cm_|CM_|CLK_|coop_|as_|convert_|get_|sub_group|work_group|vload|vstore|atomic|native_|half_|read_|write_"
    r"|M_|INT_|FLT_|[ABC]\d|(u?(char|short|int|long)|half|float|double|bool)\d)"
)


@cache
def identifiers() -> tuple[str, ...]:
    """Return the identifiers of the library's texts that a program may use, and some plain ones."""
    found = set(_PLAIN.split())
    for path in sorted(_LIBRARY.glob("*.cl")):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
        found.update(re.findall(r"\b[A-Za-z_][A-Za-z_0-9]*\b", text))
    return tuple(sorted(name for name in found if name not in _RESERVED and not _PATTERN.match(name)))


class Names:
    """Names for one program: functions have other names than variables."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        pool = list(identifiers())
        rng.shuffle(pool)
        half = len(pool) // 3
        plain = _PLAIN.split()
        self.functions = pool[:half]
        taken = set(self.functions)
        self.variables = [name for name in pool[half:] if name not in taken]
        self.plain = [name for name in plain if name not in taken]
        self.count = 0

    def function(self) -> str:
        """Return a new name of a function."""
        self.count += 1
        if self.functions and self.rng.random() < 0.6 and self.functions[-1] != "k":
            return self.functions.pop()
        return f"fn{self.count}"

    def variable(self, taken: set[str], likely: float = 0.7) -> str:
        """Return a name of a variable that is not taken in its scope, and take it."""
        for _ in range(8):
            if self.rng.random() < likely:
                name = self.rng.choice(self.plain if self.rng.random() < 0.5 else self.variables)
                if name not in taken:
                    taken.add(name)
                    return name
        self.count += 1
        name = f"v{self.count}"
        taken.add(name)
        return name
