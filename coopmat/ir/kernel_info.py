"""The description of a compiled kernel that a host requires: the front end's module, under the name that this room
uses."""

from __future__ import annotations

from ..frontend.kernel_info import KernelInfo, KernelParameter

__all__ = ["KernelInfo", "KernelParameter"]
