"""Advice on slow loops of matrices: the warnings of the group -Wmatrix-performance.

Each check compares the loops that multiply matrices with measurements (`thresholds.py`). A message names the
cause, the change and the expected gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..diagnostics import Diagnostic
from ..frontend import typed
from .accesses import check_checks, check_layout, check_stride
from .device import Device as Device
from .loops import hot_functions
from .tiles import check_instruction, check_registers, check_size


def advise(
    unit: typed.Unit, device: Device, kernel: str = "", arguments: Mapping[str, int] | None = None
) -> Iterator[Diagnostic]:
    """Yield the warnings about a unit on a device.

    arguments: name -> value of integer arguments of `kernel`, if a launch is known.
    """
    if device.route.is_emulated:
        return
    for function in hot_functions(unit):
        function.arguments = arguments or {} if function.decl.name == kernel else {}
        lanes = function.decl.attributes.get("intel_reqd_sub_group_size")
        own = device.with_lanes(lanes) if isinstance(lanes, int) else device
        for item in function.multiply_adds:
            # Each check presumes that the ones before found nothing: a tile has one recommendation at a time.
            checks = (check(function, item, own) for check in (check_instruction, check_registers, check_size))
            yield from filter(None, [next(filter(None, checks), None)])
        for load, matrix in function.loads:
            found = (check(function, load, matrix, own) for check in (check_stride, check_layout, check_checks))
            yield from filter(None, found)
