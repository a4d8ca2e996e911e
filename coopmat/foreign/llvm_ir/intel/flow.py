"""The inference of matrix types in a module of Intel's dialect.

Neither the dialect's flat vectors nor its opaque types state the use, and a vector does not state the shape.

Values that flow into one another (by phis, selects, variables, parameters, results, arithmetic) have the same shape,
use and scope. The operations on any of these values state them. The component type is that of each value's own type. If
no operation states the use, it is an accumulator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....matrices.variants import SCOPE_SUBGROUP, MatrixType, Use
from ..operations import read_name as read_canonical
from ..text import (
    NAME,
    Argument,
    Call,
    Function,
    Instruction,
    Malformed,
    Module,
    operands,
    parse_argument,
    parse_call,
    tokens,
    type_end,
)
from . import operands as operation
from .spelling import Name, Shape, read_name, shape_of, tags

BINARY = {"add": "IAdd", "sub": "ISub", "mul": "IMul", "sdiv": "SDiv", "udiv": "UDiv"}
BINARY |= {f"f{name}": f"F{name.capitalize()}" for name in ("add", "sub", "mul", "div")}
CASTS = {"fpext": "FConvert", "fptrunc": "FConvert", "sitofp": "ConvertSToF", "uitofp": "ConvertUToF"}
CASTS |= {"fptosi": "ConvertFToS", "fptoui": "ConvertFToU", "sext": "SConvert", "trunc": "SConvert", "zext": "UConvert"}
_FLAGS = re.compile(r"^(\w+) (?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|nuw|nsw|exact|nneg) )+")
_USES = ("A", "B", "an accumulator")

Key = tuple[str, str]
RETURNED = "ret"  # the name under which a function's result is stored among its values


def without_flags(text: str) -> str:
    return _FLAGS.sub(r"\1 ", text)


def typed(text: str) -> Argument:
    return parse_argument(tokens(text))


def result_type(item: Instruction) -> str:
    """Return the result type of an instruction that may yield a matrix; an empty string for other instructions."""
    if "call" in item.text and (call := parse_call(item.text)) is not None:
        return call.type
    if item.opcode in CASTS:
        return item.text.rpartition(" to ")[2]
    parts = operands(without_flags(item.text))
    if item.opcode in ("load", "alloca"):
        return parts[0]
    if item.opcode == "select":
        return typed(parts[1]).type
    if item.opcode in ("phi", "freeze", "fneg", "shufflevector", *BINARY):
        words = tokens(parts[0])
        return "".join(words[: type_end(words, 0)])
    return ""


def incoming(item: Instruction) -> tuple[str, list[str]]:
    """Return the type and the incoming values of a phi."""
    parts = operands(without_flags(item.text))
    kind = result_type(item)
    pairs = [parts[0][len(kind) :], *parts[1:]]
    return kind, [pair.strip()[1:-1].partition(",")[0].strip() for pair in pairs]


@dataclass(slots=True)
class Kind:
    """The shape, use and scope of values that flow into one another; None if no operation states them.

    foreign: the message and the line of an instruction that uses one of the values, but cannot use matrices.
    is_matrix: whether an operation uses one of the values as a matrix.
    """

    shape: tuple[int, int] | None = None
    use: Use | None = None
    scope: int | None = None
    foreign: tuple[str, str] | None = None
    is_matrix: bool = False

    def matrix(self, own: Shape) -> MatrixType:
        rows, columns = self.shape or (own.rows, own.columns)
        use = Use.ACCUMULATOR if self.use is None else self.use
        return MatrixType(own.component, rows, columns, use, self.scope or SCOPE_SUBGROUP)


class Flow:
    """The data flow of a module's matrices.

    The constructor raises Malformed if operations contradict each other, or if a matrix flows into an instruction that
    cannot use matrices.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.functions = {function.name: function for function in module.functions}
        self.shapes: dict[Key, Shape] = {}
        self._above: dict[Key, Key] = {}
        self._kinds: dict[Key, Kind] = {}
        for function in module.functions:
            self._values(function)
        for function in module.functions:
            _Links(self, function).run()
        for function in module.functions:
            for item in function.instructions():
                if "call" in item.text and (call := parse_call(item.text)) is not None:
                    self._record_call(function, item, call)
        for key in self.shapes:
            kind = self.kind(key)
            if kind.foreign is not None and (kind.is_matrix or not self.shapes[key].count):
                raise Malformed("ir-not-supported", *kind.foreign)

    def matrix(self, function: str, value: str) -> MatrixType | None:
        """Return the matrix type of a value in a function; None if the value is no matrix of Intel's dialect."""
        key = (function, value)
        own = self.shapes.get(key)
        if own is None:
            return None
        kind = self.kind(key)
        # A value of an opaque type is a matrix, even if no operation uses it.
        return kind.matrix(own) if kind.is_matrix or not own.count else None

    # --- values

    def _values(self, function: Function) -> None:
        def add(name: str, kind: str, line: str) -> None:
            shape = shape_of(kind, line)
            if shape is not None:
                self.shapes[function.name, name] = shape

        for argument in function.head.arguments:
            add(argument.value, argument.type, str(function.head))
        add(RETURNED, function.head.type, str(function.head))
        for item in function.instructions():
            if item.result and item.opcode not in ("getelementptr", "icmp", "fcmp"):
                add(item.result, result_type(item), item.source)

    def kind(self, key: Key) -> Kind:
        return self._kinds.setdefault(self._root(key), Kind())

    def _root(self, key: Key) -> Key:
        while key in self._above:
            key = self._above[key]
        return key

    def link(self, first: Key, second: Key) -> None:
        if first not in self.shapes or second not in self.shapes:
            return
        one, other = self._root(first), self._root(second)
        if one != other:
            self._above[other] = one
            lost, merged = self._kinds.pop(other, Kind()), self._kinds.setdefault(one, Kind())
            merged.foreign = merged.foreign or lost.foreign

    # --- facts that operations state

    def _record_call(self, function: Function, item: Instruction, call: Call) -> None:
        for value, matrix, use in told(item, call):
            key = (function.name, value)
            if key in self.shapes:
                self._tell(key, matrix, use, item.source)

    def _tell(self, key: Key, matrix: MatrixType, use: Use | None, line: str) -> None:
        kind, shape = self.kind(key), (matrix.rows, matrix.columns)
        own, kind.is_matrix = self.shapes[key], True
        if not own.fits(*shape):
            raise Malformed(
                "ir-operation", f"a matrix of {shape[0]} x {shape[1]} does not fit the type of {key[1]}", line
            )
        for what, earlier, stated in (("shape", kind.shape, shape), ("scope", kind.scope, matrix.scope)):
            if earlier not in (None, stated):
                raise Malformed("ir-operation", f"{key[1]} is of {what} {stated} here and of {earlier} elsewhere", line)
        if use is not None and kind.use not in (None, use):
            message = f"{key[1]} is {_USES[use]} here and {_USES[kind.use or 0]} elsewhere: store it, and load it again"
            raise Malformed("ir-not-supported", message, line)
        kind.shape, kind.scope = shape, matrix.scope
        kind.use = kind.use if use is None else use


