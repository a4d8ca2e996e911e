"""Operations on matrices in storage as calls of the library's functions (`coopmat.matrices.lowering`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...matrices import lowering as library
from ...matrices.lowering import Instance, Target
from ...matrices.variants import COMPONENT_TYPES, ComponentType, Layout, MatrixType, Operands
from .operations import COMPONENTS, LLVM_NAMES, Row, Spelling, matrix_of
from .text import Argument, Call, Instruction, Malformed

if TYPE_CHECKING:
    from .lower import _Lowering
    from .subgroups import Substitute

_SPACES = {"0": "private", "1": "global", "2": "constant", "3": "local", "4": "generic"}
_VOLATILE = 1  # of SPIR-V's memory operands
_OPERATORS = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div"}
_BITS = {name: component.bits for name, component in COMPONENTS.items()}


def _unsigned(matrix: MatrixType) -> MatrixType:
    name = f"u{matrix.component.bits}"
    return replace(matrix, component=COMPONENT_TYPES[name])


@dataclass(slots=True)
class _Site:
    """One call to be replaced."""

    lowering: _Lowering
    item: Instruction
    row: Row
    spelling: Spelling
    call: Call
    operands: list[Argument]
    out: str

    @property
    def types(self) -> list[MatrixType]:
        return [m for m in (matrix_of(argument.type) for argument in self.call.arguments) if m is not None]

    @property
    def result(self) -> MatrixType:
        matrix = matrix_of(self.call.type)
        assert matrix is not None
        return matrix

    @property
    def matrix(self) -> MatrixType:
        """One of them: they are all of one scope."""
        return self.types[0] if self.types else self.result


class LibraryCalls:
    """Those of functions for one target. `instances` are the library functions that were called, by name.

    `suffix` keeps the names apart from those for other targets. `scratch_bytes` are what subgroups exchange values
    through, in the local memory named `scratch`. `of_work_group` are the calls for matrices of that scope, None where
    the size of work-groups is not known.
    """

    def __init__(self, target: Target, suffix: str = "", of_work_group: LibraryCalls | None = None) -> None:
        self.target, self.suffix, self.of_work_group = target, suffix, of_work_group
        self.scratch = f"cm_scratch{suffix}"
        self.scratch_bytes = 0
        self.instances: dict[str, Instance] = {}
        self._count = 0

    def operation(
        self,
        lowering: _Lowering,
        item: Instruction,
        row: Row,
        spelling: Spelling,
        call: Call,
        operands: list[Argument],
        out: str,
    ) -> list[Instruction]:
        """What replaces a call. `operands` has addresses for matrices; `out` is where the result goes."""
        site = _Site(lowering, item, row, spelling, call, operands, out)
        return _MAKERS[row.kind](self.of(site.matrix, item), site)

    def of(self, matrix: MatrixType, item: Instruction) -> LibraryCalls:
        """The calls for matrices of this one's scope."""
        if not matrix.of_work_group:
            return self
        if self.of_work_group is None:
            message = "a matrix of scope workgroup is used where no kernel with reqd_work_group_size leads to"
            raise Malformed("ir-not-supported", message, item.source)
        return self.of_work_group

    def coordinates(self, item: Instruction, matrix: MatrixType, index: Argument) -> list[Instruction]:
        return [self.of(matrix, item).call(item, library.Coord(matrix), [index], "<2 x i32>", item.result)]

    def access(self, item: Instruction, matrix: MatrixType, word: str, arguments: list[Argument]) -> list[Instruction]:
        pointer, index = (Argument(a.type, a.value) for a in arguments[:2])
        component, calls = LLVM_NAMES[matrix.component], self.of(matrix, item)
        if word == "get":
            return calls.get(item, matrix, pointer, index)
        if arguments[2].type != component:
            raise Malformed("ir-operation", f"a component of type {component} is expected", item.source)
        return calls.given(item, library.Set(matrix), [pointer, index, arguments[2]])

    def subgroup_function(self, lowering: _Lowering, item: Instruction, call: Call, found: Substitute) -> None:
        """Of vectors, one call for each component."""
        if found.count == 1:
            lowering.out.append(self.call(item, found.instance, found.arguments, call.type, item.result))
            return
        vector, result = found.arguments[0].type, "poison"
        scalar = vector.partition(" x ")[2][:-1]
        for n in range(found.count):
            parts = []
            for argument in found.arguments:
                value = argument.value
                if argument.type == vector:
                    value = lowering.fresh("component")
                    lowering.emit(f"extractelement {argument}, i32 {n}", value)
                parts.append(Argument(scalar if argument.type == vector else argument.type, value))
            part = lowering.fresh("component")
            lowering.out.append(self.call(item, found.instance, parts, scalar, part))
            whole = item.result if n == found.count - 1 else lowering.fresh("vector")
            lowering.emit(f"insertelement {vector} {result}, {scalar} {part}, i32 {n}", whole)
            result = whole or ""

    # --- calls

    def call(
        self, item: Instruction, instance: Instance, arguments: list[Argument], kind: str, result: str | None
    ) -> Instruction:
        self.instances[instance.function_name] = instance
        bytes_ = instance.scratch_bytes(self.target)
        if bytes_:
            self.scratch_bytes = max(self.scratch_bytes, bytes_)
            arguments = [*arguments, Argument("ptr addrspace(3)", f"@{self.scratch}")]
        call = Call("call spir_func", kind, f"@{instance.function_name}{self.suffix}", arguments)
        return Instruction(result, str(call), item.source)

    def given(self, item: Instruction, instance: Instance, arguments: list[Argument]) -> list[Instruction]:
        """A call that gives nothing; the library holds bfloat16 as its bits."""
        made: list[Instruction] = []
        passed = []
        for argument in arguments:
            kind, value = argument.type, argument.value
            if kind == "bfloat":
                self._count += 1
                name = f"%cm.bits{self.suffix}.{self._count}"
                made.append(Instruction(name, f"bitcast bfloat {value} to i16", item.source))
                kind, value = "i16", name
            passed.append(Argument(kind, value))
        return [*made, self.call(item, instance, passed, "void", None)]

    def get(self, item: Instruction, matrix: MatrixType, pointer: Argument, index: Argument) -> list[Instruction]:
        component = LLVM_NAMES[matrix.component]
        if component != "bfloat":
            return [self.call(item, library.Get(matrix), [pointer, index], component, item.result)]
        self._count += 1
        bits = f"%cm.bits{self.suffix}.{self._count}"
        call = self.call(item, library.Get(matrix), [pointer, index], "i16", bits)
        return [call, Instruction(item.result, f"bitcast i16 {bits} to bfloat", item.source)]

    def to(self, site: _Site, instance: Instance, arguments: list[Argument]) -> list[Instruction]:
        return self.given(site.item, instance, [Argument("ptr", site.out), *arguments])

    # --- the rows

    def memory(self, site: _Site) -> list[Instruction]:
        loads = site.row.kind == "load"
        matrix = site.result if loads else site.types[0]
        pointer, *rest = site.operands
        layout, stride, *masks = rest if loads else rest[1:]
        space = re.search(r"addrspace\((\d+)\)", pointer.type)
        number = space[1] if space else "0"
        if number not in _SPACES:
            raise site.lowering.fail("a matrix cannot be loaded or stored through a generic pointer here")
        volatile = bool(masks) and bool(int(masks[0].value) & _VOLATILE)
        made, scaled = self.stride(site, matrix, stride)
        make = library.Load if loads else library.Store
        instance = make(matrix, _SPACES[number], Layout(int(layout.value)), *([True] if volatile else []))
        address = Argument(pointer.type, pointer.value)
        if loads:
            return [*made, *self.to(site, instance, [address, scaled])]
        return [*made, *self.given(site.item, instance, [address, site.operands[1], scaled])]

    def stride(self, site: _Site, matrix: MatrixType, stride: Argument) -> tuple[list[Instruction], Argument]:
        """In components: it is given in what the pointer's type, in the name, points to."""
        count, element = site.spelling.pointee or (1, LLVM_NAMES[matrix.component])
        # A vector of three takes the room of four.
        bits = _BITS[element] * (4 if count == 3 else count)
        times, rest = divmod(bits, matrix.component.bits)
        if rest:
            raise site.lowering.fail("a stride that is no whole number of components is not supported yet")
        if times == 1:
            return [], stride
        if re.fullmatch(r"-?\d+", stride.value):
            return [], Argument("i64", str(int(stride.value) * times))
        name = site.lowering.fresh("components")
        return [Instruction(name, f"mul i64 {stride.value}, {times}", site.item.source)], Argument("i64", name)

    def multiply_add(self, site: _Site) -> list[Instruction]:
        a, b, c = site.types
        mask = Operands(int(site.operands[3].value) & 31)
        return self.to(site, library.MultiplyAdd(a, b, c, mask), site.operands[:3])

    def length(self, site: _Site) -> list[Instruction]:
        return [self.call(site.item, library.Length(site.types[0]), [], "i32", site.item.result)]

    def fill(self, site: _Site) -> list[Instruction]:
        return self.to(site, library.Fill(site.result), [Argument(site.operands[0].type, site.operands[0].value)])

    def binary(self, site: _Site) -> list[Instruction]:
        matrix = site.result if site.row.signed else _unsigned(site.result)
        return self.to(site, library.Binary(matrix, _OPERATORS[site.row.instruction[1:]]), site.operands)

    def negate(self, site: _Site) -> list[Instruction]:
        return self.to(site, library.Negate(site.result), site.operands)

    def convert(self, site: _Site) -> list[Instruction]:
        source, target = site.types[0], site.result.component
        if not site.row.signed:
            source = _unsigned(source) if source.component.is_integer else source
            target = _as_unsigned(target)
        words = site.spelling.mode.split("_")
        rounding = next((word for word in words if word.startswith("rt")), "")
        return self.to(site, library.Convert(source, target, rounding, "sat" in words), site.operands)

    def extract(self, site: _Site) -> list[Instruction]:
        return self.get(site.item, site.types[0], site.operands[0], site.operands[1])

    def insert(self, site: _Site) -> list[Instruction]:
        value, whole, index = site.operands
        copied = site.lowering.copy(site.out, whole.value, site.call.type)
        set_ = self.given(site.item, library.Set(site.result), [Argument("ptr", site.out), index, value])
        return [copied, *set_]


def _as_unsigned(component: ComponentType) -> ComponentType:
    return COMPONENT_TYPES[f"u{component.bits}"] if component.is_integer else component


_MAKERS: dict[str, Callable[[LibraryCalls, _Site], list[Instruction]]] = {
    "load": LibraryCalls.memory,
    "store": LibraryCalls.memory,
    "multiply-add": LibraryCalls.multiply_add,
    "length": LibraryCalls.length,
    "fill": LibraryCalls.fill,
    "binary": LibraryCalls.binary,
    "negate": LibraryCalls.negate,
    "convert": LibraryCalls.convert,
    "extract": LibraryCalls.extract,
    "insert": LibraryCalls.insert,
}
