from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from c_library import OTHERS, TYPES, CLibrary, compiler

from coopmat.devices import DeviceInfo, opencl
from coopmat.export import Library, header_text
from coopmat.linalg.listing import Listing
from coopmat.runtime.ahead import AheadTarget


@pytest.fixture(scope="session")
def library(device: DeviceInfo) -> Library:
    return Library.of(AheadTarget.of(device), [Listing.of(types) for types in TYPES])


@pytest.fixture(scope="session")
def queue(device: DeviceInfo) -> Iterator[Any]:
    cl = opencl()
    context = cl.Context([device.handle])  # a queue of the CPU's runtime does not keep its context
    queue = cl.CommandQueue(context)
    yield queue
    queue.finish()


@pytest.fixture(scope="session")
def in_c(device: DeviceInfo) -> Library:
    """A library of OpenCL C, which is compiled sooner."""
    return Library.of(AheadTarget.of(device, code="c"), [Listing.of(types) for types in OTHERS])


@pytest.fixture(scope="session")
def code(library: Library, queue: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CLibrary]:
    compiler("gcc")
    made = CLibrary(header_text(library, "gemm"), tmp_path_factory.mktemp("export"), queue)
    yield made
    queue.finish()
    made.release()
