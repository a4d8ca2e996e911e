"""Launches of `differential` on a Vulkan device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import differential
import numpy as np
from differential import Array, Launch, Shared, Value

from coopmat.vulkan import Device, Image, Sampler


def execute_on_vulkan(
    device: Device, source: str, launches: Sequence[Launch], options: Sequence[str] = ()
) -> list[dict[int, Array]]:
    """Return for each launch index of the argument -> contents of the buffer or image after it."""
    program = device.program(source, options)
    kept: dict[object, Any] = {}
    results = []
    for launch in launches:
        values = [_value(argument, kept) for argument in launch.arguments]
        program.kernel(launch.kernel)(launch.global_size, launch.local_size, *values)
        found = {}
        for number, value in enumerate(values):
            if isinstance(value, Image):
                found[number] = value.array.copy()
            elif isinstance(value, np.ndarray) and not isinstance(launch.arguments[number], Value):
                found[number] = value.copy()
        results.append(found)
    return results


def _value(argument: Any, kept: dict[object, Any]) -> Any:
    if isinstance(argument, differential.Sampler):
        return Sampler(argument.normalised, argument.addressing.lower(), argument.filter.lower())
    if isinstance(argument, Value):
        return argument.data if argument.data.ndim else argument.data[()]
    if isinstance(argument, differential.Image):
        return kept.setdefault(argument, Image(argument.data.copy(), argument.channel_type, argument.order))
    if isinstance(argument, Shared):
        return kept.setdefault(argument, argument.data.copy())
    return np.array(argument)
