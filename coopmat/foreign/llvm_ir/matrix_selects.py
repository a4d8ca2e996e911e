"""The removal of matrix IR that optimisations leave and SPIR-V lacks: selects, constants and freezes of matrices."""

from __future__ import annotations

import re

from ...matrices.placeholders import mangle_instruction
from ...matrices.variants import Layout
from . import parameters
from .addresses import LOST, Addresses
from .operations import CODE_OF, LLVM_NAMES, MENTION, matrix_of, tag
from .storage import Storage
from .text import (
    Argument,
    Block,
    Call,
    Function,
    Instruction,
    Malformed,
    Module,
    Names,
    operands,
    parse_argument,
    parse_call,
    quoted,
    split,
    tokens,
    type_end,
)

_ACCESS = re.compile(r"_Z\d+__spirv_CooperativeMatrix(?:Load|Store)KHR")
_VARIABLE = re.compile(r"(@(?:\"[^\"]*\"|[-\w.$]+)) = .*?\b(?:global|constant) (.*)")
_FLAGS = re.compile(r"^phi (?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*")
_CONSTANT = re.compile(
    r'(target\("spirv\.CooperativeMatrixKHR", [^()]*\)) (zeroinitializer|undef|poison)'
    r"|(?<=\[ )(zeroinitializer|undef|poison)(?=, %)"
)


def prepare(module: Module, matrices: str) -> None:
    """Rewrite a module in place: selects become branches, constants become fills, a freeze becomes its operand.

    matrices: the route. If it is native, raise Malformed for layouts for which no instruction exists.
    """
    declared = {head.name for head in module.declarations}
    storage = Storage(module.types)
    if MENTION not in str(module):
        return
    plain = parameters.state(module, storage)
    for function in module.functions:
        addresses = Addresses(function, storage, plain[function.name])
        if addresses.by_name or addresses.unknown or any(MENTION in item.text for item in function.instructions()):
            _Preparation(module, function, declared, addresses, matrices).run()


def _type_at(text: str) -> str:
    words = tokens(text)
    return "".join(words[: type_end(words, 0)])


