"""The facts about OpenCL devices that the compiler uses, and the routes by which matrix programs reach them."""

from __future__ import annotations

from .context import context as context
from .environment import opencl as opencl, prepare as prepare
from .query import (
    DeviceInfo as DeviceInfo,
    describe as describe,
    from_key_values as from_key_values,
    list_devices as list_devices,
)
from .select import by_preference as by_preference, require_health as require_health, select as select
from .table import (
    Route as Route,
    may_crash as may_crash,
    mistakes_sub_group_barriers as mistakes_sub_group_barriers,
    native_profile_for as native_profile_for,
    route_for as route_for,
    unit_for as unit_for,
)
