"""The translation of Intel's dialect to canonical operations, which `canonical` then checks like other dialects'."""

from __future__ import annotations

import re

from ....matrices.placeholders import mangle_instruction
from ....matrices.variants import MatrixType
from ..operations import read_name as read_canonical, tag, type_text
from ..text import NAME, Argument, Call, Function, Instruction, Malformed, Module, Names, operands, parse_call, quoted
from . import operands as operation
from .flow import BINARY, CASTS, RETURNED, Flow, incoming, result_type, splat, typed, without_flags
from .spelling import MENTION, Name, read_name, shape_of, tags

_SPLAT = re.compile(r"splat \((\S+ .*)\)", re.DOTALL)
_SIGNED = 15  # all operand bits for signs: integers of this dialect count as signed


def read(module: Module) -> None:
    """Translate a module in place; a module that does not use Intel's dialect is unchanged. Raise Malformed."""
    if not any(map(_is_intel, module.declarations)) and MENTION not in str(module):
        return
    for function in module.functions:
        _split_loads(function)
    flow = Flow(module)
    calls: dict[str, Call] = {}
    for function in module.functions:
        _Reading(flow, function, calls).run()
    for function in module.functions:
        _head(flow, function)
    obsolete_names = {head.name for head in module.declarations if read_name(head.name) or head.name in calls}
    module.declarations = [head for head in module.declarations if head.name not in obsolete_names]
    for name, call in calls.items():
        arguments = [Argument(argument.type) for argument in call.arguments]
        module.declarations.append(Call("declare", call.type, quoted("@", name), arguments))


def _is_intel(head: Call) -> bool:
    if read_name(head.name) is not None:
        return True
    types = (head.type, *(argument.type for argument in head.arguments))
    return read_canonical(head.name) is not None and any(map(shape_of, types)) and bool(tags(head.name))


def _split_loads(function: Function) -> None:
    """Duplicate loads whose value has several uses (A of one multiply-add, B of another): a matrix has only one."""
    roles: dict[str, dict[str, str]] = {}
    fresh = Names(function).fresh
    loads = {
        i.result: i for i in function.instructions() if i.result and _word(i) == "load" and "i1 true" not in i.text
    }
    copies: dict[str, list[Instruction]] = {}
    for item in function.instructions():
        call = parse_call(item.text) if _word(item) == "mad" else None
        matrices = [argument for argument in call.arguments if shape_of(argument.type)] if call else []
        for argument, role in zip(matrices, "ABC", strict=False):
            load = loads.get(argument.value)
            if load is None or call is None:
                continue
            names = roles.setdefault(argument.value, {})
            if role not in names:
                names[role] = fresh(f"{argument.value[1:].strip(chr(34))}.{role}") if names else argument.value
                if names[role] != argument.value:
                    copies.setdefault(argument.value, []).append(Instruction(names[role], load.text, load.source))
            argument.value = names[role]
        if call is not None:
            item.text = str(call)
    for block in function.blocks:
        block.instructions = [i for item in block.instructions for i in (item, *copies.get(item.result or "", ()))]


def _word(item: Instruction) -> str:
    call = parse_call(item.text) if "atrix" in item.text else None
    name = read_name(call.name) if call is not None else None
    return name.word if name is not None else ""


def _head(flow: Flow, function: Function) -> None:
    for argument in function.head.arguments:
        matrix = flow.matrix(function.name, argument.value)
        argument.type = argument.type if matrix is None else type_text(matrix)
    result = flow.matrix(function.name, RETURNED)
    function.head.type = function.head.type if result is None else type_text(result)


