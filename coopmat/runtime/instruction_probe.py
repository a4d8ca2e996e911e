"""Which of a route's instructions a device has: each tried in a process of its own, once for each driver and processor.

They are reached by words that a driver's compiler may refuse, or end its process over (docs/vendors.md).
"""

from __future__ import annotations

from coopmat.devices import DeviceInfo, probe as process, route_for
from coopmat.devices.environment import processor
from coopmat.matrices.strategies import STRATEGIES
from coopmat.options import LINKED, CompileOptions

_FUNCTION = "coopmat.runtime.instruction_probe:run"


def instructions(device: DeviceInfo, route: str, *, asks: bool = True) -> tuple[str, ...]:
    """The sections of the route's products that are right on the device; where that is not known, it is asked, or it
    has none where `asks` is False."""
    flags = " ".join(processor()).split()
    rows = (row for row in STRATEGIES[route].products if row.feature in flags)
    return tuple(row.section for row in rows if _is_right(device, f"{route} {row.section}", asks))


def code_for(device: DeviceInfo) -> str:
    """The form in which a route that only OpenCL C has words for goes to the device."""
    return LINKED if device.takes_spirv and route_for(device).code == "spirv" else "c"


def _is_right(device: DeviceInfo, question: str, asks: bool) -> bool:
    from .native_probe import RIGHT

    try:
        said = process.ask(device, _FUNCTION, question) if asks else process.known(device, _FUNCTION, question)
    except process.NotAsked:
        return False
    return said is not None and said.value == RIGHT


# --- in the process of its own ---------------------------------------------------------------------


def run(device: DeviceInfo, question: str) -> str:
    """What came out of a product, "ROUTE SECTION": "right", or what was wrong."""
    from . import driver
    from .native_probe import outcome

    route, section = question.split()
    variant = next(row for row in STRATEGIES[route].products if row.section == section).variants()[0]
    options = CompileOptions(matrices=route, code=code_for(device))
    return outcome(device, variant, options, lambda context, module: driver.build(context, module, device))
