"""Each instruction that the lowering of foreign SPIR-V changes: a module, and CHECK lines for what becomes of it.

A file under lowering/ is named after its instruction; `head.spvasm` precedes it. What a library function computes is
tested elsewhere; here it counts how it is called.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from file_check import Mismatch, file_check

from coopmat.compiler import compile
from coopmat.foreign.spirv import operations, values
from coopmat.spirv.module import OP
from coopmat.spirv.tools import find_tools

FOLDER = Path(__file__).parent / "lowering"
SOURCES = sorted(path for path in FOLDER.glob("*.spvasm") if path.stem != "head")
# instruction -> why no module here has it with matrices.
_REFUSED = "spirv-val refuses the instruction on matrices"
_INTEL = "the assembler does not know the instruction; tests/foreign/consumers has modules with it"
LEFT_OUT = {
    "SatConvertSToU": _REFUSED,
    "SatConvertUToS": _REFUSED,
    "Select": _REFUSED,
    "CooperativeMatrixGetElementCoordINTEL": _INTEL,
}


def test_each_instruction_has_a_file() -> None:
    numbers = {*operations.CHANGES, *values.CHANGES}
    names = {name.removeprefix("Op") for name, number in OP.items() if number in numbers}
    assert names <= {path.stem for path in SOURCES} | set(LEFT_OUT)
    assert {path.stem for path in SOURCES}.isdisjoint(LEFT_OUT)


@pytest.mark.skipif(find_tools() is None, reason="no spirv-as that knows cooperative matrices")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_lowered(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert f"Op{path.stem}" in source
    module = compile(f"{(FOLDER / 'head.spvasm').read_text()}\n{source}", ["--matrices", "one"], language="spv")
    file_check(module.spirv_text, source)
    assert module.validated


# --- file_check ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "checks",
    [
        "; CHECK: %1 = a\n; CHECK-NEXT: %2 = b %1",
        "; CHECK: [[X:%\\d+]] = a\n; CHECK: = c {{%[0-9]}} [[X]]",
        "; CHECK: a\n; CHECK-NOT: z\n; CHECK: c\n; CHECK-NOT: a",
    ],
)
def test_checks_that_hold(checks: str) -> None:
    file_check("%1 =  a\n%2 = b %1\n%3 = c %2 %1\n", checks)


@pytest.mark.parametrize(
    "checks",
    [
        "",
        "; CHECK-NOT: z",
        "; CHECK: z",
        "; CHECK: b\n; CHECK: a",
        "; CHECK: a\n; CHECK-NEXT: c",
        "; CHECK: [[X:%\\d+]] = b\n; CHECK: c [[X]] [[X]]",
        "; CHECK: a\n; CHECK-NOT: = b\n; CHECK: c",
        "; CHECK: a\n; CHECK-NOT: c",
    ],
)
def test_checks_that_do_not_hold(checks: str) -> None:
    with pytest.raises(Mismatch):
        file_check("%1 =  a\n%2 = b %1\n%3 = c %2 %1\n", checks)
