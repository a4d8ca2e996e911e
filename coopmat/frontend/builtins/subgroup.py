"""Subgroup functions (OpenCL C 3.0, section 6.15.19) and the extensions around them."""

from __future__ import annotations

from .rows import Builtin, rows

SECTION = "6.15.19"
EXTENDED = "cl_khr_subgroup_extended_types"
_NUMBERS = "int uint long ulong half float double"
_SMALL = "char uchar short ushort"
_KINDS = ("reduce", "scan_exclusive", "scan_inclusive")
_LOGICAL = ("logical_and", "logical_or", "logical_xor")


def _names(prefix: str, kinds: tuple[str, ...], *operations: str) -> str:
    return " ".join(f"{prefix}_{kind}_{operation}" for kind in kinds for operation in operations)


def _rows(
    names: str,
    *signatures: str,
    section: str,
    spirv: str = "1.3",
    lowering: str = "call",
    extensions: str = "",
    needs: str = "",
    power_of_two: int | None = None,
) -> tuple[Builtin, ...]:
    """Of an extension, which is named like its section."""
    return rows(
        names,
        *signatures,
        section=section,
        lowering=lowering,
        convergent=True,
        spirv=spirv,
        needs=needs or section,
        extensions=extensions,
        subgroup=True,
        power_of_two=power_of_two,
    )


def _arithmetic(prefix: str, kinds: tuple[str, ...], section: str, clustered: bool = False) -> tuple[Builtin, ...]:
    """Of every operation; in clusters, the cluster's size follows the value."""
    more, size = (", uint", 1) if clustered else ("", None)
    return (
        *_rows(
            _names(prefix, kinds, "add", "mul", "min", "max"),
            f"T @(T{more}) for T in numbers",
            section=section,
            lowering="subgroup_arithmetic",
            power_of_two=size,
        ),
        *_rows(
            _names(prefix, kinds, "and", "or", "xor"),
            f"T @(T{more}) for T in integers",
            section=section,
            lowering="subgroup_arithmetic",
            power_of_two=size,
        ),
        *_rows(
            _names(prefix, kinds, *_LOGICAL),
            f"int @(int{more})",
            section=section,
            lowering="logical",
            power_of_two=size,
        ),
    )


_CORE = (
    *_rows(
        "get_sub_group_size get_max_sub_group_size get_num_sub_groups get_enqueued_num_sub_groups get_sub_group_id"
        " get_sub_group_local_id",
        "uint @(void)",
        section=SECTION,
        spirv="1.0",
        needs="cl_khr_subgroups",
    ),
    *_rows("sub_group_all sub_group_any", "int @(int)", section=SECTION, spirv="1.0", needs="cl_khr_subgroups"),
    *_rows(
        "sub_group_broadcast",
        f"T @(T, uint) for T in {_NUMBERS}",
        f"T @(T, uint) for T in {_SMALL} needs {EXTENDED}",
        f"Tn @(Tn, uint) for T in numbers, n in vectors needs {EXTENDED}",
        section=f"{SECTION}, {EXTENDED}",
        spirv="1.0",
        needs="cl_khr_subgroups",
    ),
    *_rows(
        _names("sub_group", _KINDS, "add", "min", "max"),
        f"T @(T) for T in {_NUMBERS}",
        f"T @(T) for T in {_SMALL} needs {EXTENDED}",
        section=f"{SECTION}, {EXTENDED}",
        spirv="1.0",
        needs="cl_khr_subgroups",
    ),
)

