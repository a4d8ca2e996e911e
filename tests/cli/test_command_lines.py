"""What people type who know other compilers, or mistype: each gets what they expect."""

from __future__ import annotations

import json
import pickle
import re
import shlex

import click
import pytest

import coopmat
from coopmat.cli import app
from coopmat.cli.arguments import parse_arguments
from coopmat.cli.response_files import expand
from coopmat.options import CompileOptions, UnknownOption, UsageError

GOOD = "kernel void f(global int *a) { *a = 1; }\n"
BAD = "kernel void f(global int *a) { *a = nosuch; }\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.cl", GOOD), ("b.cl", GOOD), ("bad.cl", BAD)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(place, capsys):
    """`run(*words)` gives the exit status, standard output and standard error."""

    def call(*words: str) -> tuple[int, str, str]:
        status = app.run_command(words)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compile", "--emitt", "ll", "a.cl"], "unknown option '--emitt'; did you mean '--emit'?"),
        (["compile", "--emitt=ll", "a.cl"], "unknown option '--emitt=ll'; did you mean '--emit'?"),
        (["compile", "--matrixes", "one", "a.cl"], "unknown option '--matrixes'; did you mean '--matrices'?"),
        (["compile", "-cl-fast-relaxed-maths", "a.cl"], "did you mean '-cl-fast-relaxed-math'?"),
        (["run", "--repeats", "3", "a.cl"], "unknown option '--repeats'; did you mean '--repeat'?"),
        (["compile", "--matrices", "mma", "-o", "a.spv", "a.cl"], "--matrices mma is OpenCL C only, not spv"),
        (["compile", "--matrices=x86", "--target-env=vulkan1.3", "a.cl"], "--matrices x86 is OpenCL C only, not spv"),
        (["compile", "--xyzzy", "a.cl"], "unknown option '--xyzzy' ["),
        (["run", "a.cl", "b.cl"], "one input file is needed, not 2 (a.cl, b.cl)"),
    ],
)
def test_what_is_wrong_with_a_command_line_is_told(words, message, run, place):
    status, out, error = run(*words)
    assert (status, out) == (2, "") and message in error
    assert {path.suffix for path in place.iterdir()} == {".cl"}


def test_an_unknown_option_can_be_sent_to_another_process():
    error = UnknownOption("--emitt", ["--emit"])
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "unknown option '--emitt'; did you mean '--emit'?"


# --- several inputs


def test_several_inputs_have_an_output_each(run, place):
    assert run("compile", "--emit", "ll,ast", "a.cl", "b.cl") == (0, "", "")
    assert {path.name for path in place.iterdir()} >= {"a.ll", "a.ast", "b.ll", "b.ast"}


def test_one_that_is_wrong_does_not_stop_the_others(run, place):
    status, _, error = run("compile", "--emit", "ll", "a.cl", "bad.cl", "b.cl", "gone.cl")
    assert status == 1 and "bad.cl:1:37: error: 'nosuch'" in error and "gone.cl" in error
    assert {path.name for path in place.glob("*.ll")} == {"a.ll", "b.ll"}


def test_the_findings_of_several_are_one_document(run, place):
    (place / "bad2.cl").write_text(BAD, encoding="utf-8")
    _, _, error = run("compile", "--diagnostics=json", "-fsyntax-only", "bad.cl", "a.cl", "bad2.cl")
    assert [item["file"] for item in json.loads(error)] == ["bad.cl", "bad2.cl"]


def test_several_are_preprocessed_one_after_the_other(run):
    status, out, _ = run("compile", "-E", "a.cl", "b.cl")
    assert status == 0 and out.count("kernel void f") == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "x.spv", "a.cl", "b.cl"], "-o names one file, and there are 2 inputs"),
        (["-MD", "-MF", "x.d", "a.cl", "b.cl"], "-MF names one file, and there are 2 inputs"),
        (["a.cl", "sub/a.cl"], "two outputs have the same name, 'a.spv'"),
        (["-", "-"], "standard input can be read only once"),
        (["a.cl", "a.spv"], "the output 'a.spv' is an input"),
        ([], "an input file (or - for standard input) is needed"),
    ],
)
def test_several_inputs_that_do_not_go_together(words, message, run, place):
    status, _, error = run("compile", *words)
    assert status == 2 and message in error
    assert {path.suffix for path in place.iterdir()} == {".cl"}


# --- response files


def test_a_response_file_holds_arguments(run, place):
    (place / "more.rsp").write_text("-D 'WHAT=a b'\n-E\n", encoding="utf-8")
    (place / "all.rsp").write_text('@more.rsp "in put.cl"', encoding="utf-8")
    (place / "in put.cl").write_text("WHAT\n", encoding="utf-8")
    status, out, _ = run("compile", "@all.rsp")
    assert status == 0 and "a b" in out


def test_a_response_file_for_every_command(run, place):
    (place / "words").write_text("--help", encoding="utf-8")
    for command in ("compile", "run", "cts", "devices"):
        status, out, _ = run(command, "@words")
        assert status == 0 and f"Usage: coopmat {command}" in out


