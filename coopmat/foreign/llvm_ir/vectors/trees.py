"""Matrix operations as trees of library functions: pending until the value is needed, then evaluated by one call."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable

from ..text import Argument, Block, Call, Function, Instruction
from .nodes import Builder, Node, Shape
from .types import Vector, is_aligned, vector_of
from .writer import Lowering, Writer

MATRIX = "llvm.matrix."
OPERATORS = {"fadd": "add", "fsub": "sub", "fmul": "mul", "add": "add", "sub": "sub", "mul": "mul"}
# Deeper trees are split.
_MOST_DEPTH = 64


class Trees(Writer):
    """The pending matrix operations of one function.

    pending: value without a call yet -> the root of its tree.
    places: value that a tree has computed -> its memory.
    matrices: the vectors that take part in matrix operations.
    uses: value -> the number of its uses.
    users: value -> the block and the instruction of its last use.
    """

    def __init__(self, module: Lowering, function: Function) -> None:
        super().__init__(module, function)
        self.pending: dict[str, Node] = {}
        self.places: dict[str, Argument] = {}
        self.matrices: set[str] = set()
        self.uses: Counter[str] = Counter()
        self.users: dict[str, tuple[Block, Instruction]] = {}
        self.block = function.blocks[0]

    @abstractmethod
    def parts(self, vector: Vector, value: str) -> list[str]:
        """Return the parts of a value: see `Vector.parts`."""

    @abstractmethod
    def splat(self, vector: Vector, value: str) -> str | None:
        """Return the scalar that all elements of a vector equal; None if they may differ."""

    @abstractmethod
    def settle(self, name: str) -> None:
        """Call the tree of a pending value, and load the value."""

    def node(self, argument: Argument, shape: Shape | None = None) -> Node:
        """Return an operand as a node of a tree; `shape` is the shape of a matrix operand."""
        vector = vector_of(argument.type)
        if vector is None:
            raise self.fail(f"a vector of type {argument.type} is not supported yet")
        waiting = self.pending.pop(argument.value, None)
        if waiting is not None and (shape is None or waiting.shape in (None, shape)):
            waiting.shape = shape or waiting.shape
            return waiting
        if waiting is not None:
            return self.called(waiting, shape)
        scalar = self.splat(vector, argument.value)
        if scalar is not None:
            return Node("broadcast", vector, shape, value=Argument(vector.element, scalar))
        place = self.places.get(argument.value) or self.spilled(vector, self.parts(vector, argument.value))
        return Node("object", vector, shape, value=place)

    def called(self, node: Node, shape: Shape | None) -> Node:
        """Evaluate a tree into memory by its own call; return that memory as an operand of another tree."""
        place = self.allocate(node.vector)
        self.call_tree(node, Node("object", node.vector, value=place), separate=True)
        return Node("object", node.vector, shape, value=place)

    def combined(self, node: Node) -> Node:
        """Return the node after its parts agree on shapes and contraction; other parts are evaluated separately."""
        parts = []
        for part in node.parts:
            part_shape, fits = part.shape, True
            if node.kind == "elementwise":
                fits = node.shape is None or part_shape in (None, node.shape)
                node.shape = node.shape or part_shape
            if node.contract is None:
                node.contract = part.contract
            if not fits or part.contract not in (None, node.contract) or part.depth >= _MOST_DEPTH:
                part = self.called(part, None if node.kind == "elementwise" else part_shape)
            parts.append(part)
        node.parts = tuple(parts)
        return node

    def call_tree(self, root: Node, out: Node, *, separate: bool) -> None:
        builder, options = Builder(), self.module.options
        contract = options.contract_matrices or root.contract is not False
        self.module.exact |= not contract
        try:
            tree = builder.tree(root, out, options.machine, contract, separate)
        except KeyError:
            raise self.fail("a matrix in this address space is not supported") from None
        self.out.append(self.module.calls.call(Instruction(None, "", self.source), tree, builder.arguments))

    def settle_loads(self) -> None:
        """Evaluate the pending trees that read memory, before an instruction that may write to memory."""
        for name in [name for name, node in self.pending.items() if node.reads_memory]:
            self.settle(name)

    def hold(self, item: Instruction, node: Node) -> None:
        """Make an instruction's value pending; evaluate it unless its only use is in a tree of the same block."""
        name = item.result
        if name is None or not self.uses[name]:
            return
        block, user = self.users[name]
        self.pending[name] = node
        makes_tree = user.opcode in (*OPERATORS, "store") or MATRIX in user.text
        if self.uses[name] > 1 or block is not self.block or not makes_tree:
            self.settle(name)

    @staticmethod
    def contracts(words: str) -> bool:
        return re.search(r"\b(?:contract|fast)\b", words) is not None

    # --- matrices

    def matrix(self, item: Instruction, call: Call) -> None:
        word = call.name.removeprefix(MATRIX)
        make = next((make for start, make in _MATRICES.items() if word.startswith(start)), None)
        vector = vector_of(call.type if call.type != "void" else call.arguments[0].type)
        if make is None or vector is None:
            raise self.fail(f"'{call.name}' is not an operation on matrices that is known here", "ir-operation")
        if self.module.options.row_major:
            self.transpose_operation(word, call)
        make(self, item, call, vector)

    def transpose_operation(self, word: str, call: Call) -> None:
        """Rewrite an operation on row-major matrices as one on their transposes, whose elements have the same order."""
        arguments = call.arguments
        if word.startswith("column.major"):
            raise self.fail(f"'{call.name}' of row-major matrices is not supported, as in LLVM")
        first = 1
        if word.startswith("multiply"):
            arguments[0], arguments[1] = arguments[1], arguments[0]
            first = 2
        arguments[first], arguments[-1] = arguments[-1], arguments[first]

    def multiply(self, item: Instruction, call: Call, vector: Vector) -> None:
        m, k, n = (int(argument.value) for argument in call.arguments[2:5])
        parts = (self.node(call.arguments[0], (m, k)), self.node(call.arguments[1], (k, n)))
        contract = self.contracts(call.before) if vector.element[0] != "i" else None
        self.hold(item, self.combined(Node("product", vector, (m, n), parts, contract)))

    def transpose(self, item: Instruction, call: Call, vector: Vector) -> None:
        rows, columns = (int(argument.value) for argument in call.arguments[1:3])
        part = self.node(call.arguments[0], (rows, columns))
        self.hold(item, self.combined(Node("transpose", vector, (columns, rows), (part,))))

    def column_load(self, item: Instruction, call: Call, vector: Vector) -> None:
        memory = self.columns(call.arguments, vector)
        if not is_aligned(call.arguments[0], vector):
            self.settle_loads()
            place = self.allocate(vector)
            self.copy_columns(place, memory, load=True)
            memory = Node("object", vector, memory.shape, value=place)
        self.hold(item, memory)
        if memory.volatile and item.result in self.pending:
            self.settle(item.result or "")

    def column_store(self, item: Instruction, call: Call, vector: Vector) -> None:
        out = self.columns(call.arguments[1:], vector)
        root = self.node(call.arguments[0], out.shape)
        self.settle_loads()
        if is_aligned(call.arguments[1], vector):
            self.call_tree(root, out, separate=not root.reads_memory)
        else:
            self.copy_columns(self.called(root, None).value, out, load=False)

    def columns(self, arguments: list[Argument], vector: Vector) -> Node:
        """Return the node of a matrix in memory; emit the extension of a stride that is not i64.

        The arguments are the pointer, the stride, whether accesses are volatile, and the numbers of rows and columns.
        """
        pointer, stride, volatile, rows, columns = (Argument(a.type, a.value) for a in arguments)
        if stride.type != "i64":
            value = stride.value if stride.value.isdigit() else self.define(f"zext {stride} to i64", "stride")
            stride = Argument("i64", value)
        node = Node("memory", vector, (int(rows.value), int(columns.value)), value=pointer, stride=stride)
        node.volatile = volatile.value in ("true", "1")
        return node

    def copy_columns(self, place: Argument, memory: Node, *, load: bool) -> None:
        """Copy a matrix, column by column, between `place` and memory that is not aligned to the elements' size."""
        assert memory.shape is not None and memory.stride is not None
        rows, columns = memory.shape
        column, volatile = Vector(rows, memory.vector.element), "volatile " * memory.volatile
        for number in range(columns):
            start = self.define(f"mul i64 {memory.stride.value}, {number}", "start")
            local_column = self.address(column, place, f"i64 {number * rows}")
            memory_column = self.address(column, memory.value, f"i64 {start}")
            self.copy(*((local_column, memory_column) if load else (memory_column, local_column)), column, volatile)


_MATRICES: dict[str, Callable[[Trees, Instruction, Call, Vector], None]] = {
    "multiply.": Trees.multiply,
    "transpose.": Trees.transpose,
    "column.major.load.": Trees.column_load,
    "column.major.store.": Trees.column_store,
}
