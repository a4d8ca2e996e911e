"""What an OpenCL device can do, and which route a matrix program takes to it."""

from __future__ import annotations

from .environment import opencl, prepare
from .query import DeviceInfo, from_key_values, list_devices
from .select import select
from .table import Route, route_for

__all__ = [
    "DeviceInfo",
    "Route",
    "from_key_values",
    "list_devices",
    "opencl",
    "prepare",
    "route_for",
    "select",
]
