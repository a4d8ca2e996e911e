"""Random kernels with matrix types are what numpy says, by SPIR-V and by OpenCL C. `tools/matrix-types` draws more."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import Phase, given, settings, strategies as st
from opencl_devices import device_of
from random_matrices.campaign import check as differences
from random_matrices.kernels import Features
from random_matrices.meaning import ELEMENTS
from random_matrices.programs import ROUTES, by_opencl_c, program

from coopmat.devices import DeviceInfo

BUILTINS = {f"{layout}_{what}" for layout in ("column_major", "row_major", "column") for what in ("load", "store")}
BUILTINS |= {"row", "column", "insert_row", "insert_column", "insert", "extract", "transpose"}
BUILTINS |= {"add", "sub", "multiply", "scalar_multiply"}
SEEDS = st.lists(st.integers(0, 2**32), min_size=3, max_size=3, unique=True)


@pytest.mark.parametrize("route", list(ROUTES))
def test_random_kernels_are_what_numpy_says(device: DeviceInfo, route: str) -> None:
    # Every example is a program: not worth shrinking, a kernel is small.
    @settings(max_examples=1, derandomize=True, phases=[Phase.generate], database=None)
    @given(SEEDS)
    def check(seeds: list[int]) -> None:
        made = program([Random(seed) for seed in seeds])
        wrong = ROUTES[route](device, made)
        assert not wrong, "\n".join([*wrong, made.text])

    check()


@pytest.mark.parametrize("extra", ["pocl", "oclgrind"])
def test_random_kernels_on_devices_that_take_opencl_c_only(extra: str) -> None:
    features = Features(elements=tuple(name for name in ELEMENTS if name != "half"))
    made = program([Random(seed) for seed in (1, 2)], features)
    wrong = by_opencl_c(device_of(extra), made)
    assert not wrong, "\n".join([*wrong, made.text])


def test_all_of_the_language_is_drawn() -> None:
    text = program([Random(seed) for seed in range(200)]).text
    assert set(ELEMENTS) == set(re.findall(r"typedef (\w+) ", text))
    shapes = set(re.findall(r"matrix_type\((\d+), (\d+)", text))
    assert {row for row, _ in shapes} == {column for _, column in shapes} == {str(n) for n in range(1, 18)}
    builtins = set(re.findall(r"__builtin_matrix_(\w+)\(", text))
    assert builtins == BUILTINS
    for piece in (
        *("layout(row_major)", "row_padding(3)", "column_padding(1)", " += ", " -= ", " *= ", "++;", "--;", " ? "),
        *("local ", "constant ", "global const ", "packed", "struct {", "const ", "for (int i", "(private "),
        "zero + ",
    ):
        assert piece in text, piece
    assert set(re.findall(r"\(\([a-z]+(\d+)\)", text)) == {"2", "3", "4", "8", "16"}


def test_a_seed_is_a_kernel() -> None:
    texts = [program([Random(seed)]).text for seed in range(20)]
    assert texts == [program([Random(seed)]).text for seed in range(20)] and len(set(texts)) == 20


@pytest.mark.device
def test_what_the_campaign_found(device: DeviceInfo) -> None:
    """A row of a product with a column replaced by a sum: the line of the sum was taken whole, for any part of it."""
    assert differences([245457059]) == ""
