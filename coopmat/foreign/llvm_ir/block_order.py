"""The order of a function's blocks in which definitions precede uses; the text may have another order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .text import Block, Function

_LABEL = re.compile(r"\blabel %(\"[^\"]*\"|[-\w.$]+)")


def reverse_postorder(function: Function) -> list[Block]:
    """Return the blocks in reverse postorder, each after its dominators; unreachable blocks are last."""
    blocks = {block.label: block for block in function.blocks}
    entry = function.blocks[0]
    order: list[Block] = []
    visited_labels = {entry.label}
    path = [(entry, _successors(entry, blocks))]
    while path:
        block, rest = path[-1]
        following = next((n for n in rest if n.label not in visited_labels), None)
        if following is None:
            order.append(block)
            path.pop()
        else:
            visited_labels.add(following.label)
            path.append((following, _successors(following, blocks)))
    return [*reversed(order), *(block for block in function.blocks if block.label not in visited_labels)]


def _successors(block: Block, blocks: dict[str, Block]) -> Iterator[Block]:
    last = block.instructions[-1].text if block.instructions else ""
    return (blocks[name.strip('"')] for name in _LABEL.findall(last) if name.strip('"') in blocks)
