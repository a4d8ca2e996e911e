"""An LLVM module under construction, with its declarations, globals, metadata and text.

The module also defines the instructions that llvmlite's ir layer lacks or spells incompletely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from llvmlite.ir._utils import NameScope
from llvmlite.ir.instructions import AllocaInstr, FCMPInstr, ICMPInstr, Instruction
from llvmlite.ir.values import ArgumentAttributes, MDValue

from ..diagnostics import CompileError, Diagnostic, InternalError, Severity, Span
from ..frontend.types import AddressSpace
from .type_map import I8, I32, POINTERS, PRIVATE_POINTER, VOID_TYPE, TypeMap

# The name prefix of functions that only keep a variable alive until `coopmat.spirv.legalize` drops them.
_KEEPS = "coopmat.keeps."


class LoopNode(MDValue):  # type: ignore[misc]
    """A distinct metadata node whose first operand is the node itself, as `!llvm.loop` requires."""

    def descr(self, buf: list[str]) -> None:
        operands = ", ".join(op.get_reference() for op in (self, *self.operands))
        buf.append(f"distinct !{{ {operands} }}\n")


class LocalNames(NameScope):  # type: ignore[misc]
    """The local names of a function.

    LLVM truncates names to 1,024 bytes and then treats equal ones as the same value. Therefore names are truncated here
    first, and made unique afterwards.
    """

    LONGEST = 1000

    def __init__(self, before: NameScope) -> None:
        # Keep the entries of the parameters, which are registered already.
        self.__dict__.update(before.__dict__)

    def register(self, name: str, deduplicate: bool = False) -> str:
        return str(super().register(name[: self.LONGEST], deduplicate))


class Definition(ir.Function):  # type: ignore[misc]
    """A function with a body whose metadata is printed without commas, as LLVM's parser requires."""

    scope: NameScope

    def __init__(self, module: ir.Module, kind: ir.FunctionType, name: str) -> None:
        super().__init__(module, kind, name)
        self.scope = LocalNames(self.scope)

    def _stringify_metadata(self, leading_comma: bool = False) -> str:
        return " ".join(f"!{name} {node.get_reference()}" for name, node in self.metadata.items())


