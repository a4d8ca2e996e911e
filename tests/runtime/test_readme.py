"""README's example and the Python of two pages of docs/ run as printed, in a process without set-up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coopmat.devices import route_for
from coopmat.spirv import tools

ROOT = Path(__file__).parents[2]


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(program: str, place: Path) -> None:
    variables = {name: text for name, text in os.environ.items() if name not in ("OCL_ICD_VENDORS", "PYOPENCL_CTX")}
    variables["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables, cwd=place)
    assert done.returncode == 0, done.stderr


def test_the_example_prints_what_readme_shows(device, tmp_path):
    if route_for(device).matrices != "one":
        pytest.skip("README shows the output of a device whose route is `one`")
    (source,), (shown,) = blocks("README.md", "c"), blocks("README.md", "text")
    assert source.count("\n") == 10
    (tmp_path / "multiply.cl").write_text(source, encoding="utf-8")
    assert "\n    coopmat run multiply.cl\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    words = [sys.executable, "-m", "coopmat", "run", "multiply.cl", "--device", device.index]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    # The time differs, and so does the last bit of numpy's product, by which numpy's code for the processor differs.
    output, expected = (re.sub(r"[\d.]+ ms|error [\d.e-]+", "...", text) for text in (done.stdout, shown))
    assert output == expected and ": ok," in output


def test_the_python_of_the_page_on_compiling(device, tmp_path):
    if tools.find_tools() is None:
        pytest.skip("no spirv-val that knows SPV_KHR_cooperative_matrix")
    (tmp_path / "gemm.cl").write_text(blocks("docs/compile.md", "c")[0], encoding="utf-8")
    found = blocks("docs/compile.md", "python")
    assert len(found) == 2
    run("\n".join(found), tmp_path)


GIVEN = """
import numpy as np
import pyopencl.array
source = '''
#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define MATRIX(U) __attribute__((coop_mat(SG, TILE, TILE, CLK_COOPERATIVE_MATRIX_##U)))
typedef float A MATRIX(A);
typedef float B MATRIX(B);
typedef float C MATRIX(ACCUMULATOR);
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void gemm(global const float *a, global const float *b, global float *c, int n) {
    A x = coop_mat_load(a, ROW, n);
    B y = coop_mat_load(b, ROW, n);
    C z = coop_mat_init(0.0f);
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), ROW, n);
}
'''
n = m = 16
"""
DATA = "a, b, c = (cl.array.to_device(queue, np.ones((16, 16), np.float32)).data for _ in range(3))\n"


def test_the_python_of_the_page_on_pyopencl(device, tmp_path):
    first, hooked = blocks("docs/pyopencl.md", "python")[:2]
    first = first.replace("program = ", f"{DATA}program = ")
    run(GIVEN + first + hooked.replace(".build()", ".build('-DTILE=16')"), tmp_path)
