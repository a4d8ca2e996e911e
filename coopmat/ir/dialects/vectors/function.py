"""One function after the other without vectors that SPIR-V lacks and without llvm.matrix.*."""

from __future__ import annotations

import re
from collections import Counter

from ....matrices.strategies import STRATEGIES, Target
from ....matrices.trees import Tree
from ... import LowerOptions
from ..block_order import reverse_postorder
from ..calls import LibraryCalls
from ..text import (
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
    tokens,
    type_end,
)
from . import instructions, pieces
from .instructions import MATRIX
from .nodes import Builder, Node, Vector, vector_of, wide_types
from .texts import constant, contracts, incoming, inlinable, sized, splat, variable

_COPY = "@llvm.memcpy.p0.p0.i64"
_NAME = re.compile(r"%(?:\"[^\"]*\"|[-\w.$]+)")
_TREES = {"fadd": "add", "fsub": "sub", "fmul": "mul", "add": "add", "sub": "sub", "mul": "mul"}
# Longer chains are cut.
_MOST_DEPTH = 64
_MOST_ELEMENTS = 65536
_MOST_COPIED = 256
_PURE = pieces.BINARY | pieces.UNARY | pieces.CASTS | pieces.COMPARISONS | {"phi", "select", "getelementptr", "load"}
_PURE |= {
    "extractelement",
    "insertelement",
    "shufflevector",
    "bitcast",
    "alloca",
    "addrspacecast",
    "inttoptr",
    "ptrtoint",
}
_LINKAGE = re.compile(
    r"\b(?:external|internal|private|weak|weak_odr|linkonce|linkonce_odr|dso_local|hidden|protected)\b ?"
)


def lower(module: Module, options: LowerOptions) -> LibraryCalls | None:
    """Rewrites a module in place; gives the trees that it calls now. Raises Malformed for what has no lowering."""
    heads = [*module.declarations, *(function.head for function in module.functions)]
    texts = [str(head) for head in heads] + [i.text for f in module.functions for i in f.instructions()]
    if not any(MATRIX in text or wide_types(text) for text in texts):
        return None
    lowering = _Module(module, options)
    for function in module.functions:
        Vectors(lowering, function).run()
    module.declarations = [head for head in module.declarations if not _is_replaced(head)]
    module.rest = [inlinable(line) if line.startswith("attributes ") else line for line in module.rest]
    known = {head.name for head in module.declarations}
    for head in (Call("declare", "void", _COPY, [Argument(t) for t in ("ptr", "ptr", "i64", "i1")]), *lowering.heads):
        if head.name not in known:
            known.add(head.name)
            module.declarations.append(head)
    module.globals = [variable(line) for line in module.globals]
    for line in (*module.globals, *module.types.values()):
        if wide_types(line):
            raise Malformed(
                "ir-not-supported", f"objects with {wide_types(line)[0]} in them are not supported yet", line
            )
    if lowering.exact:
        # Nothing tells a driver about parts of a module.
        module.rest = [line for line in module.rest if not line.startswith("!opencl.enable.FP_CONTRACT")]
    return lowering.calls if lowering.calls.instances else None


def _is_replaced(head: Call) -> bool:
    if head.name.startswith(MATRIX):
        return True
    return head.name.startswith("llvm.") and any(wide_types(t) for t in (head.type, *(a.type for a in head.arguments)))


class _Module:
    """`exact`: whether there are operations that must not be contracted."""

    def __init__(self, module: Module, options: LowerOptions) -> None:
        self.options = options
        self.calls = LibraryCalls(Target(STRATEGIES["one"], 1))
        self.exact = False
        self.heads: list[Call] = []
        self.own = {f.name for f in module.functions if _has_wide(f.head)}
        self.types = module.types


def _has_wide(head: Call) -> bool:
    return any(wide_types(text) for text in (head.type, *(argument.type for argument in head.arguments)))


