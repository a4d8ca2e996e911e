"""Integers of odd widths in LLVM IR, as LLVM's optimisation makes them, against Python's integers."""

from __future__ import annotations

import operator
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from differential import Launch, Value, execute

import coopmat
from coopmat.devices import DeviceInfo

COUNT = 64
WIDTHS = (3, 7, 9, 17, 31, 33, 47, 63)


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "udiv": operator.floordiv,
    "urem": operator.mod,
    "lshr": operator.rshift,
    "shl": operator.lshift,
}
_SIGNED: dict[str, Callable[[int, int], int]] = {
    "sdiv": _quotient,
    "srem": lambda a, b: a - b * _quotient(a, b),
    "ashr": operator.rshift,
}
_PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


class Program:
    """Random instructions on integers of one odd width, of two loaded i64, and what they give in Python."""

    def __init__(self, rng: random.Random, width: int) -> None:
        self.rng, self.width, self.mask = rng, width, (1 << width) - 1
        self.lines: list[str] = []
        self.values: list[tuple[str, Callable[[int, int], int]]] = []
        for name in ("a", "b"):
            self.lines.append(f"%{name} = trunc i64 %{name}64 to i{width}")
        self.values += [("%a", lambda a, b: a & self.mask), ("%b", lambda a, b: b & self.mask)]
        for _ in range(12):
            self.step()

    def operand(self) -> tuple[str, Callable[[int, int], int]]:
        if self.rng.random() < 0.2:
            number = signed(self.rng.getrandbits(self.width), self.width)
            return str(number), lambda a, b, n=number: n & self.mask  # type: ignore[misc]
        return self.rng.choice(self.values)

    def step(self) -> None:
        width, mask, name = self.width, self.mask, f"%v{len(self.values)}"
        (x, left), (y, right) = self.rng.choice(self.values), self.operand()
        kind = self.rng.choice(["arithmetic", "arithmetic", "signed", "compare", "select", "extend", "freeze"])
        result: Callable[[int, int], int]
        if kind in ("arithmetic", "signed"):
            table = _UNSIGNED if kind == "arithmetic" else _SIGNED
            opcode = self.rng.choice(list(table))
            if opcode in ("udiv", "urem", "sdiv", "srem", "shl", "lshr", "ashr"):
                # Division by zero and shifts by the width are undefined, and so is the quotient of the least number.
                number = self.rng.randrange(2, min(width, 4)) if width > 2 else 1
                y, right = str(number), lambda a, b: number
            of = (lambda v: signed(v, width)) if kind == "signed" else (lambda v: v)
            self.lines.append(f"{name} = {opcode} i{width} {x}, {y}")
            result = lambda a, b: table[opcode](of(left(a, b)), of(right(a, b))) & mask  # noqa: E731
        elif kind == "compare":
            word = self.rng.choice(list(_PREDICATES))
            is_signed = word not in ("eq", "ne") and self.rng.random() < 0.5
            predicate = word if word in ("eq", "ne") else ("s" if is_signed else "u") + word
            self.lines += [f"{name}c = icmp {predicate} i{width} {x}, {y}", f"{name} = zext i1 {name}c to i{width}"]
            of = (lambda v: signed(v, width)) if is_signed else (lambda v: v)
            result = lambda a, b: int(_PREDICATES[word](of(left(a, b)), of(right(a, b))))  # noqa: E731
        elif kind == "select":
            self.lines.append(f"{name} = select i1 %condition, i{width} {x}, i{width} {y}")
            result = lambda a, b: left(a, b) if a & 1 else right(a, b)  # noqa: E731
        elif kind == "extend":
            other = self.rng.choice([w for w in (*WIDTHS, 8, 16, 32, 64) if w > width])
            how = self.rng.choice(["zext", "sext"])
            self.lines += [
                f"{name}e = {how} i{width} {x} to i{other}",
                f"{name}s = lshr i{other} {name}e, 1",
                f"{name} = trunc i{other} {name}s to i{width}",
            ]
            of = (lambda v: signed(v, width) & ((1 << other) - 1)) if how == "sext" else (lambda v: v)
            result = lambda a, b: (of(left(a, b)) >> 1) & mask  # noqa: E731
        else:
            self.lines.append(f"{name} = freeze i{width} {x}")
            result = left
        self.values.append((name, result))

    def text(self, kernel: str) -> str:
        last = self.values[-1][0]
        how = "sext" if self.width % 4 == 1 else "zext"
        body = "\n  ".join(self.lines)
        return f"""\
define spir_kernel void @{kernel}(ptr addrspace(1) %p, ptr addrspace(1) %q) {{
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %pa = getelementptr i64, ptr addrspace(1) %p, i64 %id
  %second = add i64 %id, {COUNT}
  %pb = getelementptr i64, ptr addrspace(1) %p, i64 %second
  %a64 = load i64, ptr addrspace(1) %pa, align 8
  %b64 = load i64, ptr addrspace(1) %pb, align 8
  %low = and i64 %a64, 1
  %condition = icmp ne i64 %low, 0
  {body}
  %result = {how} i{self.width} {last} to i64
  %pq = getelementptr i64, ptr addrspace(1) %q, i64 %id
  store i64 %result, ptr addrspace(1) %pq, align 8
  ret void
}}
"""

    def expected(self, a: int, b: int) -> int:
        value = self.values[-1][1](a, b)
        return signed(value, self.width) if self.width % 4 == 1 else value


