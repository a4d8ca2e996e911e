"""What a host needs to know of a compiled kernel; the front end's, under the name that this room knows it by."""

from __future__ import annotations

from ..frontend.kernel_info import KernelInfo, KernelParameter

__all__ = ["KernelInfo", "KernelParameter"]