class Vectors:
    def __init__(self, module: _Module, function: Function) -> None:
        self.module, self.function = module, function
        self.fresh = Names(function).fresh
        # What the vectors are that are held in storage; where; and those of them that no tree was called for yet.
        self.vectors: dict[str, Vector] = {}
        self.places: dict[str, str] = {}
        self.pending: dict[str, Node] = {}
        self.splats: dict[str, str] = {}
        self.uses: Counter[str] = Counter()
        self.users: dict[str, tuple[Block, Instruction]] = {}
        self.entry: list[Instruction] = []
        self.allocas: list[Instruction] = []
        self.edges: list[tuple[str, str, Vector, str]] = []
        # Vectors made element by element: one that goes into the next only lends its storage.
        self.inserted: dict[str, Block] = {}
        self.block = function.blocks[0]
        self.out: list[Instruction] = []
        self.source = ""
        self.result = ""

    def run(self) -> None:
        function = self.function
        for block in function.blocks:
            for item in block.instructions:
                for name in _NAME.findall(item.text):
                    self.uses[name] += 1
                    self.users[name] = (block, item)
        self.find()
        self.head()
        for block in reverse_postorder(function):
            self.out, self.block = [], block
            self.phis(block)
            for item in block.instructions:
                self.source = item.source
                if item.opcode != "phi":
                    self.instruction(item)
            block.instructions = self.out
        self.fill_edges()
        function.blocks[0].instructions[:0] = [*self.allocas, *self.entry]

    def fail(self, message: str, code: str = "ir-not-supported") -> Malformed:
        return Malformed(code, message, self.source)

    # --- which values

    def find(self) -> None:
        """Vectors that SPIR-V lacks, and those that take part in operations of matrices."""
        kinds: dict[str, Vector] = {}
        for argument in self.function.head.arguments:
            if vector := vector_of(argument.type):
                kinds[argument.value] = vector
        joined: list[list[str]] = []
        matrices: set[str] = set()
        for item in self.function.instructions():
            self.source = item.source
            vector = vector_of(self.result_type(item)) if item.result else None
            if item.result and vector:
                kinds[item.result] = vector
            call = parse_call(item.text) if MATRIX in item.text else None
            names = _NAME.findall(item.text)
            if call is not None and call.name.startswith(MATRIX):
                matrices |= {item.result or "", *names}
            elif item.opcode in _TREES or item.opcode == "phi":
                joined.append([item.result or "", *names])
        while matrices and any(matrices & set(names) and not matrices >= set(names) for names in joined):
            matrices |= {name for names in joined if matrices & set(names) for name in names}
        self.vectors = {name: v for name, v in kinds.items() if v.is_wide or name in matrices}
        self.source = str(self.function.head)
        if any(vector.count > _MOST_ELEMENTS for vector in self.vectors.values()):
            raise self.fail(f"vectors of more than {_MOST_ELEMENTS} elements are not supported")

    def result_type(self, item: Instruction) -> str:
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None:
            return call.type
        if item.opcode in ("phi", "insertelement", "load"):
            words = tokens(operands(item.text)[0])
            return "".join(words[: type_end(words, 0)])
        if item.opcode == "shufflevector":
            first, _, mask = operands(item.text)
            vector, of = vector_of(parse_argument(tokens(first)).type), vector_of(parse_argument(tokens(mask)).type)
            return str(Vector(of.count, vector.element)) if vector and of else ""
        if item.opcode == "bitcast":
            return item.text.rpartition(" to ")[2].partition(",")[0]
        found = pieces.read(item.text) if "<" in item.text else None
        return found.result if found is not None else ""

    # --- heads

    def head(self) -> None:
        head, self.source = self.function.head, str(self.function.head)
        if self.function.name in self.module.own:
            if self.function.is_kernel:
                raise self.fail(f"kernel '{head.name}' has a vector as a parameter that OpenCL lacks")
            words = [w for w in _LINKAGE.sub("", head.before.removeprefix("define")).split() if w != "noundef"]
            head.before = " ".join(["define", "internal", *words])
            at = re.search(r" (?:#\d+|!|\{|section|align|gc)|$", head.after)
            assert at is not None
            head.after = f"{head.after[: at.start()]} alwaysinline{head.after[at.start() :]}"
        for argument in head.arguments:
            vector = self.vectors.get(argument.value)
            if vector is not None and vector.is_wide:
                self.places[argument.value] = argument.value
                argument.type, argument.attributes = "ptr", ""
            elif vector is not None:
                place = self.places[argument.value] = self.allocate(vector, argument.value)
                text = f"store {vector} {argument.value}, ptr {place}, align {vector.size}"
                self.entry.append(Instruction(None, text, self.source))
        if wide_types(head.type):
            self.result = self.fresh("result.storage")
            head.arguments.insert(0, Argument("ptr", self.result))
            head.type = "void"

    # --- pieces

    def emit(self, text: str, result: str | None = None) -> None:
        self.out.append(Instruction(result, text, self.source))

    def allocate(self, vector: Vector, name: str) -> str:
        result = self.fresh(f"{name.lstrip('%').strip(chr(34))}.storage")
        self.allocas.append(Instruction(result, f"alloca {vector.storage}, align {vector.size}", self.source))
        return result

    def element(self, vector: Vector, base: str, index: str) -> str:
        """The address of an element: `index` is typed."""
        name = self.fresh("element")
        self.emit(f"getelementptr inbounds {vector.stored}, ptr {base}, {index}", name)
        return name

    def copy(self, target: str, source: str, vector: Vector) -> None:
        """From storage to storage, in the pieces that everything else is done in: LLVM would make an object that is
        copied as a whole a single integer."""
        stored = Vector(vector.count, vector.stored)
        if vector.count > _MOST_COPIED:
            pointers = f"ptr align {vector.size} {target}, ptr align {vector.size} {source}"
            self.emit(f"call void {_COPY}({pointers}, i64 {vector.count * vector.size}, i1 false)")
            return
        for at, count in pieces.lengths(vector.count):
            self.store(stored, target, at, count, self.load(stored, source, at, count))

    def load(self, vector: Vector, base: str, at: int, count: int) -> str:
        """Elements of storage as a value."""
        address = self.element(vector, base, f"i64 {at}") if at else base
        part = sized(vector, count)
        if vector.element != "i1":
            value = self.fresh("piece")
            self.emit(f"load {part}, ptr {address}, align {vector.size}", value)
            return value
        bits, value = self.fresh("bits"), self.fresh("piece")
        self.emit(f"load {sized(Vector(vector.count, 'i8'), count)}, ptr {address}, align 1", bits)
        self.emit(f"trunc {sized(Vector(vector.count, 'i8'), count)} {bits} to {part}", value)
        return value

    def store(self, vector: Vector, base: str, at: int, count: int, value: str) -> None:
        address = self.element(vector, base, f"i64 {at}") if at else base
        part = sized(vector, count)
        if vector.element == "i1":
            bits = self.fresh("bits")
            wide = sized(Vector(vector.count, "i8"), count)
            self.emit(f"zext {part} {value} to {wide}", bits)
            part, value = wide, bits
        self.emit(f"store {part} {value}, ptr {address}, align {vector.size}")

    def place(self, vector: Vector, value: str) -> str:
        """The address of a value's storage."""
        if value in self.pending:
            self.settle(value)
        if value in self.places:
            return self.places[value]
        place = self.allocate(vector, "constant" if value[:1] != "%" else value)
        if value in self.splats:
            self.call(Node("broadcast", vector, value=Argument(vector.element, self.splats[value])), place)
        elif value not in ("undef", "poison"):
            for at, count in pieces.lengths(vector.count):
                self.store(vector, place, at, count, constant(vector, value, at, count, self.fail))
        return place

    def value(self, vector: Vector, value: str) -> str:
        """As a value of a size that SPIR-V has."""
        if value not in self.vectors:
            return value
        return self.load(vector, self.place(vector, value), 0, vector.count)

    def give(self, item: Instruction, vector: Vector) -> str:
        """The storage of a new value."""
        assert item.result is not None
        place = self.places.get(item.result)
        if place is None:
            place = self.places[item.result] = self.allocate(vector, item.result)
        return place

    # --- trees

    def node(self, argument: Argument) -> Node:
        vector = vector_of(argument.type)
        if vector is None:
            raise self.fail(f"a vector of type {argument.type} is not supported yet")
        if argument.value in self.pending:
            return self.pending.pop(argument.value)
        scalar = splat(argument.value, vector) or self.splats.get(argument.value)
        if scalar is not None:
            return Node("broadcast", vector, value=Argument(vector.element, scalar))
        if argument.value in self.vectors or argument.value[:1] != "%":
            return Node("object", vector, value=Argument("ptr", self.place(vector, argument.value)))
        return Node("object", vector, value=Argument("ptr", self.spilled(vector, argument.value)))

    def spilled(self, vector: Vector, value: str) -> str:
        place = self.allocate(vector, value)
        self.store(vector, place, 0, vector.count, value)
        return place

    def combined(self, node: Node) -> Node:
        """A node whose parts agree on shapes and contraction, some of them stored for that."""
        parts = []
        shape, contract = node.shape, node.contract
        for part in node.parts:
            wanted = part.shape
            if node.kind == "elementwise":
                fits = shape is None or wanted in (None, shape)
                shape = shape or wanted
            else:
                fits = True
            if contract is None:
                contract = part.contract
            if not fits or part.contract not in (None, contract) or part.depth >= _MOST_DEPTH:
                place = self.allocate(part.vector, "part")
                self.call(part, place)
                part = Node("object", part.vector, None if node.kind == "elementwise" else wanted)
                part.value = Argument("ptr", place)
            parts.append(part)
        node.parts, node.shape, node.contract = tuple(parts), shape, contract
        return node

    def call(self, root: Node, place: str) -> None:
        """The tree of a value, into private storage of its own."""
        self.call_to(root, Node("object", root.vector, value=Argument("ptr", place)), separate=True)

    def call_to(self, root: Node, out: Node, *, separate: bool) -> None:
        builder, options = Builder(), self.module.options
        contract = options.contract_matrices or root.contract is not False
        self.module.exact |= not contract
        try:
            tree: Tree = builder.tree(root, out, options.machine, contract, separate)
        except KeyError:
            raise self.fail("a matrix in this address space is not supported") from None
        at = Instruction(None, "", self.source)
        self.out.append(self.module.calls.call(at, tree, builder.arguments))

    def settle(self, name: str) -> None:
        """Calls the tree of a pending value."""
        node = self.pending.pop(name)
        place = self.places[name] = self.allocate(node.vector, name)
        self.call(node, place)

    def settle_loads(self) -> None:
        """Memory is about to be written to."""
        for name in [name for name, node in self.pending.items() if node.reads_memory]:
            self.settle(name)

    def hold(self, item: Instruction, node: Node) -> None:
        """The value of an instruction: kept for the tree that its only user makes, if that is one here."""
        name = item.result
        if name is None or not self.uses[name]:
            return
        block, user = self.users[name]
        self.pending[name] = node
        if self.uses[name] > 1 or block is not self.block or not self.makes_tree(user):
            self.settle(name)

    def makes_tree(self, item: Instruction) -> bool:
        if item.opcode in _TREES:
            return item.result in self.vectors
        return item.opcode == "store" or MATRIX in item.text

    # --- instructions

    def phis(self, block: Block) -> None:
        """What carries a vector is written at the end of each block before; and taken over here, so that phis may name
        one another."""
        taken = []
        for item in [item for item in block.instructions if item.opcode == "phi"]:
            vector = self.vectors.get(item.result or "")
            if vector is None:
                self.out.append(item)
                continue
            self.source = item.source
            room = self.allocate(vector, f"{item.result}.next")
            self.edges += [(label, room, vector, value) for value, label in incoming(item.text)]
            taken.append((self.give(item, vector), room, vector))
        for target, room, vector in taken:
            self.copy(target, room, vector)

    def fill_edges(self) -> None:
        """When every value has its place."""
        ends: dict[str, list[Instruction]] = {}
        done: set[tuple[str, str]] = set()
        for label, room, vector, value in self.edges:
            if (label, room) not in done and value not in ("undef", "poison"):
                done.add((label, room))
                self.out = ends.setdefault(label, [])
                place = self.place(vector, value)
                self.copy(room, place, vector)
        for block in self.function.blocks:
            block.instructions[-1:-1] = ends.get(block.label, [])

    def instruction(self, item: Instruction) -> None:
        names = _NAME.findall(item.text)
        involved = item.result in self.vectors or any(name in self.vectors for name in names)
        if not (involved or MATRIX in item.text or wide_types(item.text)):
            self.plain(item)
            return
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None and call.name.startswith(MATRIX):
            instructions.matrix(self, item, call)
        elif call is not None and call.name in self.module.own:
            instructions.call_of_own(self, item, call)
        elif item.opcode in _TREES and item.result in self.vectors and self.vectors[item.result].element != "i1":
            self.elementwise(item)
        elif item.opcode not in instructions.HANDLERS or not instructions.HANDLERS[item.opcode](self, item):
            found = pieces.read(item.text)
            if found is not None and self.is_of_elements(item, found):
                self.in_pieces(item, found)
            else:
                self.as_values(item)

    def plain(self, item: Instruction) -> None:
        if item.opcode not in _PURE or "volatile" in item.text:
            self.settle_loads()
        self.out.append(item)

    def as_values(self, item: Instruction) -> None:
        """An instruction of vectors that SPIR-V has, some of them in storage."""
        if wide_types(item.text):
            raise self.fail(f"'{item.opcode}' of {wide_types(item.text)[0]} is not supported yet")
        for name in dict.fromkeys(_NAME.findall(item.text)):
            if name in self.vectors:
                value = self.value(self.vectors[name], name)
                item.text = re.sub(re.escape(name) + r"(?![-\w.$\"])", value, item.text)
        self.plain(item)
        if item.result in self.vectors:
            vector = self.vectors[item.result]
            self.store(vector, self.give(item, vector), 0, vector.count, item.result)

    def elementwise(self, item: Instruction) -> None:
        found = pieces.read(item.text)
        assert found is not None
        parts = tuple(self.node(operand) for operand in found.operands)
        vector = parts[0].vector
        contract = contracts(item.text) if item.opcode[0] == "f" else None
        node = Node("elementwise", vector, None, parts, contract, operator=_TREES[item.opcode])
        self.hold(item, self.combined(node))

    def is_of_elements(self, item: Instruction, found: pieces.Elements) -> bool:
        counts = {vector.count for a in found.operands if (vector := vector_of(a.type)) is not None}
        result = vector_of(found.result)
        return result is not None and counts == {result.count}

    def in_pieces(self, item: Instruction, found: pieces.Elements) -> None:
        result = vector_of(found.result)
        assert result is not None
        vectors = {n: vector for n, a in enumerate(found.operands) if (vector := vector_of(a.type)) is not None}
        for n, vector in vectors.items():
            if found.operands[n].value in self.vectors:
                self.place(vector, found.operands[n].value)
        held = item.result in self.vectors
        place = self.give(item, result) if held else ""
        for at, count in pieces.lengths(result.count) if result.is_wide else [(0, result.count)]:
            passed = [
                Argument(sized(vectors[n], count), self.piece(vectors[n], a.value, at, count)) if n in vectors else a
                for n, a in enumerate(found.operands)
            ]
            value = self.fresh("piece") if held else item.result
            kind = sized(result, count)
            if found.intrinsic:
                head = Call("declare", kind, f"@{found.name(kind)}", [Argument(a.type) for a in passed])
                self.module.heads.append(head)
            self.emit(found.text(passed, kind), value)
            if held:
                self.store(result, place, at, count, value or "")

    def piece(self, vector: Vector, value: str, at: int, count: int) -> str:
        if value in self.vectors:
            return self.load(vector, self.place(vector, value), at, count)
        if value[:1] == "%" or value in ("undef", "poison"):
            return value
        return constant(vector, value, at, count, self.fail)
