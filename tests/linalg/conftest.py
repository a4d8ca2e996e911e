from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coopmat.devices import DeviceInfo, opencl


def _queues(device: DeviceInfo, properties: Any) -> Iterator[Any]:
    cl = opencl()
    context = cl.Context([device.handle])  # a queue of the CPU's runtime does not keep its context
    queue = cl.CommandQueue(context, properties=properties)
    yield queue
    queue.finish()  # a queue that is released before can hang Intel's runtime


@pytest.fixture
def queue(device: DeviceInfo) -> Iterator[Any]:
    yield from _queues(device, 0)


@pytest.fixture
def out_of_order_queue(device: DeviceInfo) -> Iterator[Any]:
    yield from _queues(device, opencl().command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