@pytest.mark.parametrize("width", WIDTHS)
def test_random_instructions(device: DeviceInfo, width: int) -> None:
    rng = random.Random(width)
    programs = [Program(rng, width) for _ in range(8)]
    text = "declare spir_func i64 @_Z13get_global_idj(i32)\n" + "".join(
        program.text(f"k{n}") for n, program in enumerate(programs)
    )
    x = np.array([rng.getrandbits(64) - 2**63 for _ in range(2 * COUNT)], np.int64)
    module = coopmat.compile(text, name="in.ll", language="ir")
    launches = [Launch(f"k{n}", [x, np.zeros(COUNT, np.int64)], (COUNT,)) for n in range(len(programs))]
    for program, found in zip(programs, execute(device, module.spirv, launches), strict=True):
        expected = [program.expected(int(a), int(b)) for a, b in zip(x[:COUNT], x[COUNT:], strict=True)]
        assert found[1].tolist() == expected, program.text("k")


LOOPS = """
kernel void k(global long *o, global const int *p, int n) {
    uint s = 0; int t = 0; ulong u = 0; long w = 0; ushort h = 0;
    for (int i = 0; i < n; ++i) { s += i; t += 3 * i; }
    for (long i = 2; i < n; ++i) { u += i * 5; w -= i; }
    for (uchar i = 0; i < (uchar)n; ++i) h += i;
    o[0] = s; o[1] = t; o[2] = u; o[3] = w; o[4] = h;
    switch (n & 7) { case 0: o[5] = 11; break; case 3: o[5] = 12; break; case 5: o[5] = 13; break; case 6: o[5] = 19;
        break; default: o[5] = n; }
}
"""


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_sums_of_loop_counters_of_clang(device: DeviceInfo, tmp_path: Path, level: str) -> None:
    clang = next(
        (found for name in ("clang-19", "clang-20", "clang-18", "clang") if (found := shutil.which(name))), None
    )
    if clang is None:
        pytest.skip("this machine has no clang")
    source = tmp_path / "loops.cl"
    source.write_text(LOOPS)
    command = [clang, "-x", "cl", "-cl-std=CL3.0", "--target=spir64", level, "-S", "-emit-llvm", "-o", "-", str(source)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"clang does not compile OpenCL C for spir64: {made.stderr[:200]}")
    module = coopmat.compile(made.stdout, name="in.ll", language="ir")
    for n in (0, 1, 3, 5, 100):
        launch = Launch("k", [np.zeros(6, np.int64), np.zeros(1, np.int32), Value(np.array(n, np.int32))])
        assert execute(device, module.spirv, [launch])[0][0].tolist()[:5] == [
            n * (n - 1) // 2,
            3 * (n * (n - 1) // 2),
            5 * sum(range(2, n)),
            -sum(range(2, n)),
            n * (n - 1) // 2,
        ]


@pytest.mark.parametrize("width", [65, 77, 127])
def test_products_of_64_bits(device: DeviceInfo, width: int) -> None:
    """The sum of a 64-bit counter: half of a product in i65."""
    text = f"""\
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %q = getelementptr i64, ptr addrspace(1) %p, i64 1
  %a = load i64, ptr addrspace(1) %p, align 8
  %b = load i64, ptr addrspace(1) %q, align 8
  %x = zext i64 %a to i{width}
  %y = zext i64 %b to i{width}
  %xy = mul i{width} %x, %y
  %z = lshr i{width} %xy, 1
  %s = trunc i{width} %z to i64
  store i64 %s, ptr addrspace(1) %p, align 8
  %times = mul i{width} %xy, -3
  %u = lshr i{width} %times, 64
  %t = trunc i{width} %u to i32
  store i32 %t, ptr addrspace(1) %q, align 8
  ret void
}}
"""
    rng = random.Random(width)
    module = coopmat.compile(text, name="in.ll", language="ir")
    for _ in range(4):
        a, b = rng.getrandbits(64), rng.getrandbits(64)
        found = execute(device, module.spirv, [Launch("k", [np.array([a, b], np.uint64)])])[0][0]
        product = a * b % 2**width
        assert int(found[0]) == (product >> 1) % 2**64
        assert int(found[1]) % 2**32 == (product * -3 % 2**width >> 64) % 2**32


@pytest.mark.parametrize(
    "instruction",
    [
        "%r = load i33, ptr addrspace(1) %p, align 8",
        "%r = call i33 @llvm.ctpop.i33(i33 %w)",
        "%r = bitcast <4 x i33> zeroinitializer to <2 x i66>",
        "%r = add <2 x i33> zeroinitializer, zeroinitializer",
        "%r = sdiv i65 3, 4",
    ],
)
def test_other_instructions_have_a_place(instruction: str) -> None:
    text = f"""\
declare i33 @llvm.ctpop.i33(i33)
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %v = load i32, ptr addrspace(1) %p, align 4
  %w = zext i32 %v to i33
  {instruction}
  ret void
}}
"""
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(text, name="in.ll", language="ir").spirv  # noqa: B018
    (found,) = caught.value.diagnostics
    assert found.code == "ir-not-supported" and "is not supported" in found.message
    assert found.span is not None and found.span.line == 5
