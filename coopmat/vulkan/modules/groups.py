"""Operations of subgroups by the OpGroupNonUniform instructions, which Vulkan has in the place of OpGroup."""

from __future__ import annotations

from ...spirv.module import OP, Instruction
from .code import Code, Rule, rewrite
from .context import Context

_SUBGROUP = 3
_REDUCE, _INCLUSIVE, _EXCLUSIVE = 0, 1, 2
_ARITHMETIC = ("IAdd", "FAdd", "FMin", "UMin", "SMin", "FMax", "UMax", "SMax")
# OpGroup instruction -> OpGroupNonUniform instruction with the same operands
_SAME = {**{f"OpGroup{name}": f"OpGroupNonUniform{name}" for name in (*_ARITHMETIC, "All", "Any", "Broadcast")}}
_SAME["OpSubgroupShuffleINTEL"] = "OpGroupNonUniformShuffle"


def groups(context: Context) -> None:
    """Replace the operations of subgroups. Those of work-groups are refused."""
    rules: dict[int, Rule] = {}

    def replace(code: Code, item: Instruction) -> None:
        if context.parts.types.constants.value(item.operands[0]) != _SUBGROUP:
            raise context.refused("a work_group_ function")
        code.finish(item, _SAME[item.name], *item.operands)

    for name in _SAME:
        if name in OP:
            rules[OP[name]] = replace
    rewrite(context.parts, rules)
