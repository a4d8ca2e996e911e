"""What the whole suite shares: its options, the OpenCL device that most of it runs on, skipping where there is none."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from opencl_devices import NoDevice, device_listed, full_device

from coopmat.devices import DeviceInfo


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the outputs under tests/golden/out anew")
    parser.addoption("--all", action="store_true", help="run the tests that are marked as slow, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all"):
        for item in items:
            if item.get_closest_marker("slow") is not None:
                item.add_marker(pytest.mark.skip(reason="slow: run by --all"))


@pytest.fixture(scope="session")
def device() -> DeviceInfo:
    return full_device()


@pytest.fixture
def dead_pocl(monkeypatch: pytest.MonkeyPatch) -> DeviceInfo:
    """PoCL that builds nothing, as on a processor that its LLVM does not know: no build takes that option. The tab
    hides it from PoCL's own check of options."""
    found = device_listed("pocl")
    monkeypatch.setenv("POCL_EXTRA_BUILD_FLAGS", "-DX\t-unknown")
    return found


@contextmanager
def _skipped_without_device() -> Generator[None]:
    try:
        yield
    except NoDevice as reason:
        pytest.skip(str(reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with _skipped_without_device():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with _skipped_without_device():
        return (yield)
