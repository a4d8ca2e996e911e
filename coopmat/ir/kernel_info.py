"""The description of a compiled kernel for hosts, re-exported from the front end."""

from __future__ import annotations

from ..frontend.kernel_info import KernelInfo, KernelParameter

__all__ = ["KernelInfo", "KernelParameter"]
