"""Programs whose declarations have names of the matrix library's texts, which must not change their meaning.

`vocabulary` returns the identifiers of a route's texts and of the code made from them. `program` returns a program that
declares a name in each role. The meaning must be the same for all names; `meaning` computes it for SPIR-V and for
OpenCL C.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence
from functools import cache, partial
from importlib import resources

import coopmat
from coopmat.compiler.stages import PASSED
from coopmat.features import TABLE
from coopmat.frontend import builtins
from coopmat.frontend.macros import CONDITIONAL, FIXED
from coopmat.frontend.words import TERMINALS, TYPE_NAMES
from coopmat.matrices.lowering import prelude
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.opencl_c import WriteOptions
from coopmat.opencl_c.write import write
from coopmat.spirv.module import OP, Module

_HEAD = """\
#define MATRIX(T, R, C, USE) \\
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
"""
# $N is replaced by the name with the number N.
_PROGRAM = """\
typedef MATRIX(int, 8, 8, ACCUMULATOR) $0;
struct $1 { int $2; int $3; };
constant int $4[] = { 3, 5 };
static int $5(int $6, struct $1 $7)
{
    int $8 = $6 * $4[$6 & 1];
    { int $9 = $8 * $7.$2; $8 += $9; }
    if ($8 > 100) goto $10;
    $8 ^= $7.$3;
$10:
    return $8 + $7.$2;
}
static int $11(uint $12, uint $13, int $14, const global int *$15, int $16)
{
    int $17 = $14 * $16;
    { int $18 = $17 - $15[$12 & 1]; $17 += $18; }
    if ($14 > 3) return $17 + (int)$12;
    int $19 = $17 * 2;
    for (int $20 = 0; $20 < 60; $20++) $19 += $15[$20] * $20;
    return $19 + $16;
}
static int $21(uint $22, uint $23, int $24) { return (int)($22 * 100 + $23 * 3) + $24; }
static int $25(int $26, int $27) { return $26 > $27 ? $26 : $27; }
kernel void $28(global const int *$29, global int *$30, int $31, struct $1 $32)
{
    $0 $33 = coop_mat_load($29, ROW, 8), $34 = coop_mat_build($21, $31);
    $33 = coop_mat_map($33, $11, $29, $31 + 1);
    MATRIX(int, 1, 8, ACCUMULATOR) $35 = coop_mat_reduce($34, CLK_COOPERATIVE_MATRIX_REDUCE_COLUMN, $25);
    coop_mat_store($30, $33 + -$34, ROW, 8);
    coop_mat_store($30 + 64, $35, ROW, 8);
    MATRIX(char, 8, 16, A) $36 = coop_mat_init(3);
    MATRIX(char, 16, 8, B) $37 = coop_mat_init(2);
    coop_mat_store($30 + 72, coop_mat_mulAdd($36, $37, $33), ROW, 8);
    $30[get_global_id(0) + 136] = $5($31, $32);
}
"""
# The number of names that a program declares, and the index of its kernel's name.
NAMES, KERNEL = 38, 28
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_GRAMMAR = (resources.files("coopmat.frontend") / "opencl_c.lark").read_text()
_WORDS = {"_Pragma", "defined", *TERMINALS, *re.findall(r'"(\w+)"', _GRAMMAR), *(row.name for row in TABLE)}
_WORDS |= {name.partition("(")[0] for rows in (FIXED, *CONDITIONAL.values()) for name, _ in rows}
NEUTRAL = [f"zq{n}" for n in range(NAMES)]
_DIRECTIVES = ("define", "pragma", "unroll", "nounroll")
# The identifiers in the program's own text.
_OWN = {*_IDENTIFIER.findall(_HEAD + _PROGRAM.replace("$", "0"))}


def program(names: Sequence[str] = NEUTRAL) -> str:
    """Return a program that declares these names."""
    return _HEAD + re.sub(r"\$(\d+)", lambda match: names[int(match[1])], _PROGRAM)


def renamed(source: str, route: str, seed: int, kept: Collection[str] = ()) -> str:
    """Return the program with names of the library's texts in place of those that it declares, if there are enough.

    `kept`, names of macros and of members are not replaced.
    """
    tokens = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
    given = {*_WORDS, *TYPE_NAMES, *kept, *_DIRECTIVES, *re.findall(r"(?:\.|->|__attribute__\(\()(\w+)", source)}
    own = [
        name
        for name in dict.fromkeys(tokens.findall(source))
        if name not in given and not name.startswith(("coop_", "CLK_", "__")) and builtins.find(name) is None
    ]
    own = [name for name in own if not name.isupper()]
    generator = random.Random(seed)
    words = [word for word in vocabulary(route, "c") if word not in own and word not in given]
    generator.shuffle(own)
    generator.shuffle(words)
    new = dict(zip(own, words, strict=False))
    return tokens.sub(lambda match: new.get(match[0], match[0]), source)


def options(route: str) -> list[str]:
    lowered = LOWERED_ROUTES.get(route)
    size = lowered.size(None) if lowered is not None else None
    return ["-w", "--matrices", route, *(["--sub-group-size", str(size)] if size and size > 1 else [])]


@cache
def vocabulary(route: str, code: str) -> tuple[str, ...]:
    """Return the identifiers that may collide with a program's names on a route.

    They are those in the files of the route's library, in its prelude, and in the OpenCL C or LLVM IR of the neutral
    program. Identifiers that a program cannot declare, or declares already, are left out.
    """
    texts = [made(route, code, program())]
    lowered = LOWERED_ROUTES.get(route)
    if lowered is not None:
        folder = resources.files("coopmat.matrices") / "library"
        texts += [prelude(route)[0], *((folder / file).read_text() for file in lowered.files)]
    found = {word for text in texts for word in _IDENTIFIER.findall(text)}
    return tuple(sorted(found - {*_WORDS, *_OWN, *NEUTRAL}))


def made(route: str, code: str, source: str, *more: str) -> str:
    """Return the OpenCL C or the LLVM IR to which a source is compiled."""
    module = coopmat.compile(source, [*options(route), "--code", code, *more], name="names.cl")
    return module.opencl_c if code == "c" else module.llvm_ir


@cache
def _prelude_functions(route: str) -> str:
    """Return definitions of a prelude's functions, as the library has them for other devices."""
    unit = coopmat.compile(program(), options(route)).result(PASSED["c"])[0]
    text = write(unit, WriteOptions()).text
    parts = re.finditer(r"^static [^\n;]*\b(\w+)\([^\n;]*\)\n\{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL)
    return "".join(part[0].replace("CM_INLINE", "") for part in parts if part[1] in prelude(route)[1])


def meaning(route: str, code: str, source: str, *more: str) -> list[tuple[int, ...]]:
    """Return a source's meaning on a route: the instructions of SPIR-V without names.

    OpenCL C is compiled again by this compiler, which resolves every name by C's rules.
    """
    if code == "spirv":
        module = coopmat.compile(source, [*options(route), *more], name="names.cl")
    else:
        text = made(route, code, source, *more)
        # The prefixes of the library's names in kernels whose own names collide with the usual prefix.
        prefixed = (partial(re.sub, r"\b(cm|CM)_", rf"\g<1>{n}_") for n in ("", *range(2, 9)))
        for with_prefix in prefixed if prelude(route)[0] else ():
            text = text.replace(with_prefix(prelude(route)[0].rstrip()), with_prefix(_prelude_functions(route)))
        module = coopmat.compile(text, ["-w", "-cl-std=CL3.0"], name="written.cl")
    return unnamed(module.spirv)


_NAMING = {OP[f"Op{name}"] for name in ("Name", "MemberName", "Source", "SourceExtension", "String", "Line", "NoLine")}


def unnamed(spirv: bytes) -> list[tuple[int, ...]]:
    items = Module.parse(spirv).instructions
    entry = OP["OpEntryPoint"]
    kept = [item for item in items if item.opcode not in _NAMING]
    return [
        (item.opcode, item.result_type or 0, item.result or 0, *item.operands[: 2 if item.opcode == entry else None])
        for item in kept
    ]