def test_response_files_and_facts_of_devices_are_bounded(run, place):
    with (place / "large").open("wb") as file:
        file.truncate(20 << 30)
    assert "is larger than 67,108,864 bytes" in run("compile", "@large")[2]
    (place / "k.cl").write_text("kernel void k() {}")
    status, _, err = run("compile", "k.cl", "--device-info", "large")
    assert status == 1 and "the budget source-bytes" in err


def test_what_is_no_response_file(run, place):
    assert expand(["@gone", "@", "a@b"]) == ["@gone", "@", "a@b"]
    status, _, error = run("compile", "@gone")
    assert status == 1 and "@gone: No such file or directory" in error


@pytest.mark.parametrize(
    ("text", "message"), [(b"'open", "No closing quotation"), (b"\xff\xfe", "utf-8"), (b"@x", "includes itself")]
)
def test_a_response_file_that_cannot_be_read_is_told(text, message, run, place):
    (place / "x").write_bytes(text)
    status, _, error = run("compile", "@x", "a.cl")
    assert status == 2 and "response file x" in error and message in error
    with pytest.raises(UsageError):
        expand(["@x"])


# --- help


@pytest.mark.parametrize("command", ["compile", "run", "cts", "devices", "doctor"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_by_either_name(command, flag, run):
    status, out, error = run(command, flag)
    assert (status, error) == (0, "") and f"Usage: coopmat {command}" in out


def _all_commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    context = click.Context(group)
    found = [path]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = (*path, name)
        found += _all_commands(command, inner) if isinstance(command, click.Group) else [inner]
    return found


@pytest.mark.parametrize("path", _all_commands(app.group), ids=" ".join)
def test_a_help_text_has_an_example_that_can_be_parsed(path, run):
    status, out, _ = run(*path, "--help")
    example = re.search(r"^ *Example: (.*)$", out, re.MULTILINE)
    assert status == 0 and example
    words = shlex.split(re.sub(r'^eval "\$\((.*)\)"$', r"\1", example[1]))
    assert tuple(words[: len(path) + 1]) == ("coopmat", *path)
    command, rest = app.group, words[1:]
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), rest.pop(0))
    if command.name == "compile":
        invocation = parse_arguments(rest)
        assert invocation.inputs
        CompileOptions.from_arguments(invocation.options)
    else:
        command.make_context(command.name, rest)


def test_letters_of_flags_are_not_help(run):
    # Only the whole word is.
    assert run("compile", "-Dh", "-fsyntax-only", "a.cl")[0] == 0
    assert "Usage: coopmat run" not in run("run", "a.cl", "-Dhalf=1")[1]


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["-c"], ".spv"),
        (["-S"], ".spvasm"),
        (["-c", "-S"], ".spvasm"),
        (["-S", "-emit-llvm"], ".ll"),
        (["-emit-llvm", "-c"], ".ll"),
        (["-emit-llvm"], ".ll"),
    ],
)
def test_clangs_words_for_kinds_of_output(words, made, run, place):
    assert run("compile", "--matrices", "one", *words, "a.cl", "b.cl") == (0, "", "")
    assert {path.name for path in place.iterdir()} == {"a.cl", "b.cl", "bad.cl", f"a{made}", f"b{made}"}


def test_clangs_words_and_emit_exclude_each_other(run):
    assert run("compile", "-S", "--emit", "ll", "a.cl")[2].startswith(
        "coopmat: error: -S and --emit exclude each other"
    )


def test_the_version_is_told(run):
    for words in (["--version"], ["compile", "--version"], ["compile", "-c", "--version", "nosuch.cl"]):
        assert run(*words) == (0, f"coopmat {coopmat.__version__}\n", "")


def test_verbose_tells_versions_and_the_whole_command(run, place):
    status, out, error = run("compile", "-v")
    assert (status, out) == (0, "") and error.startswith(f"coopmat {coopmat.__version__}\nPython: ")
    status, out, error = run("compile", "-v", "-DA=1", "-c", "a.cl")
    assert (status, out) == (0, "") and (place / "a.spv").exists()
    assert ' "coopmat" "compile" "-x" "cl" "--emit" "spv" "-DA=1" "a.cl" "-o" "a.spv"\n' in error


def test_what_would_be_done_is_told_and_not_done(run, place):
    status, out, error = run("compile", "-###", '-DA="1 2"', "-MD", "bad.cl", "-S", "b.cl")
    assert (status, out) == (0, "")
    first, second = error.splitlines()[-2:]
    assert first == (
        ' "coopmat" "compile" "-x" "cl" "-MD" "--emit" "spvasm" "-MF" "bad.d" "-DA=\\"1 2\\""'
        ' "bad.cl" "-o" "bad.spvasm"'
    )
    assert '"b.cl" "-o" "b.spvasm"' in second
    assert {path.suffix for path in place.iterdir()} == {".cl"}
    # What is printed can be run.
    assert run(*shlex.split(second)[1:]) == (0, "", "")
    assert {path.name for path in place.iterdir()} == {"a.cl", "b.cl", "bad.cl", "b.spvasm", "b.d"}