class ModuleBuilder:
    """A module under construction; `types` maps the language's types to LLVM types."""

    def __init__(self, context: ir.Context, types: TypeMap) -> None:
        self.ir = ir.Module(context=context)
        self.types = types
        self.extensions: set[str] = set()
        # Whether the device may contract floating-point expressions; this is the language's default.
        self.contract = True
        # The names of functions and variables that other programs define.
        self.imports: set[str] = set()
        self.places: tuple[Span | None, ...] = ()
        self._declared: dict[str, ir.Function] = {}
        self._strings: dict[bytes, ir.GlobalVariable] = {}

    def unique_name(self, name: str) -> str:
        return str(self.ir.get_unique_name(name))

    def declare(
        self,
        name: str,
        result: ir.Type,
        parameters: Sequence[ir.Type],
        attributes: Sequence[str] = ("convergent", "nounwind"),
        variadic: bool = False,
    ) -> ir.Function:
        """Return the external function `name`, declared on first use; later calls ignore type and attributes.

        Raise CompileError if a kernel has that name.
        """
        function = self._declared.get(name)
        if function is None:
            if name in self.ir.globals:
                text = f"a kernel that has the name of a builtin function, '{name}', is not supported"
                raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, None)])
            function = ir.Function(self.ir, ir.FunctionType(result, parameters, var_arg=variadic), name)
            # Intrinsics must have the C calling convention.
            function.calling_convention = "" if name.startswith("llvm.") else "spir_func"
            for attribute in attributes:
                function.attributes.add(attribute)
            self._declared[name] = function
        return function

    def define(
        self, name: str, result: ir.Type, parameters: Sequence[ir.Type], *, kernel: bool = False, inline: bool = False
    ) -> ir.Function:
        """Create and return a function that will get a body; if the name is taken, a number is appended."""
        # Functions other than kernels are internal, so that the SPIR-V module does not export them. `share` makes the
        # exceptions.
        function = Definition(self.ir, ir.FunctionType(result, parameters), self.unique_name(name))
        function.calling_convention = "spir_kernel" if kernel else "spir_func"
        function.linkage = "" if kernel else "internal"
        for attribute in ("convergent", "nounwind", *(["alwaysinline"] if inline else [])):
            function.attributes.add(attribute)
        return function

    def share(
        self, name: str, result: ir.Type, parameters: Sequence[ir.Type], is_defined: bool, inline: bool
    ) -> ir.Function:
        """Return a function that several programs share by this name; define it, or import it if not `is_defined`."""
        if not is_defined:
            self.imports.add(name)
            return self.declare(name, result, parameters)
        function = self.define(name, result, parameters, inline=inline)
        function.linkage = ""
        return function

    def keep(self, variable: ir.GlobalVariable) -> None:
        """Keep a variable that only other programs may use.

        The backend emits only variables that a function uses, so define a function that returns its address.
        Legalization drops that function.
        """
        function = self.share(f"{_KEEPS}{variable.name}", variable.type, [], True, False)
        ir.IRBuilder(function.append_basic_block("entry")).ret(variable)

    def global_variable(
        self,
        name: str,
        typ: ir.Type,
        space: AddressSpace,
        initializer: ir.Constant | None,
        align: int,
        shared: bool = False,
    ) -> ir.GlobalVariable:
        """Create and return a variable of static storage.

        Without an initializer its value is undefined. `shared`: several programs know the variable by this name;
        without an initializer, another program defines it.
        """
        variable = ir.GlobalVariable(self.ir, typ, self.unique_name(name), addrspace=int(space))
        variable.type = POINTERS[space]
        variable.linkage = "internal" if not shared else "" if initializer is not None else "external"
        if shared and initializer is None:
            self.imports.add(name)
        variable.global_constant = space is AddressSpace.CONSTANT
        variable.initializer = initializer
        variable.align = align
        return variable

    def string(self, value: bytes) -> ir.GlobalVariable:
        """Return a constant array with the bytes of `value` and a final NUL; equal strings share one array."""
        entry = self._strings.get(value)
        if entry is None:
            array = ir.ArrayType(I8, len(value) + 1)
            text = ir.Constant(array, bytearray(value + b"\0"))
            entry = self.global_variable(".str", array, AddressSpace.CONSTANT, text, 1)
            entry.unnamed_addr = True
            self._strings[value] = entry
        return entry

    def loop_node(self, unroll: int) -> MDValue:
        """Return the metadata for the back edge of a loop with an unroll hint; `unroll` is as in `typed.While`."""
        if unroll == 0:
            hint: list[ir.Value | str] = ["llvm.loop.unroll.full"]
        elif unroll == 1:
            hint = ["llvm.loop.unroll.disable"]
        else:
            hint = ["llvm.loop.unroll.count", ir.Constant(I32, unroll)]
        operand = self.ir.add_metadata(hint)
        return LoopNode(self.ir, [operand], name=str(len(self.ir.metadata)))

    def finish(self) -> str:
        """Return the text of the module with OpenCL's module metadata. This must be the last call: bodies are freed.

        If instructions have places (`Builder.debug_metadata`), `places` has the place of each line afterwards.
        """
        spans = [span for function in self.ir.functions for span in _take_places(function)]
        self.ir.add_named_metadata("opencl.ocl.version", [ir.Constant(I32, 3), ir.Constant(I32, 0)])
        if self.contract:
            # Without this metadata the backend gives every kernel the execution mode ContractionOff.
            self.ir.add_named_metadata("opencl.enable.FP_CONTRACT")
        module = self.ir
        lines = [item.get_declaration() for item in module.get_identified_types().values()]
        lines += [str(item) for item in module.globals.values()]
        lines += module._get_metadata_lines()
        self._release()
        text = "\n".join(lines) + "\n"
        if any(spans):
            self.places = _places_of_lines(text, spans)
        return text

    def _release(self) -> None:
        """Break the reference cycles of blocks and instructions, so that they are freed before a garbage collection."""
        for function in self.ir.functions:
            for block in function.blocks:
                block.terminator = None
                block.instructions.clear()
            function.blocks.clear()


# --- places ----------------------------------------------------------------------------------------


def _take_places(function: ir.Function) -> list[Span | None]:
    """Remove the places from a function and its instructions; return them in the order of the text."""
    if not function.blocks:
        return []
    instructions = [item for block in function.blocks for item in block.instructions]
    return [function.metadata.pop("dbg", None), *(item.metadata.pop("dbg", None) for item in instructions)]


