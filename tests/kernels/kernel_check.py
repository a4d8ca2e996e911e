"""Runs the kernels of this folder through this compiler, plain and optimised, and through the device's own OpenCL C
compiler, and compares all of them with numpy and each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from differential import PLAIN_AND_OPTIMISED, PROLOGUE, Array, Launch, Value, difference, execute

import coopmat
from coopmat.devices import DeviceInfo

HERE = Path(__file__).resolve().parent

F32 = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Close:
    """Every element lies within `bound` (a number or an array like `values`) of `values`."""

    values: Array
    bound: Any


# By launch and argument number.
Expected = Mapping[tuple[int, int], "Array | Close"]


def scalars(dtype: Any, *numbers: Any) -> list[Value]:
    """Arguments by value."""
    return [Value(np.array(number, dtype)) for number in numbers]


def check(
    device: DeviceInfo,
    file: str,
    launches: Sequence[Launch],
    expected: Expected,
    options: Sequence[str] = (),
    by_subgroup: Sequence[str] = (),
    reordered: Sequence[str] = (),
) -> None:
    """Fails with everything that differs. The references hold for the device's own compiler too; results of both
    compilers are alike within the `ulps` of each launch.

    `by_subgroup` names the kernels whose order of sums goes by the size of the subgroups: the optimised route makes
    that one, and its results are compared with the reference only. So are those of the kernels that `reordered` names:
    the device vectorises their sums from one compiler and not from the other (docs/backend.md).
    """
    path = HERE / file
    source, options = path.read_text(), [*options, f"-I{path.parent}"]
    theirs = execute(device, PROLOGUE + source, launches, options)
    wrong = wrong_results("device", theirs, expected)
    for route in PLAIN_AND_OPTIMISED:
        module = coopmat.compile(source, [*options, "--matrices", route], name=str(path))
        ours = execute(device, module.spirv, launches)
        assert module.validated
        wrong += wrong_results(route, ours, expected)
        for number, (launch, mine, other) in enumerate(zip(launches, ours, theirs, strict=True)):
            alone = launch.kernel in reordered or (route != "native" and launch.kernel in by_subgroup)
            for argument in () if alone else mine:
                found = difference(mine[argument], other[argument], launch.ulps.get(argument, 0.0))
                wrong += [f"{route}, launch {number} of {launch.kernel}, argument {argument}: {found}"] * bool(found)
    assert not wrong, "\n".join(wrong)


def wrong_results(who: str, results: Sequence[Mapping[int, Array]], expected: Expected) -> list[str]:
    found = []
    for (launch, argument), wanted in expected.items():
        result = results[launch][argument]
        if isinstance(wanted, Close):
            error = np.abs(result.reshape(wanted.values.shape).astype(np.float64) - wanted.values)
            good = error <= wanted.bound
            text = "" if good.all() else f"{np.sum(~good)} of {good.size} are off, by up to {np.max(error)}"
        else:
            text = difference(result.reshape(wanted.shape), wanted)
        found += [f"{who}, launch {launch}, argument {argument}, against numpy: {text}"] * bool(text)
    return found
