"""Every command that the pages print runs as printed: the cheap ones by default, the others with --all.

Each runs in a directory like a clone, in a home of its own, after the commands that it needs. A command that needs what
this machine lacks is skipped with the reason. With --all, commands that need no clone also run with an installed wheel,
in a directory that has only the kernels and programs that the pages name.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coopmat.cli.app import COMMANDS
from coopmat.devices import list_devices
from coopmat.spirv import tools

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{name}.md" for name in ("compile", "tools", "pyopencl", "layer", "conformance", "cluster", "maps")),
)
_PROGRAM = re.compile(r"(?:coopmat|pip|cmake|dask|build/\S+|tools/\S+|\.venv/bin/\S+|\./\S+)(?: |$)")
SECONDS = 1200
NO_INDEX = "No matching distribution|Temporary failure|Connection"

# pattern -> why a command never runs here
NEVER = {
    "tools/test": "it is the suite that runs this test",
    "tools/test *": "it is a part of that suite; tests/tools/test_choose_tests.py tests how it is chosen",
    "tools/dev test": "it is the suite that runs this test",
    "tools/lint": "`tools/dev lint` of CONTRIBUTING.md runs it",
    "dask scheduler": "it runs until it is interrupted",
    "*lab1:8786*": "it needs a scheduler on a machine named lab1",
    "coopmat cts --compare pocl.json intel.json": "it needs reports from a machine named lab1",
}
# They install the package, from an index.
INSTALLING = ("pip ", "tools/demo")
# Commands that take more than a few seconds.
EXPENSIVE = (
    *(
        "pip *",
        "tools/demo",
        "tools/lint",
        "tools/dev lint",
        "tools/dev figures",
        "tools/docs",
        "tools/dev docs",
        "tools/dev test *",
        "coopmat run multiply.cl",  # tests/runtime/test_readme.py runs it, too
        "coopmat cts",
        "coopmat cts --wimpy *",
    ),
    *("coopmat cts 'c_*' *", "coopmat cts --cluster local:*"),
)
# pattern -> the commands that run before it
FIRST = {
    "coopmat layer run -- ./program*": ["coopmat layer build"],
    "build/gemm": ["cmake -S examples -B build && cmake --build build"],
    "coopmat layer run -- build/gemm": ["coopmat layer build", "cmake -S examples -B build && cmake --build build"],
}
# pattern -> why a command does not run with an installed wheel
OF_A_CLONE = {
    "pip install '.*": "it installs the package from a clone",
    "tools/*": "the tools are in the clone",
    ".venv/*": "the tools of a clone make this environment",
    "coopmat run kernels/*": "the kernels are in the clone",
    "coopmat map kernels/*": "the kernels are in the clone",
    "cmake *": "the examples are in the clone",
    "*build/gemm": "the examples are in the clone",
    "coopmat cts": "it runs from a clone, for some ten minutes",
    "coopmat cts 'c_*' *": "it runs from a clone, for some ten minutes",
    "coopmat cts --cluster local:*": "it runs from a clone, for some ten minutes",
}
# Programs that report failure, as the page says they do.
FAILING = ("build/gemm",)


def commands() -> list[Any]:
    """Return the commands of the indented blocks, once each, as parameters."""
    found: dict[str, str] = {}
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for line in re.findall(r"^    (\S.*)$", text, re.MULTILINE):
            command = re.split(r"\s{2,}# |\s+# ", line)[0].strip()
            assert _PROGRAM.match(command), f"{page}: {command}"
            found.setdefault(command, page)
    assert found
    return [
        pytest.param(command, id=f"{page}: {command}", marks=[pytest.mark.slow] if _fits(command, EXPENSIVE) else [])
        for command, page in found.items()
    ]


def _fits(command: str, patterns: object) -> bool:
    return any(fnmatch.fnmatchcase(command, pattern.replace("[", "[[]")) for pattern in patterns)


def _lacking(command: str) -> str:
    """Return what this machine lacks for a command, empty if nothing."""
    for pattern, reason in NEVER.items():
        if _fits(command, [pattern]):
            return reason
    needs_device = command.startswith(
        ("coopmat run", "coopmat cts", "coopmat layer run -- build", "tools/demo", "build/")
    )
    devices = [f"{info.platform} {info.name}".lower() for info in list_devices()] if needs_device else []
    if needs_device and not devices:
        return "it needs an OpenCL device"
    named = re.search(r"--device (\w+)", command)
    if named and not any(named[1] in device for device in devices):
        return f"it needs a device named {named[1]}"
    if command.startswith(("coopmat compile", "tools/demo")) and tools.find_tools() is None:
        return "it needs a spirv-val that knows SPV_KHR_cooperative_matrix"
    if command.startswith(("cmake", "build/", "coopmat layer run -- build")):
        for program in ("cmake", "cc"):
            if shutil.which(program) is None:
                return f"it needs {program}"
        if not _has_opencl_headers():
            return "it needs OpenCL's headers and loader for C"
    if command.startswith("coopmat layer build") and not (shutil.which("cc") or importlib.util.find_spec("ziglang")):
        return "it needs a C compiler"
    if "--cluster local" in command and importlib.util.find_spec("distributed") is None:
        return "it needs dask.distributed"
    program = command.split()[0]
    if program.startswith(".venv/") and not (ROOT / program).exists():
        return f"it needs {program}"
    return ""


def _has_opencl_headers() -> bool:
    words = ["cc", "-x", "c", "-", "-lOpenCL", "-o", os.devnull]
    return not subprocess.run(
        words, input=b"#include <CL/cl.h>\nint main(void) { return 0; }", capture_output=True
    ).returncode


@pytest.fixture
def clone(tmp_path):
    """A directory with the files of a clone, the examples of the pages, a program, and `coopmat` in its path."""
    place = tmp_path / "clone"
    place.mkdir()
    for path in ROOT.iterdir():
        if path.name not in (".git", "build", "dist"):
            (place / path.name).symlink_to(path)
    _write_files(place)
    subprocess.run(["git", "init", "--quiet", str(place)], check=False)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    _write_program(binaries / "coopmat", f'exec "{sys.executable}" -m coopmat "$@"')
    return place


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment with the wheel of this tree and the extras that the pages name, and no home."""
    place = tmp_path_factory.mktemp("wheel")
    pip = [str(place / "environment" / "bin" / "python"), "-m", "pip"]
    variables = _without_our_own({**os.environ, "HOME": str(place)})

    def run(*words: str) -> None:
        done = subprocess.run(words, cwd=place, env=variables, capture_output=True, text=True, timeout=SECONDS)
        if re.search(NO_INDEX, done.stderr):
            pytest.skip("it needs a package index")
        assert done.returncode == 0, done.stdout + done.stderr

    run(sys.executable, "-m", "venv", str(place / "environment"))
    run(*pip, "wheel", "--no-deps", "-w", str(place), str(ROOT))
    (wheel,) = place.glob("*.whl")
    run(*pip, "install", f"{wheel}[cpu,cluster,layer]")
    run(str(place / "environment" / "bin" / "coopmat"), "doctor", "--install", "spirv-tools")
    return place / "environment"


