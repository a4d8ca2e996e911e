"""separate_compilation.c, whose cases are those of Khronos' test_compiler for clCompileProgram and clLinkProgram: with
the layer, OpenCL answers as without, also where the layer compiles the programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_programs import compile_program, run_program

from coopmat.devices import DeviceInfo
from coopmat.layer import library

SOURCE = Path(__file__).parent / "separate_compilation.c"
TAG = "/* coop_mat */"  # the layer takes this for a program with matrices
CASES = 14


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program("gcc", SOURCE, tmp_path_factory.mktemp("programs") / "separate_compilation")


def answers(program: Path, *arguments: str, **variables: str) -> str:
    done = run_program(program, *arguments, **variables)
    assert done.returncode == 0 and done.stdout.count("\n") == CASES, done
    return done.stdout


@pytest.mark.parametrize(
    ("route", "count"),
    [
        ("one", 4),
        *(pytest.param(route, 256, marks=pytest.mark.slow) for route in ("one", "lanes", "scratch")),
    ],
)
def test_answers_are_the_drivers(
    program: Path, layer: library.LayerLibrary, device: DeviceInfo, tmp_path: Path, route: str, count: int
) -> None:
    rest = (str(count), str(tmp_path))
    without = answers(program, device.platform, "", *rest, OPENCL_LAYERS="")
    variables = {"OPENCL_LAYERS": str(layer.path), "COOPMAT_ROUTE": route}
    assert answers(program, device.platform, "", *rest, **variables) == without
    assert answers(program, device.platform, TAG, *rest, **variables) == without
    wrong = re.findall(r"wrong=(\d+)", without)
    assert len(wrong) > CASES and set(wrong) == {"0"}
