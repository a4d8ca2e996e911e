"""Subgroup functions (OpenCL C 3.0, section 6.15.19, and extensions)."""

from __future__ import annotations

from functools import partial
from typing import Any

from .rows import Builtin, rows

SECTION = "6.15.19"
EXTENDED = "cl_khr_subgroup_extended_types"
_NUMBERS = "int uint long ulong half float double"
_SMALL = "char uchar short ushort"
_KINDS = ("reduce", "scan_exclusive", "scan_inclusive")
_LOGICAL = ("logical_and", "logical_or", "logical_xor")


def _names(prefix: str, kinds: tuple[str, ...], *operations: str) -> str:
    return " ".join(f"{prefix}_{kind}_{operation}" for kind in kinds for operation in operations)


_subgroup = partial(rows, convergent=True, subgroup=True)
_core = partial(_subgroup, section=SECTION, needs="cl_khr_subgroups")


def _rows(names: str, *signatures: str, section: str, **columns: Any) -> tuple[Builtin, ...]:
    """Return the rows of a Khronos extension; `section` is the extension's name."""
    return _subgroup(names, *signatures, section=section, needs=section, spirv="1.3", **columns)


def _arithmetic(prefix: str, kinds: tuple[str, ...], section: str, clustered: bool = False) -> tuple[Builtin, ...]:
    """Return the rows of all arithmetic operations; if `clustered`, the cluster size is the second parameter."""
    more, size = (", uint", 1) if clustered else ("", None)
    return tuple(
        row
        for operations, signature, lowering in (
            (("add", "mul", "min", "max"), f"T @(T{more}) for T in numbers", "subgroup_arithmetic"),
            (("and", "or", "xor"), f"T @(T{more}) for T in integers", "subgroup_arithmetic"),
            (_LOGICAL, f"int @(int{more})", "logical"),
        )
        for row in _rows(
            _names(prefix, kinds, *operations), signature, section=section, lowering=lowering, power_of_two=size
        )
    )


_CORE = (
    *_core(
        "get_sub_group_size get_max_sub_group_size get_num_sub_groups get_enqueued_num_sub_groups get_sub_group_id"
        " get_sub_group_local_id",
        "uint @(void)",
    ),
    *_core("sub_group_all sub_group_any", "int @(int)"),
    *_core(
        "sub_group_broadcast",
        f"T @(T, uint) for T in {_NUMBERS}",
        f"T @(T, uint) for T in {_SMALL} needs {EXTENDED}",
        f"Tn @(Tn, uint) for T in numbers, n in vectors needs {EXTENDED}",
        section=f"{SECTION}, {EXTENDED}",
    ),
    *_core(
        _names("sub_group", _KINDS, "add", "min", "max"),
        f"T @(T) for T in {_NUMBERS}",
        f"T @(T) for T in {_SMALL} needs {EXTENDED}",
        section=f"{SECTION}, {EXTENDED}",
    ),
)

_shuffle = partial(_rows, section="cl_khr_subgroup_shuffle")
_relative = partial(_rows, section="cl_khr_subgroup_shuffle_relative")
_vote = partial(_rows, section="cl_khr_subgroup_non_uniform_vote")
_ballot = partial(_rows, section="cl_khr_subgroup_ballot")
_rotate = partial(_rows, section="cl_khr_subgroup_rotate", extensions="SPV_KHR_subgroup_rotate")

_KHRONOS = (
    *_shuffle("sub_group_shuffle sub_group_shuffle_xor", "T @(T, uint) for T in numbers"),
    *_relative("sub_group_shuffle_up sub_group_shuffle_down", "T @(T, uint) for T in numbers"),
    *_vote("sub_group_elect", "int @(void)"),
    *_vote("sub_group_non_uniform_all sub_group_non_uniform_any", "int @(int)"),
    *_vote("sub_group_non_uniform_all_equal", "int @(T) for T in numbers"),
    *_ballot(
        "sub_group_non_uniform_broadcast", "Tn @(Tn, uint) for T in numbers, n in any", lowering="non_uniform_broadcast"
    ),
    *_ballot("sub_group_broadcast_first", "T @(T) for T in numbers"),
    *_ballot("sub_group_ballot", "uint4 @(int)"),
    *_ballot("sub_group_inverse_ballot", "int @(uint4)"),
    *_ballot("sub_group_ballot_bit_extract", "int @(uint4, uint)"),
    *_ballot(
        "sub_group_ballot_bit_count sub_group_ballot_inclusive_scan sub_group_ballot_exclusive_scan"
        " sub_group_ballot_find_lsb sub_group_ballot_find_msb",
        "uint @(uint4)",
    ),
    *_ballot(
        "get_sub_group_eq_mask get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_le_mask get_sub_group_lt_mask",
        "uint4 @(void)",
    ),
    *_arithmetic("sub_group_non_uniform", _KINDS, "cl_khr_subgroup_non_uniform_arithmetic"),
    *_arithmetic("sub_group_clustered", ("reduce",), "cl_khr_subgroup_clustered_reduce", clustered=True),
    *_rotate("sub_group_rotate", "T @(T, int) for T in numbers"),
    *_rotate("sub_group_clustered_rotate", "T @(T, int, uint) for T in numbers", power_of_two=2),
)

_INTEL, _INTEL_SHORT = "cl_intel_subgroups", "cl_intel_subgroups_short"
_intel = partial(_subgroup, section=_INTEL, needs=_INTEL, extensions="SPV_INTEL_subgroups")
_intel_short = partial(_subgroup, section=_INTEL_SHORT, needs=_INTEL_SHORT)


def _shuffle_signatures(parameters: str) -> tuple[str, ...]:
    return (
        f"Tn @({parameters}) for T in int uint float, n in any",
        f"Tn @({parameters}) for T in long ulong half double",
        f"Tn @({parameters}) for T in short ushort, n in any needs {_INTEL_SHORT}",
    )


def _blocks(suffix: str, t: str, section: str) -> tuple[Builtin, ...]:
    """Return the rows of block reads and writes of one to eight elements for each work-item."""
    return tuple(
        row
        for n in ("", "2", "4", "8")
        for name, signature in (("read", f"{t}{n} @(global const {t} *)"), ("write", f"void @(global {t} *, {t}{n})"))
        for row in _intel(f"intel_sub_group_block_{name}{suffix}{n}", signature, section=section, needs=section)
    )


_INTEL_ROWS = (
    *_intel("intel_sub_group_shuffle intel_sub_group_shuffle_xor", *_shuffle_signatures("Tn, uint")),
    *_intel("intel_sub_group_shuffle_down intel_sub_group_shuffle_up", *_shuffle_signatures("Tn, Tn, uint")),
    *_blocks("", "uint", _INTEL),
    *_blocks("_ui", "uint", _INTEL_SHORT),
    *_blocks("_us", "ushort", _INTEL_SHORT),
    *_intel_short(
        "intel_sub_group_broadcast", "Tn @(Tn, uint) for T in short ushort, n in 1 2 3 4 8", lowering="intel_subgroup"
    ),
    *_intel_short(
        _names("intel_sub_group", _KINDS, "add", "min", "max"),
        "T @(T) for T in short ushort",
        lowering="intel_subgroup",
    ),
)

TABLE = (*_CORE, *_KHRONOS, *_INTEL_ROWS)
