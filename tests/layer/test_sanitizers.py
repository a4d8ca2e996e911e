"""The layer's tests again, with a layer that gcc's sanitizers watch, and a campaign of libFuzzer's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coopmat.layer import library

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
FILES = [path.name for path in sorted(HERE.glob("test_*.py")) if path.stem not in ("test_sanitizers", "test_wheels")]
# The first fault ends the application, and with it a test. Python's own memory is not of interest.
SETTINGS = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "UBSAN_OPTIONS": "halt_on_error=1"}


def runtime() -> str:
    """Return the libraries that applications load first: the sanitizer finds functions of C++ at its start only."""
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("this machine has no gcc")
    commands = [[gcc, f"-print-file-name={name}"] for name in ("libasan.so", "libstdc++.so.6")]
    found = [Path(subprocess.run(words, capture_output=True, text=True).stdout.strip()) for words in commands]
    for path in found:
        if not path.is_absolute() or not path.is_file():
            pytest.skip(f"gcc has no {path} here")
    return ":".join(str(path.resolve()) for path in found)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Return the variables for tests whose layer has the sanitizers."""
    first = runtime()
    monkeypatch.setenv("CC", f"gcc {FLAGS}")
    found = library.build(tmp_path / "libcoopmat_layer.so", from_source=True)
    return {**SETTINGS, "COOPMAT_TEST_LAYER": str(found.path), "COOPMAT_TEST_PRELOAD": first}


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_under_sanitizers(watched: dict[str, str], file: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CC" and "COV_CORE" not in name}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", str(HERE / file)]
    done = subprocess.run(command, cwd=ROOT, env={**environment, **watched}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.slow
def test_a_sanitizer_that_finds_something_is_seen(watched: dict[str, str], tmp_path: Path) -> None:
    """The layer with a write behind an allocation: the application ends with a report."""
    code = "import ctypes, sys; layer, libc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)\n"
    code += "libc.malloc.restype = ctypes.c_void_p\n"
    code += "layer.clGetLayerInfo(0x4241, ctypes.c_size_t(8), ctypes.c_void_p(libc.malloc(1)), None)\n"
    environment = {**os.environ, **watched, "LD_PRELOAD": watched["COOPMAT_TEST_PRELOAD"]}
    done = subprocess.run(
        [sys.executable, "-c", code, watched["COOPMAT_TEST_LAYER"]], env=environment, capture_output=True, text=True
    )
    assert done.returncode and "AddressSanitizer" in done.stderr, done.stderr


@pytest.mark.slow
def test_a_campaign_of_fuzzing() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "fuzz_layer.py"), "--count", "200000"],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
    )
    if done.stdout.startswith("not run"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
