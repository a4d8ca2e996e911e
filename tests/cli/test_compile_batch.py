"""`coopmat compile --batch`: each entry's outputs and findings are those of a compilation by itself."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import batch_sources
import pytest
from command_server import shared_server
from hypothesis import HealthCheck, given, settings, strategies as st

from coopmat import compiler, file_table
from coopmat.cli import batch
from coopmat.cli.arguments import parse_arguments
from coopmat.options import UsageError

ROOT = Path(__file__).parents[2]
KERNEL = "kernel void k(global int *p) { *p = VALUE; }\n"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["source", "options", "output", "kernel", "x"]), inner, max_size=4)
    ),
)


def coopmat(*words: str, directory: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "coopmat", "compile", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=directory, timeout=300, **options)


def written(directory: Path, entries: list[dict[str, Any]], name: str = "batch.json") -> str:
    (directory / name).write_text(json.dumps(entries))
    return name


def alone(directory: Path, entries: list[dict[str, Any]], *common: str) -> tuple[dict[str, bytes], str, int]:
    """The outputs, findings and worst status of compilations one by one, outputs taken away."""
    outputs, text, status = {}, "", 0
    for entry in entries:
        words = ["compile", *common, *entry["options"], "-o", entry["output"], entry["source"]]
        done = shared_server().run(words, b"", directory, dict(os.environ))
        text, status = text + done.err, max(status, done.status)
        if (path := directory / entry["output"]).exists():
            outputs[entry["output"]] = path.read_bytes()
            path.unlink()
    return outputs, text, status


def outputs_in(directory: Path, entries: list[dict[str, Any]]) -> dict[str, bytes]:
    paths = {entry["output"]: directory / entry["output"] for entry in entries}
    return {name: path.read_bytes() for name, path in paths.items() if path.exists()}


def test_outputs_are_those_of_single_compilations(tmp_path: Path) -> None:
    """In processes and, if dask.distributed is installed, on a cluster."""
    batch_sources.write(15, tmp_path, 3, 3)
    entries = json.loads((tmp_path / "batch.json").read_text())
    for number, entry in enumerate(entries[5:10]):
        emitted = ("ll", "spvasm", "ast", "c", "ll")[number]
        entry["options"], entry["output"] = ["--emit", emitted, "--matrices", "one"], f"{number}.{emitted}"
    written(tmp_path, entries)
    outputs, text, status = alone(tmp_path, entries, "-Wall")
    is_installed = importlib.util.find_spec("distributed") is not None
    for where in (("-j", "2"), ("--cluster", "local:2"))[: 1 + is_installed]:
        done = coopmat("--batch", "batch.json", "-Wall", *where, directory=tmp_path)
        assert done.returncode == status == 1
        assert done.stderr.startswith(text) and f"{len(outputs)} compiled, 3 failed, in " in done.stderr
        assert outputs_in(tmp_path, entries) == outputs and len(outputs) == 12
        for name in outputs:
            (tmp_path / name).unlink()


@pytest.mark.slow
@pytest.mark.parametrize("route", ["one", "lanes", "scratch", "native"])
def test_kernels_of_this_repository(tmp_path: Path, route: str) -> None:
    sources = sorted((ROOT / "kernels").glob("*.cl"))
    for source in sources:
        shutil.copy(source, tmp_path)
    entries = [{"source": s.name, "options": ["--matrices", route], "output": f"{s.stem}.spv"} for s in sources]
    outputs, text, status = alone(tmp_path, entries)
    done = coopmat("--batch", written(tmp_path, entries), "-j", "2", directory=tmp_path)
    assert done.returncode == status and done.stderr.startswith(text) and outputs_in(tmp_path, entries) == outputs


def test_files_travel_with_the_entry(tmp_path: Path) -> None:
    """Includes beside the source, in directories, by macros, and those that are not there; names stay the client's."""
    (tmp_path / "own").mkdir()
    (tmp_path / "inc" / "deep").mkdir(parents=True)
    (tmp_path / "own" / "a.cl").write_text(
        '#include "b.h"\n#include <deep/c.h>\nkernel void k(global int *p) { *p = B + C; }'
    )
    (tmp_path / "own" / "b.h").write_text("#define B 1\n")
    (tmp_path / "inc" / "deep" / "c.h").write_text('#include "../d.h"\n#define C D\n')
    (tmp_path / "inc" / "d.h").write_text("#define D __LINE__\n")
    (tmp_path / "m.cl").write_text('#define NAME "own/b.h"\n#include NAME\nkernel void k(global int *p) { *p = B; }')
    (tmp_path / "n.cl").write_text('#include "missing.h"\n')
    entries = [
        {"source": "own/a.cl", "options": ["-I", "inc", "--emit", "ll"], "output": "a.ll"},
        {"source": "m.cl", "options": ["--emit", "ll"], "output": "m.ll"},
        {"source": "n.cl", "options": [], "output": "n.spv"},
        {"source": "gone.cl", "options": [], "output": "gone.spv"},
    ]
    outputs, text, status = alone(tmp_path, entries)
    assert len(outputs) == 2 and status == 1
    done = coopmat("--batch", written(tmp_path, entries), directory=tmp_path)
    assert done.stderr.startswith(text) and outputs_in(tmp_path, entries) == outputs
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        invocation, options, _ = batch.outputs_of(["-I", "inc", "own/a.cl"])
        files = batch._files(invocation, options)
    finally:
        os.chdir(before)
    assert sorted(files) == ["inc/d.h", "inc/deep/c.h", "own/a.cl", "own/b.h"]
    with file_table.use(files):  # nothing of the disk is needed
        module = compiler.compile(files["own/a.cl"], ["-I", "inc"], name="own/a.cl")
        assert module.dependencies == ["own/a.cl", "own/b.h", "inc/deep/c.h", "inc/d.h"]
        with pytest.raises(OSError, match=r"pyproject\.toml"):
            file_table.read(str(ROOT / "pyproject.toml"), 100)


