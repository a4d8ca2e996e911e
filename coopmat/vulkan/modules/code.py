"""The rewriting of instructions: a rule receives an instruction and appends the instructions that replace it.

def negate(code: Code, item: Instruction) -> None:
    code.finish(item, "OpISub", zero, *item.operands)

rewrite(parts, {OP["OpSNegate"]: negate})
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...foreign.consumers import Parts
from ...spirv.module import OP, Instruction, id_positions
from ...spirv.module_globals import FUNCTION
from ...spirv.refusal import Refused
from ...spirv.sections import Section

_VARIABLE, _LABEL, _PHI = OP["OpVariable"], OP["OpLabel"], OP["OpPhi"]


class Code:
    """A list of instructions, to which rules append."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.items = parts, list[Instruction]()
        self.variables = list[Instruction]()
        self.label = 0

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

    # --- blocks and variables

    def variable(self, type_id: int) -> int:
        """Add a variable of the function and return its id."""
        pointer = self.parts.globals.pointer(type_id)
        self.variables.append(Instruction(_VARIABLE, (FUNCTION,), pointer, self.parts.module.new_id()))
        self.parts.define(self.variables[-1:])
        return self.variables[-1].result or 0

    def begin(self, label: int) -> None:
        """Begin the block `label`."""
        self.items.append(Instruction(_LABEL, (), None, label))
        self.label = label

    def loop(self, first: int, end: int, following: Callable[[int], int], body: Callable[[int], None]) -> None:
        """Append `for (i = first; i < end; i = following(i)) body(i)`, with unsigned indices of 32 bits."""
        uint, bool_ = self.parts.globals.integer(32), self.parts.globals.intern("OpTypeBool")
        variable = self.variable(uint)
        head, inside, behind = (self.parts.module.new_id() for _ in range(3))
        self.add("OpStore", None, variable, first)
        self.add("OpBranch", None, head)
        self.begin(head)
        index = self.add("OpLoad", uint, variable)
        self.add("OpBranchConditional", None, self.add("OpULessThan", bool_, index, end), inside, behind)
        self.begin(inside)
        body(index)
        self.add("OpStore", None, variable, following(index))
        self.add("OpBranch", None, head)
        self.begin(behind)

    # --- constants

    def u32(self, value: int) -> int:
        return self.parts.globals.number(value)

    def type_of(self, value: int) -> int:
        return self.parts.types.of(value)


Rule = Callable[[Code, Instruction], None]


def rewrite(parts: Parts, rules: Mapping[int, Rule]) -> None:
    """Apply the rules, opcode -> rule, to the instructions of all functions; keep all other instructions."""
    for body in parts.functions:
        if any(item.opcode in rules for item in body):
            _rewrite(parts, body, lambda code, item: rules.get(item.opcode, Code.keep)(code, item))


def rewrite_all(parts: Parts, rule: Rule) -> None:
    """Apply one rule to all instructions of all functions."""
    for body in parts.functions:
        _rewrite(parts, body, rule)


def _rewrite(parts: Parts, body: list[Instruction], rule: Rule) -> None:
    code = Code(parts)
    # label of an original block -> label of the block in which that block now ends
    ends: dict[int, int] = {}
    label = 0
    for item in body:
        if item.opcode == _LABEL:
            label = code.label = item.result or 0
            code.items.append(item)
        else:
            try:
                rule(code, item)
            except Refused as error:
                raise error.of(item) from None
        if code.label != label:
            ends[label] = code.label
    if ends:
        code.items = [_with_ends(item, ends) if item.opcode == _PHI else item for item in code.items]
    body[:] = code.items
    if code.variables:
        prepend(parts, body, code.variables, [])


def _with_ends(phi: Instruction, ends: Mapping[int, int]) -> Instruction:
    """Return a phi with the labels of the blocks in which its predecessors now end."""
    words = tuple(ends.get(word, word) if n % 2 else word for n, word in enumerate(phi.operands))
    return Instruction(phi.opcode, words, phi.result_type, phi.result)


def replace_types(parts: Parts, ids: Mapping[int, int]) -> None:
    """Replace types by others in the whole module, and drop their definitions."""
    if not ids:
        return
    parts.globals.assign(_renamed(parts, item, ids) for item in parts.globals.items if item.result not in ids)
    parts.define(parts.globals.items)
    for body in parts.functions:
        body[:] = [_renamed(parts, item, ids) for item in body]
        parts.define(body)
    parts.forget(set(ids))


def _renamed(parts: Parts, item: Instruction, ids: Mapping[int, int]) -> Instruction:
    at = set(id_positions(item, parts.definitions))
    operands = tuple(ids.get(word, word) if n in at else word for n, word in enumerate(item.operands))
    return Instruction(item.opcode, operands, ids.get(item.result_type or 0, item.result_type), item.result)


def substitute(parts: Parts, ids: Mapping[int, int], functions: Sequence[list[Instruction]] | None = None) -> None:
    """Replace ids in the operands of functions, all by default; chains of replacements are followed."""
    if not ids:
        return

    def last(word: int) -> int:
        while word in ids:
            word = ids[word]
        return word

    for body in parts.functions if functions is None else functions:
        for n, item in enumerate(body):
            if any(word in ids for word in item.operands):
                at = set(id_positions(item, parts.definitions))
                words = tuple(last(word) if k in at else word for k, word in enumerate(item.operands))
                body[n] = Instruction(item.opcode, words, item.result_type, item.result)
                parts.define([body[n]])


def replace_global(parts: Parts, item: Instruction) -> None:
    """Put `item` in the place of the type, constant or global variable that has its result id."""
    parts.globals.assign(item if old.result == item.result else old for old in parts.globals.items)
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