_BALLOT = "cl_khr_subgroup_ballot"
_KHRONOS = (
    *_rows(
        "sub_group_shuffle sub_group_shuffle_xor",
        "T @(T, uint) for T in numbers",
        section="cl_khr_subgroup_shuffle",
    ),
    *_rows(
        "sub_group_shuffle_up sub_group_shuffle_down",
        "T @(T, uint) for T in numbers",
        section="cl_khr_subgroup_shuffle_relative",
    ),
    *_rows("sub_group_elect", "int @(void)", section="cl_khr_subgroup_non_uniform_vote"),
    *_rows(
        "sub_group_non_uniform_all sub_group_non_uniform_any",
        "int @(int)",
        section="cl_khr_subgroup_non_uniform_vote",
    ),
    *_rows(
        "sub_group_non_uniform_all_equal",
        "int @(T) for T in numbers",
        section="cl_khr_subgroup_non_uniform_vote",
    ),
    *_rows(
        "sub_group_non_uniform_broadcast",
        "Tn @(Tn, uint) for T in numbers, n in any",
        section=_BALLOT,
        lowering="non_uniform_broadcast",
    ),
    *_rows("sub_group_broadcast_first", "T @(T) for T in numbers", section=_BALLOT),
    *_rows("sub_group_ballot", "uint4 @(int)", section=_BALLOT),
    *_rows("sub_group_inverse_ballot", "int @(uint4)", section=_BALLOT),
    *_rows("sub_group_ballot_bit_extract", "int @(uint4, uint)", section=_BALLOT),
    *_rows(
        "sub_group_ballot_bit_count sub_group_ballot_inclusive_scan sub_group_ballot_exclusive_scan"
        " sub_group_ballot_find_lsb sub_group_ballot_find_msb",
        "uint @(uint4)",
        section=_BALLOT,
    ),
    *_rows(
        "get_sub_group_eq_mask get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_le_mask get_sub_group_lt_mask",
        "uint4 @(void)",
        section=_BALLOT,
    ),
    *_arithmetic("sub_group_non_uniform", _KINDS, "cl_khr_subgroup_non_uniform_arithmetic"),
    *_arithmetic("sub_group_clustered", ("reduce",), "cl_khr_subgroup_clustered_reduce", clustered=True),
    *_rows(
        "sub_group_rotate",
        "T @(T, int) for T in numbers",
        section="cl_khr_subgroup_rotate",
        extensions="SPV_KHR_subgroup_rotate",
    ),
    *_rows(
        "sub_group_clustered_rotate",
        "T @(T, int, uint) for T in numbers",
        section="cl_khr_subgroup_rotate",
        power_of_two=2,
        extensions="SPV_KHR_subgroup_rotate",
    ),
)

_INTEL, _INTEL_SHORT = "cl_intel_subgroups", "cl_intel_subgroups_short"


def _intel(names: str, *signatures: str, section: str = _INTEL) -> tuple[Builtin, ...]:
    return _rows(names, *signatures, section=section, spirv="1.0", extensions="SPV_INTEL_subgroups")


def _shuffle_signatures(parameters: str) -> tuple[str, ...]:
    return (
        f"Tn @({parameters}) for T in int uint float, n in any",
        f"Tn @({parameters}) for T in long ulong half double",
        f"Tn @({parameters}) for T in short ushort, n in any needs {_INTEL_SHORT}",
    )


def _blocks(suffix: str, t: str, section: str) -> tuple[Builtin, ...]:
    """Block reads and writes of one to eight elements for each work-item."""
    return tuple(
        row
        for count in ("", "2", "4", "8")
        for row in (
            *_intel(f"intel_sub_group_block_read{suffix}{count}", f"{t}{count} @(global const {t} *)", section=section),
            *_intel(
                f"intel_sub_group_block_write{suffix}{count}", f"void @(global {t} *, {t}{count})", section=section
            ),
        )
    )


_INTEL_ROWS = (
    *_intel("intel_sub_group_shuffle intel_sub_group_shuffle_xor", *_shuffle_signatures("Tn, uint")),
    *_intel("intel_sub_group_shuffle_down intel_sub_group_shuffle_up", *_shuffle_signatures("Tn, Tn, uint")),
    *_blocks("", "uint", _INTEL),
    *_blocks("_ui", "uint", _INTEL_SHORT),
    *_blocks("_us", "ushort", _INTEL_SHORT),
    *_rows(
        "intel_sub_group_broadcast",
        "Tn @(Tn, uint) for T in short ushort, n in 1 2 3 4 8",
        section=_INTEL_SHORT,
        spirv="1.0",
        lowering="intel_subgroup",
    ),
    *_rows(
        _names("intel_sub_group", _KINDS, "add", "min", "max"),
        "T @(T) for T in short ushort",
        section=_INTEL_SHORT,
        spirv="1.0",
        lowering="intel_subgroup",
    ),
)

TABLE = (*_CORE, *_KHRONOS, *_INTEL_ROWS)
