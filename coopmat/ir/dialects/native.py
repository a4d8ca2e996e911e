"""What optimisation leaves in canonical IR and SPIR-V does not have: choices, constants and freezes of matrices."""

from __future__ import annotations

import re

from .operations import LLVM_NAMES, MENTION, matrix_of, spelled, tag
from .text import Argument, Block, Call, Function, Instruction, Module, parse_argument, quoted, split, tokens

_FLAGS = re.compile(r"^phi (?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*")
_CONSTANT = re.compile(
    r'(target\("spirv\.CooperativeMatrixKHR", [^()]*\)) (zeroinitializer|undef|poison)'
    r"|(?<=\[ )(zeroinitializer|undef|poison)(?=, %)"
)


def prepare(module: Module) -> None:
    """Rewrites in place: selects become branches, constants fills, a freeze its operand."""
    declared = {head.name for head in module.declarations}
    for function in module.functions:
        if any(MENTION in item.text for item in function.instructions()):
            _Preparation(module, function, declared).run()


class _Preparation:
    def __init__(self, module: Module, function: Function, declared: set[str]) -> None:
        self.module, self.function, self.declared = module, function, declared
        self.names = {item.result for item in function.instructions()} | {f"%{b.label}" for b in function.blocks}
        self.names |= {argument.value for argument in function.head.arguments}
        self.fills: dict[str, str] = {}
        self.entry: list[Instruction] = []

    def run(self) -> None:
        self.freezes()
        for item in self.function.instructions():
            if MENTION in item.text and not item.text.startswith("alloca"):
                self.constants(item)
        self.function.blocks = [part for block in self.function.blocks for part in self.without_selects(block)]
        self.function.blocks[0].instructions[:0] = self.entry

    def fresh(self, wanted: str) -> str:
        n, name = 0, quoted("%", wanted)
        while name in self.names:
            n += 1
            name = quoted("%", f"{wanted}.{n}")
        self.names.add(name)
        return name

    def freezes(self) -> None:
        for block in self.function.blocks:
            for item in list(block.instructions):
                if item.opcode == "freeze" and MENTION in item.text and item.result:
                    value = parse_argument(tokens(item.text)[2:]).value
                    block.instructions.remove(item)
                    self.replace(item.result, value)

    def replace(self, name: str, value: str) -> None:
        pattern = re.compile(re.escape(name) + r"(?![-\w.$\"])")
        for item in self.function.instructions():
            item.text = pattern.sub(lambda _: value, item.text)

    def constants(self, item: Instruction) -> None:
        kind = ""
        if item.opcode == "phi":
            kind = parse_argument(tokens(_FLAGS.sub("", item.text))).type

        def fill(match: re.Match[str]) -> str:
            if match[1]:
                return f"{match[1]} {self.fill(match[1])}"
            return self.fill(kind) if matrix_of(kind) else match[0]

        if item.opcode != "phi" or matrix_of(kind):
            item.text = _CONSTANT.sub(fill, item.text)

    def fill(self, kind: str) -> str:
        """A matrix of zeros, made at the start of the function; undefined ones may be zeros as well."""
        if kind not in self.fills:
            matrix = matrix_of(kind)
            assert matrix is not None
            component = LLVM_NAMES[matrix.component]
            zero = "0" if matrix.component.is_integer else "0.0"
            name = f"{spelled('CompositeConstruct')}_{tag(matrix)}"
            call = Call("call spir_func", kind, quoted("@", name), [Argument(component, zero)])
            self.fills[kind] = self.fresh("zeros")
            self.entry.append(Instruction(self.fills[kind], str(call)))
            if name not in self.declared:
                self.declared.add(name)
                head = Call("declare spir_func", kind, quoted("@", name), [Argument(component)], " convergent nounwind")
                self.module.declarations.append(head)
        return self.fills[kind]

    def without_selects(self, block: Block) -> list[Block]:
        """The block, split after each choice between matrices."""
        made, here = [], Block(block.label)
        for item in block.instructions:
            if item.opcode != "select" or MENTION not in item.text:
                here.instructions.append(item)
                continue
            words = tokens(item.text)
            at = next(n for n, word in enumerate(words) if word in ("i1", "<"))
            condition, first, second = (parse_argument(part) for part in split(words[at:])[:3])
            chosen, join = (self.fresh(name)[1:].strip('"') for name in ("chosen", "joined"))
            here.instructions.append(
                Instruction(None, f"br {condition}, label {quoted('%', chosen)}, label {quoted('%', join)}")
            )
            made += [here, Block(chosen, [Instruction(None, f"br label {quoted('%', join)}")])]
            pairs = f"[ {first.value}, {quoted('%', chosen)} ], [ {second.value}, {quoted('%', here.label)} ]"
            here = Block(join, [Instruction(item.result, f"phi {first.type} {pairs}", item.source)])
        if made:
            self.rename_edges(block.label, here.label)
        return [*made, here]

    def rename_edges(self, old: str, new: str) -> None:
        """In the phis behind a block that ends under another name now."""
        pattern = re.compile(re.escape(quoted("%", old)) + r" \]")
        for item in self.function.instructions():
            if item.opcode == "phi":
                item.text = pattern.sub(lambda _: f"{quoted('%', new)} ]", item.text)
