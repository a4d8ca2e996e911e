"""`coopmat cts` as it is typed: lists, patterns, what does not exist, exit statuses."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import faulty_operations
import pytest
from click.testing import CliRunner

from coopmat.cli import cts
from coopmat.cli.app import run_command
from coopmat.cts.operations import OPERATIONS
from coopmat.cts.operations.sentences import SENTENCES


@pytest.fixture
def run(device, capsys, tmp_path, monkeypatch):
    """`run(*words)` gives the exit status, the lines of standard output, and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, list[str], str]:
        status = run_command(["cts", *words])
        captured = capsys.readouterr()
        return status, captured.out.splitlines(), captured.err

    return call


def test_the_list_has_every_test_in_its_modes(run):
    status, lines, _ = run("--list")
    wanted = {f"{mode}_{operation.name}" for operation in OPERATIONS.values() for mode in operation.modes}
    assert status == 0 and {line.split()[0] for line in lines} == wanted and len(lines) == 33 * 2 + 17
    assert SENTENCES.keys() == OPERATIONS.keys()
    assert all(line.endswith(".") and len(line.split()) > 3 for line in lines)


def test_a_report_has_standard_output_alone(run):
    words = ("c_add", "--wimpy", "--variant", "*.A.*", "--fail-fast")
    for option, begin, end in (("--json", "{", "}"), ("--junit", "<", ">"), ("--html", "<!doctype", "</html>")):
        status, lines, err = run(*words, option, "-")
        assert status == 0 and lines[0].startswith(begin) and lines[-1].endswith(end)
        assert "PASSED" in err and "c_add --variant" in err
    assert run(*words, "--json", "-", "--html", "-")[0] == 2


def test_names_that_nearly_exist_are_suggested(run):
    for words, told in (
        (["c_ad"], "did you mean 'c_add'?"),
        (["c_add", "--route", "lane"], "did you mean 'lanes'?"),
        (["c_length", "--variant", "1x64.A.f17"], "did you mean '1x64.A.f1"),
        (["c_add", "--variant", "16x16.A.f16"], "--exhaustive has all shapes"),
    ):
        status, _, err = run(*words)
        assert status == 2 and told in err


def test_with_a_test_the_list_has_what_can_be_pasted_back(run):
    status, lines, _ = run("-l", "c_add", "--route", "lanes")
    assert status == 0 and len(lines) > 20
    words = lines[0].split()
    assert words[:2] == ["c_add", "--variant"] and words[3:] == ["--route", "lanes"]
    assert run("-l", *words)[1] == [lines[0]]
    assert run("-l", "--wimpy", "--variant", words[2], "--route", "lanes", "c_a*")[1] == [lines[0]]


def test_patterns_stand_for_several(run):
    _, lines, _ = run("-l", "spirv_*add", "--variant", "*.nosat")
    assert {line.split()[0] for line in lines} == {"spirv_matrixmuladd"}
    assert all(line.endswith(".nosat") for line in lines)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["c_nothing"], "there is no test 'c_nothing'"),
        (["add"], "there is no test 'add'"),
        (["x*"], "there is no test 'x*'"),
        (["c_add", "--variant", "16x16.A.q7"], "there is no variant '16x16.A.q7'"),
        (["c_add", "--route", "wires"], "'wires' is not one of native, one, lanes, scratch"),
        (["c_add", "-w", "--exhaustive"], "exclude each other"),
        (["c_add", "-j", "0"], "-j"),
    ],
)
def test_what_does_not_exist_is_a_usage_error(run, words, message):
    status, lines, error = run(*words)
    assert status == 2 and lines == [] and message in error


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(run):
    status, lines, error = run("c_add", "--html", "nowhere/page.html")
    assert status == 1 and lines == [] and "nowhere/page.html" in error


def test_a_route_that_the_device_has_not_is_not_supported(run):
    status, lines, _ = run("c_add", "c_sub", "--route", "native", "--json", "r.json")
    assert status == 1 and lines[0] == "c_add --route native" and lines[1].startswith("test not supported (")
    assert lines[-1] == "No test was run."
    with Path("r.json").open(encoding="utf-8") as file:
        assert json.load(file)["totals"] == {"passed": 0, "failed": 0, "not_supported": 2}


def test_a_variant_runs_and_says_so(run, monkeypatch):
    monkeypatch.setenv("CL_WIMPY_MODE", "1")
    _, listed, _ = run("-l", "c_negate")
    status, lines, _ = run(*listed[0].split())
    assert status == 0 and lines[:2] == [listed[0], "passed"] and lines[-1] == "PASSED 1 of 1 tests."


def test_what_repeats_a_variant_names_the_device(run, device):
    for named in (device.index, device.platform):
        _, lines, _ = run("-l", "c_negate", "--device", named, "--route", "lanes")
        words = shlex.split(lines[0])
        assert words[words.index("--device") + 1] == named
        assert run("-l", *words)[1] == [lines[0]]


def test_tests_that_are_not_supported_beside_others_do_not_fail(run, monkeypatch):
    monkeypatch.setenv("CL_WIMPY_MODE", "1")
    _, listed, _ = run("-l", "c_negate")
    variant = shlex.split(listed[0])[2]
    status, lines, _ = run("c_negate", "--variant", variant, "--route", "native,one,lanes")
    assert status == 0 and lines[-1] == "PASSED 1 of 1 tests." and "test not supported" in " ".join(lines)


def test_help_tells_every_option():
    text = CliRunner().invoke(cts.command, ["--help"]).output
    for option in ("--variant", "-l, --list", "-w, --wimpy", "--exhaustive", "--route", "--device", "-j", "--seed"):
        assert option in text
    for option in ("--timeout", "--tolerance", "--fail-fast", "--keep", "--json", "--html", "--junit"):
        assert option in text


def test_failures_have_exit_status_1(device, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert faulty_operations.run(["c_wrong", "--variant", "right.*"]) == 0
    assert faulty_operations.run(["c_wrong", "--variant", "guard"]) == 1
    assert "    see " in capsys.readouterr().out
