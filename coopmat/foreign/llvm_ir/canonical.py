"""The translation of IR in any dialect to the canonical dialect, which also checks every matrix operation."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import astuple, replace

from ...matrices.maps import BLOCKS, COLUMN, ROW, ROW_AND_COLUMN
from ...matrices.placeholders import MatrixCall, mangle_instruction
from ...matrices.variants import MatrixType, Use
from .operations import (
    CODE_OF,
    COMPONENTS,
    LLVM_NAMES,
    MENTION,
    TYPE,
    Row,
    Spelling,
    matrix_of,
    read_name,
    stored_type,
    tag,
    type_text as matrix_text,
)
from .scalars import cast, integer_constant
from .text import POINTER, Argument, Call, Function, Instruction, Malformed, Module, Names, parse_call, quoted

LAYOUTS = {0: "row major", 1: "column major", 2: "packed", 3: "packed A"}
# The words of the placeholders for accesses to components and for functions applied to components.
ACCESSES = ("get", "set", "coordinates", "map", "reduce")
_INTEGER = re.compile(r"i\d+")
_NUMBER = re.compile(r"-?\d+")
_OWN_COMPONENT = 'target("spirv.CooperativeMatrixKHR", target("spirv.Type"'
# Bits of SPIR-V's memory operands.
_VOLATILE, _ALIGNED, _NONTEMPORAL = 1, 2, 4


def from_rfc_types(text: str) -> str:
    """Return text with matrix types in the RFC's form (T, rows, columns, 0, use) as (T, 3, rows, columns, use)."""

    def swap(match: re.Match[str]) -> str:
        component, first, second, third, use = match.groups()
        if third != "0":
            return match[0]
        return f'target("spirv.CooperativeMatrixKHR", {component}, 3, {first}, {second}, {use})'

    return TYPE.sub(swap, text) if MENTION in text else text


def canonicalize(module: Module) -> None:
    """Make the module canonical in place.

    Raises Malformed for a matrix operation that no dialect has, or that does not fit its operands.
    """
    module.map_text(from_rfc_types)
    _Canonicalizer(module).run()


