"""What the first call of a process loads: most of its time is imports."""

from __future__ import annotations

import subprocess
import sys


def test_the_compiler_is_not_imported() -> None:
    """Programs come from the cache, if they are there."""
    code = "import sys, coopmat.linalg; print([name for name in sys.modules if name.startswith('coopmat.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'coopmat.linalg'" in loaded
    for name in ("frontend.typed", "frontend.sema", "matrix_types", "opencl_c", "passes", "ir.lower"):
        assert f"'coopmat.{name}" not in loaded, name
