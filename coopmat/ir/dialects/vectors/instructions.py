"""Instructions on vectors in storage that are more than an operation on each element.

A handler gives False for an instruction that it leaves to others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..text import Argument, Call, Instruction, operands, parse_argument, tokens
from .nodes import Node, Shape, Vector, vector_of
from .texts import align, contracts, is_aligned, is_splat, numbers, runs

if TYPE_CHECKING:
    from .function import Vectors

MATRIX = "llvm.matrix."


# --- memory


def load(f: Vectors, item: Instruction) -> bool:
    vector = f.vectors.get(item.result or "")
    if vector is None:
        return False
    pointer = parse_argument(tokens(operands(item.text)[1]))
    volatile = item.text.startswith("load volatile")
    if vector.element == "i1":
        raise f.fail(f"{vector} in memory is not supported")
    if align(item.text) < vector.size:
        f.settle_loads()
        place = f.give(item, vector)
        _copy_memory(f, Argument("ptr", place), pointer, vector.count * vector.size, volatile)
        return True
    f.hold(item, Node("memory", vector, value=pointer, volatile=volatile))
    if volatile and item.result in f.pending:
        f.settle(item.result or "")
    return True


def store(f: Vectors, item: Instruction) -> bool:
    value, pointer = (parse_argument(tokens(text)) for text in operands(item.text)[:2])
    vector = vector_of(value.type)
    if vector is None or not (vector.is_wide or value.value in f.vectors):
        return False
    if vector.element == "i1":
        raise f.fail(f"{vector} in memory is not supported")
    volatile = item.text.startswith("store volatile")
    if value.value in ("undef", "poison"):
        return True
    if align(item.text) < vector.size:
        place = f.place(vector, value.value)
        f.settle_loads()
        _copy_memory(f, pointer, Argument("ptr", place), vector.count * vector.size, volatile)
        return True
    root = f.node(value)
    f.settle_loads()
    out = Node("memory", vector, value=pointer, volatile=volatile)
    f.call_to(root, out, separate=not root.reads_memory)
    return True


def _copy_memory(f: Vectors, target: Argument, source: Argument, size: int, volatile: bool) -> None:
    """Bytes, whatever their alignment."""
    spaces = [(re.search(r"\d+", a.type) or ["0"])[0] for a in (target, source)]
    name = f"@llvm.memcpy.p{spaces[0]}.p{spaces[1]}.i64"
    types = (target.type, source.type, "i64", "i1")
    f.module.heads.append(Call("declare", "void", name, [Argument(t) for t in types]))
    f.emit(f"call void {name}({target}, {source}, i64 {size}, i1 {str(volatile).lower()})")


def _copy_lines(f: Vectors, place: str, memory: Node, *, load: bool) -> None:
    """A matrix in storage from or to memory that is not aligned as its elements are."""
    assert memory.shape is not None and memory.stride is not None
    vector, (rows, columns) = memory.vector, memory.shape
    for column in range(columns):
        line = Argument("ptr", f.element(vector, place, f"i64 {column * rows}"))
        at = f.fresh("offset")
        f.emit(f"mul i64 {memory.stride.value}, {column}", at)
        there = Argument(memory.value.type, f.fresh("line"))
        f.emit(f"getelementptr inbounds {vector.element}, {memory.value}, i64 {at}", there.value)
        target, source = (line, there) if load else (there, line)
        _copy_memory(f, target, source, rows * vector.size, memory.volatile)


def alloca(f: Vectors, item: Instruction) -> bool:
    kind, *more = operands(item.text)
    vector = vector_of(kind)
    if vector is None or not vector.is_wide or more:
        return False
    # As much room as LLVM takes for it.
    item.text = item.text.replace(kind, f"[{1 << (vector.count - 1).bit_length()} x {vector.stored}]", 1)
    f.out.append(item)
    return True


# --- matrices


def matrix(f: Vectors, item: Instruction, call: Call) -> None:
    arguments = [Argument(a.type, a.value) for a in call.arguments]
    word = call.name.removeprefix(MATRIX)
    make = next((make for start, make in _MATRICES.items() if word.startswith(start)), None)
    if make is None:
        raise f.fail(f"'{call.name}' is not an operation on matrices that is known here", "ir-operation")
    make(f, item, call, arguments)


def _shaped(f: Vectors, argument: Argument, shape: Shape) -> Node:
    """An operand that is a matrix of this shape."""
    node = f.node(argument)
    if node.shape not in (None, shape):
        place = f.allocate(node.vector, "shaped")
        f.call(node, place)
        node = Node("object", node.vector, value=Argument("ptr", place))
    node.shape = shape
    return node


def _multiply(f: Vectors, item: Instruction, call: Call, arguments: list[Argument]) -> None:
    m, k, n = (int(argument.value) for argument in arguments[2:5])
    parts = (_shaped(f, arguments[0], (m, k)), _shaped(f, arguments[1], (k, n)))
    vector = vector_of(call.type)
    assert vector is not None
    contract = contracts(call.before) if vector.element[0] != "i" else None
    f.hold(item, f.combined(Node("product", vector, (m, n), parts, contract)))


def _transpose(f: Vectors, item: Instruction, call: Call, arguments: list[Argument]) -> None:
    rows, columns = (int(argument.value) for argument in arguments[1:3])
    part = _shaped(f, arguments[0], (rows, columns))
    f.hold(item, f.combined(Node("transpose", part.vector, (columns, rows), (part,))))


def _load_matrix(f: Vectors, item: Instruction, call: Call, arguments: list[Argument]) -> None:
    pointer, stride, volatile, rows, columns = arguments
    vector = vector_of(call.type)
    assert vector is not None
    node = Node("memory", vector, (int(rows.value), int(columns.value)), value=pointer, stride=_stride(f, stride))
    node.volatile = volatile.value in ("true", "1")
    if not is_aligned(call.arguments[0], vector):
        f.settle_loads()
        _copy_lines(f, f.give(item, vector), node, load=True)
        return
    f.hold(item, node)
    if node.volatile and item.result in f.pending:
        f.settle(item.result or "")


def _store_matrix(f: Vectors, item: Instruction, call: Call, arguments: list[Argument]) -> None:
    value, pointer, stride, volatile, rows, columns = arguments
    root = _shaped(f, value, (int(rows.value), int(columns.value)))
    out = Node("memory", root.vector, root.shape, value=pointer, stride=_stride(f, stride))
    out.volatile = volatile.value in ("true", "1")
    f.settle_loads()
    if is_aligned(call.arguments[1], root.vector):
        f.call_to(root, out, separate=not root.reads_memory)
        return
    place = f.allocate(root.vector, "unaligned")
    f.call(root, place)
    _copy_lines(f, place, out, load=False)


def _stride(f: Vectors, stride: Argument) -> Argument:
    if stride.type == "i64" or re.fullmatch(r"\d+", stride.value):
        return Argument("i64", stride.value)
    name = f.fresh("stride")
    f.emit(f"zext {stride} to i64", name)
    return Argument("i64", name)


# --- elements


def extract(f: Vectors, item: Instruction) -> bool:
    whole, index = (parse_argument(tokens(text)) for text in operands(item.text))
    vector = vector_of(whole.type)
    if vector is None:
        return False
    address = f.element(vector, f.place(vector, whole.value), str(index))
    if vector.element == "i1":
        bits = f.fresh("bits")
        f.emit(f"load i8, ptr {address}, align 1", bits)
        f.emit(f"trunc i8 {bits} to i1", item.result)
    else:
        f.emit(f"load {vector.element}, ptr {address}, align {vector.size}", item.result)
    return True


def insert(f: Vectors, item: Instruction) -> bool:
    whole, part, index = (parse_argument(tokens(text)) for text in operands(item.text))
    vector = f.vectors.get(item.result or "")
    if vector is None or item.result is None:
        return False
    if index.value == "0" and f.uses[item.result] == 1 and is_splat(f.users[item.result][1]):
        f.splats[item.result] = part.value
        return True
    before = f.inserted.get(whole.value)
    if before is f.block and f.uses[whole.value] == 1:
        f.places[item.result] = f.places[whole.value]
    elif whole.value not in ("undef", "poison"):
        source = f.place(vector, whole.value) if whole.value in f.vectors or whole.value[:1] != "%" else ""
        source = source or f.spilled(vector, whole.value)
        f.copy(f.give(item, vector), source, vector)
    f.inserted[item.result] = f.block
    address = f.element(vector, f.give(item, vector), str(index))
    value = part.value
    if vector.element == "i1":
        value = f.fresh("bits")
        f.emit(f"zext i1 {part.value} to i8", value)
    f.emit(f"store {vector.stored} {value}, ptr {address}, align {vector.size}")
    return True


def shuffle(f: Vectors, item: Instruction) -> bool:
    first, second, mask = (parse_argument(tokens(text)) for text in operands(item.text))
    vector, wanted = vector_of(first.type), vector_of(mask.type)
    if vector is None or wanted is None:
        return False
    result = Vector(wanted.count, vector.element)
    if mask.value == "zeroinitializer" and first.value in f.splats and item.result in f.vectors:
        scalar = Argument(vector.element, f.splats[first.value])
        f.hold(item, Node("broadcast", result, value=scalar))
        return True
    chosen = numbers(mask.value, wanted.count, f.fail)
    used = [any(n is not None and n // vector.count == side for n in chosen) for side in (0, 1)]
    sources = [
        _source_of(f, vector, side.value) if needed else "" for side, needed in zip((first, second), used, strict=True)
    ]
    held = item.result in f.vectors
    place = f.give(item, result) if held else f.allocate(result, "shuffled")
    for at, number, length in runs(chosen, vector.count):
        source = f.element(vector, sources[number // vector.count], f"i64 {number % vector.count}")
        target = f.element(vector, place, f"i64 {at}")
        f.copy(target, source, Vector(length, vector.element))
    if not held:
        part = f.load(result, place, 0, result.count)
        f.out[-1].result = item.result
        assert part
    return True


def _source_of(f: Vectors, vector: Vector, value: str) -> str:
    if value[:1] == "%" and value not in f.vectors:
        return f.spilled(vector, value)
    return f.place(vector, value)


def bitcast(f: Vectors, item: Instruction) -> bool:
    value, _, kind = item.text.removeprefix("bitcast ").rpartition(" to ")
    source = parse_argument(tokens(value))
    have, want = vector_of(source.type), f.vectors.get(item.result or "")
    if "i1" in (have.element if have else "", want.element if want else ""):
        return False
    if have is not None and (source.value in f.vectors or have.is_wide):
        place = f.place(have, source.value)
        if want is None:
            f.emit(f"load {kind}, ptr {place}, align {have.size}", item.result)
        else:
            same = Vector(have.count * have.size // min(have.size, want.size), f"i{8 * min(have.size, want.size)}")
            f.copy(f.give(item, want), place, same)
        return True
    if want is None:
        return False
    f.emit(f"store {source}, ptr {f.give(item, want)}, align {want.size}")
    return True


def select(f: Vectors, item: Instruction) -> bool:
    vector = f.vectors.get(item.result or "")
    condition, *choices = (parse_argument(tokens(text)) for text in operands(item.text)[:3])
    if vector is None or condition.type != "i1":
        return False
    first, second = (_source_of(f, vector, choice.value) for choice in choices)
    chosen = f.fresh("chosen")
    f.emit(f"select {condition}, ptr {first}, ptr {second}", chosen)
    f.copy(f.give(item, vector), chosen, vector)
    return True


# --- calls


def call_of_own(f: Vectors, item: Instruction, call: Call) -> None:
    f.settle_loads()
    call.before = re.sub(r"\b(?:musttail|tail|notail) ", "", call.before)
    for argument in call.arguments:
        vector = vector_of(argument.type)
        if vector is not None and vector.is_wide:
            # The callee only reads it.
            argument.value = f.place(vector, argument.value)
            argument.type, argument.attributes = "ptr", ""
        elif vector is not None:
            argument.value = f.value(vector, argument.value)
    result = vector_of(call.type)
    if result is not None and result.is_wide:
        place = f.give(item, result) if item.result else f.allocate(result, "unused")
        call.arguments.insert(0, Argument("ptr", place))
        call.before = re.sub(r" (?:noundef|nofpclass\([^)]*\))", "", call.before)
        call.type = "void"
        f.emit(str(call))
        return
    f.emit(str(call), item.result)
    if item.result in f.vectors:
        vector = f.vectors[item.result]
        f.store(vector, f.give(item, vector), 0, vector.count, item.result)


def ret(f: Vectors, item: Instruction) -> bool:
    if not f.result:
        return False
    value = parse_argument(tokens(operands(item.text)[0]))
    vector = vector_of(value.type)
    assert vector is not None
    if value.value not in ("undef", "poison"):
        f.copy(f.result, f.place(vector, value.value), vector)
    f.emit("ret void")
    return True


HANDLERS: dict[str, Callable[[Vectors, Instruction], bool]] = {
    "load": load,
    "store": store,
    "alloca": alloca,
    "extractelement": extract,
    "insertelement": insert,
    "shufflevector": shuffle,
    "bitcast": bitcast,
    "select": select,
    "ret": ret,
}
_MATRICES: dict[str, Callable[[Vectors, Instruction, Call, list[Argument]], None]] = {
    "multiply.": _multiply,
    "transpose.": _transpose,
    "column.major.load.": _load_matrix,
    "column.major.store.": _store_matrix,
}
