"""What builtin functions make of values that differ between the work-items of a subgroup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import typed
from .values import UNIFORM, Cause, Value, join

_IDS = frozenset({"get_local_id", "get_global_id", "get_local_linear_id", "get_global_linear_id"})
# Different for each work-item, whatever the arguments are.
_OWN = re.compile(
    r"get_sub_group_local_id|get_sub_group_(eq|ge|gt|le|lt)_mask|sub_group_elect"
    r"|sub_group_(non_uniform_)?scan_\w+|sub_group_inverse_ballot|(intel_)?sub_group_block_read\w*|work_group_scan_\w+"
    r"|atom(ic)?_(?!init|store|work_item_fence|flag_clear)\w+"
)
# The same for the subgroup, whatever the arguments are.
_SHARED = re.compile(
    r"sub_group_(all|any|ballot|broadcast|broadcast_first|reduce_\w+)"
    r"|sub_group_non_uniform_(all|any|all_equal|broadcast)"
    r"|sub_group_non_uniform_reduce_\w+|work_group_(all|any|broadcast|reduce_\w+)"
)
# Values of other work-items: the same where they all have the same, whoever is asked; and, by `_FROM`, where all ask
# the same one.
_EXCHANGE = re.compile(r"(intel_)?sub_group_(shuffle|rotate|clustered)\w*")
_FROM = frozenset({"sub_group_shuffle", "intel_sub_group_shuffle"})


def call(e: typed.BuiltinCall, arguments: Sequence[Value], dimensions: frozenset[int]) -> Value:
    """The value of a call. `dimensions`: those in which the work-items of a subgroup have different ids."""
    if e.name in _IDS:
        dimension = e.arguments[0] if e.arguments else None
        known = dimension.value if isinstance(dimension, typed.IntConst) else 0
        if known not in dimensions:
            return UNIFORM
        return Value(_origin(e), is_id=known == 0)
    if _SHARED.fullmatch(e.name):
        return UNIFORM
    if _OWN.fullmatch(e.name):
        return Value(_origin(e), is_id=e.name == "get_sub_group_local_id")
    if e.name in _FROM and len(arguments) == 2 and arguments[1].is_plain:
        return UNIFORM
    if _EXCHANGE.fullmatch(e.name):
        return arguments[0] if arguments else UNIFORM
    return join(*arguments)


def _origin(e: typed.BuiltinCall) -> Cause:
    return Cause(f"'{e.name}' gives each work-item a value of its own", e.span)
