"""Canonical IR without matrices: their values become private storage, the operations calls of a library's functions.

Every value that has matrices in it gets an object of its own in the entry block, written where the value is made. A phi
has two: one that is written at the end of each block before it, and one that takes this over at the phi, so that
phis may name one another and blocks may leave elsewhere. LLVM's scalar replacement dissolves all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...matrices.strategies import Strategy
from ...matrices.strategies import Target as LibraryTarget
from ...matrices.variants import MatrixType
from . import parameters, subgroups
from .addresses import LOST, Addresses
from .calls import LibraryCalls
from .operations import ROWS, matrix_of, read_name
from .storage import Storage
from .targets import Targets
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
    split,
    tokens,
    type_end,
)

_COPY, _SET = "@llvm.memcpy.p0.p0.i64", "@llvm.memset.p0.i64"
_UNDEFINED = ("undef", "poison")
_NO_INLINING = re.compile(r" (?:noinline|optnone|minsize|optsize)\b")
_LINKAGE = re.compile(
    r"\b(?:external|internal|private|weak|weak_odr|linkonce|linkonce_odr|available_externally)\b ?"
    r"|\b(?:dso_local|hidden|protected)\b ?"
)


def lower(module: Module, strategy: Strategy, targets: Targets) -> list[LibraryCalls]:
    """Rewrites a canonical module in place; gives the library's functions that it calls now, for each target. Raises
    Malformed."""
    storage = Storage(strategy, targets.storage_size, module.types, targets.least_work_items)
    calls = {target: _library_calls(target, targets, n) for n, target in enumerate(targets.distinct)}
    carriers = {f.name for f in module.functions if _has_matrices(f.head, storage)}
    for function in module.functions:
        if function.name in carriers and function.is_kernel:
            raise Malformed("ir-operation", f"kernel '{function.name}' has a matrix as a parameter", str(function.head))
    if targets.replaced:
        subgroups.check_variables(module, storage.strategy)
    plain = parameters.state(module, storage)
    for function in module.functions:
        target = targets.functions[function.name]
        addresses = Addresses(function, storage, plain[function.name])
        _Lowering(function, addresses, calls[target], (carriers, targets.replaced)).run()
    names = {head.name for head in module.declarations}
    module.declarations = [head for head in module.declarations if not _is_operation(head)]
    for name, types in ((_COPY, ["ptr", "ptr", "i64", "i1"]), (_SET, ["ptr", "i8", "i64", "i1"])):
        if name[1:] not in names:
            module.declarations.append(Call("declare", "void", name, [Argument(t) for t in types]))
    module.rest = [inlinable(line) if line.startswith("attributes ") else line for line in module.rest]
    module.map_text(storage.lowered)
    made = [part for item in calls.values() for part in (item, item.of_work_group)]
    return [item for item in made if item is not None and item.instances]


def _library_calls(target: LibraryTarget, targets: Targets, number: int) -> LibraryCalls:
    of_work_group = None
    if target in targets.of_work_groups:
        of_work_group = LibraryCalls(target.of_work_group(), f".w{number}")
    return LibraryCalls(target, f".{number}" if number else "", of_work_group)


def inlinable(group: str) -> str:
    """A group of attributes without those that keep a function from being inlined; no group is empty."""
    return re.sub(r"\{ *\}$", "{ nounwind }", _NO_INLINING.sub("", group))


def _has_matrices(head: Call, storage: Storage) -> bool:
    return storage.carries(head.type) or any(storage.carries(argument.type) for argument in head.arguments)


def _is_operation(head: Call) -> bool:
    spelling = read_name(head.name)
    if spelling is None:
        return False
    types = [head.type, *(argument.type for argument in head.arguments)]
    return "Cooperative" in spelling.word or head.name.startswith("__cm_") or any(map(matrix_of, types))


class _Lowering:
    """`how`: the functions with matrices as parameters or results, and whether subgroup functions are replaced."""

    def __init__(
        self, function: Function, addresses: Addresses, calls: LibraryCalls, how: tuple[set[str], bool]
    ) -> None:
        self.function, self.addresses, self.calls = function, addresses, calls
        self.storage = addresses.storage
        self.carriers, self.replaced = how
        self.fresh = Names(function).fresh
        # The address of every value with matrices, and its type.
        self.places: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.entry: list[Instruction] = []
        self.edges: dict[str, list[Instruction]] = {}
        self.constants: dict[tuple[str, bool], str] = {}
        self.result = ""
        self.source = ""
        self.out: list[Instruction] = []

    def run(self) -> None:
        function = self.function
        self.head()
        for item in function.instructions():
            self.source = item.source
            kind = self.result_type(item)
            if item.result and kind and self.storage.carries(kind):
                self.types[item.result] = kind
                self.places[item.result] = self.allocate(kind, item.result[1:].strip('"'))
        for block in function.blocks:
            self.out = []
            self.phis(block)
            for item in block.instructions:
                self.source = item.source
                self.instruction(item)
            block.instructions = self.out
        for block in function.blocks:
            if block.label in self.edges:
                block.instructions[-1:-1] = self.edges[block.label]
        if self.entry:
            function.blocks[0].instructions[:0] = self.entry

    # --- pieces

    def fail(self, message: str) -> Malformed:
        return Malformed("ir-not-supported", message, self.source)

    def emit(self, text: str, result: str | None = None) -> None:
        self.out.append(Instruction(result, text, self.source))

    def allocate(self, kind: str, name: str) -> str:
        result = self.fresh(f"{name}.storage")
        align = self.storage.layout(kind)[1]
        self.entry.insert(0, Instruction(result, f"alloca {kind}, align {align}", self.source))
        return result

    def copy(self, target: str, source: str, kind: str) -> Instruction:
        size, align = self.storage.layout(kind)
        pointers = f"ptr align {align} {target}, ptr align {align} {source}"
        return Instruction(None, f"call void {_COPY}({pointers}, i64 {size}, i1 false)", self.source)

    def place(self, kind: str, value: str) -> str:
        """The address of a value."""
        if value in self.places:
            return self.places[value]
        if value in _UNDEFINED or value == "zeroinitializer":
            key = (kind, value == "zeroinitializer")
            if key not in self.constants:
                name = self.constants[key] = self.allocate(kind, "zero" if key[1] else "undefined")
                if key[1]:
                    size, align = self.storage.layout(kind)
                    text = f"call void {_SET}(ptr align {align} {name}, i8 0, i64 {size}, i1 false)"
                    self.entry.append(Instruction(None, text, self.source))
            return self.constants[key]
        raise self.fail(f"the constant {value} of a type with matrices is not supported yet")

    # --- heads

    def head(self) -> None:
        head, self.source = self.function.head, str(self.function.head)
        for argument in head.arguments:
            if self.storage.carries(argument.type):
                self.types[argument.value] = argument.type
                self.places[argument.value] = argument.value
                argument.type, argument.attributes = "ptr", ""
        if self.storage.carries(head.type):
            self.result = self.fresh("result.storage")
            head.arguments.insert(0, Argument("ptr", self.result))
            self.types[self.result], head.type = head.type, "void"
        if self.function.name in self.carriers:
            words = _LINKAGE.sub("", head.before.removeprefix("define")).split()
            words = [word for word in words if word not in ("noundef", "signext", "zeroext")]
            head.before = " ".join(["define", "internal", *words])
            after = re.sub(r" comdat(?:\([^)]*\))?", "", head.after)
            at = re.search(r" (?:#\d+|!|\{|section|align|gc)|$", after)
            assert at is not None
            head.after = f"{after[: at.start()]} alwaysinline{after[at.start() :]}"

    # --- types of results

    def result_type(self, item: Instruction) -> str | None:
        if item.result is None:
            return None
        if "call" in item.text and (call := parse_call(item.text)) is not None:
            return call.type
        make = _RESULTS.get(item.opcode)
        return make(self, operands(item.text)) if make is not None else None

    def extracted(self, operands: list[str]) -> str:
        """The type of a member, by the numbers that lead to it."""
        kind = parse_argument(tokens(operands[0])).type
        for index in operands[1:]:
            kind = self.storage.types.get(kind, kind)
            sequence = re.fullmatch(r"\[\d+ x (.*)\]", kind, re.DOTALL)
            record = re.fullmatch(r"<?\{(.*)\}>?", kind, re.DOTALL)
            if sequence:
                kind = sequence[1]
            elif record:
                kind = "".join(split(tokens(record[1]))[int(index)])
            else:
                raise self.fail(f"a value of type {kind} has no member {index}")
        return kind

    # --- instructions

    def phis(self, block: Block) -> None:
        kept, taken = [], []
        for item in block.instructions:
            if item.result not in self.places or item.opcode != "phi":
                kept.append(item)
                continue
            self.source = item.source
            kind = self.types[item.result]
            room = self.allocate(kind, f"{item.result[1:].strip(chr(34))}.next")
            for value, label in _incoming(item.text):
                edge = self.edges.setdefault(label, [])
                moved = self.copy(room, self.place(kind, value), kind)
                if not any(other.text == moved.text for other in edge):
                    edge.append(moved)
            taken.append(self.copy(self.places[item.result], room, kind))
        first = next((n for n, item in enumerate(kept) if item.opcode != "phi"), 0)
        block.instructions = kept[:first] + taken + kept[first:]

    def instruction(self, item: Instruction) -> None:
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None:
            self.call(item, call)
            return
        change = _CHANGES.get(item.opcode)
        if change is not None and change(self, item):
            return
        if item.result in self.places or any(self.uses(item.text, value) for value in self.types):
            raise self.fail(f"'{item.opcode}' of a value with matrices is not supported yet")
        self.out.append(item)

    @staticmethod
    def uses(text: str, value: str) -> bool:
        return value in text and re.search(re.escape(value) + r"(?![-\w.$\"])", text) is not None

    def load(self, item: Instruction) -> bool:
        if item.result not in self.places:
            self.not_opaque(parse_argument(tokens(operands(item.text)[1])).value)
            return False
        address = parse_argument(tokens(operands(item.text)[1]))
        self.addresses.check(address.value, item.source)
        self.out.append(self.copy(self.places[item.result], address.value, self.types[item.result]))
        return True

    def store(self, item: Instruction) -> bool:
        value, address = (parse_argument(tokens(text)) for text in operands(item.text)[:2])
        if not self.storage.carries(value.type):
            self.not_opaque(address.value)
            return False
        self.addresses.check(address.value, item.source)
        self.out.append(self.copy(address.value, self.place(value.type, value.value), value.type))
        return True

    def not_opaque(self, address: str) -> None:
        if self.addresses.matrix_at(address):
            raise self.fail("accessing the memory of a matrix as another type is not supported")

    def select(self, item: Instruction) -> bool:
        if item.result not in self.places:
            return False
        condition, *choices = (parse_argument(tokens(text)) for text in operands(item.text)[:3])
        first, second = (self.place(choice.type, choice.value) for choice in choices)
        chosen = self.fresh("chosen")
        self.emit(f"select {condition}, ptr {first}, ptr {second}", chosen)
        self.out.append(self.copy(self.places[item.result], chosen, self.types[item.result]))
        return True

    def freeze(self, item: Instruction) -> bool:
        if item.result not in self.places:
            return False
        value = parse_argument(tokens(operands(item.text)[0]))
        self.out.append(self.copy(self.places[item.result], self.place(value.type, value.value), value.type))
        return True

    def member(self, kind: str, base: str, indices: list[str]) -> str:
        name = self.fresh("member")
        path = ", ".join(f"i32 {index}" for index in ["0", *indices])
        self.emit(f"getelementptr inbounds {kind}, ptr {base}, {path}", name)
        return name

    def insert(self, item: Instruction) -> bool:
        if item.result not in self.places:
            return False
        whole, part, *indices = operands(item.text)
        old, new = parse_argument(tokens(whole)), parse_argument(tokens(part))
        here = self.places[item.result]
        self.out.append(self.copy(here, self.place(old.type, old.value), old.type))
        address = self.member(old.type, here, indices)
        if self.storage.carries(new.type):
            self.out.append(self.copy(address, self.place(new.type, new.value), new.type))
        else:
            self.emit(f"store {new}, ptr {address}")
        return True

    def extract(self, item: Instruction) -> bool:
        whole, *indices = operands(item.text)
        value = parse_argument(tokens(whole))
        if not self.storage.carries(value.type):
            return False
        address = self.member(value.type, self.place(value.type, value.value), indices)
        kind = self.extracted([whole, *indices])
        if item.result in self.places:
            self.out.append(self.copy(self.places[item.result], address, kind))
        else:
            self.emit(f"load {kind}, ptr {address}", item.result)
        return True

    def ret(self, item: Instruction) -> bool:
        if not self.result:
            return False
        value = parse_argument(tokens(operands(item.text)[0]))
        self.out.append(self.copy(self.result, self.place(value.type, value.value), value.type))
        self.emit("ret void")
        return True

    def alloca(self, item: Instruction) -> bool:
        kind = operands(item.text)[0]
        if self.storage.carries(kind):
            align = re.search(r", align (\d+)", item.text)
            wanted = max(self.storage.layout(kind)[1], int(align[1]) if align else 1)
            item.text = re.sub(r", align \d+", "", item.text) + f", align {wanted}"
            self.out.append(item)
            return True
        return False

    def element(self, item: Instruction) -> bool:
        """An address within an object that holds matrices goes by its members: bytes are of another layout."""
        if self.addresses.is_lost(item):
            raise self.fail(LOST)
        address = self.addresses.known.get(item.result or "")
        if address is None or address.root == item.result:
            return False
        found = self.addresses.path(address)
        if found is None:
            raise self.fail("an address within an object with matrices that no member starts at is not supported yet")
        indices = "".join(f", i32 {index}" for index in found[1])
        self.emit(f"getelementptr {address.kind}, ptr {address.root}{indices}", item.result)
        return True

    # --- calls

    def call(self, item: Instruction, call: Call) -> None:
        if call.name in self.carriers:
            self.call_of_carrier(item, call)
            return
        if call.name.startswith(("llvm.memcpy", "llvm.memmove", "llvm.memset")):
            self.bytes(item, call)
        if self.replaced and self.subgroup_function(item, call):
            return
        spelling = read_name(call.name)
        first = matrix_of(call.type) or next((m for a in call.arguments if (m := matrix_of(a.type))), None)
        row = spelling.row(first.component if first else None) if spelling is not None else None
        if spelling is not None and (first is not None or spelling.word in ("get", "set")):
            operands = [
                Argument("ptr", self.place(a.type, a.value)) if self.storage.carries(a.type) else a
                for a in call.arguments
            ]
            if spelling.word in ("get", "set"):
                self.access(item, call, spelling.word)
            elif spelling.word == "coordinates" and first is not None:
                self.append_all(self.calls.coordinates(item, first, operands[1]))
            elif row is not None:
                out = self.places.get(item.result or "", "")
                self.append_all(self.calls.operation(self, item, ROWS[row.instruction], spelling, call, operands, out))
            return
        if any(self.storage.carries(argument.type) for argument in call.arguments) or self.storage.carries(call.type):
            raise self.fail(f"a call of {call.callee} with matrices is not supported yet")
        self.out.append(item)

    def subgroup_function(self, item: Instruction, call: Call) -> bool:
        strategy = self.storage.strategy
        if subgroups.is_barrier(call):
            waits = subgroups.barrier(strategy, call)
            if waits is not None:
                self.emit(str(waits), item.result)
            return True
        found = subgroups.substitute(strategy, call, item.source)
        if found is not None:
            self.calls.subgroup_function(self, item, call, found)
        return found is not None

    def append_all(self, made: list[Instruction]) -> None:
        self.out += made

    def call_of_carrier(self, item: Instruction, call: Call) -> None:
        call.before = re.sub(r"\b(?:musttail|tail|notail) ", "", call.before)
        for argument in call.arguments:
            if self.storage.carries(argument.type):
                argument.value = self.place(argument.type, argument.value)
                argument.type, argument.attributes = "ptr", ""
        result = item.result
        if self.storage.carries(call.type):
            out = self.places[result] if result else self.allocate(call.type, "unused")
            call.arguments.insert(0, Argument("ptr", out))
            call.before = re.sub(r" (?:noundef|nofpclass\([^)]*\))", "", call.before)
            call.type, result = "void", None
        self.emit(str(call), result)

    def bytes(self, item: Instruction, call: Call) -> None:
        """A copy or a setting of memory: of as many bytes as the objects in it have now."""
        touched = [a.value for a in call.arguments[:2] if a.value in self.addresses.known]
        if touched and re.fullmatch(r"\d+", call.arguments[2].value):
            kinds = {self.addresses.of_size(value, int(call.arguments[2].value)) for value in touched}
            kind = kinds.pop() if len(kinds) == 1 else ""
            if not kind:
                raise self.fail("copying a part of an object with matrices is not supported yet")
            call.arguments[2].value = str(self.storage.layout(kind)[0])
            item.text = str(call)
        elif touched:
            raise self.fail("copying a part of an object with matrices is not supported yet")

    def access(self, item: Instruction, call: Call, word: str) -> None:
        spelling = read_name(call.name)
        matrix = spelling.matrix if spelling is not None else None
        matrix = self.pointee(call.arguments[0].value) if matrix is None else matrix
        self.append_all(self.calls.access(item, matrix, word, call.arguments))

    def pointee(self, address: str) -> MatrixType:
        """The matrix that a component access is about: the address is of an object, or within one."""
        matrix = matrix_of(self.addresses.matrix_at(address))
        if matrix is None:
            raise self.fail("a component's matrix is not known: the address is of no object in this function")
        return matrix


def _incoming(text: str) -> list[tuple[str, str]]:
    """The values and labels of a phi."""
    found = []
    first, *rest = operands(text)
    words = tokens(first)
    for part in ["".join(words[type_end(words, 0) :]).strip(), *rest]:
        value, label = split(tokens(part[1:-1]))
        found.append(("".join(value), "".join(label)[1:].strip('"')))
    return found


def _first_type(lowering: _Lowering, operands: list[str]) -> str:
    return parse_argument(tokens(operands[0])).type


_RESULTS: dict[str, Callable[[_Lowering, list[str]], str]] = {
    "load": lambda lowering, operands: operands[0],
    "phi": _first_type,
    "freeze": _first_type,
    "insertvalue": _first_type,
    "select": lambda lowering, operands: parse_argument(tokens(operands[1])).type,
    "extractvalue": lambda lowering, operands: lowering.extracted(operands),
}
_CHANGES: dict[str, Callable[[_Lowering, Instruction], bool]] = {
    "load": _Lowering.load,
    "store": _Lowering.store,
    "select": _Lowering.select,
    "freeze": _Lowering.freeze,
    "insertvalue": _Lowering.insert,
    "extractvalue": _Lowering.extract,
    "ret": _Lowering.ret,
    "alloca": _Lowering.alloca,
    "getelementptr": _Lowering.element,
}
