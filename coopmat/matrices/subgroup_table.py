"""The subgroup builtins and how the routes `one` and `scratch` implement them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of subgroup builtins.

    one: the section of subgroup_of_one_builtins.cl without the prefix SUB_GROUP_.
    scratch: the section of scratch_builtins.cl.
    instructions: the SPIR-V instructions that call the builtin, and the built-in variables that it returns, without
      "Op"; a group operation follows after a colon.
    macros: the macros of the section for `scratch`.
    more: the parameters for `scratch` after those of the section's signature.
    operation: the operation of a FOLD.
    """

    one: str
    scratch: str
    instructions: tuple[str, ...] = ()
    macros: Mapping[str, str] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    operation: str = ""

    @property
    def exchanged(self) -> int:
        """The number of values that each lane puts into local memory on the route `scratch`, between two barriers."""
        return _EXCHANGED.get(self.scratch, 0)

    @property
    def has_barriers(self) -> bool:
        """Whether the function for `scratch` contains barriers of the work-group."""
        return self.exchanged > 0 or self.scratch == "BARRIER"

    @property
    def integer(self) -> bool:
        """Whether the values for `scratch` are ints, regardless of the type in the call."""
        return self.operation.startswith("logical_") or self.scratch == "BALLOT"


# section for `scratch` -> number of values that each lane puts into local memory
_EXCHANGED = {"PICK": 1, "NEIGHBOUR": 2, "FOLD": 1, "ALL_EQUAL": 1, "BALLOT": 1}


def _row(one: str, scratch: str, instructions: str = "", *more: str, operation: str = "", **macros: str) -> Row:
    return Row(one, scratch, tuple(instructions.split()), macros, more, operation)


def _picks() -> dict[str, Row]:
    """Return builtin -> row for builtins that read the value of another lane."""
    rows = {
        "sub_group_broadcast": ("n", "n", "GroupBroadcast"),
        "sub_group_non_uniform_broadcast": ("n", "n", "GroupNonUniformBroadcast SubgroupReadInvocationKHR"),
        "sub_group_broadcast_first": ("0", "", "GroupNonUniformBroadcastFirst SubgroupFirstInvocationKHR"),
        "sub_group_shuffle": ("n", "n", "GroupNonUniformShuffle"),
        "sub_group_shuffle_xor": ("lane ^ n", "n", "GroupNonUniformShuffleXor"),
        "sub_group_shuffle_up": ("lane - n", "n", "GroupNonUniformShuffleUp"),
        "sub_group_shuffle_down": ("lane + n", "n", "GroupNonUniformShuffleDown"),
        "sub_group_rotate": ("(lane + (uint)((int)n % (int)CM_SIZE + (int)CM_SIZE)) % CM_SIZE", "n", ""),
        "sub_group_clustered_rotate": ("lane / cluster * cluster + (lane + n) % cluster", "n cluster", ""),
        "intel_sub_group_broadcast": ("n", "n", ""),
        "intel_sub_group_shuffle": ("n", "n", "SubgroupShuffleINTEL"),
        "intel_sub_group_shuffle_xor": ("lane ^ n", "n", "SubgroupShuffleXorINTEL"),
    }
    return {
        name: _row("VALUE", "PICK", instructions, *more.split(), SOURCE=source)
        for name, (source, more, instructions) in rows.items()
    }


def _instructions(operation: str, uniform: bool) -> Iterator[str]:
    """Yield the SPIR-V instructions that reduce or scan by an operation."""
    prefix, end = ("Group", "KHR") if uniform else ("GroupNonUniform", "")
    name = operation.removeprefix("logical_").capitalize()
    if operation in ("and", "or", "xor") or operation.startswith("logical_"):
        yield f"{prefix}{'Logical' if operation.startswith('logical_') else 'Bitwise'}{name}{end}"
        return
    for kind in "SUF" if operation in ("min", "max") else "IF":
        yield f"{prefix}{kind}{name}{end if operation == 'mul' else ''}"


def _folds() -> dict[str, Row]:
    """Return builtin -> row for reductions, scans, `any` and `all`.

    Each prefix, such as `intel_sub_group`, occurs with each operation, also where OpenCL has no such builtin.
    """
    operations = ("add", "mul", "min", "max", "and", "or", "xor", "logical_and", "logical_or", "logical_xor")
    ranges = {"reduce": ("0", "size"), "scan_inclusive": ("0", "lane + 1"), "scan_exclusive": ("0", "lane")}
    cluster = {"FIRST": "lane / cluster * cluster", "END": "min(lane / cluster * cluster + cluster, size)"}
    rows: dict[str, Row] = {}
    for operation in operations:
        logical = operation.startswith("logical_")
        identity = ("TRUE" if operation == "logical_and" else "FALSE") if logical else "IDENTITY"
        value = "TRUTH" if logical else "VALUE"
        for number, (kind, (first, end)) in enumerate(ranges.items()):
            one = identity if kind == "scan_exclusive" else value
            for prefix in ("sub_group", "sub_group_non_uniform", "intel_sub_group"):
                names = () if "intel" in prefix else _instructions(operation, prefix == "sub_group")
                instructions = " ".join(f"{name}:{number}" for name in names)
                row = _row(one, "FOLD", instructions, operation=operation, FIRST=first, END=end)
                rows[f"{prefix}_{kind}_{operation}"] = row
        instructions = " ".join(f"{name}:3" for name in _instructions(operation, False))
        row = _row(value, "FOLD", instructions, "cluster", operation=operation, **cluster)
        rows[f"sub_group_clustered_reduce_{operation}"] = row
    for name, operation in (("any", "logical_or"), ("all", "logical_and")):
        for prefix, instructions in (("", "Group{0}"), ("non_uniform_", "GroupNonUniform{0} Subgroup{0}KHR")):
            instructions = instructions.format(name.capitalize())
            row = _row("TRUTH", "FOLD", instructions, operation=operation, FIRST="0", END="size")
            rows[f"sub_group_{prefix}{name}"] = row
    return rows


