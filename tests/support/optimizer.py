"""Whether a device's compiler optimizes a test's program: its optimizer takes most of the suite's time."""

from __future__ import annotations

import zlib

from coopmat.devices import DeviceInfo

#: Every program is optimized: by tools, and by the suite with --all.
ALWAYS = True


def device_options(device: DeviceInfo, text: str) -> list[str]:
    """Return the build options of a program that needs no subgroups: one in eight is optimized, chosen by its text.

    Programs with subgroups depend on the optimizer, which makes vectors of work-items. PoCL is faster with it.
    """
    is_optimized = ALWAYS or not device.platform.startswith("Intel")
    return [] if is_optimized or zlib.crc32(text.encode()) % 8 == 0 else ["-cl-opt-disable"]
