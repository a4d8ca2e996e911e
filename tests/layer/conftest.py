"""The layer's library, built once for all tests, and programs that run with it: on a device (`application`), or on the
stub driver (`stub` starts one, `app` is one with its defaults)."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stub_application import (
    Application as StubApplication,
    application as stub_application,
    close_applications,
    loaders,
    preload,
)
from stub_suite import EXTENSIONS, Stub

from coopmat.devices import DeviceInfo
from coopmat.layer import library

HERE = Path(__file__).parent
Application = Callable[..., dict[str, Any]]


def require_compiler() -> None:
    if sys.platform != "linux":
        pytest.skip("the layer is for Linux")
    if not any(shutil.which(name) for name in ("cc", "gcc", "clang")):
        pytest.skip("this machine has no C compiler")


@pytest.fixture(scope="session")
def layer(tmp_path_factory: pytest.TempPathFactory) -> library.LayerLibrary:
    require_compiler()
    own = os.environ.get("COOPMAT_TEST_LAYER")
    found = library.find(Path(own)) if own else None
    return found or library.build(tmp_path_factory.mktemp("layer") / "libcoopmat_layer.so")


@pytest.fixture
def application(layer: library.LayerLibrary, device: DeviceInfo) -> Application:
    """Runs a program that prints JSON, by default application.py, with the layer or other ones."""

    def run(
        *arguments: str,
        program: str = "application.py",
        layers: str = str(layer.path),
        most_bytes: int | None = None,
        **variables: str,
    ) -> dict[str, Any]:
        def limit() -> None:
            if most_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

        environment = {**os.environ, "OPENCL_LAYERS": layers, "PYOPENCL_NO_CACHE": "1", **preload(), **variables}
        command = [sys.executable, str(HERE / program), *arguments]
        done = subprocess.run(
            command,
            env={**environment, "TEST_PLATFORM": device.platform},
            capture_output=True,
            text=True,
            timeout=900,
            preexec_fn=limit,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    return run


@pytest.fixture(scope="module")
def processes() -> Iterator[None]:
    """What applications need; they end with their module."""
    require_compiler()
    if not loaders():
        pytest.skip("this machine has no OpenCL loader")
    yield
    close_applications()


@pytest.fixture
def stub(processes: None) -> Iterator[Stub]:
    """An application with the loader, the layer and the driver's settings that are asked for."""
    used: list[StubApplication] = []

    def started(loader: str = "", with_layer: bool = True, **variables: str) -> StubApplication:
        found = stub_application(loader, with_layer, **{"STUB_EXTENSIONS": EXTENSIONS, **variables})
        found.begin()
        used.append(found)
        return found

    yield started
    for found in used:
        if found.process.poll() is not None:
            continue  # the test has failed by this
        left = found.end()
        assert [line for line in found.lines() if line.startswith("error")] == []
        assert left == [0, 0], "programs and kernels that were not released"


@pytest.fixture
def app(stub: Stub) -> StubApplication:
    return stub()
