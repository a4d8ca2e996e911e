#!/usr/bin/env python3
"""Record clang's overloads of OpenCL C's builtins, for tests that run without clang.

Writes two files to tests/golden/builtins:

names.txt: every overload that clang's header declares of the builtins in our table, as `name name ...: RESULT SUFFIX,
RESULT SUFFIX, ...`; SUFFIX is the mangled parameter list.
calls.txt: the overload that clang chooses for calls with random argument types, as `name(types) = SUFFIX`, `=
ambiguous` or `= none`.

Usage: tools/builtin_oracle.py [CLANG]     (clang 19 was used; the package must be importable)
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

from coopmat.frontend import builtins as table  # noqa: E402
from coopmat.frontend.types import FLOATS, INTEGERS, PointerType, Type, VectorType  # noqa: E402

GOLDEN = ROOT / "tests" / "golden" / "builtins"
# Declare both the generic and the named address spaces. The driver's tables of builtins are off, so that the header is
# used.
FLAGS = [
    *("-x", "cl", "-cl-std=CL3.0", "-target", "spir64"),
    *("-cl-no-stdinc", "-D__opencl_c_named_address_space_builtins=1", "-include", "opencl-c.h"),
]
DECLARATION = re.compile(r"^(\w+)\s+__attribute__\(\(overloadable\)\).*?\b(\w+)\(([^()]*)\);$", re.M)
# This text is line 1, so that call i is on line i + 2.
HALF = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
# Left out: atomic halves, which are not supported yet, and atomic intptr_t and uintptr_t. The latter are long and
# ulong, whose functions are recorded, and the header mixes signed and unsigned in some of them.
LEFT_OUT = re.compile("atomic_(half|u?intptr_t)")
# Left out, since our table lacks them: images with mipmaps or several samples.
FLAGS += ["-Xclang", "-cl-ext=-cl_khr_mipmap_image,-cl_khr_mipmap_image_writes,-cl_khr_gl_msaa_sharing"]
ACCESSES = {"read_only", "write_only", "read_write"}
QUALIFIERS = {"const", "volatile", "__global", "__local", "__private", "__constant", "__generic", "restrict"}


def clang(arguments: list[str], source: str) -> subprocess.CompletedProcess[str]:
    program = sys.argv[1] if len(sys.argv) > 1 else "clang-19"
    command = [program, *FLAGS, *arguments, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False)


def parameter_types(text: str) -> list[str]:
    """Return the types in a parameter list, without the parameters' names."""
    types = []
    for parameter in text.split(","):
        words = re.findall(r"\w+|\*", parameter)
        base = next((i for i, word in enumerate(words) if word not in QUALIFIERS), None)
        pointer = " *" if "*" in words else ""
        if base is not None and (pointer or words[base] != "void"):
            of_image = words[base] in ACCESSES
            types.append(" ".join(words[: base + 1 + of_image]) + pointer)
    return types


def functions(calls: list[tuple[str, list[str]]]) -> str:
    lines = [HALF]
    for i, (name, types) in enumerate(calls):
        parameters = ", ".join(f"{t} a{j}" for j, t in enumerate(types))
        lines.append(f"void call{i}({parameters}) {{ {name}({', '.join(f'a{j}' for j in range(len(types)))}); }}\n")
    return "".join(lines)


def callees(calls: list[tuple[str, list[str]]]) -> list[str]:
    """Return the mangled callee of each call, found by compiling each call in a separate function."""
    done = clang(["-S", "-emit-llvm", "-O0", "-w", "-o", "-"], functions(calls))
    if done.returncode:
        raise SystemExit(done.stderr)
    found = re.findall(r"^define[^\n]*@call(\d+)\([^\n]*\{\n(.*?)^\}", done.stdout, re.M | re.S)
    names = {int(i): re.findall(r"\bcall .*?@(_Z\w+)", body)[-1] for i, body in found}
    return [names[i] for i in range(len(calls))]


