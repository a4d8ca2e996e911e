"""docs/start/faster.md: its table, figure and kernels are those of its script, whose steps are right."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from opencl_devices import spirv_device

START = Path(__file__).parents[2] / "docs" / "start"
RESULT = json.loads((START / "faster.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def faster() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faster", START / "faster.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["faster"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_measured_times(faster: ModuleType) -> None:
    page = (START / "faster.md").read_text(encoding="utf-8")
    assert page == faster.page(page, RESULT)
    assert page.count(f"{RESULT['steps']['plain']['milliseconds']:.1f}") >= 1
    assert (START / "faster.cl").read_text(encoding="utf-8") in page


def test_the_figure_has_the_measured_times(faster: ModuleType) -> None:
    assert (START / "faster.svg").read_text(encoding="utf-8") == faster.picture(RESULT)


def test_the_times_are_of_these_steps(faster: ModuleType) -> None:
    assert list(RESULT["steps"]) == list(faster.STEPS)
    assert RESULT["turns"] >= 9 and RESULT["machine"] and RESULT["date"]


def test_a_step_is_compared_in_turns(faster: ModuleType) -> None:
    row = faster.summary([0.1, 0.2, 0.3], [0.01, 0.01, 0.01])
    assert row == {"milliseconds": 10.0, "times_as_fast": {"median": 20.0, "quartiles": [10.0, 30.0]}}


def test_a_busy_machine_is_reported(faster: ModuleType) -> None:
    assert "load was 3.5" in faster.table({**RESULT, "load": 3.5})
    assert "busy" not in faster.table({**RESULT, "load": 0.1})


def test_the_comment_follows_the_times(faster: ModuleType) -> None:
    steps = {name: faster.summary([0.1, 0.1], [0.01, 0.01]) for name in faster.STEPS}
    steps["linalg"]["milliseconds"] = 9.0
    assert "fastest here" in faster.table({**RESULT, "steps": steps})
    steps["linalg"]["milliseconds"] = 11.0
    assert "coopmat tune" in faster.table({**RESULT, "steps": steps})


@pytest.mark.device
def test_all_steps_compute_the_same(faster: ModuleType) -> None:
    spirv_device()
    assert faster.Layer().functions().keys() == faster.STEPS.keys()
