"""The mark `covering`: which combinations of parameters run by default."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"
CONFTEST = """
import pytest, repeats

def pytest_collection_modifyitems(items):
    repeats.mark_repeats(items)

@pytest.fixture(params="XY")
def route(request):
    return request.param
"""
TESTS = """
import pytest

@pytest.mark.covering
@pytest.mark.parametrize("language, name", [("c", "gcc"), ("c", "zig"), ("c++", "zig")])
@pytest.mark.parametrize("number", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_some(route, number, language, name): pass

@pytest.mark.parametrize("number", range(3))
def test_all(route, number): pass
"""


def test_each_value_is_in_a_combination_that_runs_by_default(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--collect-only", "-m", "not slow"]
    settings = ["-o", f"pythonpath={SUPPORT}", "-o", "markers=slow\ncovering", f"--rootdir={tmp_path}", str(tmp_path)]
    done = subprocess.run([*command, *settings], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"test_some\[(\w)-(\d)-(\S+)\]", done.stdout)
    assert {route for route, _, _ in found} == {"X", "Y"} and {number for _, number, _ in found} == {"1", "2", "3"}
    assert {names for *_, names in found} == {"c-gcc", "c-zig", "c++-zig"}
    assert 3 <= len(found) <= 5  # of 18
    assert len(re.findall(r"test_all\[", done.stdout)) == 6
