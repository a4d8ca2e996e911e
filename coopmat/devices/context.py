"""`coopmat.context`: a pyopencl context on one device, with all devices of the Python environment visible."""

from __future__ import annotations

from typing import Any

from .environment import opencl
from .select import select


def context(device: str | None = None) -> Any:
    """Return a `pyopencl.Context` on one device.

    `device` is a part of the name of the device or its platform, or "platform:device" numbers. Without a name, the
    device is that of PYOPENCL_CTX, or else the first that `coopmat devices` lists.

    The devices of this Python environment are visible, even if pyopencl was imported or its platforms were listed
    before. Raises CompileError, which lists the devices, if no device or several devices match. Without a name, it is
    also raised if no device can build an empty kernel.
    """
    return opencl().Context([select(device).handle])
