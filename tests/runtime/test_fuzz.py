"""Random kernels, as lowered and optimised, give what the device's own OpenCL C compiler makes of them; and what looks
for differences finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fuzz.campaign import run
from fuzz.programs import generate
from fuzz.shrink import shrink
from fuzz.tree import Node
from fuzz.workers import Batch, Worker, check, one

import coopmat
from coopmat.devices import DeviceInfo

# `tools/fuzz` compares more, from other seeds.
KERNELS = 30


def test_random_kernels(device: DeviceInfo) -> None:
    report = run(range(KERNELS), jobs=1, say=print, shrinking_s=20)
    told = [f"seed {f.seed}: {f.finding.stage}: {f.finding.text}\n{f.program}" for f in report.failures]
    assert report.kernels == KERNELS and not told, "\n".join(told)
    # It dies of one in some hundreds.
    assert len(report.theirs) <= 3


def test_a_seed_is_a_program() -> None:
    seeds = range(2000, 2100)
    texts = [str(generate(seed).tree) for seed in seeds]
    assert texts == [str(generate(seed).tree) for seed in seeds]
    assert len(set(texts)) == len(texts)
    assert all(generate(seed).tree.consistent() for seed in seeds)


def test_a_program_is_shrunken_to_what_shows_the_fault() -> None:
    tree = next(tree for tree in (generate(seed).tree for seed in range(500)) if "mul_hi(" in str(tree))

    def fails(candidate: Node) -> bool:
        return "mul_hi(" in str(candidate)

    smallest = shrink(tree, fails, seconds=20)
    assert fails(smallest) and smallest.consistent() and len(str(smallest)) < min(len(str(tree)) / 3, 600)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Makes this compiler compile another text in place of one."""

    def replace(old: str, new: str) -> None:
        real = coopmat.compile

        def compile_(source: str, *rest: Any, **more: Any) -> Any:
            return real(source.replace(old, new), *rest, **more)

        monkeypatch.setattr(coopmat, "compile", compile_)

    return replace


def test_a_wrong_result_is_told_with_its_program(device: DeviceInfo, broken: Callable[[str, str], None]) -> None:
    texts = [str(generate(seed).tree) for seed in (3, 4)]
    texts[1] = texts[1].replace("out_0[0] = ", "out_0[0] = 5 + ")
    assert check(device, texts) == []
    broken("out_0[0] = 5 + ", "out_0[0] = 6 + ")
    found = check(device, texts)
    assert [(finding.stage, finding.number) for finding in found] == [("native: result", 1), ("one: result", 1)]
    broken("kernel", "kernel void wrong() { return 1; } kernel")
    assert {(f.stage, f.number) for f in check(device, texts)} == {("native: compile", None), ("one: compile", None)}


def test_a_crash_is_a_finding(device: DeviceInfo) -> None:
    worker = Worker()
    try:
        worker.send(Batch((1,)))
        worker.process.kill()
        worker.process.join()
        (finding,) = one_answer(worker)
        assert finding.stage.endswith("crash") and finding.is_ours
        assert one(worker, Batch((1,))) == []
    finally:
        worker.stop()


def one_answer(worker: Worker) -> Any:
    while (findings := worker.answer()) is None:
        pass
    return findings
