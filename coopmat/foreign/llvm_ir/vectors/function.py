"""The lowering of one function: vectors that SPIR-V lacks become elements and smaller vectors.

Sums, products and transposes are pending until their value is needed or stored. Then one library function evaluates the
whole tree. All other operations are applied to the parts; LLVM's optimisations may combine them again. Arguments and
results of calls pass through private memory, which inlining removes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..block_order import reverse_postorder
from ..text import (
    NAME,
    Argument,
    Call,
    Function as TextFunction,
    Instruction,
    operands,
    parse_argument,
    parse_call,
    tokens,
)
from .nodes import Node
from .trees import MATRIX, OPERATORS, Trees
from .types import Elements, Vector, align, as_arrays, constants, incoming, literal, read, vector_of, wide_types
from .writer import Lowering

_MOST_ELEMENTS = 65536
_WRITES = frozenset({"store", "call", "tail", "notail", "musttail", "atomicrmw", "cmpxchg", "fence"})
_LINKAGE = re.compile(
    r"\b(?:external|internal|private|weak|weak_odr|linkonce|linkonce_odr|dso_local|hidden|protected)\b ?"
)


class Function(Trees):
    """The lowering of one function.

    parts_of: name of a vector that SPIR-V lacks -> the names of its parts (`Vector.parts`).
    aliases: name of a value in the text -> the value that replaces it.
    splats: name of a splat vector -> its scalar.
    firsts: name of an insertion at index 0 -> the inserted scalar.
    phis: the phis of such vectors, with the phis of their parts, which are completed last.
    result: the parameter that points to the memory of the result.
    """

    def __init__(self, module: Lowering, function: TextFunction) -> None:
        super().__init__(module, function)
        self.parts_of: dict[str, list[str]] = {}
        self.aliases: dict[str, str] = {}
        self.splats: dict[str, str] = {}
        self.firsts: dict[str, str] = {}
        self.phis: list[tuple[Instruction, Vector, list[Instruction]]] = []
        self.result: Argument | None = None

    def run(self) -> None:
        self.find()
        self.head()
        arrived, self.out = self.out, []
        for block in reverse_postorder(self.function):
            self.out, self.block = [], block
            for item in block.instructions:
                self.source = item.source
                self.instruction(item)
            block.instructions = self.out
        self.fill_phis()
        self.function.blocks[0].instructions[:0] = [*self.allocas, *arrived]
        for item in self.function.instructions():
            if item.opcode == "phi":
                item.text = self.renamed(item.text)

    def find(self) -> None:
        """Count the uses of values, and find those vectors of legal size that take part in matrix operations."""
        joined: list[set[str]] = []
        for block in self.function.blocks:
            for item in block.instructions:
                names = NAME.findall(item.text)
                for name in names:
                    self.uses[name] += 1
                    self.users[name] = (block, item)
                if MATRIX in item.text:
                    self.matrices |= {item.result or "", *names}
                elif item.opcode in OPERATORS or item.opcode == "phi":
                    joined.append({item.result or "", *names})
        while more := [names for names in joined if self.matrices & names and not self.matrices >= names]:
            self.matrices |= set().union(*more)

    def head(self) -> None:
        head, self.source = self.function.head, str(self.function.head)
        if self.function.name in self.module.own:
            if self.function.is_kernel:
                raise self.fail(f"kernel '{head.name}' has a parameter of a vector type that OpenCL lacks")
            words = [w for w in _LINKAGE.sub("", head.before.removeprefix("define")).split() if w != "noundef"]
            head.before = " ".join(["define", "internal", *words])
            at = re.search(r" (?:#\d+|!|\{|section|align|gc)|$", head.after)
            assert at is not None
            head.after = f"{head.after[: at.start()]} alwaysinline{head.after[at.start() :]}"
        for argument in head.arguments:
            vector = self.wide(argument.type)
            if vector is not None:
                argument.type, argument.attributes = "ptr", ""
                self.parts_of[argument.value] = self.load(vector, argument)
        if self.wide(head.type) is not None:
            self.result = Argument("ptr", self.fresh("result"))
            head.arguments.insert(0, self.result)
            head.type = "void"

    # --- building blocks

    def wide(self, kind: str) -> Vector | None:
        """Return the vector of a type that SPIR-V lacks; None for other types."""
        vector = vector_of(kind)
        if vector is not None and vector.is_wide and vector.count > _MOST_ELEMENTS:
            raise self.fail(f"vectors of more than {_MOST_ELEMENTS} elements are not supported")
        return vector if vector is not None and vector.is_wide else None

    def renamed(self, text: str) -> str:
        return NAME.sub(lambda match: self.aliases.get(match[0], match[0]), text) if self.aliases else text

    def parts(self, vector: Vector, value: str) -> list[str]:
        if value in self.pending:
            self.settle(value)
        if value in self.parts_of:
            return self.parts_of[value]
        if value[:1] != "%":
            elements = constants(vector, value, self.fail)
            return [literal(part, elements[at : at + part.count]) for at, part in vector.parts]
        if vector.is_wide:
            raise self.fail(f"{value} is not dominated by its definition")
        return [value]

    def elements(self, vector: Vector, value: str) -> list[str]:
        if value[:1] != "%":
            return constants(vector, value, self.fail)
        result = []
        for (_, part), whole in zip(vector.parts, self.parts(vector, value), strict=True):
            result += [self.element(part, whole, n) for n in range(part.count)]
        return result

    def element(self, part: Vector, whole: str, n: int) -> str:
        return whole if part.count == 1 else self.define(f"extractelement {part} {whole}, i64 {n}")

    def splat(self, vector: Vector, value: str) -> str | None:
        if value[:1] == "%":
            return self.splats.get(value)
        elements = set(constants(vector, value, self.fail))
        return elements.pop() if len(elements) == 1 else None

    def give(self, result: str | None, vector: Vector, parts: list[str]) -> None:
        """Record the parts of an instruction's result."""
        if vector.is_wide:
            self.parts_of[result or ""] = parts
        else:
            self.aliases[result or ""] = parts[0]

    def assembled(self, part: Vector, elements: list[str]) -> str:
        whole = elements[0] if part.count == 1 else "poison"
        for n, element in enumerate(elements if part.count > 1 else ()):
            if element != "poison":
                whole = self.define(f"insertelement {part} {whole}, {part.element} {element}, i64 {n}")
        return whole

    # --- instructions

    def instruction(self, item: Instruction) -> None:
        if item.opcode != "phi":
            item.text = self.renamed(item.text)
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None and call.name.startswith(MATRIX):
            self.matrix(item, call)
        elif call is not None and call.name in self.module.own:
            self.call(item, call)
        elif not wide_types(item.text):
            self.plain(item)
        elif item.opcode not in _HANDLERS or not _HANDLERS[item.opcode](self, item):
            self.each(item, read(item.text))

    def plain(self, item: Instruction) -> None:
        """Lower an instruction without vectors that SPIR-V lacks; operands may be matrices of legal vector types."""
        if item.opcode in ("load", "store") and _HANDLERS[item.opcode](self, item):
            return
        parsed = read(item.text) if item.opcode in OPERATORS and item.result in self.matrices else None
        if parsed is not None and vector_of(parsed.result) is not None:
            self.elementwise(item, parsed)
            return
        for name in NAME.findall(item.text):
            if name in self.pending:
                self.settle(name)
        if item.opcode in _WRITES or "volatile" in item.text:
            self.settle_loads()
        self.out.append(item)

    def each(self, item: Instruction, parsed: Elements | None) -> None:
        """Apply an instruction to each part of its operands. Raise Malformed if the instruction is not element-wise."""
        vectors = [vector_of(operand.type) for operand in parsed.operands] if parsed is not None else []
        result = vector_of(parsed.result) if parsed is not None else None
        if parsed is None or result is None or {v.count for v in vectors if v is not None} != {result.count}:
            raise self.fail(f"'{item.opcode}' of {wide_types(item.text)[0]} is not supported yet")
        for text in wide_types(item.text):
            self.wide(text)
        if item.opcode in OPERATORS and result.element != "i1":
            self.elementwise(item, parsed)
            return
        columns = [
            [Argument(str(part), value) for (_, part), value in zip(v.parts, self.parts(v, operand.value), strict=True)]
            if v is not None
            else [operand] * len(result.parts)
            for v, operand in zip(vectors, parsed.operands, strict=True)
        ]
        values = []
        for (_, part), *row in zip(result.parts, *columns, strict=True):
            values.append(self.define(parsed.text(row, str(part))))
            if parsed.intrinsic:
                self.module.declare(parsed.name(str(part)), str(part), row)
        self.give(item.result, result, values)

    def phi(self, item: Instruction) -> bool:
        words = re.match(r"phi ((?:[a-z]+ )*)(<.*?>)", item.text)
        vector = self.wide(words[2]) if words is not None else None
        if vector is None or item.result is None:
            return False
        parts = [Instruction(self.fresh("part"), "phi", item.source) for _ in vector.parts]
        self.phis.append((item, vector, parts))
        self.parts_of[item.result] = [part.result or "" for part in parts]
        self.out += parts
        return True

    def fill_phis(self) -> None:
        """Complete the phis of the parts, once all vectors have their parts."""
        for item, vector, parts in self.phis:
            self.source = item.source
            sources = [(self.parts(vector, value), label) for value, label in incoming(item.text)]
            for n, ((_, kind), part) in enumerate(zip(vector.parts, parts, strict=True)):
                pairs = ", ".join(f"[ {values[n]}, {label} ]" for values, label in sources)
                part.text = f"{item.text[: item.text.index('<')]}{kind} {pairs}"

    def loaded(self, item: Instruction) -> bool:
        kind, at = operands(item.text)[:2]
        vector, pointer = vector_of(kind), parse_argument(tokens(at))
        if vector is None or not (self.wide(kind) or item.result in self.matrices):
            return False
        node = Node("memory", vector, value=Argument(pointer.type, pointer.value))
        node.volatile = bool(self.accessed(item, vector))
        if align(item.text) < vector.size:
            self.settle_loads()
            node = Node("object", vector, value=self.allocate(vector))
            self.copy(node.value, pointer, vector, self.accessed(item, vector))
        self.hold(item, node)
        if node.volatile and item.result in self.pending:
            self.settle(item.result or "")
        return True

    def stored(self, item: Instruction) -> bool:
        value, pointer = (parse_argument(tokens(text)) for text in operands(item.text)[:2])
        vector = vector_of(value.type)
        if vector is None or not (self.wide(value.type) or value.value in self.matrices):
            return False
        volatile = self.accessed(item, vector)
        if value.value in ("undef", "poison"):
            return True
        root = self.node(value)
        self.settle_loads()
        if align(item.text) < vector.size:
            self.copy(pointer, self.called(root, None).value, vector, volatile)
            return True
        out = Node("memory", vector, value=Argument(pointer.type, pointer.value))
        out.volatile = bool(volatile)
        self.call_tree(root, out, separate=not root.reads_memory)
        return True

    def accessed(self, item: Instruction, vector: Vector) -> str:
        if vector.element == "i1":
            raise self.fail(f"{vector} in memory is not supported")
        return "volatile " if re.match(r"\w+ volatile ", item.text) else ""

    def typed(self, item: Instruction) -> bool:
        """Emit an alloca or getelementptr with arrays in place of vectors; return True. Raise Malformed for structs."""
        if "{" in item.text:
            # An array, which replaces a vector, has the smaller alignment of its elements: the offsets of the members
            # that follow it in the struct would change.
            raise self.fail(f"records with {wide_types(item.text)[0]} in them are not supported")
        self.emit(as_arrays(item.text), item.result)
        return True

    def extract(self, item: Instruction) -> bool:
        whole, index = (parse_argument(tokens(text)) for text in operands(item.text))
        vector = self.wide(whole.type)
        if vector is None or item.result is None:
            return False
        parts = self.parts(vector, whole.value)
        if index.value.isdigit():
            number, part, n = _part_of(vector, int(index.value))
            self.aliases[item.result] = self.element(part, parts[number], n)
        else:
            place = self.places.get(whole.value) or self.spilled(vector, parts)
            one = Vector(1, vector.element)
            self.aliases[item.result] = self.load_one(one, self.address(vector, place, str(index)))
        return True

    def insert(self, item: Instruction) -> bool:
        whole, part, index = (parse_argument(tokens(text)) for text in operands(item.text))
        vector = self.wide(whole.type)
        if vector is None:
            return False
        parts = list(self.parts(vector, whole.value))
        if index.value.isdigit():
            number, kind, n = _part_of(vector, int(index.value))
            text = f"insertelement {kind} {parts[number]}, {part}, i64 {n}"
            parts[number] = part.value if kind.count == 1 else self.define(text)
            if index.value == "0":
                self.firsts[item.result or ""] = part.value
        else:
            place = self.spilled(vector, parts)
            self.store_one(Vector(1, vector.element), self.address(vector, place, str(index)), part.value)
            parts = self.load(vector, place)
        self.give(item.result, vector, parts)
        return True

    def shuffle(self, item: Instruction) -> bool:
        first, second, mask = (parse_argument(tokens(text)) for text in operands(item.text))
        vector, mask_vector = vector_of(first.type), vector_of(mask.type)
        if vector is None or mask_vector is None:
            return False
        result = Vector(mask_vector.count, vector.element)
        if mask.value == "zeroinitializer" and first.value in self.firsts:
            elements = [self.firsts[first.value]] * result.count
            self.splats[item.result or ""] = elements[0]
        else:
            numbers = constants(Vector(mask_vector.count, "i32"), mask.value, self.fail)
            both = [*self.elements(vector, first.value), *self.elements(vector, second.value)]
            elements = [both[int(number)] if number.isdigit() else "poison" for number in numbers]
        parts = [self.assembled(part, elements[at : at + part.count]) for at, part in result.parts]
        self.give(item.result, result, parts)
        return True

    def bitcast(self, item: Instruction) -> bool:
        value, _, kind = item.text.removeprefix("bitcast ").rpartition(" to ")
        source = parse_argument(tokens(value))
        before, after = vector_of(source.type), vector_of(kind)
        if "i1" in (before and before.element, after and after.element):
            return False
        if before is not None and after is not None and before.count == after.count:
            kinds = zip(before.parts, after.parts, self.parts(before, source.value), strict=True)
            cast = [self.define(f"bitcast {first} {part} to {second}") for (_, first), (_, second), part in kinds]
            self.give(item.result, after, cast)
            return True
        widest = max((v for v in (before, after) if v is not None), key=lambda v: v.count * v.size)
        place = self.allocate(widest)
        if before is not None:
            self.store(before, place, self.parts(before, source.value))
        else:
            self.emit(f"store {source}, {place}, align 8")
        if after is not None:
            self.give(item.result, after, self.load(after, place))
        else:
            self.emit(f"load {kind}, {place}, align 8", item.result)
        return True

    # --- pending values

    def settle(self, name: str) -> None:
        """Call the tree of a pending value, and load the value."""
        node = self.pending.pop(name)
        place = self.places[name] = self.allocate(node.vector)
        self.call_tree(node, Node("object", node.vector, value=place), separate=True)
        if node.vector.is_wide:
            self.parts_of[name] = self.load(node.vector, place)
        else:
            self.emit(f"load {node.vector}, {place}, align {node.vector.size}", name)

    def elementwise(self, item: Instruction, parsed: Elements) -> None:
        parts = tuple(self.node(operand) for operand in parsed.operands)
        contract = self.contracts(parsed.before) if item.opcode[0] == "f" else None
        operator = OPERATORS[item.opcode]
        self.hold(item, self.combined(Node("elementwise", parts[0].vector, None, parts, contract, operator=operator)))

    # --- calls

    def call(self, item: Instruction, call: Call) -> None:
        self.settle_loads()
        call.before = re.sub(r"\b(?:musttail|tail|notail) ", "", call.before)
        for argument in call.arguments:
            vector = self.wide(argument.type)
            if vector is not None:
                # The callee only reads the argument.
                argument.value = self.spilled(vector, self.parts(vector, argument.value)).value
                argument.type, argument.attributes = "ptr", ""
        result = self.wide(call.type)
        if result is None:
            self.emit(str(call), item.result)
            return
        place = self.allocate(result)
        call.arguments.insert(0, place)
        call.before = re.sub(r" (?:noundef|nofpclass\([^)]*\))", "", call.before)
        call.type = "void"
        self.emit(str(call))
        self.give(item.result, result, self.load(result, place))

    def ret(self, item: Instruction) -> bool:
        value = parse_argument(tokens(operands(item.text)[0]))
        vector = self.wide(value.type)
        if vector is None or self.result is None:
            return False
        self.store(vector, self.result, self.parts(vector, value.value))
        self.emit("ret void")
        return True


def _part_of(vector: Vector, index: int) -> tuple[int, Vector, int]:
    """Return, for an element of a vector, the number of its part, the part's type, and the index within the part."""
    index = min(index, vector.count - 1)
    parts = list(enumerate(vector.parts))
    number, (at, part) = next((n, entry) for n, entry in reversed(parts) if entry[0] <= index)
    return number, part, index - at


_HANDLERS: dict[str, Callable[[Function, Instruction], bool]] = {
    "phi": Function.phi,
    "load": Function.loaded,
    "store": Function.stored,
    "alloca": Function.typed,
    "getelementptr": Function.typed,
    "extractelement": Function.extract,
    "insertelement": Function.insert,
    "shufflevector": Function.shuffle,
    "bitcast": Function.bitcast,
    "ret": Function.ret,
}
