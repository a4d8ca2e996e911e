"""The campaign of damaged inputs: the same input for the same seed, and every way to fail told as what it is."""

from __future__ import annotations

import os
import random
import signal

import pytest
from input_fuzz import campaign
from input_fuzz.corpus import _GROWING, Input
from input_fuzz.mutate import mutated

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the campaign forks")
CASE = campaign.Case(1, Input("cl", "kernel void k() { }"), ())


def test_seeds_repeat():
    seed = Input("cl", _GROWING[4], grows=True)
    made = [mutated(seed, random.Random(n)) for n in range(200)]
    assert made == [mutated(seed, random.Random(n)) for n in range(200)]
    # Rows that only grow do so to a few lengths.
    assert len(set(made)) > 100 and max(map(len, made)) <= 200_000


def test_rows_go_on():
    found = [mutated(Input("cl", _GROWING[4], grows=True), random.Random(n)) for n in range(300)]
    assert any("struct S24 { struct S23 a, b; };" in text and "global struct S2 *" not in text for text in found)


def test_words_of_a_module_are_damaged():
    data = bytes.fromhex("03022307") + (0x10000).to_bytes(4, "little") + bytes(12) + bytes.fromhex("1100020006000000")
    made = {mutated(Input("spv", data), random.Random(n)) for n in range(100)}
    assert len(made) > 20 and all(isinstance(item, bytes) for item in made)


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "crash"),
        (lambda: os._exit(3), "crash"),
        (lambda: 1 / 0, "crash"),
        (lambda: ("compiled", ""), "compiled"),
        (lambda: sum(1 for _ in iter(int, 1)), "time"),
    ],
)
def test_ends_are_told(monkeypatch, work, kind):
    monkeypatch.setattr(campaign, "SECONDS", 1)
    monkeypatch.setattr(campaign, "_compile", lambda case: work())
    assert campaign.outcome(CASE)[0] == kind


@pytest.mark.parametrize(
    ("error", "kind"), [(MemoryError(), "memory"), (KeyError("x"), "internal error"), (OSError("x"), "refused")]
)
def test_errors_are_told(monkeypatch, error, kind):
    from coopmat import compiler

    def fail(*arguments: object, **others: object) -> None:
        raise error

    monkeypatch.setattr(compiler, "compile", fail)
    assert campaign._compile(CASE)[0] == kind
