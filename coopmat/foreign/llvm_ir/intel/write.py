"""The translation of canonical IR to Intel's dialect, in one of its three forms.

The results of operations, phis and selects are values of Intel's types. Matrices in memory, structs, parameters and
results keep the canonical type; `__cm_flat_<M>` converts from the canonical type, and `__cm_matrix_<M>` to it.
Operations that the proposal lacks keep their canonical names, which contain the matrix types, but take Intel's values.
If no operation states a value's use, the names of its loads and stores end with the matrix type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ....matrices.variants import ComponentType, MatrixType
from ..operations import (
    LLVM_NAMES,
    ROWS,
    SMALL_FLOATS,
    Row,
    matrix_of,
    read_name as read_canonical,
    tag,
    type_text,
)
from ..text import (
    POINTER,
    Argument,
    Block,
    Call,
    Function,
    Instruction,
    Malformed,
    Module,
    Names,
    operands,
    parse_call,
    quoted,
)
from .flow import Flow, incoming, result_type, typed, without_flags
from .spelling import LAYOUT_NUMBERS, LAYOUTS, SCOPES, conversion_name, opaque_type, read_name, vector_type

_LAYOUT_WORDS = {number: word for word, number in reversed(list(LAYOUTS.items()))}
_THEIR_NUMBERS = {ours: theirs for theirs, ours in LAYOUT_NUMBERS.items()}
_SCOPE_WORDS = {number: word for word, number in SCOPES.items()}
_SIGNED = 15
_VOLATILE = "1"
_RETYPED = ("phi", "select", "freeze")


@dataclass(frozen=True, slots=True)
class Form:
    """A form of the dialect.

    type_of: returns the LLVM type of a matrix.
    metadata: whether operations are intrinsics with layouts and scopes as strings; otherwise they are SPIR-V functions
        with numbers.
    layouts: whether a multiply-add states the layouts of its operands, because their types do not.
    """

    type_of: Callable[[MatrixType], str]
    metadata: bool
    layouts: bool


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "intel": Form(vector_type, True, True),
        "intel-opaque": Form(opaque_type, True, False),
        "intel-spirv": Form(opaque_type, False, False),
    }
)


def check(text: str) -> None:
    """Raise Malformed if a canonical module has component types that Intel's matrices lack."""
    if any(name in text for name in SMALL_FLOATS):
        raise Malformed("ir-not-supported", "components of SPIR-V's own types are not supported")


def write(module: Module, dialect: str) -> None:
    """Rewrite a canonical module in place; `dialect` is one of FORMS."""
    writer = _Writer(module, FORMS[dialect])
    writer.run()
    writer.hint()


class _Writer:
    def __init__(self, module: Module, form: Form) -> None:
        self.module, self.form = module, form
        self.declared: dict[str, dict[tuple[str, ...], str]] = {}
        self.heads: list[Call] = []
        # function name -> value -> matrix type
        self.values: dict[str, dict[str, MatrixType]] = {}

    def run(self) -> None:
        self.module.declarations = [head for head in self.module.declarations if _operation(head) is None]
        for function in self.module.functions:
            values = self.values[function.name] = {}
            _Function(self, function, values).run()

    def declare(self, call: Call) -> Call:
        """Return the call with a declaration of its types; if the name is taken by other types, append a number."""
        types = (call.type, *(argument.type for argument in call.arguments))
        names = self.declared.setdefault(call.name, {})
        if types not in names:
            names[types] = call.name + (f".{len(names)}" if names else "")
            arguments = [Argument(argument.type) for argument in call.arguments]
            head = Call("declare", call.type, quoted("@", names[types]), arguments, " convergent nounwind")
            self.heads.append(head)
        return Call("call", call.type, quoted("@", names[types]), call.arguments, call.after)

    def hint(self) -> None:
        """Append matrix types to the names of loads and stores for whose values a reader could not infer the type."""
        flow = Flow(self.module)
        for function in self.module.functions:
            values = self.values[function.name]
            for item in function.instructions():
                call = parse_call(item.text) if "call" in item.text else None
                name = read_name(call.name) if call is not None else None
                if call is None or name is None or name.word not in ("load", "store"):
                    continue
                value = item.result or "" if name.word == "load" else call.arguments[0].value
                matrix = values.get(value)
                if matrix is not None and flow.matrix(function.name, value) != matrix:
                    base = re.sub(r"\.\d+$", "", call.name)
                    hinted = f"{base}{'.' if name.metadata else '_'}{tag(matrix)}"
                    item.text = str(
                        self.declare(Call("call", call.type, quoted("@", hinted), call.arguments, call.after))
                    )
        texts = "\n".join(item.text for function in self.module.functions for item in function.instructions())
        callees = {m[0] or m[1] for m in re.findall(r"@(?:\"([^\"]*)\"|([-\w.$]+))", texts)}
        self.module.declarations += [head for head in self.heads if head.name in callees]