class _Canonicalizer:
    names: Names  # the names in the function that is being translated

    def __init__(self, module: Module) -> None:
        self.module = module
        self.declared: dict[str, Call] = {}
        self.operations: set[str] = set()
        self.heads = {head.name: head for head in (*module.declarations, *(f.head for f in module.functions))}

    def run(self) -> None:
        names = {head.name: read_name(head.name) for head in self.module.declarations}
        self.operations = {head.name for head in self.module.declarations if self.is_operation(head, names[head.name])}
        for function in self.module.functions:
            self.function(function)
        declarations = [head for head in self.module.declarations if head.name not in self.operations]
        for head in declarations:
            if any(MENTION in text for text in (head.type, *(a.type for a in head.arguments))):
                message = f"'{head.name}' is declared with matrices, but is neither an operation on them nor defined"
                raise Malformed("ir-operation", message, str(head))
        present = {head.name for head in declarations}
        self.module.declarations = declarations + [head for name, head in self.declared.items() if name not in present]

    @staticmethod
    def is_operation(head: Call, spelling: Spelling | None) -> bool:
        if spelling is None:
            return False
        if spelling.word.startswith("Cooperative") or spelling.word in ACCESSES:
            return True
        return any(MENTION in text for text in (head.type, *(argument.type for argument in head.arguments)))

    def function(self, function: Function) -> None:
        self.names = Names(function)
        for text in (function.head.type, *(argument.type for argument in function.head.arguments)):
            self.check_types(text, str(function.head))
        for block in function.blocks:
            instructions: list[Instruction] = []
            for item in block.instructions:
                self.check_types(item.text, item.source)
                instructions += self.instruction(item)
            block.instructions = instructions

    def check_types(self, text: str, line: str) -> None:
        if MENTION in text:
            for match in TYPE.finditer(text):
                matrix_of(match[0], line)
            if _OWN_COMPONENT in TYPE.sub("", text):
                raise Malformed("ir-not-supported", "components of SPIR-V's own types are not supported", line)
            if text.count(MENTION) > sum(1 for _ in TYPE.finditer(text)):
                raise Malformed(
                    "ir-matrix-type", "a cooperative matrix type has a component type and four numbers", line
                )

    def instruction(self, item: Instruction) -> list[Instruction]:
        call = parse_call(item.text) if "call" in item.text else None
        if call is None or call.name not in self.operations:
            self.refuse_operands(item, item.text)
            if call is not None:
                self.check_call(item, call)
            return [item]
        spelling = read_name(call.name)
        assert spelling is not None
        self.refuse_operands(item, " ".join(argument.value for argument in call.arguments))
        return _Operation(self, item, call, spelling).canonical()

    def check_call(self, item: Instruction, call: Call) -> None:
        """Raise Malformed if a call's type is not the callee's: this is undefined in LLVM, and invalid in SPIR-V."""
        head = self.heads.get(call.name)
        if head is None or head.name.startswith("llvm.") or "..." in call.type:
            return
        call_type, head_type = (f"{c.type} ({', '.join(a.type for a in c.arguments)})" for c in (call, head))
        if call_type != head_type:
            raise Malformed("ir-call", f"@{call.name} is called as {call_type}, but has type {head_type}", item.source)

    def refuse_operands(self, item: Instruction, text: str) -> None:
        """Raise Malformed if an instruction uses a matrix operation other than as the callee of a call."""
        if "@" in text and "__" in text:
            for match in re.finditer(r"@(?:\"([^\"]*)\"|([-\w.$]+))", text):
                if (match[1] or match[2]) in self.operations:
                    message = f"the address of the matrix operation '{match[1] or match[2]}' cannot be taken"
                    raise Malformed("ir-operation", message, item.source)

    def declare(self, name: str, result: str, types: list[str]) -> None:
        head = Call(
            "declare spir_func", result, quoted("@", name), [Argument(t) for t in types], " convergent nounwind"
        )
        self.declared.setdefault(name, head)


