"""What the whole suite shares: its options, and the OpenCL device that most of it runs on."""

from __future__ import annotations

import pytest

from coopmat.devices import DeviceInfo, list_devices


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the outputs under tests/golden/out anew")


@pytest.fixture(scope="session")
def device() -> DeviceInfo:
    """The first that can all that the tests ask for."""
    found = [d for d in list_devices() if d.takes_spirv and d.sub_groups and d.fp16 and d.fp64]
    if not found:
        pytest.skip("no OpenCL device with SPIR-V, subgroups, half and double: pip install 'coopmat[cpu]'")
    return found[0]
