"""Where a route's subgroups are not the device's, a module's instructions for subgroups speak of the route's."""

from __future__ import annotations

import numpy as np
import pytest
from collectives import ITEMS, MATRIX, kernel, results, samples, typed_cases, untyped_cases, wrong_lanes
from optimizer import device_options

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.spirv.module import Module

ROUTES = {"one": 1, "scratch": 8}
OF_SUBGROUPS = {"SubgroupDispatch", "SubgroupSize", "Groups", "GroupNonUniform", "SubgroupShuffleINTEL"}


def lowered(source: str, route: str) -> coopmat.Module:
    native = coopmat.compile(source + MATRIX, name="subgroups.cl").spirv
    size = ["--sub-group-size", str(ROUTES[route])] if route != "one" else []
    return coopmat.compile(native, ["--matrices", route, *size], language="spv", name="subgroups.spv")


# A device's compiler takes long over scratch: there each type has a share of the functions.
TRIED = [("one", "int", 0, 1), ("one", "uchar", 0, 1), ("one", "half", 0, 1)]
TRIED += [("scratch", t, n, 3) for n, t in enumerate(["int", "half", "double"])]


@pytest.mark.parametrize(("route", "t", "first", "step"), TRIED)
def test_functions_of_values(device: DeviceInfo, route: str, t: str, first: int, step: int) -> None:
    size = ROUTES[route]
    cases = [*[*typed_cases(t, size)][first::step], *(untyped_cases(size) if t == "int" else ())]
    module = lowered(kernel("k0", t, cases, "true", ""), route)
    left = {item.name for item in Module.parse(module.spirv).instructions if item.name.startswith(("OpGroup", "OpSub"))}
    assert not left
    assert not OF_SUBGROUPS & {word for line in module.spirv_text.splitlines() for word in line.split()}
    inputs = (
        samples(t, (ITEMS // size, size)).reshape(-1),
        (np.random.default_rng(size).integers(0, 3, ITEMS) * 7).astype(np.int32),
    )
    options = device_options(device, module.spirv_text, [route])
    (found,) = results(device, module.spirv, t, [("k0", cases)], inputs, options)
    wrong = wrong_lanes(cases, "true", size, inputs, found)
    assert not wrong, "\n".join(wrong.values())


def test_a_module_without_matrices_keeps_the_device_s_subgroups() -> None:
    cases = typed_cases("int", 8)
    native = coopmat.compile(kernel("k0", "int", list(cases), "true", ""), name="subgroups.cl").spirv
    assert coopmat.compile(native, ["--matrices", "one"], language="spv").spirv == native
    assert coopmat.compile(native, ["--matrices", "lanes"], language="spv").spirv == native
    scratch = coopmat.compile(native, ["--matrices", "scratch"], language="spv").spirv
    assert not [item for item in Module.parse(scratch).instructions if item.name.startswith("OpGroup")]