class _Operation:
    """The translation of one call to the canonical operation."""

    def __init__(self, owner: _Canonicalizer, item: Instruction, call: Call, spelling: Spelling) -> None:
        self.owner, self.item, self.call, self.spelling = owner, item, call, spelling
        self.result = matrix_of(call.type, item.source)
        self.arguments = call.arguments
        self.operands = [matrix_of(argument.type, item.source) for argument in call.arguments]
        self.before: list[Instruction] = []

    def fail(self, message: str) -> Malformed:
        return Malformed("ir-operation", f"'{self.call.name}': {message}", self.item.source)

    def canonical(self) -> list[Instruction]:
        word = self.spelling.word
        if word in ("map", "reduce"):
            return self.map() if word == "map" else self.reduce()
        if word in ACCESSES:
            return self.coordinates() if word == "coordinates" else self.access(word)
        first = self.result or next((m for m in self.operands if m is not None), None)
        row = self.spelling.row(first.component if first else None)
        if row is None:
            raise self.fail("is not a matrix operation that is known here")
        if first is None and row.kind != "length":
            raise self.fail("has neither a matrix operand nor a matrix result")
        make: Callable[[Row], list[Instruction]] = getattr(self, "make_" + row.kind.replace("-", "_"))
        return make(row)

    # --- building blocks

    def emit(self, name: str, arguments: list[Argument], result: str | None = None, type_: str = "") -> Instruction:
        type_ = type_ or self.call.type
        self.owner.declare(name, type_, [argument.type for argument in arguments])
        call = Call("call spir_func", type_, quoted("@", name), arguments, self.call.after)
        return Instruction(result, str(call), self.item.source)

    def replacement(self, name: str, arguments: list[Argument]) -> list[Instruction]:
        return [*self.before, self.emit(name, arguments, self.item.result)]

    def matrix(self, at: int, what: str) -> MatrixType:
        matrix = self.operands[at] if at < len(self.operands) else None
        if matrix is None:
            raise self.fail(f"operand {at + 1} is not {what}")
        return matrix

    def count(self, *allowed: int) -> None:
        if len(self.arguments) not in allowed:
            counts = ", ".join(map(str, allowed[:-1])) + f" or {allowed[-1]}" if len(allowed) > 1 else str(allowed[0])
            raise self.fail(f"takes {counts} operands, not {len(self.arguments)}")

    def plain(self, at: int) -> Argument:
        return Argument(self.arguments[at].type, self.arguments[at].value)

    def constant(self, at: int, what: str, width: int = 32) -> Argument:
        argument = self.arguments[at]
        if not _INTEGER.fullmatch(argument.type) or not _NUMBER.fullmatch(argument.value):
            raise self.fail(f"{what} is not an integer constant")
        if not -(1 << (width - 1)) <= int(argument.value) < 1 << (width - 1):
            raise self.fail(f"{what} is out of range")
        return Argument(f"i{width}", argument.value)

    def layout(self, at: int) -> Argument:
        argument = self.constant(at, "the layout")
        if int(argument.value) not in LAYOUTS:
            layouts = ", ".join(f"{number} ({name})" for number, name in LAYOUTS.items())
            raise self.fail(f"the layout is {argument.value}, which is none of {layouts}")
        return argument

    def stride(self, at: int) -> Argument:
        """Return the stride as an i64; a narrower stride is zero-extended, since it is a size."""
        argument = self.plain(at)
        if not _INTEGER.fullmatch(argument.type):
            raise self.fail("the stride is not an integer")
        width = int(argument.type[1:])
        if width == 64:
            return argument
        if width > 64:
            raise self.fail("the stride is wider than 64 bits")
        if _NUMBER.fullmatch(argument.value):
            return Argument("i64", str(int(argument.value) % (1 << width)))
        if argument.value in ("undef", "poison"):
            return Argument("i64", argument.value)
        name = self.owner.names.fresh("stride")
        self.before.append(Instruction(name, f"zext {argument} to i64", self.item.source))
        return Argument("i64", name)

    def pointer(self, at: int) -> tuple[Argument, int]:
        argument = self.plain(at)
        match = POINTER.fullmatch(argument.type)
        if match is None:
            raise self.fail(f"operand {at + 1} is not a pointer")
        return argument, int(match[1] or 0)

    def pointee(self, space: int, matrix: MatrixType) -> str:
        count, element = self.spelling.pointee or (1, stored_type(matrix.component))
        code = (f"Dv{count}_" if count > 1 else "") + CODE_OF[element]
        return f"P{code}" if space == 0 else f"PU3AS{space}{code}"

    # --- one method for each kind of `Row`

    def make_load(self, row: Row) -> list[Instruction]:
        self.count(3, 4, 5)
        if self.result is None:
            raise self.fail("does not return a matrix")
        self.reorder(1)
        (pointer, space), layout, stride = self.pointer(0), self.layout(1), self.stride(2)
        name = f"{mangle_instruction(row.instruction)}{self.pointee(space, self.result)}il{_vendor(self.result)}"
        memory = self.memory(3)
        return self.replacement(name + _memory_tag(memory), [pointer, layout, stride, *memory])

    def make_store(self, row: Row) -> list[Instruction]:
        self.count(4, 5, 6)
        matrix = self.matrix(1, "a matrix")
        if self.call.type != "void":
            raise self.fail("must have the result type void")
        self.reorder(2)
        (pointer, space), layout, stride = self.pointer(0), self.layout(2), self.stride(3)
        name = f"{mangle_instruction(row.instruction)}{self.pointee(space, matrix)}{_vendor(matrix)}il"
        memory = self.memory(4)
        return self.replacement(name + _memory_tag(memory), [pointer, self.plain(1), layout, stride, *memory])

    def reorder(self, at: int) -> None:
        """Change the operands of SYCL's older joint matrices, from `at`, to the order layout, stride, memory operand.

        The older order is stride, layout, scope, memory operand. Operands of other types are unchanged.
        """
        types = [argument.type for argument in self.arguments[at:]]
        if types == ["i64", "i32", "i32", "i32"]:
            self.constant(at + 2, "the scope")
            stride, layout, _, memory = self.arguments[at:]
            self.arguments = [*self.arguments[:at], layout, stride, memory]

    def memory(self, at: int) -> list[Argument]:
        """Return SPIR-V's memory operand reduced to its volatile bit, if present; an alignment is only a hint."""
        if at >= len(self.arguments):
            return []
        mask = int(self.constant(at, "the memory operand").value)
        if mask & _ALIGNED:
            if len(self.arguments) == at + 1:
                raise self.fail("the memory operand has bit 2 (aligned), but no alignment follows")
            self.constant(at + 1, "the alignment")
        elif len(self.arguments) > at + 1:
            raise self.fail(f"nothing may follow a memory operand of {mask}")
        if mask & ~(_VOLATILE | _ALIGNED | _NONTEMPORAL):
            raise self.fail(
                f"the memory operand is {mask}: 1 (volatile), 2 (aligned) and 4 (non-temporal) are supported"
            )
        return [Argument("i32", str(mask & _VOLATILE))]

    def make_multiply_add(self, row: Row) -> list[Instruction]:
        self.count(3, 4)
        a, b, c = (self.matrix(n, "a matrix") for n in range(3))
        if (a.use, b.use, c.use) != (Use.A, Use.B, Use.ACCUMULATOR):
            raise self.fail("takes matrices of the uses 0 (A), 1 (B) and 2 (accumulator)")
        if (a.columns, a.rows, b.columns) != (b.rows, c.rows, c.columns):
            raise self.fail("the shapes of its operands do not fit")
        if len({m.scope for m in (a, b, c)}) > 1:
            raise self.fail("its operands are of different scopes")
        if len({m.component.is_integer for m in (a, b, c)}) > 1:
            raise self.fail("its operands mix integers and floating point")
        if self.result != c:
            raise self.fail("the result's type is not that of the third operand")
        mask = self.constant(3, "the mask of operands") if len(self.arguments) > 3 else Argument("i32", "0")
        name = mangle_instruction(row.instruction, *map(tag, (a, b, c)))
        return self.replacement(name, [*(self.plain(n) for n in range(3)), mask])

    def make_length(self, row: Row) -> list[Instruction]:
        self.count(1)
        matrix = self.matrix(0, "a matrix")
        if self.call.type != "i32":
            raise self.fail(f"must have the result type i32, not {self.call.type}")
        return self.replacement(mangle_instruction(row.instruction, tag(matrix)), [self.plain(0)])

    def make_fill(self, row: Row) -> list[Instruction]:
        self.count(1)
        if self.result is None or self.arguments[0].type != LLVM_NAMES[self.result.component]:
            raise self.fail("takes a scalar of the result's component type")
        return self.replacement(mangle_instruction(row.instruction, tag(self.result)), [self.plain(0)])

    def make_binary(self, row: Row) -> list[Instruction]:
        self.count(2)
        matrix = self.same_types(row)
        return self.replacement(mangle_instruction(row.instruction, tag(matrix)), [self.plain(0), self.plain(1)])

    def make_negate(self, row: Row) -> list[Instruction]:
        self.count(1, 2)
        if len(self.arguments) > 1:
            self.minus_one()
        return self.replacement(mangle_instruction(row.instruction, tag(self.same_types(row))), [self.plain(0)])

    def minus_one(self) -> None:
        """Check and drop the second operand of clang's negations: the matrix again, undef, or the factor -1."""
        second = self.arguments[1]
        factors = ("-1", "-1.000000e+00", "0xHBC00", "0xRBF80")
        if second.value not in (self.arguments[0].value, "undef", "poison", *factors):
            raise self.fail(f"the second operand of a negation is the matrix again or -1, not {second}")
        self.operands = self.operands[:1]

    def same_types(self, row: Row) -> MatrixType:
        matrix = self.matrix(0, "a matrix")
        if self.result != matrix or any(m != matrix for m in self.operands):
            raise self.fail("its operands and its result are not of one type")
        if matrix.component.is_integer != row.integers[0]:
            raise self.fail(f"is not for components of type {LLVM_NAMES[matrix.component]}")
        return matrix

    def make_convert(self, row: Row) -> list[Instruction]:
        self.count(1)
        source, target = self.matrix(0, "a matrix"), self.result
        change = "use" if target is not None and self.spelling.change and target.use != source.use else ""
        same_use = source.use if change or target is None else target.use
        if target is None or replace(target, component=source.component, use=same_use) != source:
            raise self.fail("the result is not a matrix of the operand's shape, use and scope")
        if (source.component.is_integer, target.component.is_integer) != row.integers:
            raise self.fail("does not fit the component types")
        mode, tags = self.spelling.mode, f"{tag(source)}_{tag(target)}"
        call = MatrixCall("convert", instruction=row.instruction, mode=mode, change=change, tags=tags)
        name = call.write() if mode or change else mangle_instruction(row.instruction, tags)
        return self.replacement(name, [self.plain(0)])

    def make_change(self, row: Row) -> list[Instruction]:
        """Return the canonical operation that changes the use, or transposes the matrix."""
        self.count(1)
        source, target = self.matrix(0, "a matrix"), self.result
        change = self.spelling.change or "use"
        rows, columns = (source.columns, source.rows) if change == "transposed" else (source.rows, source.columns)
        if target is None or replace(source, rows=rows, columns=columns, use=target.use) != target:
            raise self.fail("the result's component type, scope or shape is another")
        tags = f"{tag(source)}_{tag(target)}"
        call = MatrixCall("convert", instruction=row.instruction, change=change, tags=tags)
        return self.replacement(call.write(), [self.plain(0)])

    def map(self) -> list[Instruction]:
        matrix, count = self.result, self.spelling.number
        if matrix is None or not count or self.operands[:count] != [matrix] * count or any(self.operands[count:]):
            raise self.fail(f"takes {count} matrices of the result's type, followed by operands that are not matrices")
        component = LLVM_NAMES[matrix.component]
        others = [argument.type for argument in self.arguments[count:]]
        self.check_function(component, ["i32", "i32", *[component] * count, *others])
        call = MatrixCall("map", str(count), tags=tag(matrix), function=self.spelling.function)
        return self.replacement(call.write(), [self.plain(n) for n in range(len(self.arguments))])

    def reduce(self) -> list[Instruction]:
        self.count(1)
        source, target, how = self.matrix(0, "a matrix"), self.result, self.spelling.number
        if how not in (ROW, COLUMN, ROW_AND_COLUMN, BLOCKS):
            raise self.fail(f"the reduction kind is {how}, not one of 1 (rows), 2 (columns), 3 (both) or 4 (2 x 2)")
        extents = {
            ROW: (source.rows, None),
            COLUMN: (None, source.columns),
            ROW_AND_COLUMN: (None, None),
            BLOCKS: (source.rows / 2, source.columns / 2),
        }[how]
        if target is None or source.use is not Use.ACCUMULATOR:
            raise self.fail("reduces an accumulator to another")
        rows, columns = (new if old is None else old for old, new in zip(extents, astuple(target.shape), strict=True))
        if (rows, columns) != astuple(target.shape) or replace(
            source, rows=target.rows, columns=target.columns
        ) != target:
            raise self.fail("the result's shape does not fit, or its component type, use or scope is another")
        component = LLVM_NAMES[source.component]
        self.check_function(component, [component, component])
        tags = f"{tag(source)}_{tag(target)}"
        call = MatrixCall("reduce", str(how), tags=tags, function=self.spelling.function)
        return self.replacement(call.write(), [self.plain(0)])

    def check_function(self, result: str, types: list[str]) -> None:
        """Raise Malformed unless the module defines the function that the operation names, with this type."""
        name = self.spelling.function
        head = next((f.head for f in self.owner.module.functions if f.head.name == name), None)
        if head is None:
            raise self.fail(f"the module does not define the function '{name}'")
        if (head.type, [argument.type for argument in head.arguments]) != (result, types):
            raise self.fail(f"the function '{name}' is not {result} ({', '.join(types)})")

    def make_extract(self, row: Row) -> list[Instruction]:
        self.count(2)
        matrix = self.matrix(0, "a matrix")
        if self.call.type != LLVM_NAMES[matrix.component]:
            raise self.fail("does not return the matrix's component type")
        index = self.constant(1, "the index")
        return self.replacement(mangle_instruction(row.instruction, tag(matrix)), [self.plain(0), index])

    def make_insert(self, row: Row) -> list[Instruction]:
        self.count(3)
        matrix = self.matrix(1, "a matrix")
        if self.result != matrix or self.arguments[0].type != LLVM_NAMES[matrix.component]:
            raise self.fail("takes a component, a matrix of the result's type and an index")
        index = self.constant(2, "the index")
        return self.replacement(mangle_instruction(row.instruction, tag(matrix)), [self.plain(0), self.plain(1), index])

    def make_scale(self, row: Row) -> list[Instruction]:
        """Multiply by a fill with the scalar: OpMatrixTimesScalar needs a capability that OpenCL does not have."""
        self.count(2)
        at = 0 if self.operands[0] is not None else 1
        matrix = self.matrix(at, "a matrix")
        if self.operands[1 - at] is not None or self.result != matrix:
            raise self.fail("takes a matrix of the result's type and a scalar")
        scalar = self.scalar(self.arguments[1 - at], LLVM_NAMES[matrix.component])
        filled = Argument(matrix_text(matrix), self.owner.names.fresh("scalar"))
        fill = self.emit(mangle_instruction("CompositeConstruct", tag(matrix)), [scalar], filled.value)
        multiply = "IMul" if matrix.component.is_integer else "FMul"
        self.before.append(fill)
        return self.replacement(mangle_instruction(multiply, tag(matrix)), [self.plain(at), filled])

    def scalar(self, argument: Argument, target: str) -> Argument:
        """Return a scalar operand converted to the component type: the RFC multiplies a matrix of floats by an i32."""
        type_, value = argument.type, argument.value
        if type_ == target:
            return Argument(type_, value)
        if type_ not in COMPONENTS:
            raise self.fail(f"cannot multiply components of type {target} by a scalar of type {type_}")
        if _INTEGER.fullmatch(type_) and _NUMBER.fullmatch(value):
            return Argument(target, integer_constant(int(value), target))
        name = self.owner.names.fresh("converted")
        self.before.append(Instruction(name, f"{cast(type_, target)} {type_} {value} to {target}", self.item.source))
        return Argument(target, name)

    def access(self, word: str) -> list[Instruction]:
        self.count(2 if word == "get" else 3)
        pointer, space = self.pointer(0)
        component = self.call.type if word == "get" else self.arguments[2].type
        if component not in COMPONENTS or self.arguments[1].type != "i32" or space:
            raise self.fail("takes a pointer to a matrix in private memory, an i32 and a component")
        arguments = [pointer, *(self.plain(n) for n in range(1, len(self.arguments)))]
        matrix = self.spelling.matrix
        if matrix is not None and LLVM_NAMES[matrix.component] != component:
            raise self.fail(f"a component of type {LLVM_NAMES[matrix.component]} is expected")
        call = MatrixCall(word, tags=CODE_OF[component] if matrix is None else tag(matrix))
        return self.replacement(call.write(), arguments)

    def coordinates(self) -> list[Instruction]:
        self.count(2)
        matrix = self.matrix(0, "a matrix")
        if self.call.type != "<2 x i32>" or self.arguments[1].type != "i32":
            raise self.fail("must take a matrix and an i32, and return a <2 x i32>")
        return self.replacement(MatrixCall("coordinates", tags=tag(matrix)).write(), [self.plain(0), self.plain(1)])


def _vendor(matrix: MatrixType) -> str:
    """Return a matrix type mangled as a vendor-qualified Itanium type."""
    name = tag(matrix)
    return f"u{len(name)}{name}"


def _memory_tag(memory: list[Argument]) -> str:
    return "i" if memory else ""