def _bits() -> dict[str, Row]:
    """Return builtin -> row for builtins on ballots and lane masks."""
    rows: dict[str, Row] = {}
    for name, relation in {"eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}.items():
        one = "MASK_OF_IT" if "=" in relation else "MASK_OF_OTHERS"
        variable = f"BuiltIn.Subgroup{name.capitalize()}Mask"
        rows[f"get_sub_group_{name}_mask"] = _row(one, "MASK", variable, TAKES=f"i {relation} lane")
    for name, one, instruction, takes, found in (
        ("bit_count", "BIT_COUNT", "BitCount:0", "1", "++count"),
        ("inclusive_scan", "BIT_COUNT", "BitCount:1", "i <= lane", "++count"),
        ("exclusive_scan", "BITS_BELOW", "BitCount:2", "i < lane", "++count"),
        ("find_lsb", "BITS_BELOW", "FindLSB", "1", "return i"),
        ("find_msb", "BITS_BELOW", "FindMSB", "1", "count = i"),
    ):
        instruction = f"GroupNonUniformBallot{instruction}"
        rows[f"sub_group_ballot_{name}"] = _row(one, "COUNT_BITS", instruction, TAKES=takes, FOUND=found)
    return rows


ROWS: Mapping[str, Row] = MappingProxyType(
    {
        "get_sub_group_size": _row("SIZE", "SIZE", "BuiltIn.SubgroupSize"),
        "get_max_sub_group_size": _row("SIZE", "MAX_SIZE", "BuiltIn.SubgroupMaxSize"),
        "get_sub_group_local_id": _row("LOCAL_ID", "LOCAL_ID", "BuiltIn.SubgroupLocalInvocationId"),
        "get_sub_group_id": _row("ID", "ID", "BuiltIn.SubgroupId"),
        "get_num_sub_groups": _row("COUNT", "COUNT", "BuiltIn.NumSubgroups"),
        "get_enqueued_num_sub_groups": _row("ENQUEUED_COUNT", "ENQUEUED_COUNT", "BuiltIn.NumEnqueuedSubgroups"),
        "sub_group_barrier": _row("BARRIER", "BARRIER"),
        **_picks(),
        **_folds(),
        "intel_sub_group_shuffle_up": _row(
            "NEIGHBOUR_BELOW", "NEIGHBOUR", "SubgroupShuffleUpINTEL", SOURCE="CM_SG + lane - n"
        ),
        "intel_sub_group_shuffle_down": _row(
            "NEIGHBOUR_ABOVE", "NEIGHBOUR", "SubgroupShuffleDownINTEL", SOURCE="lane + n"
        ),
        "sub_group_non_uniform_all_equal": _row(
            "ALL_EQUAL", "ALL_EQUAL", "GroupNonUniformAllEqual SubgroupAllEqualKHR"
        ),
        "sub_group_elect": _row("ELECT", "ELECT", "GroupNonUniformElect"),
        "sub_group_ballot": _row("BALLOT", "BALLOT", "GroupNonUniformBallot SubgroupBallotKHR"),
        "sub_group_inverse_ballot": _row("INVERSE_BALLOT", "LOOK", "GroupNonUniformInverseBallot", SOURCE="lane"),
        "sub_group_ballot_bit_extract": _row(
            "INVERSE_BALLOT", "LOOK", "GroupNonUniformBallotBitExtract", "n", SOURCE="n"
        ),
        **_bits(),
        **{
            f"intel_sub_group_block_{what.lower()}{suffix}{count}": _row(f"BLOCK_{what}", f"BLOCK_{what}")
            for what in ("READ", "WRITE")
            for suffix in ("", "_uc", "_us", "_ui", "_ul")
            for count in ("", "2", "4", "8", "16")
        },
    }
)
#: SPIR-V instruction, with its group operation if it has one, or built-in variable -> builtin.
BY_INSTRUCTION: Mapping[str, str] = {
    instruction: name for name, row in ROWS.items() for instruction in row.instructions
}
