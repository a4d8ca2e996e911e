"""What an OpenCL device can do, and which route a matrix program takes to it."""

from __future__ import annotations

from .context import context
from .environment import opencl, prepare
from .query import DeviceInfo, from_key_values, list_devices
from .select import by_preference, require_health, select
from .table import Route, native_profile_for, route_for

__all__ = [
    "DeviceInfo",
    "Route",
    "by_preference",
    "context",
    "from_key_values",
    "list_devices",
    "native_profile_for",
    "opencl",
    "prepare",
    "require_health",
    "route_for",
    "select",
]