class _Preparation:
    def __init__(
        self, module: Module, function: Function, declared: set[str], addresses: Addresses, matrices: str
    ) -> None:
        self.matrices = matrices
        self.module, self.function, self.declared, self.addresses = module, function, declared, addresses
        # variable -> its type
        self.objects = {match[1]: _type_at(match[2]) for line in module.globals if (match := _VARIABLE.match(line))}
        for item in function.instructions():
            if item.opcode == "alloca" and item.result:
                self.objects[item.result] = operands(item.text)[0]
        self.fresh = Names(function).fresh
        self.fills: dict[str, str] = {}
        self.entry: list[Instruction] = []

    def run(self) -> None:
        self.freezes()
        for block in self.function.blocks:
            block.instructions = [replacement for item in block.instructions for replacement in self.by_members(item)]
        for item in self.function.instructions():
            if MENTION in item.text and not item.text.startswith("alloca"):
                self.constants(item)
        self.function.blocks = [part for block in self.function.blocks for part in self.without_selects(block)]
        self.function.blocks[0].instructions[:0] = self.entry

    def by_members(self, item: Instruction) -> list[Instruction]:
        """Return an instruction's replacements: offsets in bytes within objects with matrices become paths of members.

        Loads, stores and copies of such objects are checked or rewritten, too. Raise Malformed if there is no such
        path.
        """
        if self.addresses.is_lost(item):
            raise Malformed("ir-not-supported", LOST, item.source)
        address = self.addresses.by_name.get(item.result or "")
        if item.opcode == "getelementptr" and address is not None and address.root != item.result:
            path = self.addresses.path(address)
            if path is None:
                message = "an address at which no member of an object with matrices starts is not supported yet"
                raise Malformed("ir-not-supported", message, item.source)
            indices = "".join(f", i32 {index}" for index in path[1])
            item.text = f"getelementptr {address.kind}, ptr {address.root}{indices}"
        if item.opcode in ("load", "store"):
            self.check_access(item)
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None and call.name.startswith("llvm.mem"):
            return self.copy(item, call)
        return [item] if call is None or not _ACCESS.match(call.name) else self.with_element(item, call)

    def check_access(self, item: Instruction) -> None:
        first, second = operands(item.text)[:2]
        kind = first if item.opcode == "load" else parse_argument(tokens(first)).type
        address = parse_argument(tokens(second)).value
        if self.addresses.storage.carries(kind):
            self.addresses.check(address, item.source)
        elif self.addresses.matrix_at(address):
            message = "accessing the memory of a matrix as another type is not supported"
            raise Malformed("ir-not-supported", message, item.source)

    def with_element(self, item: Instruction, call: Call) -> list[Instruction]:
        """Make a matrix load or store use a scalar's address: the backend does not accept the address of an array.

        Return the instructions in its place. Raise Malformed for a packed layout on the native route.
        """
        pointer = call.arguments[0]
        layout = call.arguments[1 if "Load" in call.name else 2].value
        if int(layout) >= Layout.PACKED and self.matrices == "native":
            message = f"the layout {layout} (packed) has no instruction: use --matrices one, lanes or scratch"
            raise Malformed("ir-not-supported", message, item.source)
        kind, zeros = self.objects.get(pointer.value, ""), 1
        while kind and (members := self.addresses.storage.members(kind)):
            kind, zeros = members[0][0], zeros + 1
        if zeros == 1:
            return [item]
        name, whole = self.fresh("element"), self.objects[pointer.value]
        indices = ", i64 0" + ", i32 0" * (zeros - 1)
        address = f"getelementptr inbounds {whole}, {pointer.type} {pointer.value}{indices}"
        pointer.value = name
        item.text = str(call)
        return [Instruction(name, address, item.source), item]

    def copy(self, item: Instruction, call: Call) -> list[Instruction]:
        target, source, size = (argument.value for argument in call.arguments[:3])
        touched = [value for value in (target, source) if value in self.addresses.by_name]
        if not touched:
            return [item]
        kind = self.addresses.of_size(touched[0], int(size)) if size.isdigit() else ""
        if not kind or not call.name.startswith(("llvm.memcpy", "llvm.memmove")):
            raise Malformed(
                "ir-not-supported", "setting a part of an object with matrices is not supported", item.source
            )
        name = self.fresh("copied")
        return [
            Instruction(name, f"load {kind}, {call.arguments[1].type} {source}", item.source),
            Instruction(None, f"store {kind} {name}, {call.arguments[0].type} {target}", item.source),
        ]

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
        """Return the name of a zero matrix, filled at the start of the function; also used for undefined matrices."""
        if kind not in self.fills:
            matrix = matrix_of(kind)
            assert matrix is not None
            component = LLVM_NAMES[matrix.component]
            zero = "0" if matrix.component.is_integer else "0.0"
            if component.startswith("target"):
                # LLVM has no constants of SPIR-V's own types: convert the bits.
                name = f"{mangle_instruction('Bitcast')}_{CODE_OF[component]}_f"
                zero = self.called(name, component, Argument("i8", "0"), "zero")
            name = mangle_instruction("CompositeConstruct", tag(matrix))
            self.fills[kind] = self.called(name, kind, Argument(component, zero), "zeros")
        return self.fills[kind]

    def called(self, name: str, kind: str, argument: Argument, result: str) -> str:
        """Emit a call of the function `name` at the entry, and declare that function; return the name of the result."""
        value = self.fresh(result)
        self.entry.append(Instruction(value, str(Call("call spir_func", kind, quoted("@", name), [argument]))))
        if name not in self.declared:
            self.declared.add(name)
            types = [Argument(argument.type)]
            head = Call("declare spir_func", kind, quoted("@", name), types, " convergent nounwind")
            self.module.declarations.append(head)
        return value

    def without_selects(self, block: Block) -> list[Block]:
        """Return the blocks into which `block` is split, so that branches replace selects of matrices."""
        blocks, current = [], Block(block.label)
        for item in block.instructions:
            if item.opcode != "select" or MENTION not in item.text:
                current.instructions.append(item)
                continue
            words = tokens(item.text)
            at = next(n for n, word in enumerate(words) if word in ("i1", "<"))
            condition, first, second = (parse_argument(part) for part in split(words[at:])[:3])
            chosen, join = (self.fresh(name)[1:].strip('"') for name in ("chosen", "joined"))
            current.instructions.append(
                Instruction(None, f"br {condition}, label {quoted('%', chosen)}, label {quoted('%', join)}")
            )
            blocks += [current, Block(chosen, [Instruction(None, f"br label {quoted('%', join)}")])]
            pairs = f"[ {first.value}, {quoted('%', chosen)} ], [ {second.value}, {quoted('%', current.label)} ]"
            current = Block(join, [Instruction(item.result, f"phi {first.type} {pairs}", item.source)])
        if blocks:
            self.rename_edges(block.label, current.label)
        return [*blocks, current]

    def rename_edges(self, old: str, new: str) -> None:
        """Rename an incoming block of phis: after a split, the edges come from the last block of the parts."""
        pattern = re.compile(re.escape(quoted("%", old)) + r" \]")
        for item in self.function.instructions():
            if item.opcode == "phi":
                item.text = pattern.sub(lambda _: f"{quoted('%', new)} ]", item.text)
