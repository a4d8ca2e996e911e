"""Modules in SPIR-V that are broken in every way: the application lives, and each has its answer in time.

They are modules of this compiler, changed word by word, bit by bit, cut, and put together of several parts. The
driver is the stub: what a real one does with a module that is valid and senseless is not the layer's.
"""

from __future__ import annotations

import functools
import random
import struct
import time

import pytest
from stub_application import Application
from stub_suite import Stub, matrix_module

import coopmat

LONGEST = 20.0
SOURCE = """
#define MATRIX(T, use) T __attribute__((coop_mat(memory_scope_sub_group, 8, 8, CLK_COOPERATIVE_MATRIX_##use)))
typedef struct { MATRIX(float, ACCUMULATOR) m[2]; int n; } both;
kernel void product(global const float *a, global const float *b, global float *c, int n) {
    both sum;
    sum.m[0] = coop_mat_init(0);
    for (int i = 0; i < n; i++) {
        MATRIX(float, A) x = coop_mat_load(a + i, 0, 8);
        MATRIX(float, B) y = coop_mat_load(b + i, 1, 8);
        sum.m[0] = coop_mat_mulAdd(x, y, sum.m[0]);
    }
    sum.m[1] = sum.m[0] * 2.0f + sum.m[0];
    for (uint i = 0; i < coop_mat_length(sum.m[1]); i++)
        sum.m[1][i] = sum.m[0][i] + i;
    coop_mat_store(c, sum.m[1], 0, 8);
}
"""


@functools.cache
def originals() -> list[bytes]:
    options = (["--matrices", "native"], ["--matrices", "native", "-O0"])
    return [matrix_module(), *(coopmat.compile(SOURCE, list(words)).spirv for words in options)]


def places(words: list[int]) -> list[int]:
    """Where instructions begin."""
    found, at = [], 5
    while at < len(words):
        found.append(at)
        at += max(words[at] >> 16, 1)
    return found


def changed(code: bytes, rng: random.Random) -> bytes:
    """A module with a few faults."""
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        begins = places(words)
        at, other = rng.choice(begins), rng.choice(begins)
        end, other_end = (place + max(words[place] >> 16, 1) for place in (at, other))
        match rng.randrange(10):
            case 0:
                words[rng.randrange(len(words))] ^= 1 << rng.randrange(32)
            case 1:
                words[rng.randrange(len(words))] = rng.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, rng.randrange(1 << 32)))
            case 2:
                words[rng.randrange(len(words))] = rng.choice(words)
            case 3:
                words[at] = words[at] & 0xFFFF | rng.choice((0, 1, 2, 0xFFFF)) << 16
            case 4:
                words[at] = words[at] & 0xFFFF0000 | rng.choice((words[other] & 0xFFFF, rng.randrange(6100)))
            case 5:
                del words[at:end]
            case 6:
                words[at:at] = words[other:other_end]
            case 7:
                words[at:end], words[other:other_end] = words[other:other_end], words[at:end]
            case 8:
                words = words[: rng.randrange(5, len(words))]
            case _:
                words[rng.randrange(5)] = rng.choice(
                    (0, 1, 3, words[3] * 2 % (1 << 32), 0xFFFFFFFF, rng.randrange(1 << 32))
                )
        if len(words) < 6:
            break
    data = struct.pack(f"<{len(words)}I", *words)
    return data[: len(data) - rng.randrange(4)] if rng.random() < 0.02 else data


def campaign(app: Application, count: int) -> None:
    rng = random.Random(18)
    context = app.context()
    errors = set()
    for _ in range(count):
        code = changed(rng.choice(originals()), rng)
        start = time.monotonic()
        program, error = app.create("p", "clCreateProgramWithIL", context, code, len(code))
        errors.add(app.build(program) if program else error)
        if program:
            assert app.release("p", program) == 0
        assert time.monotonic() - start < LONGEST, code.hex()
    # Some are still right, others are not.
    assert {0, -11} <= errors
    program = app.il(context, matrix_module())
    assert app.build(program) == 0


def test_hostile_modules(stub: Stub) -> None:
    campaign(stub(), 150)


@pytest.mark.slow
def test_ten_thousand_hostile_modules(stub: Stub) -> None:
    campaign(stub(COOPMAT_NO_CACHE="1"), 10_000)