def suffix(mangled: str, name: str) -> str:
    # In this compiler, the enumerations are ints. A function's second memory_order is mangled as a substitution of the
    # first.
    parameters = mangled.removeprefix(f"_Z{len(name)}{name}").replace("12memory_scope", "i")
    return re.sub("12memory_order(S[0-9A-Z]*_)?", lambda match: "ii" if match[1] else "i", parameters)


def record_names() -> None:
    header = clang(["-E", "-P", "-o", "-"], "").stdout
    wanted = {n for n in table.names() if (row := table.find(n)) and row.supported and row.signatures}
    found = [(result, name, parameter_types(text)) for result, name, text in DECLARATION.findall(header)]
    found = [item for item in found if item[1] in wanted and not any(map(LEFT_OUT.search, item[2]))]
    by_name: dict[str, set[str]] = {}
    for (result, name, _), mangled in zip(found, callees([(n, t) for _, n, t in found]), strict=True):
        by_name.setdefault(name, set()).add(f"{result} {suffix(mangled, name)}")
    lines: dict[str, list[str]] = {}
    for name, entries in sorted(by_name.items()):
        lines.setdefault(", ".join(sorted(entries)), []).append(name)
    text = "".join(f"{' '.join(names)}: {entries}\n" for entries, names in lines.items())
    (GOLDEN / "names.txt").write_text(text)
    print(f"names.txt: {len(by_name)} builtins, {sum(map(len, by_name.values()))} overloads")


def spelled(t: Type) -> str:
    if not isinstance(t, PointerType):
        return str(t)
    space = str(t.qualifiers.space)
    return f"__{space} {'const ' * t.qualifiers.const}{t.pointee} *"


def random_calls(count: int) -> list[tuple[str, list[str]]]:
    """Return calls of overloads in which some arguments are replaced by another type.

    If a parameter is a pointer, only scalar integers are replaced: in C mode, clang accepts pointers to wrong types
    with a warning.
    """
    chooser = random.Random(1)
    rows = [row for family in table.FAMILIES for row in family.TABLE if row.supported and row.signatures]
    rows = [row for row in rows if not row.lowering.startswith(("atomic", "async", "wait"))]
    # clang takes an integer for a sampler only if it is a constant.
    rows = [row for row in rows if row.section != "6.15.15"]
    pool = [*INTEGERS, *FLOATS, *(VectorType(t, n) for t in (*INTEGERS, *FLOATS) for n in (2, 4))]
    calls = set()
    while len(calls) < count:
        row = chooser.choice(rows)
        types = list(chooser.choice(table.overloads(row)).parameters)
        by_pointer = any(isinstance(t, PointerType) for t in types)
        for i, t in enumerate(types):
            if chooser.random() < 0.4 and (t in INTEGERS if by_pointer else True):
                types[i] = chooser.choice(pool[: len(INTEGERS) + len(FLOATS)] if chooser.random() < 0.7 else pool)
        calls.add((row.name, tuple(spelled(t) for t in types)))
    return [(name, list(types)) for name, types in sorted(calls)]


def record_calls() -> None:
    calls = random_calls(1500)
    errors = clang(["-fsyntax-only", "-w", "-ferror-limit=0"], functions(calls)).stderr
    bad = {int(n) - 2: message for n, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", errors, re.M)}
    good = [i for i in range(len(calls)) if i not in bad]
    answers = {i: "ambiguous" if "ambiguous" in message else "none" for i, message in bad.items()}
    for i, mangled in zip(good, callees([calls[i] for i in good]), strict=True):
        answers[i] = suffix(mangled, calls[i][0])
    text = "".join(f"{n}({', '.join(t)}) = {answers[i]}\n" for i, (n, t) in enumerate(calls))
    (GOLDEN / "calls.txt").write_text(text)
    print(f"calls.txt: {len(calls)} calls, {len(good)} resolved")


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    record_names()
    record_calls()
