"""Subgroup functions (OpenCL C 3.0, section 6.15.19) and the extensions around them."""

from __future__ import annotations

from .rows import NOT_YET, Builtin, rows

SECTION = "6.15.19"
SHUFFLES = "cl_khr_subgroup_shuffle, cl_khr_subgroup_shuffle_relative"
_OPERATIONS = ("add", "mul", "min", "max", "and", "or", "xor", "logical_and", "logical_or", "logical_xor")


def _names(*prefixes: str) -> str:
    return " ".join(f"{prefix}_{operation}" for prefix in prefixes for operation in _OPERATIONS)


def _reductions() -> tuple[Builtin, ...]:
    names = " ".join(
        f"sub_group_{kind}_{operation}"
        for kind in ("reduce", "scan_exclusive", "scan_inclusive")
        for operation in ("add", "min", "max")
    )
    return rows(names, "T @(T) for T in numbers", section=SECTION, convergent=True)


TABLE = (
    *rows(
        "get_sub_group_size get_max_sub_group_size get_num_sub_groups get_enqueued_num_sub_groups get_sub_group_id"
        " get_sub_group_local_id",
        "uint @(void)",
        section=SECTION,
    ),
    *rows("sub_group_all sub_group_any", "int @(int)", section=SECTION, convergent=True),
    *rows(
        "sub_group_broadcast",
        "Tn @(Tn, uint) for T in numbers, n in any",
        section=f"{SECTION}, cl_khr_subgroup_extended_types",
        convergent=True,
    ),
    *_reductions(),
    *rows(
        "sub_group_shuffle sub_group_shuffle_xor sub_group_shuffle_up sub_group_shuffle_down",
        "T @(T, uint) for T in numbers",
        section=SHUFFLES,
        convergent=True,
        spirv="1.3",
    ),
    *rows(
        "sub_group_elect sub_group_non_uniform_all sub_group_non_uniform_any sub_group_non_uniform_all_equal",
        section="cl_khr_subgroup_non_uniform_vote",
        status=NOT_YET,
    ),
    *rows(
        "sub_group_non_uniform_broadcast sub_group_broadcast_first sub_group_ballot sub_group_inverse_ballot"
        " sub_group_ballot_bit_extract sub_group_ballot_bit_count sub_group_ballot_inclusive_scan"
        " sub_group_ballot_exclusive_scan sub_group_ballot_find_lsb sub_group_ballot_find_msb get_sub_group_eq_mask"
        " get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_le_mask get_sub_group_lt_mask",
        section="cl_khr_subgroup_ballot",
        status=NOT_YET,
    ),
    *rows(
        _names(
            "sub_group_non_uniform_reduce",
            "sub_group_non_uniform_scan_inclusive",
            "sub_group_non_uniform_scan_exclusive",
        ),
        section="cl_khr_subgroup_non_uniform_arithmetic",
        status=NOT_YET,
    ),
    *rows(_names("sub_group_clustered_reduce"), section="cl_khr_subgroup_clustered_reduce", status=NOT_YET),
    *rows("sub_group_rotate sub_group_clustered_rotate", section="cl_khr_subgroup_rotate", status=NOT_YET),
    *rows(
        "intel_sub_group_shuffle intel_sub_group_shuffle_down intel_sub_group_shuffle_up intel_sub_group_shuffle_xor"
        " intel_sub_group_block_read intel_sub_group_block_read2 intel_sub_group_block_read4"
        " intel_sub_group_block_read8 intel_sub_group_block_write intel_sub_group_block_write2"
        " intel_sub_group_block_write4 intel_sub_group_block_write8",
        section="cl_intel_subgroups",
        status=NOT_YET,
    ),
)
