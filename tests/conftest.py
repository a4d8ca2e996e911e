"""What the whole suite shares: its options, the OpenCL device that most of it runs on, skipping where there is none."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager

import hypothesis
import optimizer
import pytest
import repeats
from opencl_devices import NoDevice, device_listed, full_device

from coopmat import passes
from coopmat.devices import DeviceInfo

# The time of an example says nothing about the compiler on a machine that is busy.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the tests that are marked slow, too")
    parser.addoption("--update-golden", action="store_true", help="write the outputs under tests/golden/out anew")


def pytest_configure(config: pytest.Config) -> None:
    # Processes that tests start have the buffers of a user's: this variable changes those of the C library, too.
    os.environ.pop("PYTHONUNBUFFERED", None)
    passes.ALWAYS_VERIFY = True
    optimizer.ALWAYS = config.getoption("--all")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from visiting the collected tests and modules again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is marked slow, unless it is asked for: by --all, by -m, or by its own name."""
    repeats.mark_repeats(items)
    for item in items:
        if _needs_device(item):
            item.add_marker("device")
    if config.getoption("--all") or "slow" in config.getoption("-m") or any("[" in word for word in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker("slow") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]


def _needs_device(item: pytest.Item) -> bool:
    """Whether it takes a device as an argument, or its module asks for some itself."""
    named = {getattr(value, "__module__", None) for value in vars(getattr(item, "module", object)).values()}
    asked = {"device", "dead_pocl"}.intersection(getattr(item, "fixturenames", ()))
    return bool(asked) or "opencl_devices" in named


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
