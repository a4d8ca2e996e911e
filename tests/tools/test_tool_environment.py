"""The set-up that the tools share, with programs that stand in for python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Stands in for python3: makes the directory that -m venv would, and writes down every other call.
FAKE = """#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
case "$*" in
    "-m venv --clear "*) mkdir -p "$4/bin" && rm -f "$4"/installed-* && cp "$0" "$4/bin/python"
        echo "VIRTUAL_ENV=\"$4\"" > "$4/bin/activate" ;;
    "-c import ensurepip"*) exit "${WITHOUT_VENV:-0}" ;;
    *"pip install"*) exit "${WITHOUT_NETWORK:-0}" ;;
esac
"""
TOOL = '#!/bin/sh\nset -eu\n. "$(dirname -- "$0")/environment.sh"\nprepare_locked "$1"\necho "ready: $python"\n'


@pytest.fixture
def tool(tmp_path):
    root = tmp_path / "a clone"
    (root / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "environment.sh", root / "tools")
    (root / "pyproject.toml").write_text("first")
    calls = tmp_path / "calls"
    for path, text in ((root / "tools" / "tool", TOOL), (tmp_path / "python", FAKE)):
        path.write_text(text)
        path.chmod(0o755)

    def run(extras: str, **environment: str):
        calls.write_text("")
        variables = {"PATH": os.environ["PATH"], "PYTHON": str(tmp_path / "python"), "CALLS": str(calls)}
        done = subprocess.run(
            [str(run.root / "tools" / "tool"), extras],
            env={**variables, **environment},
            cwd="/",
            capture_output=True,
            text=True,
        )
        run.calls = calls.read_text().splitlines()
        return done

    run.root = root
    return run


def installs(calls):
    return [call for call in calls if "pip install" in call]


def test_the_first_run_installs_and_the_second_does_nothing(tool):
    first = tool("cpu")
    assert first.returncode == 0, first.stderr
    assert first.stdout == f"ready: {tool.root}/.venv/bin/python\n"
    (install,) = installs(tool.calls)
    assert install.endswith(f"--editable {tool.root}[cpu]")
    assert tool("cpu").returncode == 0
    assert tool.calls == []


def test_more_extras_install_once_and_cover_the_fewer(tool):
    assert tool("cpu,test").returncode == 0
    assert tool("cpu").returncode == 0 and tool.calls == []
    assert tool("dev").returncode == 0 and len(installs(tool.calls)) == 1
    assert not any("venv" in call for call in tool.calls)


def test_a_changed_project_file_installs_again(tool):
    tool("cpu")
    (tool.root / "pyproject.toml").write_text("second")
    assert tool("cpu").returncode == 0
    assert len(installs(tool.calls)) == 1


def test_a_moved_clone_gets_a_new_environment(tool):
    tool("cpu")
    tool.root = tool.root.rename(tool.root.with_name("elsewhere"))
    assert tool("cpu").returncode == 0
    assert f"-m venv --clear {tool.root}/.venv" in tool.calls


@pytest.mark.parametrize("link", ["", "link"])
def test_an_environment_that_the_user_made_stays(tool, tmp_path, link):
    """As the page on installation says: python3 -m venv .venv, here by Python itself."""
    (tmp_path / "link").symlink_to(tool.root)
    venv = (tmp_path / link if link else tool.root) / ".venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    (venv / "share").mkdir()
    python = venv / "bin" / "python"
    python.unlink()
    shutil.copy(tmp_path / "python", python)
    assert tool("cpu").returncode == 0, tool.calls
    assert len(installs(tool.calls)) == 1 and (venv / "share").is_dir()


def test_the_environment_of_another_tree_is_not_cleared(tool, tmp_path):
    """By a link, as one is tempted to make in a second worktree."""
    tool("dev")
    other = tmp_path / "other"
    tool.root.joinpath(".venv").rename(other)
    tool.root.joinpath(".venv").symlink_to(other)
    refused = tool("dev,test")
    assert refused.returncode == 1 and "symbolic link" in refused.stderr
    assert not [call for call in tool.calls if "venv --clear" in call]


def test_a_failed_installation_is_tried_again(tool):
    failed = tool("cpu", WITHOUT_NETWORK="1")
    assert failed.returncode == 1 and "pip could not install" in failed.stderr
    assert tool("cpu").returncode == 0 and len(installs(tool.calls)) == 1


def test_without_venv_the_command_that_mends_it_is_told(tool):
    failed = tool("cpu", WITHOUT_VENV="1")
    assert failed.returncode == 1
    assert "apt install python3-venv" in failed.stderr and "Traceback" not in failed.stderr


def test_without_python_it_is_told(tool, tmp_path):
    (tmp_path / "bin").mkdir()
    for program in ("dirname", "cksum", "cat", "flock", "tr"):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program))
    failed = tool("cpu", PATH=str(tmp_path / "bin"), PYTHON="nosuch")
    assert failed.returncode == 1 and "python3 (3.10 or newer) is needed" in failed.stderr


def test_an_unknown_task_fails_and_lists_the_others():
    done = subprocess.run([ROOT / "tools" / "dev", "nosuch"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert "there is no task nosuch" in done.stderr and "lint" in done.stderr


def test_tools_keep_their_caches_in_the_environment(tool):
    (tool.root / "tools" / "tool").write_text(TOOL.replace('echo "ready: $python"', "env"))
    lines = tool("dev").stdout.splitlines()
    for name in ("MYPY_CACHE_DIR", "RUFF_CACHE_DIR", "COVERAGE_FILE", "HYPOTHESIS_STORAGE_DIRECTORY"):
        assert any(line.startswith(f"{name}={tool.root}/.venv/") for line in lines)