class _Reading:
    """The translation of a function; `calls` collects name -> call of the canonical operations that are used."""

    def __init__(self, flow: Flow, function: Function, calls: dict[str, Call]) -> None:
        self.flow, self.function, self.calls = flow, function, calls
        self.fresh = Names(function).fresh
        self.entry: list[Instruction] = []
        self.fills: dict[tuple[str, str], str] = {}
        self.renamed: dict[str, str] = {}
        self.source = ""

    def run(self) -> None:
        function = self.function
        unused: set[str] = set()
        for block in function.blocks:
            instructions = []
            for item in block.instructions:
                self.source = item.source
                if item.opcode == "shufflevector" and self.matrix(item.result or "") is not None:
                    unused.add(typed(operands(item.text)[0]).value)
                if self.instruction(item):
                    instructions.append(item)
            block.instructions = instructions
        function.blocks[0].instructions[:0] = self.entry
        self.rename()
        for name in unused:
            if not any(_mentions(item.text, name) for item in function.instructions()):
                for block in function.blocks:
                    block.instructions = [item for item in block.instructions if item.result != name]

    def rename(self) -> None:
        """Replace the results of conversions between the two kinds of matrices by their operands."""
        if not self.renamed:
            return

        def change(match: re.Match[str]) -> str:
            name = match[0]
            while name in self.renamed:
                name = self.renamed[name]
            return name

        for item in self.function.instructions():
            item.text = NAME.sub(change, item.text)

    def matrix(self, value: str) -> MatrixType | None:
        return self.flow.matrix(self.function.name, value)

    def instruction(self, item: Instruction) -> bool:
        """Translate an instruction in place; return False if it must be removed."""
        if "call" in item.text and (call := parse_call(item.text)) is not None:
            return self.call(item, call)
        matrix = self.matrix(item.result or "")
        if item.opcode in ("store", "ret"):
            self.stored(item)
        elif matrix is not None and item.opcode in ("load", "alloca", "freeze", "phi", "select"):
            self.retyped(item, matrix)
        elif matrix is not None and item.opcode == "shufflevector":
            scalar = splat(self.function, item)
            assert scalar is not None
            self.operation(item, mangle_instruction("CompositeConstruct"), matrix, [scalar], tag(matrix))
        elif matrix is not None:
            self.arithmetic(item, matrix)
        return True

    # --- operands

    def operand(self, type_: str, value: str, matrix: MatrixType) -> Argument:
        """Return a value or constant as an operand of canonical type; `matrix` is the type that the use expects."""
        own_type = self.matrix(value) if value.startswith("%") else matrix
        own_type = matrix if own_type is None else own_type
        return Argument(type_text(own_type), self.constant(type_, value, own_type))

    def constant(self, type_: str, value: str, matrix: MatrixType) -> str:
        """Return a constant as a canonical matrix: a splat becomes a fill at the start of the function.

        Other constants, such as undef, are unchanged. Raise Malformed for a constant of different components.
        """
        if value[:1] == "<":
            raise Malformed(
                "ir-not-supported", f"a constant matrix of different components: {type_} {value}", self.source
            )
        match = _SPLAT.fullmatch(value)
        if match is None:
            return value
        key = (type_text(matrix), match[1])
        if key not in self.fills:
            self.fills[key] = self.fresh("filled")
            item = Instruction(self.fills[key], "", self.source)
            self.operation(item, mangle_instruction("CompositeConstruct"), matrix, [typed(match[1])], tag(matrix))
            self.entry.append(item)
        return self.fills[key]

    # --- translations

    def operation(
        self, item: Instruction, name: str, result: MatrixType | None, arguments: list[Argument], more: str = ""
    ) -> None:
        name = f"{name}_{more}" if more else name
        call = Call("call", type_text(result) if result else "void", quoted("@", name), arguments)
        self.calls.setdefault(name, call)
        item.text = str(call)

    def retyped(self, item: Instruction, matrix: MatrixType) -> None:
        """Change the type of an instruction whose operands and result have the same type."""
        old, new = result_type(item), type_text(matrix)
        if item.opcode == "phi":
            item.text = without_flags(item.text)
            for value in incoming(item)[1]:
                if not value.startswith("%"):
                    item.text = item.text.replace(f"[ {value},", f"[ {self.constant(old, value, matrix)},")
            item.text = item.text.replace(old, new, 1)
        elif item.opcode == "select":
            condition, *choices = (typed(part) for part in operands(without_flags(item.text))[:3])
            first, second = (self.operand(choice.type, choice.value, matrix) for choice in choices)
            item.text = f"select {condition}, {first}, {second}"
        elif item.opcode == "alloca":
            # A vector has a larger alignment than a matrix.
            item.text = re.sub(r", align \d+", ", align 8", item.text.replace(old, new, 1))
        else:
            item.text = re.sub(r", align \d+", "", item.text.replace(old, new, 1))

    def stored(self, item: Instruction) -> None:
        parts = operands(item.text)
        value = typed(parts[0]) if parts and parts[0] != "void" else None
        matrix = None
        if value is not None and item.opcode == "ret":
            matrix = self.matrix(RETURNED)
        elif value is not None:
            matrix = self.matrix(typed(parts[1]).value)
        if value is not None and matrix is not None:
            argument = self.operand(value.type, value.value, matrix)
            item.text = re.sub(r", align \d+", "", item.text).replace(str(value), str(argument), 1)

    def arithmetic(self, item: Instruction, matrix: MatrixType) -> None:
        first, *rest = operands(without_flags(item.text))
        if item.opcode in CASTS:
            value = typed(first.rpartition(" to ")[0])
            source = self.matrix(value.value)
            if source is None:
                raise Malformed("ir-not-supported", f"'{item.opcode}' of a constant matrix", self.source)
            arguments, name = [self.operand(value.type, value.value, source)], CASTS[item.opcode]
            self.operation(item, mangle_instruction(name), matrix, arguments, f"{tag(source)}_{tag(matrix)}")
            return
        value = typed(first)
        values = [value.value, *rest] if item.opcode in BINARY else [value.value]
        arguments = [self.operand(value.type, other, matrix) for other in values]
        self.operation(item, mangle_instruction(BINARY.get(item.opcode, "FNegate")), matrix, arguments, tag(matrix))

    # --- calls

    def call(self, item: Instruction, call: Call) -> bool:
        name = read_name(call.name)
        if name is not None and name.word in ("flat", "matrix"):
            if item.result:
                self.renamed[item.result] = call.arguments[0].value
            return False
        if name is not None:
            self.intel(item, call, name)
        elif read_canonical(call.name) is not None and tags(call.name):
            self.canonical(item, call)
        elif call.name in self.flow.functions:
            self.function_call(item, call)
        return True

    def intel(self, item: Instruction, call: Call, name: Name) -> None:
        read = operation.read(item, call, name)
        layout = Argument("i32", str(int(read.layout)))
        memory = [Argument("i32", "1")] if read.volatile else []
        if name.word == "mad":
            values = [a for a in call.arguments if shape_of(a.type)]
            arguments = [self.operand(a.type, a.value, m) for a, m in zip(values, read.matrices, strict=False)]
            mask = _SIGNED if read.matrices[2].component.is_integer else 0
            result = self.matrix(item.result or "") or read.matrices[3]
            arguments.append(Argument("i32", str(mask)))
            self.operation(item, mangle_instruction("CooperativeMatrixMulAddKHR"), result, arguments)
            return
        assert read.pointer is not None and read.stride is not None
        pointer, stride = Argument(read.pointer.type, read.pointer.value), Argument(read.stride.type, read.stride.value)
        if name.word == "load":
            result = self.matrix(item.result or "") or read.matrices[0]
            self.operation(
                item, mangle_instruction("CooperativeMatrixLoadKHR"), result, [pointer, layout, stride, *memory]
            )
        else:
            stored = call.arguments[0]
            value = self.operand(stored.type, stored.value, read.matrices[0])
            arguments = [pointer, value, layout, stride, *memory]
            self.operation(item, mangle_instruction("CooperativeMatrixStoreKHR"), None, arguments)

    def canonical(self, item: Instruction, call: Call) -> None:
        """Translate the operands of a canonical operation on Intel's types, for which the dialect has no name."""
        matrix_types = iter(tags(call.name))
        last = None
        for argument in call.arguments:
            if shape_of(argument.type):
                last = next(matrix_types, last)
                assert last is not None
                operand = self.operand(argument.type, argument.value, last)
                argument.type, argument.value = operand.type, operand.value
        result = self.matrix(item.result or "")
        if result is not None:
            call.type = type_text(result)
        self.calls.setdefault(call.name, call)
        item.text = str(call)

    def function_call(self, item: Instruction, call: Call) -> None:
        callee = self.flow.functions[call.name]
        for argument, parameter in zip(call.arguments, callee.head.arguments, strict=False):
            matrix = self.flow.matrix(callee.name, parameter.value)
            if matrix is not None:
                operand = self.operand(argument.type, argument.value, matrix)
                argument.type, argument.value = operand.type, operand.value
        result = self.flow.matrix(callee.name, RETURNED)
        call.type = call.type if result is None else type_text(result)
        item.text = str(call)


def _mentions(text: str, name: str) -> bool:
    return name in text and re.search(re.escape(name) + r"(?![-\w.$\"])", text) is not None
