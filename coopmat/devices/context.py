"""`coopmat.context`: a pyopencl context, without having to know what must be imported when."""

from __future__ import annotations

from typing import Any

from .environment import opencl
from .select import select


def context(device: str | None = None) -> Any:
    """A `pyopencl.Context` on one device: the first that `coopmat devices` lists (or PYOPENCL_CTX's), or the one that
    `device` names by a part of its or its platform's name, or by "platform:device" numbers.

    The devices of this Python environment are in view, whether pyopencl was imported before or not, and whether or not
    its platforms were listed. Raises CompileError, whose text lists the devices there are, where none fits or several
    do, and where none can build an empty kernel.
    """
    return opencl().Context([select(device).handle])
