"""docs/run.md: its example runs as the page says, and its lists have all names of the tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from opencl_devices import spirv_device

from coopmat.runtime import evaluator, run_file
from coopmat.runtime.data import FILLS

PAGE = (Path(__file__).parents[2] / "docs" / "run.md").read_text()


@pytest.mark.device
def test_the_example_runs(tmp_path):
    path = tmp_path / "example.cl"
    path.write_text(re.search(r"```c\n(.*?)```", PAGE, re.DOTALL)[1])
    results = run_file(path, spirv_device())
    assert len(results) == 2 and all(result.ok and result.checks for result in results)


def test_all_names_are_listed():
    listed = {
        word for code in re.findall(r"`([^`]+)`", PAGE.replace("```", "")) for word in re.findall(r"[A-Za-z_]\w*", code)
    }
    names = evaluator._FUNCTIONS | evaluator._METHODS | evaluator._ATTRIBUTES | evaluator._CONSTANTS.keys()
    assert names | FILLS.keys() <= listed
