"""The notebook of the documentation, cell by cell, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coopmat.devices import DeviceInfo

NOTEBOOK = Path(__file__).parents[2] / "docs" / "examples" / "gemm.ipynb"
RUN = """
import json, sys, warnings
from IPython.core.interactiveshell import InteractiveShell
warnings.simplefilter("ignore")
shell = InteractiveShell.instance()
for source in json.load(sys.stdin):
    shell.run_cell(source).raise_error()
"""


def test_notebook(device: DeviceInfo, tmp_path: Path) -> None:
    pytest.importorskip("IPython", reason="the cells need IPython")
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sum("%%cl_kernel" in source for source in sources) == 1
    environment = {**os.environ, "PYOPENCL_CTX": device.index, "COOPMAT_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        env={**environment, "IPYTHONDIR": str(tmp_path)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"route {'one' if device.kind == 'CPU' else ''}" in done.stdout
