"""A long source in the style of a password cracker's kernels, for measurements: one kernel file with long headers.

In the headers, macros select code for a device and a vector width, so that half of the tokens are in groups that are
skipped. They contain large tables of constants, functions of unrolled rounds, and functions of long switches. The
kernels reach an eighth of these. Some lines are continued by backslashes. The same seed gives the same text, which
compiles without errors.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

MAIN = "main.cl"
FUNCTIONS = 200
REACHED = 24
KERNELS = 3
SPLICES = 40
TABLES = 40
WIDTHS = (1, 2, 4, 8, 16)

_TYPES = """\
#ifndef TYPES_H
#define TYPES_H

#ifndef VECT_SIZE
#define VECT_SIZE 4
#endif

#define CONCAT(a, b) a##b
#define VTYPE(type, width) CONCAT(type, width)

typedef uchar  u8;
typedef ushort u16;
typedef uint   u32;
typedef ulong  u64;

#if VECT_SIZE == 1
typedef uint u32x;
#define make_u32x(x) ((u32x)(x))
#elif VECT_SIZE == 2
typedef VTYPE(uint, VECT_SIZE) u32x;
#define make_u32x(x, y) ((u32x)(x, y))
#elif VECT_SIZE == 4
typedef VTYPE(uint, VECT_SIZE) u32x;
#define make_u32x(x, y, z, w) ((u32x)(x, y, z, w))
#else
typedef VTYPE(uint, VECT_SIZE) u32x;
#define make_u32x(...) ((u32x)(__VA_ARGS__))
#endif

#if VECT_SIZE == 1
#define GATHER(table, i) ((table)[(i)])
#elif VECT_SIZE == 2
#define GATHER(table, i) make_u32x((table)[(i).s0], (table)[(i).s1])
#elif VECT_SIZE == 4
#define GATHER(table, i) make_u32x((table)[(i).s0], (table)[(i).s1], (table)[(i).s2], (table)[(i).s3])
#endif

#ifdef IS_CUDA
#define DECLARATION __device__ static
#define CONSTANT __constant__
#elif defined IS_METAL
#define DECLARATION inline
#define CONSTANT constant
#else
#define DECLARATION static
#define CONSTANT __constant
#endif

#define ROTATE(x, n) rotate((x), (u32)(n))
#define CHOOSE(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) ^ (y))))
#define PARITY(x, y, z) ((x) ^ (y) ^ (z))
#define STEP(f, a, b, c, d, x, k, s) \\
  {                                  \\
    a += (x) + (k);                  \\
    a += f((b), (c), (d));           \\
    a = ROTATE(a, s);                \\
    a += (b);                        \\
  }

DECLARATION u32 bytes_at (const u32 a, const u32 b, const int c)
{
  const u64 both = (((u64) b) << 32) | a;

  return (u32) (both >> (32 - (c & 3) * 8));
}

DECLARATION u32x vectors_at (const u32x a, const u32x b, const int c)
{
#if VECT_SIZE == 1
  return bytes_at (a, b, c);
#elif VECT_SIZE == 2
  return make_u32x (bytes_at (a.s0, b.s0, c), bytes_at (a.s1, b.s1, c));
#elif VECT_SIZE == 4
  return make_u32x (bytes_at (a.s0, b.s0, c), bytes_at (a.s1, b.s1, c), bytes_at (a.s2, b.s2, c),
                    bytes_at (a.s3, b.s3, c));
#endif
}

typedef struct context
{
  u32 h[8];
  u32 w0[4], w1[4], w2[4], w3[4];
  int len;
} context_t;

typedef struct rule
{
  u32 cmds[32];
} rule_t;