def test_toml_and_options(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "batch.toml").write_text(
        '[[kernel]]\nsource = "k.cl"\noptions = "-DVALUE=1"\noutput = "one.spv"\n\n[[kernel]]\nsource = "k.cl"\n'
    )
    other = tmp_path / "elsewhere"
    other.mkdir()
    done = coopmat("--batch", "../batch.toml", "-DVALUE=2", "-j2", directory=other)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.spv").read_bytes() != (tmp_path / "k.spv").read_bytes()


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ("{", "is not JSON"),
        ({"kernels": []}, "has no list of entries"),
        ([{}], "entry 1 of batch.json has no source"),
        (
            [{"source": "a.cl", "sauce": 1}],
            "entry 1 of batch.json: unknown keys sauce (allowed: options, output, source)",
        ),
        ([{"source": "a.cl", "options": 5}], "'options' must be a string"),
        (
            [{"source": "a.cl"}, {"source": "b/a.cl"}],
            "entry 2, b/a.cl: the output 'a.spv' is the output of entry 1, too",
        ),
        ([{"source": "a.cl", "output": "b.cl"}, {"source": "b.cl"}], "the output 'b.cl' is a source"),
        ([{"source": "a.cl", "options": ["-o"]}], "-o needs a value"),
        ([{"source": "a.cl", "options": ["b.cl"]}], "an entry must have exactly one source"),
        ([{"source": "-"}], "an entry must have exactly one source, which must be a file"),
        ([{"source": "a.cl", "options": ["--nonsense"]}], "entry 1, a.cl: "),
        ([{"source": "a.cl", "options": ["-v"]}], "-v, -###, --help and --version cannot be combined"),
    ],
)
def test_batch_files_that_are_none(tmp_path: Path, entries: Any, text: str) -> None:
    (tmp_path / "a.cl").write_text(KERNEL)
    path = tmp_path / "batch.json"
    path.write_text(entries if isinstance(entries, str) else json.dumps(entries))
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        with pytest.raises(UsageError) as caught:
            batch.run(parse_arguments(["--batch", "batch.json"]), ["--batch", "batch.json"])
    finally:
        os.chdir(before)
    assert text in str(caught.value)


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine draws slowly, too
@given(JSON)
def test_any_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, document: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(document))
    try:
        rows = batch.read_entries(path)
    except UsageError as error:
        assert "any.json" in str(error)
    else:
        assert all(isinstance(row["source"], str) for row in rows)


def test_arguments_that_a_batch_cannot_have(tmp_path: Path) -> None:
    written(tmp_path, [])
    for words, text in (
        (["a.cl"], "cannot be combined with --batch"),
        (["-j", "0"], "-j takes a number of processes"),
        (["--cluster", "local:none"], "a number of workers"),
    ):
        done = coopmat("--batch", "batch.json", *words, directory=tmp_path)
        assert done.returncode == 2 and text in done.stderr, done.stderr


def default_interrupt() -> None:
    """A job in the background ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_batch_keeps_what_is_done(tmp_path: Path) -> None:
    batch_sources.write(60, tmp_path, 1, 0)
    command = [sys.executable, "-m", "coopmat", "compile", "--batch", "batch.json"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, preexec_fn=default_interrupt)
    end = time.monotonic() + 60
    while not list(tmp_path.glob("*.spv")) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=60)
    count = len(list(tmp_path.glob("*.spv")))
    assert process.returncode == 130 and "not tried" in text and "Traceback" not in text
    assert 0 < count < 60 and f"{count} compiled, 0 failed" in text


def test_only_the_entry_that_kills_its_process_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function stands in for the compiler, which no source is known to kill."""
    entries = [batch.Entry(f"{number}.cl", ()) for number in range(20)]
    run = batch._Run(entries, parse_arguments(["--batch", "x", "-j", "1"]))
    monkeypatch.setattr(batch, "compile_entries", units_of_death)
    run.run()
    assert [n for n, result in run._results.items() if result.status] == [13]
    assert "13.cl: the process that compiled it did not answer" in batch._reason("13.cl", batch.Lost("it"))


def units_of_death(entries: list[batch.Entry]) -> list[batch.Compiled]:
    if any(entry.name == "13.cl" for entry in entries):
        os.kill(os.getpid(), signal.SIGKILL)
    return [batch.Compiled(0, "", {}) for _ in entries]
