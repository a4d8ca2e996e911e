"""Whatever the bytes are, the answer is a module or a diagnostic."""

from __future__ import annotations

import random
import struct

import pytest
from repeats import slow_where
from third_party.assembled import Program

import coopmat
from coopmat.spirv.tools import assemble

MODULES = [assemble(Program(seed).text, "spv1.4") for seed in (3, 4, 9)]
CODES = {"", "spirv-invalid", "spirv-operation", "spirv-not-supported"}


def lowered(binary: bytes, route: str) -> str:
    """The code of the diagnostic, or nothing."""
    try:
        coopmat.compile(binary, ["-w", "--no-validate", "--matrices", route], language="spv").kernels  # noqa: B018
    except coopmat.CompileError as error:
        (found,) = error.diagnostics
        return found.code
    return ""


@pytest.mark.parametrize("count", slow_where(lambda count: count > 50, [50, 200]))
@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch"])
def test_random_words(route: str, count: int) -> None:
    rng = random.Random(f"{route} {count}")
    codes = set()
    for _ in range(count):
        binary = rng.choice(MODULES)
        words = list(struct.unpack(f"<{len(binary) // 4}I", binary))
        for _ in range(rng.choice([1, 1, 2, 8])):
            at = rng.randrange(5, len(words))
            words[at] = rng.choice([0, 1, words[rng.randrange(len(words))], words[at] ^ 1, rng.getrandbits(32)])
        codes.add(lowered(struct.pack(f"<{len(words)}I", *words), route))
    assert "spirv-invalid" in codes and codes <= CODES


def test_instructions_left_out_and_cut_off() -> None:
    codes = set()
    for n in range(120):
        rng = random.Random(n)
        binary = rng.choice(MODULES)
        at = 4 * rng.randrange(5, len(binary) // 4)
        end = len(binary) if n % 4 == 0 else at + 4 * rng.randrange(1, 6)
        codes.add(lowered(binary[:at] + binary[end:], rng.choice(["one", "lanes", "scratch"])))
    assert "spirv-invalid" in codes and codes <= CODES


CIRCLE = """
OpCapability Addresses
OpCapability Kernel
OpCapability CooperativeMatrixKHR
OpExtension "SPV_KHR_cooperative_matrix"
OpMemoryModel Physical64 OpenCL
%u = OpTypeInt 32 0
%two = OpConstant %u 2
%three = OpConstant %u 3
%m = OpTypeCooperativeMatrixKHR %u %three %two %two %two
%array = OpTypeArray %u %two
%a = OpConstantComposite %array %two %b
%b = OpConstantComposite %array %a %two
"""


@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
def test_constants_made_of_themselves_are_told(route: str) -> None:
    """Putting them in order had no end."""
    binary = assemble(CIRCLE, "spv1.4")
    options = ["-w", "--no-validate", "--matrices", route]
    with pytest.raises(coopmat.CompileError):
        coopmat.compile(binary, options, language="spv").spirv  # noqa: B018