#endif
"""


def _constants(rng: random.Random, count: int, indent: str = "  ") -> Iterator[str]:
    for start in range(0, count, 8):
        yield indent + " ".join(f"0x{rng.getrandbits(32):08x}," for _ in range(min(8, count - start)))


def _table(rng: random.Random, number: int) -> list[str]:
    lines = [f"CONSTANT const u32 table{number:02d}[1024] =", "{"]
    return [*lines, *_constants(rng, 1024), "};", ""]


def _rounds(rng: random.Random, name: str, calls: list[str]) -> Iterator[str]:
    """Yield the lines of a hash function: unrolled rounds of macros on sixteen words."""
    yield f"DECLARATION void {name} (const u32 *w0, const u32 *w1, const u32 *w2, const u32 *w3, u32 *digest)"
    yield "{"
    yield from (f"  u32 {letter} = digest[{at}];" for at, letter in enumerate("abcd"))
    yield "  u32 w[16];"
    yield from (f"  w[{at}] = w{at // 4}[{at % 4}];" for at in range(16))
    for step in range(48):
        a, b, c, d = ("abcd"[(at - step) % 4] for at in range(4))
        function = ("CHOOSE", "MAJORITY", "PARITY")[step // 16]
        constant = f"0x{rng.getrandbits(32):08x}u"
        yield f"  STEP ({function}, {a}, {b}, {c}, {d}, w[{rng.randrange(16)}], {constant}, {rng.randrange(3, 28)});"
    yield from (f"  {call} (w0, w1, w2, w3, digest);" for call in calls)
    yield from (f"  digest[{at}] += {letter};" for at, letter in enumerate("abcd"))
    yield "}"


def _switch(rng: random.Random, name: str, calls: list[str]) -> Iterator[str]:
    """Yield the lines of a function that shifts words by a run-time offset, with a case for each offset."""
    yield f"DECLARATION void {name} (u32 *w0, u32 *w1, u32 *w2, u32 *w3, u32 *digest)"
    yield "{"
    yield "  const int offset = (int) (digest[0] & 63);"
    yield "  const int selector = offset / 4;"
    yield "  switch (selector)"
    yield "  {"
    for case in range(12):
        yield f"    case {case}:"
        for at in range(15, -1, -1):
            target, low = f"w{at // 4}[{at % 4}]", at - case
            if low >= 1:
                lower, upper = (f"w{i // 4}[{i % 4}]" for i in (low - 1, low))
                kind = "vectors_at" if case % 3 == 1 else "bytes_at"
                yield f"      {target} = {kind} ({lower}, {upper}, offset){'.s0' if kind == 'vectors_at' else ''};"
            else:
                yield f"      {target} = {f'w0[0] << {rng.randrange(1, 32)}' if low == 0 else '0'};"
        yield "      break;"
        yield ""
    yield "    default:"
    yield "      break;"
    yield "  }"
    yield from (f"  {call} (w0, w1, w2, w3, digest);" for call in calls)
    yield "}"


def _loops(rng: random.Random, name: str, calls: list[str]) -> Iterator[str]:
    """Yield the lines of a function that searches a table, with vectors, structures and loops."""
    yield f"DECLARATION void {name} (const u32 *w0, const u32 *w1, const u32 *w2, const u32 *w3, u32 *digest)"
    yield "{"
    yield "  context_t ctx;"
    yield f"  u32x acc = (u32x) (digest[{rng.randrange(4)}]);"
    yield "  for (int i = 0; i < 4; i++)"
    yield "  {"
    yield "    ctx.w0[i] = w0[i]; ctx.w1[i] = w1[i];"
    yield "    ctx.w2[i] = w2[i]; ctx.w3[i] = w3[i];"
    yield "  }"
    yield "  ctx.len = 64;"
    for _ in range(24):
        table, shift, word = rng.randrange(TABLES), rng.randrange(1, 22), f"w{rng.randrange(4)}[{rng.randrange(4)}]"
        yield "  for (int pos = 0; pos < ctx.len; pos += 4)"
        yield "  {"
        yield f"    const u32x index = (acc ^ (u32x) ({word} + (u32) pos)) >> {shift} & 1023;"
        yield f"    acc += GATHER (table{table:02d}, index);"
        yield "    if (ctx.len > 60 && (pos & 15) == 0)"
        yield "    {"
        yield f"      ctx.{word} ^= ROTATE (ctx.{word}, {rng.randrange(1, 31)});"
        yield "    }"
        yield f"    else ctx.h[pos & 7] = max (ctx.h[(pos + 1) & 7], 0x{rng.getrandbits(20):x}u);"
        yield "  }"
    yield "  u32 words[VECT_SIZE];"
    yield "  *(u32x *) words = acc;"
    yield from (f"  {call} (ctx.w0, ctx.w1, ctx.w2, ctx.w3, digest);" for call in calls)
    yield "  digest[0] ^= words[0] + ctx.h[0] + (u32) ctx.len;"
    yield "}"


_KINDS: tuple[Callable[[random.Random, str, list[str]], Iterator[str]], ...] = (_rounds, _switch, _loops)


def _name(number: int) -> str:
    return f"step_{number:03d}"


def _function(rng: random.Random, number: int, calls: list[str]) -> Iterator[str]:
    """Yield the lines of a function in nested conditionals.

    One group is compiled; the other groups are for another device or vector width, and are skipped.
    """
    kind = _KINDS[number % len(_KINDS)]
    other = ("IS_CUDA", "IS_METAL", "VECT_SIZE == 16", "defined USE_LDS && VECT_SIZE < 2")[number % 4]
    yield f"#if{'def' if ' ' not in other else ''} {other}"
    if number % 3 == 0:
        yield "#if ARCHITECTURE >= 800"
        yield from kind(rng, _name(number), calls)
        yield "#else // an older one"
        yield from kind(rng, _name(number), calls[:1])
        yield "#endif"
    else:
        yield from kind(rng, _name(number), calls)
    yield "#else"
    yield from kind(rng, _name(number), calls)
    yield "#endif"
    yield ""


def _spliced(rng: random.Random, text: str, count: int) -> str:
    """Return the text with `count` lines continued on the next line by a backslash, at a blank."""
    lines = text.split("\n")
    wanted = [at for at, line in enumerate(lines) if line.startswith("  ") and " = " in line]
    for at in rng.sample(wanted, count):
        lines[at] = lines[at].replace(" = ", " = \\\n    ", 1)
    return "\n".join(lines)


def files(seed: int = 1) -> dict[str, str]:
    """Return name -> text; the file `MAIN` includes the others."""
    rng = random.Random(seed)
    tables: list[str] = ['#include "types.h"', ""]
    for number in range(TABLES):
        if number % 2:
            tables += ["#ifdef IS_CUDA", *_table(rng, number), "#elif defined USE_LDS", *_constants(rng, 600), "#else"]
        tables += _table(rng, number)
        tables += ["#endif"] if number % 2 else []
    # Kernels call the first functions, which call each other. Each of the others calls the next, and no kernel reaches
    # them.
    functions: list[str] = ['#include "tables.h"', ""]
    for number in reversed(range(FUNCTIONS)):
        calls = [_name(number + KERNELS)] if number + KERNELS < REACHED or number >= REACHED else []
        calls = [call for call in calls if call < _name(FUNCTIONS)]
        functions += _function(rng, number, calls)
    kernels = ['#include "types.h"', '#include "functions.h"', ""]
    for number in range(KERNELS):
        kernels += [
            f"__kernel void attack_{number} (__global const u32 *words, __global u32 *found, CONSTANT const u32 *salt)",
            "{",
            "  const u64 gid = get_global_id (0);",
            "  u32 w0[4], w1[4], w2[4], w3[4], digest[4];",
            "  for (int i = 0; i < 4; i++)",
            "  {",
            "    w0[i] = words[gid * 16 + (u64) i]; w1[i] = words[gid * 16 + (u64) i + 4];",
            "    w2[i] = salt[i]; w3[i] = salt[i + 4]; digest[i] = 0;",
            "  }",
            f"  {_name(number)} (w0, w1, w2, w3, digest);",
            "  if (digest[0] == salt[8] && digest[1] == salt[9]) found[gid] = digest[2];",
            "}",
            "",
        ]
    text = "\n".join(functions)
    return {
        "types.h": _TYPES,
        "tables.h": "\n".join(tables),
        "functions.h": _spliced(rng, text, SPLICES),
        MAIN: "\n".join(kernels),
    }


def write(directory: Path, seed: int = 1) -> Path:
    """Write the texts to a directory, and return the path of the file to compile."""
    for name, text in files(seed).items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory / MAIN
