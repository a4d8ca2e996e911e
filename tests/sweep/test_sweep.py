"""Every builtin of the tables through this compiler and the device's own, on the same inputs.

Here a twentieth of a covering selection of the overloads, four tenths with --all; `tools/sweep` runs all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from drivers import driver_of
from listed import become_equal, listed, unexplained
from opencl_devices import full_device
from overload_list import covering, identify, overloads_of, rows
from repeats import slow_where
from scheduling import Worker, sweep

import coopmat

ROOT = Path(__file__).resolve().parents[2]
# The rows in parts of about the same size, which the test suite's processes share.
PARTS = 16
# As lowered, and after LLVM's O1 pipeline.
ROUTES = ("native", "one")
SUPPORTED = [row for row in rows() if row.supported]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    full_device()
    found = Worker()
    yield found
    found.close()


def test_every_row_has_a_driver() -> None:
    without = [str(o) for row in SUPPORTED for o in overloads_of(row) if driver_of(o) is None]
    assert not without, f"{len(without)} overloads without a driver (docs/extending.md): {without[:40]}"


def test_rows_that_other_tests_cover_are_mentioned_there() -> None:
    missing = []
    for row in SUPPORTED:
        for driver in {driver_of(o) for o in overloads_of(row)}:
            if driver is not None and driver.covered_by:
                places = [ROOT / name for name in driver.covered_by.split(", ")]
                files = (path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))
                texts = [path.read_text() for path in files]
                # Tests put the suffixes together, as tables do.
                name = re.sub("(_sat)?(_rt[ezpn])?$", "", row.name)
                if not any(re.search(rf"\b{name}(\b|{{)", text) for text in texts):
                    missing.append(f"{row.name}: not in {driver.covered_by}")
    assert not missing, missing


@pytest.mark.parametrize("name", [row.name for row in rows() if not row.supported])
def test_rows_that_are_not_supported_yet_say_so(name: str) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(f"kernel void f(global int *p)\n{{\n    {name}(*p);\n}}\n", name="not_yet.cl")
    text = str(caught.value)
    assert f"'{name}' is not supported yet" in text and "not_yet.cl:3:5" in text


# Of each row's covering selection one in forty, and seven more: all of it takes too long here.
@pytest.mark.parametrize(
    ("part", "first"),
    slow_where(
        lambda part, first: first > 0,
        [(part, n) for n in (0, 3, 5, 8, 10, 13, 15, 18) for part in range(PARTS)],
    ),
)
def test_builtins_give_what_the_device_gives(part: int, first: int, worker: Worker) -> None:
    chosen = SUPPORTED[part::PARTS]
    some = {row: covering(row)[first::40] for row in chosen}
    overloads = [identify(o) for found in some.values() for o in found]
    findings = sweep(worker, overloads, ROUTES)
    lines = listed()
    wrong = [str(f) for f in unexplained(findings, lines)]
    complete = [row for row, found in some.items() if len(found) == len(overloads_of(row))]
    wrong += become_equal(complete, findings, lines)
    assert not wrong, "\n".join(wrong)


def test_no_line_of_the_document_is_about_nothing() -> None:
    unknown = [
        name for line in listed() for name in line.names if not any(fnmatchcase(row.name, name) for row in rows())
    ]
    assert not unknown, unknown
