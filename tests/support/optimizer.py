"""Whether a device's compiler optimizes a test's program: its optimizer takes most of the suite's time."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from coopmat.devices import DeviceInfo
from coopmat.matrices.routes import LOWERED_ROUTES

#: Every program is optimized: by tools, and by the suite with --all.
ALWAYS = True


def device_options(device: DeviceInfo, text: str, routes: Sequence[str] = ("native",)) -> list[str]:
    """Return the build options of a program that is compiled to these routes.

    A program with subgroups of the device is optimized, because the optimizer makes vectors of work-items. So is each
    program on a device other than Intel's: PoCL is faster with it. Of the others, one in eight is, chosen by its text.
    """
    if ALWAYS or not device.platform.startswith("Intel") or any(_has_sub_groups(route, text) for route in routes):
        return []
    return [] if zlib.crc32(text.encode()) % 8 == 0 else ["-cl-opt-disable"]


def _has_sub_groups(route: str, text: str) -> bool:
    """Return whether a program has subgroups of the device: those of its route, or of its own without a lowering."""
    lowered = LOWERED_ROUTES.get(route)
    return "sub_group" in text if lowered is None else lowered.has_sub_groups_of_device