def _operation(call: Call) -> Row | None:
    """Return the row of a canonical operation on matrix values; None for other calls, and for get and set."""
    spelling = read_canonical(call.name)
    if spelling is None or spelling.word in ("get", "set"):
        return None
    matrix = _matrix(call)
    if matrix is None:
        return None
    if spelling.word == "coordinates":
        return Row("coordinates", "coordinates")
    return spelling.row(matrix.component)


def _matrix(call: Call) -> MatrixType | None:
    matrices = [matrix_of(call.type), *(matrix_of(argument.type) for argument in call.arguments)]
    return next((matrix for matrix in matrices if matrix is not None), None)


class _Function:
    """The translation of a function; it fills `values` with the matrix types of the values that get Intel's types."""

    def __init__(self, writer: _Writer, function: Function, values: dict[str, MatrixType]) -> None:
        self.writer, self.function, self.values = writer, function, values
        self.form = writer.form
        self.fresh = Names(function).fresh
        # name of a value -> name of the same matrix in the other representation
        self.converted: dict[str, str] = {}
        self.types: dict[str, MatrixType] = {}
        # loaded value -> the layout of its load
        self.layouts: dict[str, int] = {}

    def run(self) -> None:
        blocks = self.function.blocks
        for argument in self.function.head.arguments:
            self.defined(argument.value, argument.type)
        for item in self.function.instructions():
            self.define(item)
        for block in blocks:
            for item in block.instructions:
                self.instruction(item)
        conversions: dict[str, Instruction] = {}
        for name, other in self.converted.items():
            word = "matrix" if name in self.values else "flat"
            conversions[name] = self.conversion(word, name, other)
        for block in blocks:
            block.instructions = self.with_conversions(block, conversions)
        first = [conversions[a.value] for a in self.function.head.arguments if a.value in conversions]
        blocks[0].instructions[:0] = first

    def define(self, item: Instruction) -> None:
        if item.result is None:
            return
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None:
            self.defined(item.result, call.type)
            row = _operation(call)
            if row is not None:
                self.own(item.result)
                if row.kind == "load":
                    self.layouts[item.result] = int(call.arguments[1].value)
        elif item.opcode in (*_RETYPED, "load"):
            self.defined(item.result, result_type(item))
            if item.opcode in _RETYPED:
                self.own(item.result)
        elif item.opcode == "extractvalue":
            # An extracted value's type is only known at its uses.
            self.types.pop(item.result, None)

    def defined(self, name: str, kind: str) -> None:
        matrix = matrix_of(kind)
        if matrix is not None:
            self.types[name] = matrix

    def own(self, name: str) -> None:
        if name in self.types:
            self.values[name] = self.types[name]

    def other(self, name: str, matrix: MatrixType) -> str:
        self.types.setdefault(name, matrix)
        if name not in self.converted:
            self.converted[name] = self.fresh(
                f"{name[1:].strip(chr(34))}.{'matrix' if name in self.values else 'flat'}"
            )
        return self.converted[name]

    def as_intel(self, argument: Argument) -> Argument:
        matrix = matrix_of(argument.type)
        if matrix is None:
            return Argument(argument.type, argument.value)
        value = argument.value
        if value.startswith("%") and value not in self.values:
            value = self.other(value, matrix)
        return Argument(self.form.type_of(matrix), value)

    def as_canonical(self, argument: Argument) -> Argument:
        matrix = matrix_of(argument.type)
        if matrix is None or argument.value not in self.values:
            return argument
        return Argument(argument.type, self.other(argument.value, matrix), argument.attributes)

    # --- instructions

    def instruction(self, item: Instruction) -> None:
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None:
            row = _operation(call)
            if row is not None:
                item.text = str(self.writer.declare(self.operation(row, call)))
            elif any(argument.value in self.values for argument in call.arguments):
                call.arguments = [self.as_canonical(argument) for argument in call.arguments]
                item.text = str(call)
        elif item.result in self.values:
            self.retyped(item)
        elif item.opcode in ("store", "ret", "insertvalue", "extractvalue"):
            self.used(item)

    def retyped(self, item: Instruction) -> None:
        old = result_type(item)
        text = without_flags(item.text)
        if item.opcode == "phi":
            matrix = matrix_of(old)
            assert matrix is not None
            for value in set(incoming(item)[1]):
                argument = self.as_intel(Argument(old, value))
                text = text.replace(f"[ {value},", f"[ {argument.value},")
            item.text = text.replace(old, self.form.type_of(matrix), 1)
            return
        parts = operands(text)
        first = parts[:1] if item.opcode == "select" else []
        rest = [str(self.as_intel(typed(part))) for part in parts[len(first) :]]
        item.text = f"{item.opcode} {', '.join([*first, *rest])}"

    def used(self, item: Instruction) -> None:
        for part in operands(item.text):
            if "%" not in part or "target(" not in part:
                continue
            argument = typed(part)
            if argument.value in self.values:
                item.text = item.text.replace(part, str(self.as_canonical(argument)), 1)

    # --- conversions

    def conversion(self, word: str, name: str, other: str) -> Instruction:
        matrix = self.types[name]
        intel, canonical = self.form.type_of(matrix), type_text(matrix)
        source, target = (canonical, intel) if word == "flat" else (intel, canonical)
        if word == "flat":
            self.values[other] = matrix
        call = Call("call", target, f"@{conversion_name(word, matrix)}", [Argument(source, name)])
        return Instruction(other, str(self.writer.declare(call)))

    @staticmethod
    def with_conversions(block: Block, conversions: Mapping[str, Instruction]) -> list[Instruction]:
        """Return the block's instructions; each conversion follows its value, but comes after all phis."""
        instructions: list[Instruction] = []
        waiting: list[Instruction] = []
        for item in block.instructions:
            if item.opcode != "phi":
                instructions += waiting
                waiting = []
            instructions.append(item)
            conversion = conversions.get(item.result or "")
            if conversion is not None:
                waiting.append(conversion)
        return instructions + waiting

    # --- operations

    def operation(self, row: Row, call: Call) -> Call:
        spelling = read_canonical(call.name)
        assert spelling is not None
        arguments = [self.as_intel(argument) for argument in call.arguments]
        matrix = matrix_of(call.type)
        result = call.type if matrix is None else self.form.type_of(matrix)
        replacement = None
        if not spelling.mode and row.kind in ("load", "store"):
            own = "i16" if _component(call).name == "bf16" else LLVM_NAMES[_component(call)]
            if spelling.pointee == (1, own):
                replacement = self.memory(row, call, arguments, result)
        elif row is ROWS["CooperativeMatrixMulAddKHR"]:
            replacement = self.mad(call, arguments, result)
        return replacement or Call("call", result, quoted("@", re.sub(r"\.\d+$", "", call.name)), arguments, call.after)

    def memory(self, row: Row, call: Call, arguments: list[Argument], result: str) -> Call | None:
        loads = row.kind == "load"
        pointer, *rest = arguments
        value = [] if loads else [rest.pop(0)]
        layout, stride, *masks = rest
        if masks and masks[0].value != _VOLATILE:
            return None
        matrix = matrix_of(call.type if loads else call.arguments[1].type)
        assert matrix is not None
        volatile = Argument("i1", "true" if masks else "false")
        size = [Argument("i32", str(matrix.rows)), Argument("i32", str(matrix.columns))]
        operands_ = [*value, pointer, stride, volatile, *size, self.layout(int(layout.value)), self.scope(matrix.scope)]
        if self.form.metadata:
            types = [self.mangled(matrix), *([f"p{_space(pointer)}"] if _space(pointer) else [])]
            name = ".".join(["llvm.experimental.matrix", row.kind, *types])
        else:
            place = f"PU3AS{_space(pointer)}{_CODE}" if _space(pointer) else f"P{_CODE}"
            own = _function_type(matrix)
            base = f"__spirv_MatrixLoadINTEL_R{own}" if loads else "__spirv_MatrixStoreINTEL"
            of_value = "" if loads else f"u{len(own)}{own}"
            name = f"_Z{len(base)}{base}{of_value}{place}lbiiii"
        return Call("call", result, quoted("@", name), operands_, call.after)

    def mad(self, call: Call, arguments: list[Argument], result: str) -> Call | None:
        a, b, c = (matrix for matrix in (matrix_of(argument.type) for argument in call.arguments[:3]) if matrix)
        if int(arguments[3].value) != (_SIGNED if c.component.is_integer else 0):
            return None
        values = arguments[:3]
        if self.form.layouts:
            values = [part for value in values for part in (value, self.layout(self.layouts.get(value.value, 0)))]
        sizes = [Argument("i32", str(size)) for size in (a.rows, a.columns, b.columns)]
        if self.form.metadata:
            name = ".".join(["llvm.experimental.matrix.mad", *map(self.mangled, (a, b, c))])
        else:
            base = "__spirv_MatrixMadINTEL"
            name = (
                f"_Z{len(base)}{base}{''.join(f'u{len(_function_type(m))}{_function_type(m)}' for m in (a, b, c))}iiii"
            )
        return Call("call", result, quoted("@", name), [*values, *sizes, self.scope(c.scope)], call.after)

    def layout(self, number: int) -> Argument:
        if self.form.metadata:
            return Argument("metadata", f'!"{_LAYOUT_WORDS[number]}"')
        return Argument("i32", str(_THEIR_NUMBERS[number]))

    def scope(self, number: int) -> Argument:
        return (
            Argument("metadata", f'!"{_SCOPE_WORDS[number]}"') if self.form.metadata else Argument("i32", str(number))
        )

    def mangled(self, matrix: MatrixType) -> str:
        """Return the mangled type in an intrinsic's name."""
        component = LLVM_NAMES[matrix.component]
        short = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}.get(component, component)
        if self.form.type_of is vector_type:
            return f"v{matrix.rows * matrix.columns}{short}"
        return f"tspirv.MatrixINTEL_{short}_{matrix.rows}_{matrix.columns}_0_{matrix.scope}t"


_CODE = "v"  # Itanium's code of void, since opaque pointers have no pointee


def _space(pointer: Argument) -> int:
    match = POINTER.fullmatch(pointer.type)
    return int(match[1] or 0) if match else 0


def _component(call: Call) -> ComponentType:
    matrix = _matrix(call)
    assert matrix is not None
    return matrix.component


def _function_type(matrix: MatrixType) -> str:
    """Return the mangled type in the names of SPIR-V's functions."""
    return f"matrix_{LLVM_NAMES[matrix.component]}_{matrix.rows}_{matrix.columns}_0_{matrix.scope}"
