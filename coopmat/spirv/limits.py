"""Work that a small module could make endless, counted before anybody does it: this package, or spirv-val."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from coopmat import budgets

from .module import OP, Instruction, Module
from .refusal import Refused, label

_ARRAY, _STRUCT = OP["OpTypeArray"], OP["OpTypeStruct"]
# Of a type, the operands that are types of parts of its values; what a pointer points to is none of them.
_PARTS: Mapping[int, slice] = {
    _ARRAY: slice(0, 1),
    OP["OpTypeRuntimeArray"]: slice(0, 1),
    OP["OpTypeVector"]: slice(0, 1),
    OP["OpTypeMatrix"]: slice(0, 1),
    _STRUCT: slice(None),
}
# Ids that a module may use: those of more are taken for a mistake in the header, as by every consumer.
MOST_IDS = 1 << 22


def check_types(module: Module) -> None:
    """Raises Refused for a type that contains itself, Exceeded for one of too many members. spirv-val walks through all
    members of a type, of each member of each type."""
    if module.bound > MOST_IDS:
        raise Refused("spirv-not-supported", f"the module's bound of {module.bound} is more than {MOST_IDS} ids")
    definitions = {i.result: i for i in module.instructions if i.result is not None and i.opcode in _PARTS}
    most, sizes = budgets.limit("type-members"), count(definitions, definitions, lambda item, sizes: 1 + sum(sizes))
    for item in definitions.values():
        if sizes[item.result or 0] > most:
            raise budgets.Exceeded("type-members", f"the type %{item.result}")


def count(
    roots: Mapping[int, Instruction],
    definitions: Mapping[int, Instruction],
    size: Callable[[Instruction, Sequence[int]], int],
) -> dict[int, int]:
    """Of each type what `size` makes of those of its parts, 1 for what has none. Each is asked for once. Raises Refused
    for types in circles."""
    known: dict[int, int] = {}
    for root in roots:
        work, open_ = [root], set()
        while work:
            kind = work[-1]
            item = definitions.get(kind)
            parts = item.operands[_PARTS[item.opcode]] if item is not None and item.opcode in _PARTS else ()
            waiting = [part for part in parts if part not in known]
            if kind in known or item is None or not waiting:
                if kind not in known:
                    known[kind] = 1 if item is None else size(item, [known[part] for part in parts])
                open_.discard(work.pop())
            elif kind in open_:
                raise Refused("spirv-invalid", f"the type {label(item)} contains itself")
            else:
                open_.add(kind)
                work += dict.fromkeys(waiting)
    return known
