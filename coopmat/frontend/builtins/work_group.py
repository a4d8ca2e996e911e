"""Work-group collective functions (OpenCL C 3.0, section 6.15.16) and cl_khr_work_group_uniform_arithmetic."""

from __future__ import annotations

from .rows import rows

SECTION = "6.15.16"
NEEDS = "__opencl_c_work_group_collective_functions"
UNIFORM = "cl_khr_work_group_uniform_arithmetic"
_INTEGERS = "int uint long ulong"
_NUMBERS = f"{_INTEGERS} half float double"
_KINDS = ("reduce", "scan_exclusive", "scan_inclusive")


def _names(*operations: str) -> str:
    return " ".join(f"work_group_{kind}_{operation}" for kind in _KINDS for operation in operations)


TABLE = (
    *rows("work_group_all work_group_any", "int @(int)", section=SECTION, convergent=True, needs=NEEDS),
    *rows(
        "work_group_broadcast",
        f"T @(T, size_t) for T in {_NUMBERS}",
        f"T @(T, size_t, size_t) for T in {_NUMBERS}",
        f"T @(T, size_t, size_t, size_t) for T in {_NUMBERS}",
        section=SECTION,
        lowering="work_group_broadcast",
        convergent=True,
        needs=NEEDS,
    ),
    *rows(
        _names("add", "min", "max"),
        f"T @(T) for T in {_NUMBERS}",
        section=SECTION,
        convergent=True,
        needs=NEEDS,
    ),
    *rows(
        _names("mul"),
        f"T @(T) for T in {_NUMBERS}",
        section=UNIFORM,
        convergent=True,
        needs=UNIFORM,
        extensions="SPV_KHR_uniform_group_instructions",
    ),
    *rows(
        _names("and", "or", "xor"),
        f"T @(T) for T in {_INTEGERS}",
        section=UNIFORM,
        convergent=True,
        needs=UNIFORM,
        extensions="SPV_KHR_uniform_group_instructions",
    ),
    *rows(
        _names("logical_and", "logical_or", "logical_xor"),
        "int @(int)",
        section=UNIFORM,
        lowering="logical",
        convergent=True,
        needs=UNIFORM,
        extensions="SPV_KHR_uniform_group_instructions",
    ),
)
