"""pyopencl's own tests, from its source distribution, with every program compiled here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

from coopmat.devices import DeviceInfo

# What is meant to be otherwise.
DIFFERENT = {
    "test_xdg_cache_home": "what is built here is in this package's cache, not in pyopencl's",
    "test_that_python_args_fail": "Python's numbers are taken for scalar arguments",
}
HERE = Path(__file__).parent


def _source(folder: Path) -> Path:
    """pyopencl's source distribution, unpacked; skips where no package index is at hand."""
    wanted = f"pyopencl=={version('pyopencl')}"
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--no-binary",
        "pyopencl",
        wanted,
        "-d",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    found = list(folder.glob("pyopencl-*.tar.gz"))
    if done.returncode or not found:
        last = (done.stderr.strip().splitlines() or ["no file"])[-1]
        pytest.skip(f"no source distribution of {wanted} to be had: {last}")
    with tarfile.open(found[0]) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.glob("pyopencl-*") if path.is_dir())


@pytest.mark.slow
def test_pyopencls_own_tests(device: DeviceInfo, tmp_path: Path) -> None:
    tests = _source(tmp_path) / "test"
    places = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        "PYOPENCL_TEST": device.index,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "COOPMAT_CACHE_DIR": str(tmp_path / "own"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pyopencl_hook", "-p", "no:cacheprovider", "."]
    command += ["-k", f"not ({' or '.join(DIFFERENT)})"]
    done = subprocess.run(
        command, cwd=tests, env=environment, capture_output=True, text=True, timeout=3600, check=False
    )
    told = done.stdout[-4000:] + done.stderr[-2000:]
    assert done.returncode == 0, told
    passed, built = (re.search(pattern, done.stdout) for pattern in (r"(\d+) passed", r"built by coopmat: (\d+)"))
    assert passed and int(passed[1]) > 250 and built and int(built[1]) > 100, told
