"""The rewriting of instructions: a rule receives an instruction and appends the instructions that replace it.

def negate(code: Code, item: Instruction) -> None:
    code.finish(item, "OpISub", zero, *item.operands)

rewrite(parts, {OP["OpSNegate"]: negate})
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...foreign.consumers import Parts
from ...spirv.module import OP, Instruction, id_positions
from ...spirv.sections import Section

_VARIABLE, _LABEL, _PHI = OP["OpVariable"], OP["OpLabel"], OP["OpPhi"]


class Code:
    """A list of instructions, to which rules append."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.items = parts, list[Instruction]()

    def add(self, name: str, type_id: int | None, *operands: int, result: int | None = None) -> int:
        """Append an instruction and return its result id, a new one unless given; 0 if `type_id` is None."""
        if type_id is not None and result is None:
            result = self.parts.module.new_id()
        item = Instruction(OP[name], operands, type_id, result)
        self.items.append(item)
        self.parts.define([item])
        return result or 0

    def finish(self, item: Instruction, name: str, *operands: int) -> None:
        """Append an instruction with the type and the result id of `item`."""
        self.add(name, item.result_type, *operands, result=item.result)

    def keep(self, item: Instruction) -> None:
        """Append an instruction unchanged."""
        self.items.append(item)
        self.parts.define([item])

    # --- constants

    def u32(self, value: int) -> int:
        return self.parts.globals.number(value)

    def type_of(self, value: int) -> int:
        return self.parts.types.of(value)


Rule = Callable[[Code, Instruction], None]


def rewrite(parts: Parts, rules: Mapping[int, Rule]) -> None:
    """Apply the rules, opcode -> rule, to the instructions of all functions; keep all other instructions."""
    for body in parts.functions:
        if not any(item.opcode in rules for item in body):
            continue
        code = Code(parts)
        for item in body:
            rule = rules.get(item.opcode)
            if rule is None:
                code.items.append(item)
            else:
                rule(code, item)
        body[:] = code.items


def rewrite_all(parts: Parts, rule: Rule) -> None:
    """Apply one rule to all instructions of all functions."""
    for body in parts.functions:
        code = Code(parts)
        for item in body:
            rule(code, item)
        body[:] = code.items


def substitute(parts: Parts, ids: Mapping[int, int]) -> None:
    """Replace ids in the operands of all functions; chains of replacements are followed."""
    if not ids:
        return

    def last(word: int) -> int:
        while word in ids:
            word = ids[word]
        return word

    for body in parts.functions:
        for n, item in enumerate(body):
            if any(word in ids for word in item.operands):
                at = set(id_positions(item, parts.definitions))
                words = tuple(last(word) if k in at else word for k, word in enumerate(item.operands))
                body[n] = Instruction(item.opcode, words, item.result_type, item.result)
                parts.define([body[n]])


def replace_global(parts: Parts, item: Instruction) -> None:
    """Put `item` in the place of the type, constant or global variable that has its result id."""
    items = parts.globals.items
    at = next(n for n, old in enumerate(items) if old.result == item.result)
    items[at] = item
    parts.definitions[item.result or 0] = item


def prepend(parts: Parts, body: list[Instruction], variables: list[Instruction], code: list[Instruction]) -> None:
    """Insert variables and instructions at the beginning of a function's entry block, behind its variables."""
    at = next(n for n, item in enumerate(body) if item.opcode == _LABEL) + 1
    while body[at].opcode == _VARIABLE:
        at += 1
    body[at:at] = [*variables, *code]
    parts.define([*variables, *code])


def operand_ids(parts: Parts, item: Instruction) -> Iterator[int]:
    """Yield the ids that an instruction uses, without its result type."""
    return (item.operands[at] for at in id_positions(item, parts.definitions))


def name_of(parts: Parts, id_: int) -> str:
    """Return the name that OpName gives to an id, or an empty string."""
    from ...spirv.module import decode_string

    names = (item for item in parts.sections[Section.NAME] if item.opcode == OP["OpName"])
    return next((decode_string(item.operands[1:])[0] for item in names if item.operands[0] == id_), "")
