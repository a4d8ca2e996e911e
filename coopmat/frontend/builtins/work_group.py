"""Work-group collective functions (OpenCL C 3.0, section 6.15.16) and cl_khr_work_group_uniform_arithmetic."""

from __future__ import annotations

from functools import partial

from .rows import rows

NEEDS = "__opencl_c_work_group_collective_functions"
UNIFORM = "cl_khr_work_group_uniform_arithmetic"
_rows = partial(rows, section="6.15.16", convergent=True, needs=NEEDS)
_uniform = partial(
    rows, section=UNIFORM, convergent=True, needs=UNIFORM, extensions="SPV_KHR_uniform_group_instructions"
)
_INTEGERS = "int uint long ulong"
_NUMBERS = f"{_INTEGERS} half float double"
_KINDS = ("reduce", "scan_exclusive", "scan_inclusive")


def _names(*operations: str) -> str:
    return " ".join(f"work_group_{kind}_{operation}" for kind in _KINDS for operation in operations)


TABLE = (
    *_rows("work_group_all work_group_any", "int @(int)"),
    *_rows(
        "work_group_broadcast",
        f"T @(T, size_t) for T in {_NUMBERS}",
        f"T @(T, size_t, size_t) for T in {_NUMBERS}",
        f"T @(T, size_t, size_t, size_t) for T in {_NUMBERS}",
        lowering="work_group_broadcast",
    ),
    *_rows(_names("add", "min", "max"), f"T @(T) for T in {_NUMBERS}"),
    *_uniform(_names("mul"), f"T @(T) for T in {_NUMBERS}"),
    *_uniform(_names("and", "or", "xor"), f"T @(T) for T in {_INTEGERS}"),
    *_uniform(_names("logical_and", "logical_or", "logical_xor"), "int @(int)", lowering="logical"),
)
