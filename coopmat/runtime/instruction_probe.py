"""The probe for a device's matrix instructions on a route: each is tried in a process of its own, once for each driver
and processor.

They are reached by words that a driver's compiler may refuse, or end its process over (docs/vendors.md).
"""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

from coopmat.devices import DeviceInfo, probe as process, route_for
from coopmat.devices.environment import processor
from coopmat.devices.table import compute_capability
from coopmat.matrices.products import DotProduct, FragmentProduct, Product
from coopmat.matrices.strategies import STRATEGIES
from coopmat.options import LINKED, CompileOptions

_FUNCTION = "coopmat.runtime.instruction_probe:run"


def instructions(device: DeviceInfo, route: str, *, asks: bool = True) -> tuple[str, ...]:
    """The names of the route's products that are right on the device; where that is not known, it is asked, or it
    has none where `asks` is False."""
    rows = (row for row in STRATEGIES[route].every_product if _is_likely(device, row))
    return tuple(row.name for row in rows if _is_right(device, f"{route} {row.name}", asks))


def _is_likely(device: DeviceInfo, row: Product) -> bool:
    """Return whether the device is likely to have the instruction, so that it is worth a question."""
    if isinstance(row, DotProduct):
        if device.kind != "CPU" or not set(row.features).issubset(" ".join(processor()).split()):
            return False
        # Of other compilers it is not known whether they leave work-items alone that use tiles.
        return not row.keeps_state or (device.platform.startswith("Intel(R)") and may_use_tiles())
    capability = compute_capability(device)
    for pattern in row.devices if isinstance(row, FragmentProduct) else ():
        if pattern.startswith("sm_"):
            if capability is not None and capability >= int(pattern[3:]):
                return True
        elif pattern in device.extensions or device.name.startswith(pattern):
            return True
    return False


# Of x86-64's Linux: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA).
_PERMISSION = (158, 0x1023, 18)


@cache
def may_use_tiles() -> bool:
    """Ask the system to let this process use AMX's tiles, and return whether it does: without its permission the first
    instruction ends the process. It is for all threads, and stays."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return int(ctypes.CDLL(None).syscall(*map(ctypes.c_long, _PERMISSION))) == 0


def code_for(device: DeviceInfo, route: str) -> str:
    """The form in which a route that only OpenCL C has words for goes to the device."""
    links = device.takes_spirv and route_for(device).code == "spirv" and not STRATEGIES[route].family
    return LINKED if links else "c"


def _is_right(device: DeviceInfo, question: str, asks: bool) -> bool:
    from .native_probe import RIGHT

    try:
        answer = process.ask(device, _FUNCTION, question) if asks else process.known(device, _FUNCTION, question)
    except process.NotAsked:
        return False
    return answer is not None and answer.value == RIGHT


# --- in the process of its own ---------------------------------------------------------------------


def run(device: DeviceInfo, question: str) -> str:
    """Return the outcome of a product, "ROUTE NAME": "right", or a description of the fault."""
    from . import driver
    from .launch import resolve_options
    from .native_probe import outcome

    route, name = question.split()
    row = next(row for row in STRATEGIES[route].every_product if row.name == name)
    if row.keeps_state and not may_use_tiles():
        return "the system does not let this process use tiles"
    variant = row.variants(3, 2, 3)[0]
    # Of this product alone: another might do what it should, and another size of subgroups has none of it.
    options = resolve_options(CompileOptions(matrices=route, instructions=(name,)), device)
    return outcome(
        device, variant, options, lambda context, module: driver.build(context, module, device, contained=True)
    )
