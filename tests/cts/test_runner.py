"""The runner with operations that misbehave: what is at fault fails, alone, and everything is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import faulty_operations
import numpy as np
import pytest

from coopmat.cts.execution import Refused, Runner
from coopmat.cts.outcome import Outcome, Status
from coopmat.cts.schedule import Batch, Catalogue, Settings

ROOT = Path(__file__).parents[2]
PASSED, FAILED, NOT_SUPPORTED = Status.PASSED, Status.FAILED, Status.NOT_SUPPORTED


@pytest.fixture(scope="module")
def runner(device, tmp_path_factory):
    keep = str(tmp_path_factory.mktemp("kept"))
    return Runner(Settings(device.index, "one", keep=keep, registry="faulty_operations"), device)


def batch(runner: Runner, test: str, *variants: str) -> Batch:
    items = [i for i in runner.catalogue.items(test, "one") if not variants or i.variant in variants]
    return Batch(test.partition("_")[0], "one", 1, tuple(items))


def outcomes(runner: Runner, test: str, *variants: str) -> dict[str, Outcome]:
    found: list[Outcome] = []
    runner.run(batch(runner, test, *variants), found.append)
    return {outcome.variant: outcome for outcome in found}


# --- in this process: what a worker does


def test_every_fault_in_a_buffer_is_found_and_told(runner):
    found = outcomes(runner, "c_wrong")
    assert {name: o.status for name, o in found.items()} == {
        **dict.fromkeys(["right.0", "right.1"], PASSED),
        **dict.fromkeys(["wrong", "guard", "padding", "input"], FAILED),
    }
    assert "row 0, column 1: 99, not 2" in found["wrong"].log
    assert "expected, 3x4.A.s32" in found["wrong"].log and "99*" in found["wrong"].log
    assert "guard, 13 components before the matrix: 1, not" in found["guard"].log
    assert "padding, component 20 of the buffer: 1, not" in found["padding"].log
    assert "x: 1 of" in found["input"].log and "input have changed" in found["input"].log


def test_a_failing_variant_leaves_what_repeats_it(runner):
    (outcome,) = outcomes(runner, "c_wrong", "wrong").values()
    place = Path(outcome.directory)
    assert {file.name for file in place.iterdir()} == {
        *("README.md", "test.cl", "test.ll", "test.spv", "x.before.npy", "x.after.npy"),
        *("out.before.npy", "out.expected.npy", "out.after.npy"),
    }
    after, expected = np.load(place / "out.after.npy"), np.load(place / "out.expected.npy")
    assert np.flatnonzero(after != expected).tolist() == [17] and after[17] == 99
    readme = (place / "README.md").read_text()
    assert "coopmat cts c_wrong --variant wrong" in readme and outcome.log.splitlines()[0] in readme


def test_what_hangs_a_compiler_is_kept_before_it_is_compiled_again(runner, monkeypatch):
    def killed(batch, variants):
        raise KeyboardInterrupt

    (item,) = batch(runner, "c_hang", "hang").items
    monkeypatch.setattr(runner, "_compile", killed)
    with pytest.raises(KeyboardInterrupt):
        runner.keep(batch(runner, "c_hang", "hang"), item, "nothing came of it")
    place = Path(runner.settings.keep) / "c_hang.hang.one"
    assert (place / "test.cl").is_file() and "nothing came of it" in (place / "README.md").read_text()


def test_what_does_not_compile_is_told_alone(runner):
    with pytest.raises(Refused):
        outcomes(runner, "c_refused")
    (outcome,) = outcomes(runner, "c_refused", "refused").values()
    assert outcome.status is FAILED and "no_such_function" in outcome.log
    (outcome,) = outcomes(runner, "c_refused", "raises").values()
    assert outcome.status is FAILED and "ZeroDivisionError: in the operation" in outcome.log


def test_assembly_is_lowered_and_runs(runner):
    assert {o.status for o in outcomes(runner, "spirv_right").values()} == {PASSED}


def test_a_case_is_found_by_the_name_that_any_selection_has(device):
    from coopmat.cts.run import select_items

    wimpy = Catalogue(Settings(device.index, "one", selection="wimpy"), device)
    default = Catalogue(Settings(device.index, "one"), device)
    for item in wimpy.items("c_matrixmuladd", "scratch"):
        found = select_items(default, ["c_matrixmuladd"], ["scratch"], [item.variant])
        assert [i.variant for i in found["c_matrixmuladd", "scratch"]] == [item.variant]


# --- in processes


@pytest.fixture
def cts(tmp_path, device):
    """The command with faulty operations, in a process of its own."""

    def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)]),
            **variables,
        }
        return subprocess.Popen(
            [sys.executable, faulty_operations.__file__, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
            # What a shell starts in the background ignores Ctrl-C, and so would its children.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    return start


def test_a_hang_and_a_crash_fail_alone(cts, tmp_path):
    upstream = {"CL_CONFORMANCE_RESULTS_FILENAME": "upstream.json"}
    options = ["-j", "2", "--timeout", "10", "--json", "all.json", "--junit", "all.xml", "--html", "all.html"]
    process = cts(*options, **upstream)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 1 and err == "", out + err
    report = json.loads((tmp_path / "all.json").read_text())
    status = {f"{o['test']} {o['variant']}": o["status"] for o in report["outcomes"]}
    wrong = [f"c_wrong {name}" for name in ("wrong", "guard", "padding", "input")]
    wrong += ["c_refused refused", "c_refused raises", "c_hang hang", "c_crash crash"]
    assert sorted(name for name, word in status.items() if word == "failed") == sorted(wrong)
    assert status["c_none "] == "not_supported" and list(status.values()).count("passed") == 15
    assert report["complete"] and report["verdict"] == "FAILED 4 of 7 tests."
    logs = {o["variant"]: o for o in report["outcomes"]}
    assert "no response in 10 seconds, while it ran" in logs["hang"]["log"]
    assert "SIGSEGV" in logs["crash"]["log"] and (tmp_path / logs["crash"]["directory"] / "test.cl").is_file()
    assert out.splitlines()[-1] == "FAILED 4 of 7 tests."
    assert out.index("c_wrong --variant guard") < out.index("guard, 13 components before the matrix")
    words = json.loads((tmp_path / "upstream.json").read_text())["results"]
    assert words["c_right"] == "pass" and words["c_hang"] == "fail" and words["c_none"] == "skip"
    root = ET.parse(tmp_path / "all.xml").getroot()
    assert (root.get("failures"), root.get("skipped"), root.get("tests")) == ("8", "1", "24")


def test_ctrl_c_leaves_reports_of_what_ran(cts, tmp_path):
    process = cts("c_right", "c_hang", "--json", "some.json", "--html", "some.html", "--junit", "some.xml")
    for line in process.stdout:
        if line == "c_hang --variant hang\n":
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err, err
    report = json.loads((tmp_path / "some.json").read_text())
    assert report["interrupted"] and not report["complete"] and len(report["outcomes"]) == 4
    assert "interrupted: 2 of 6 variants were not run" in out
    assert ET.parse(tmp_path / "some.xml").getroot().get("errors") == "1"
    assert "4 of 6 variants were run" in (tmp_path / "some.html").read_text()


def test_fail_fast_stops_at_the_first_failure(cts):
    process = cts("c_refused", "c_right", "--fail-fast")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "stopped after the first failure" in out
    assert out.count("FAILED\n") == 1