def told(item: Instruction, call: Call) -> Iterator[tuple[str, MatrixType, Use | None]]:
    """Yield each value of an operation with the matrix type and use that the operation states.

    The component of that type has no meaning.
    """
    name = read_name(call.name)
    if name is not None:
        yield from _told_by_intel(item, call, name)
    elif read_canonical(call.name) is not None:
        values = [argument.value for argument in call.arguments if shape_of(argument.type)]
        matrices = tags(call.name)
        # The result of a coordinates operation is a vector, but no matrix.
        result = matrices[-1:] if shape_of(call.type) and "coordinates" not in call.name else []
        for value, matrix in zip(
            [*values, item.result or ""], [*_repeated(matrices, len(values)), *result], strict=False
        ):
            yield value, matrix, matrix.use


def _repeated(matrices: list[MatrixType], count: int) -> list[MatrixType]:
    return matrices[:count] if len(matrices) >= count else matrices[:1] * count


def _told_by_intel(item: Instruction, call: Call, name: Name) -> Iterator[tuple[str, MatrixType, Use | None]]:
    result = item.result or ""
    if name.word in ("flat", "matrix"):
        assert name.matrix is not None
        yield result if name.word == "flat" else call.arguments[0].value, name.matrix, name.matrix.use
        return
    read = operation.read(item, call, name)
    if name.word == "mad":
        for value, matrix in zip(
            (*(a.value for a in call.arguments if shape_of(a.type)), result), read.matrices, strict=True
        ):
            yield value, matrix, matrix.use
    else:
        value = result if name.word == "load" else call.arguments[0].value
        yield value, read.matrices[0], name.matrix.use if name.matrix else None


