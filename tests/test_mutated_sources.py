"""Damaged sources through the whole compiler up to LLVM IR: only CompileError may come out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from hypothesis import HealthCheck, given, settings, strategies as st

import coopmat
from coopmat import CompileError

ROOT = Path(__file__).parents[1]
FILES = sorted([*(ROOT / "kernels").glob("*.cl"), *(ROOT / "tests/golden/in").glob("[its]*/*.cl")])
TOKEN = re.compile(r'[A-Za-z_]\w*|\d[\w.]*|"[^"\n]*"|//[^\n]*|<<=|>>=|->|\+\+|--|<<|>>|[<>=!&|+*/%^-]=|&&|\|\||\s+|.')
# A token is most often replaced by one of its kind, so that the damage is found late.
KINDS = [
    line.split()
    for line in """\
int float char uint long ulong half double float4 int4 char4 bool short8 half2 float3 void uchar16 A B C
+ - * / % << >> & | ^ < > == != && || <= >= = ? ,
+= -= *= /= %= <<= >>= &= |= ^= =
global local constant private const volatile static
if while for switch do
break continue return goto
++ -- ~ ! - & * sizeof
0 1 2 16 -1 1.0f 1.5 0x7fffffff 4294967295u 1UL 'a' 1h 10000000000 0x8000000000000000
x v xy lo hi s0 even wzyx yz i p c
( ) [ ] { } ; : . ->
""".splitlines()
]
ANYTHING = [token for kind in KINDS for token in kind]


def _defines(source: str) -> list[str]:
    words = shlex.split(source.replace("//", " ").replace("'", " "))
    return ["--native-profile", "maint1", *(word for word in words if word.startswith("-D"))]


SOURCES = [(TOKEN.findall(text), _defines(text.partition("kernel void")[0])) for text in map(Path.read_text, FILES)]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, list[str]]:
    tokens, options = draw(st.sampled_from(SOURCES))
    tokens = list(tokens)
    places = [i for i, token in enumerate(tokens) if not token.isspace() and not token.startswith("//")]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.sampled_from(places))
        kinds = [kind for kind in KINDS if tokens[at] in kind]
        if tokens[at][0].isdigit():
            kinds = [KINDS[7]]
        match draw(st.sampled_from("rrrrrrdDsi")):
            case "r":  # replace
                tokens[at] = draw(st.sampled_from(kinds[0] if kinds else [tokens[i] for i in places]))
            case "d":
                tokens[at] = " "
            case "D":
                tokens[at] += " " + tokens[at]
            case "s":
                other = draw(st.sampled_from(places))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "i":
                tokens[at] += " " + draw(st.sampled_from(ANYTHING))
    return "".join(tokens), [*options, "--matrices", draw(st.sampled_from(["native", "native", "one", "lanes"]))]


def test_the_sources_themselves_compile() -> None:
    for tokens, options in SOURCES:
        assert coopmat.compile("".join(tokens), options).llvm_ir


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_damaged_sources_give_diagnostics_only(case: tuple[str, list[str]]) -> None:
    source, options = case
    try:
        assert coopmat.compile(source, options).llvm_ir
    except CompileError as error:
        assert any(item.severity.is_error for item in error.diagnostics)
        assert all(item.span is not None or item.code == "error-limit" for item in error.diagnostics)
