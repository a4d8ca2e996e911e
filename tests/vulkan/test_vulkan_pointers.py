"""Random kernels about pointers and objects in memory, on a Vulkan device; a model in Python has the right results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import random_pointers
from random_pointers.executors import REFUSAL, Refused, run_programs
from random_pointers.generator import FEATURES
from vulkan_support import vulkan_device

# The golden messages of all refusals.
MESSAGES = Path(__file__).parents[1] / "vulkan_modules" / "refused"
# Packed structs and pointers in memory are refused, so programs with them are a test of their own.
MOSTLY_SUPPORTED = FEATURES - {"packed", "stored"}


def documented_refusals() -> set[str]:
    texts = [path.read_text() for path in MESSAGES.glob("*.txt")]
    return {reason for text in texts for reason in re.findall(re.escape(REFUSAL) + r"(.*) \[vulkan\]", text)}


def _check(seeds: range, features: frozenset[str], least: float) -> None:
    """Require that no result is wrong, and that at least this share of the programs is not refused."""
    vulkan_device()
    wrong, refused, documented = list[str](), 0, documented_refusals()
    for seed in seeds:
        program = random_pointers.program(seed, features).launchable()
        try:
            text = program.difference(run_programs("vulkan", [program])[0])
        except Refused as reason:
            refused += 1
            text = "" if str(reason) in documented else f"undocumented refusal: {reason}"
        if text:
            wrong.append(f"{program.name}: {text}")
    assert not wrong, "\n".join(wrong)
    assert refused <= (1 - least) * len(seeds)


def test_random_pointers() -> None:
    _check(range(5), MOSTLY_SUPPORTED, 0.6)


@pytest.mark.slow
def test_many_random_pointers() -> None:
    _check(range(1000, 1060), MOSTLY_SUPPORTED, 0.6)


@pytest.mark.slow
def test_random_packed_structs_and_stored_pointers() -> None:
    _check(range(2000, 2040), FEATURES, 0.4)