# --- the flow of matrices between values -----------------------------------------------------------------


class _Links:
    """A visitor that links in `flow` the values of one function between which matrices flow, also through calls.

    If an instruction does not support matrices, its matrices are marked with an error (`foreign`).
    """

    def __init__(self, flow: Flow, function: Function) -> None:
        self.flow, self.function = flow, function
        self.variables = {item.result for item in function.instructions() if item.opcode == "alloca"}

    def run(self) -> None:
        for item in self.function.instructions():
            handled = self.instruction(item)
            if not handled and "%" in item.text:
                message = f"'{item.opcode}' of a matrix is not supported: only matrix operations read its components"
                for name in [item.result or "", *NAME.findall(item.text)]:
                    self.refuse(name, message, item)

    def key(self, value: str) -> Key:
        return (self.function.name, value)

    def refuse(self, value: str, message: str, item: Instruction) -> None:
        if self.key(value) in self.flow.shapes:
            kind = self.flow.kind(self.key(value))
            kind.foreign = kind.foreign or (message, item.source)

    def all(self, *values: str) -> bool:
        first, *rest = map(self.key, values)
        for other in rest:
            self.flow.link(first, other)
        return True

    def instruction(self, item: Instruction) -> bool:
        result = item.result or ""
        if "call" in item.text and (call := parse_call(item.text)) is not None:
            return self.call(item, call)
        if item.opcode == "phi":
            return self.all(result, *incoming(item)[1])
        parts = operands(without_flags(item.text))
        if item.opcode in BINARY:
            return self.all(result, typed(parts[0]).value, parts[1])
        if item.opcode in ("freeze", "fneg"):
            return self.all(result, typed(parts[0]).value)
        if item.opcode in CASTS:
            return self.all(result, typed(parts[0].rpartition(" to ")[0]).value)
        if item.opcode == "select":
            condition, *choices = map(typed, parts[:3])
            return condition.type == "i1" and self.all(result, *(choice.value for choice in choices))
        if item.opcode == "ret":
            return not parts or parts == ["void"] or self.all(RETURNED, typed(parts[0]).value)
        if item.opcode == "shufflevector":
            return splat(self.function, item) is not None
        return item.opcode in ("load", "store", "alloca") and self.memory(item, parts)

    def memory(self, item: Instruction, parts: list[str]) -> bool:
        """Link a load or store and its variable, whose type must be exactly the matrix's; return True."""
        if item.opcode == "alloca":
            return True
        address = typed(parts[1]).value
        value = item.result or "" if item.opcode == "load" else typed(parts[0]).value
        kind = parts[0] if item.opcode == "load" else typed(parts[0]).type
        own, variable_shape = shape_of(kind), self.flow.shapes.get(self.key(address))
        if address in self.variables and own is not None and own == variable_shape:
            return self.all(address, value)
        message = "a matrix in memory is not supported, except in a variable of its own type"
        for name in (value, address):
            self.refuse(name, message, item)
        return True

    def call(self, item: Instruction, call: Call) -> bool:
        callee = self.flow.functions.get(call.name)
        if callee is not None:
            for argument, parameter in zip(call.arguments, callee.head.arguments, strict=False):
                self.flow.link(self.key(argument.value), (callee.name, parameter.value))
                if argument.type == "ptr":
                    self.refuse(argument.value, "a pointer to a matrix as an argument is not supported", item)
            self.flow.link(self.key(item.result or ""), (callee.name, RETURNED))
            return True
        if call.name.startswith(("llvm.lifetime.", "llvm.experimental.noalias.")):
            return True
        return read_name(call.name) is not None or bool(read_canonical(call.name) and tags(call.name))


def splat(function: Function, item: Instruction) -> Argument | None:
    """Return the scalar that a shufflevector broadcasts from component 0 to all components; None for other shuffles."""
    parts = [typed(part) for part in operands(item.text)]
    if len(parts) < 3 or parts[2].value != "zeroinitializer":
        return None
    insertion = next((other for other in function.instructions() if other.result == parts[0].value), None)
    if insertion is None or insertion.opcode != "insertelement":
        return None
    whole, scalar, index = map(typed, operands(insertion.text)[:3])
    return scalar if whole.value in ("poison", "undef") and index.value == "0" else None