def _places_of_lines(text: str, spans: list[Span | None]) -> tuple[Span | None, ...]:
    """Return the place of each line of a text; `spans` has those of functions and instructions in order."""
    rest = iter(spans)
    places: list[Span | None] = []
    is_inside = False
    for line in text.split("\n")[:-1]:
        is_place = line.startswith("define ") or (is_inside and line.startswith("  "))
        places.append(next(rest) if is_place else None)
        is_inside = line != "}" and (is_inside or line.startswith("define "))
    if next(rest, text) is not text:
        raise InternalError("an instruction has several lines of text")
    return tuple(places)


# --- instructions ----------------------------------------------------------------------------------


class Load(Instruction):  # type: ignore[misc]
    """A load instruction with alignment and volatility."""

    def __init__(self, block: ir.Block, pointer: ir.Value, typ: ir.Type, align: int, volatile: bool) -> None:
        super().__init__(block, typ, "load volatile" if volatile else "load", (pointer,))
        self.align = align

    def descr(self, buf: list[str]) -> None:
        pointer = self.operands[0]
        buf.append(f"{self.opname} {self.type}, {pointer.type} {pointer.get_reference()}, align {self.align}")


class Store(Instruction):  # type: ignore[misc]
    """A store instruction with alignment and volatility."""

    def __init__(self, block: ir.Block, value: ir.Value, pointer: ir.Value, align: int, volatile: bool) -> None:
        super().__init__(block, VOID_TYPE, "store volatile" if volatile else "store", (value, pointer))
        self.align = align

    def descr(self, buf: list[str]) -> None:
        value, pointer = self.operands
        target = f"{pointer.type} {pointer.get_reference()}, align {self.align}"
        buf.append(f"{self.opname} {value.type} {value.get_reference()}, {target}")


class ExactDivision(Instruction):  # type: ignore[misc]
    """The instruction `sdiv exact`."""

    def __init__(self, block: ir.Block, left: ir.Value, right: ir.Value) -> None:
        super().__init__(block, left.type, "sdiv", (left, right), flags=("exact",))


_COMPARE = {"icmp": ICMPInstr, "fcmp": FCMPInstr}


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """An llvmlite builder with opaque pointers, alignment, volatile accesses and instruction flags."""

    def load(
        self, ptr: ir.Value, name: str = "", align: int | None = None, typ: ir.Type = None, volatile: bool = False
    ) -> ir.Value:
        return self._add(Load(self._block, ptr, typ, align or 1, volatile))

    def store(self, value: ir.Value, ptr: ir.Value, align: int | None = None, volatile: bool = False) -> ir.Value:
        return self._add(Store(self._block, value, ptr, align or 1, volatile))

    def binary(self, opname: str, left: ir.Value, right: ir.Value, flags: Sequence[str] = ()) -> ir.Value:
        return self._add(Instruction(self._block, left.type, opname, (left, right), flags=list(flags)))

    def compare(self, opname: str, predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
        """Emit a comparison; `opname` is "icmp" or "fcmp"."""
        return self._add(_COMPARE[opname](self._block, predicate, left, right))

    def exact_division(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self._add(ExactDivision(self._block, left, right))

    def element(self, pointer: ir.Value, typ: ir.Type, indices: Sequence[ir.Value]) -> ir.Value:
        """Emit the address of an element: `indices` apply to an object of type `typ` at `pointer`."""
        return self.gep(pointer, list(indices), inbounds=True, source_etype=typ)

    def _add(self, instruction: Any) -> ir.Value:
        self._insert(instruction)
        return instruction


class PointeeAttributes(ArgumentAttributes):  # type: ignore[misc]
    """The attributes of a pointer parameter that state the pointee type.

    `kind` is "byval" (the callee owns a copy), "sret" (the address of the result) or "byref". Without the attribute the
    SPIR-V backend guesses the pointee type from the parameter's uses, and gets records wrong.
    """

    def __init__(self, kind: str, pointee: ir.Type, align: int) -> None:
        super().__init__()
        self._text = [f"{kind}({pointee})", f"align {align}"]

    def _to_list(self, typ: ir.Type) -> list[str]:
        return self._text


def variable(entry: ir.Block, typ: ir.Type, align: int, name: str) -> AllocaInstr:
    """Return an alloca for block `entry`, of plain pointer type and not yet inserted."""
    result = AllocaInstr(entry, typ, None, name)
    result.align = align
    result.type = PRIVATE_POINTER
    return result
