"""The probe for a device's matrix instructions on a route, each of which a separate process tries once.

The answers hold for the driver and the processor. The functions that use the instructions may be rejected by a driver's
compiler, or end its process (docs/vendors.md).
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from coopmat.devices import DeviceInfo, probe as process, route_for
from coopmat.devices.environment import processor
from coopmat.devices.table import compute_capability
from coopmat.matrices.hardware_multiplies import DotProduct, FragmentProduct, Product
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.options import LINKED, CompileOptions

_FUNCTION = "coopmat.runtime.instruction_probe:run"


def instructions(device: DeviceInfo, route: str, *, asks: bool = True) -> tuple[str, ...]:
    """Return the names of the route's products that the device computes correctly.

    A product of unknown outcome is tried; if `asks` is False, the product is left out instead. Several products are
    tried at a time: on NVIDIA's devices there are some twenty, and each process takes seconds to start.
    """
    rows = [row for row in _products(route) if _is_likely(device, row)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        right = pool.map(lambda row: _is_right(device, f"{route} {row.name}", asks), rows)
        return tuple(row.name for row, is_right in zip(rows, right, strict=True) if is_right)


def likely_instructions(device: DeviceInfo, route: str) -> tuple[str, ...]:
    """Return the names of the route's products that the device should have by its description. None is tried."""
    return tuple(row.name for row in _products(route) if _is_likely(device, row))


def _products(route: str) -> tuple[Product, ...]:
    """Return the products of a route, those of tf32 included."""
    return (*LOWERED_ROUTES[route].every_product, *LOWERED_ROUTES[route].tf32)


def _is_likely(device: DeviceInfo, row: Product) -> bool:
    """Return whether the device is likely to have the instruction, so that a probe is worthwhile."""
    if isinstance(row, DotProduct):
        if device.kind != "CPU" or not set(row.features).issubset(" ".join(processor()).split()):
            return False
        # Tiles keep state between instructions: work-items that use them must not be vectorized (`keeps_state`). Only
        # Intel's compiler is known to comply.
        return not row.keeps_state or (device.platform.startswith("Intel(R)") and may_use_tiles())
    capability = compute_capability(device)
    for pattern in row.devices if isinstance(row, FragmentProduct) else ():
        if pattern.startswith("sm_"):
            if capability is not None and capability >= int(pattern[3:]):
                return True
        elif pattern in device.extensions or device.name.startswith(pattern):
            return True
    return False


# Linux on x86-64: the system call arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA).
_PERMISSION = (158, 0x1023, 18)


@cache
def may_use_tiles() -> bool:
    """Request the system's permission to use AMX's tiles, and return whether it is granted.

    Without the permission, the first tile instruction ends the process. The permission holds for all threads until the
    process ends.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return int(ctypes.CDLL(None).syscall(*map(ctypes.c_long, _PERMISSION))) == 0


def code_for(device: DeviceInfo, route: str) -> str:
    """Return the form of the program on a route that only OpenCL C can express: `LINKED` or "c"."""
    links = device.takes_spirv and route_for(device).code == "spirv" and not LOWERED_ROUTES[route].family
    return LINKED if links else "c"


def _is_right(device: DeviceInfo, question: str, asks: bool) -> bool:
    """Return whether the product of a question is computed correctly; False if `asks` is False and it is unknown."""
    from .native_probe import RIGHT

    try:
        answer = process.ask(device, _FUNCTION, question) if asks else process.known(device, _FUNCTION, question)
    except process.NotAsked:
        return False
    return answer is not None and answer.value == RIGHT


# --- in the separate process -----------------------------------------------------------------------


def run(device: DeviceInfo, question: str) -> str:
    """Return the outcome of a product, which is named "ROUTE NAME": "right", or a description of the fault."""
    from . import driver
    from .launch import resolve_options
    from .native_probe import outcome

    route, name = question.split()
    row = next(row for row in _products(route) if row.name == name)
    if row.keeps_state and not may_use_tiles():
        return "the system does not let this process use tiles"
    variant = row.variants(3, 2, 3)[0]
    # Only this product is allowed. Otherwise, another product might compute the result, or a subgroup size might be
    # chosen that does not have the product.
    options = resolve_options(CompileOptions(matrices=route, instructions=(name,)), device)
    is_of_tf32 = isinstance(row, FragmentProduct) and row.is_of_tf32
    return outcome(
        device,
        variant,
        options,
        lambda context, module: driver.build(context, module, device, contained=True),
        "CLK_COOPERATIVE_MATRIX_OPERAND_TF32" if is_of_tf32 else "",
    )