@pytest.fixture
def empty(environment, tmp_path):
    """A directory with the files that the pages name, and `coopmat` of the wheel in its path."""
    place = tmp_path / "empty"
    place.mkdir()
    _write_files(place)
    (tmp_path / "bin").symlink_to(environment / "bin")
    return place


def _write_files(place: Path) -> None:
    for page, name in (("README.md", "multiply.cl"), ("docs/compile.md", "gemm.cl")):
        text = (ROOT / page).read_text(encoding="utf-8")
        block = re.search(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        (place / name).write_text(block[1], encoding="utf-8")
    _write_program(place / "program", "exit 0")


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def _without_our_own(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not re.match("COOPMAT_|PYTHON|VIRTUAL_ENV|XDG_", name)}


def _run(command: str, place: Path, is_installed: bool = False) -> subprocess.CompletedProcess[str]:
    home = place.parent / "home"
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([str(place.parent / "bin"), os.environ["PATH"]])
    variables = {**os.environ, "HOME": str(home), "PATH": path, "PYTHONPATH": str(ROOT)}
    if command.startswith(INSTALLING):
        _make_fresh(place)
        variables.pop("PYTHONPATH")
    if is_installed:
        variables = _without_our_own(variables)
    return subprocess.run(
        ["sh", "-c", command], cwd=place, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def _make_fresh(place: Path) -> None:
    """Put the pip of a new virtual environment into the path, and make the clone one without an environment, of files:
    pip builds from them."""
    environment = place.parent / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    (place.parent / "bin" / "pip").symlink_to(environment / "bin" / "pip")
    (place / ".venv").unlink(missing_ok=True)
    for name in ("coopmat", "tools"):
        (place / name).unlink()
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))


def _check(command: str, place: Path, is_installed: bool = False) -> None:
    first = next((words for pattern, words in FIRST.items() if _fits(command, [pattern])), [])
    for words in (*first, command):
        if reason := _lacking(words):
            pytest.skip(f"{words}: {reason}")
    for words in first:
        assert _run(words, place, is_installed).returncode == 0
    done = _run(command, place, is_installed)
    if command.startswith(INSTALLING) and re.search(NO_INDEX, done.stderr):
        pytest.skip(f"{command}: it needs a package index")
    assert (done.returncode == 0) != (command in FAILING), done.stdout + done.stderr


@pytest.mark.parametrize("command", commands())
def test_a_command_runs_as_printed(command, clone):
    _check(command, clone)


@pytest.mark.slow
@pytest.mark.parametrize("command", [command for command in commands() if not _fits(command.values[0], OF_A_CLONE)])
def test_a_command_runs_with_an_installed_wheel(command, empty):
    _check(command, empty, is_installed=True)


def test_commands_in_sentences_exist():
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for command in re.findall(r"`(coopmat [a-z][^`]*|tools/[a-z][^`*]*)`", text):
            program, *words = command.split()
            if program == "coopmat":
                assert words[0].split("|")[0] in COMMANDS, f"{page}: {command}"
            else:
                assert os.access(ROOT / program, os.X_OK), f"{page}: {command}"
