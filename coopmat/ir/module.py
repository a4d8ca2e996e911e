"""A module under construction: declarations, globals, metadata, and its text; the instructions that llvmlite's ir layer
lacks or spells incompletely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from llvmlite.ir._utils import NameScope
from llvmlite.ir.instructions import AllocaInstr, FCMPInstr, ICMPInstr, Instruction
from llvmlite.ir.values import ArgumentAttributes, MDValue

from ..diagnostics import CompileError, Diagnostic, Severity
from ..frontend.types import AddressSpace
from .type_map import I8, I32, POINTERS, PRIVATE_POINTER, VOID_TYPE, TypeMap

# What the names of functions begin with that only keep a variable: see `coopmat.spirv.legalize`.
_KEEPS = "coopmat.keeps."


class LoopNode(MDValue):  # type: ignore[misc]
    """A distinct node whose first operand is itself, as `!llvm.loop` needs."""

    def descr(self, buf: list[str]) -> None:
        operands = ", ".join(op.get_reference() for op in (self, *self.operands))
        buf.append(f"distinct !{{ {operands} }}\n")


class LocalNames(NameScope):  # type: ignore[misc]
    """The names in a function. LLVM cuts those that are longer than 1,024 bytes, and takes what is left for the same
    name where it is; so they are cut here, before they are made distinct."""

    LONGEST = 1000

    def __init__(self, before: NameScope) -> None:
        # The parameters have theirs already.
        self.__dict__.update(before.__dict__)

    def register(self, name: str, deduplicate: bool = False) -> str:
        return str(super().register(name[: self.LONGEST], deduplicate))


class Definition(ir.Function):  # type: ignore[misc]
    """A function with a body, whose metadata is written as LLVM reads it: without commas."""

    scope: NameScope

    def __init__(self, module: ir.Module, kind: ir.FunctionType, name: str) -> None:
        super().__init__(module, kind, name)
        self.scope = LocalNames(self.scope)

    def _stringify_metadata(self, leading_comma: bool = False) -> str:
        return " ".join(f"!{name} {node.get_reference()}" for name, node in self.metadata.items())


class ModuleBuilder:
    """A module under construction: all that has module scope. `types` maps the language's types."""

    def __init__(self, context: ir.Context, types: TypeMap) -> None:
        self.ir = ir.Module(context=context)
        self.types = types
        self.extensions: set[str] = set()
        # Whether a driver may contract floating-point expressions, which is the language's default.
        self.contract = True
        # The names of what other programs define.
        self.imports: set[str] = set()
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
        """The external function of this name; the first declaration decides its type and attributes."""
        function = self._declared.get(name)
        if function is None:
            if name in self.ir.globals:
                text = f"a kernel that has the name of a builtin function, '{name}', is not supported"
                raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, None)])
            function = ir.Function(self.ir, ir.FunctionType(result, parameters, var_arg=variadic), name)
            # Intrinsics have the C calling convention.
            function.calling_convention = "" if name.startswith("llvm.") else "spir_func"
            for attribute in attributes:
                function.attributes.add(attribute)
            self._declared[name] = function
        return function

    def define(
        self, name: str, result: ir.Type, parameters: Sequence[ir.Type], *, kernel: bool = False, inline: bool = False
    ) -> ir.Function:
        """A function that will get a body; every call of this makes a new one."""
        # SPIR-V has a function's linkage only where it is needed: everything but kernels is internal.
        function = Definition(self.ir, ir.FunctionType(result, parameters), self.unique_name(name))
        function.calling_convention = "spir_kernel" if kernel else "spir_func"
        function.linkage = "" if kernel else "internal"
        for attribute in ("convergent", "nounwind", *(["alwaysinline"] if inline else [])):
            function.attributes.add(attribute)
        return function

    def share(
        self, name: str, result: ir.Type, parameters: Sequence[ir.Type], is_defined: bool, inline: bool
    ) -> ir.Function:
        """A function that several programs know by this name, and which this one defines, or another."""
        if not is_defined:
            self.imports.add(name)
            return self.declare(name, result, parameters)
        function = self.define(name, result, parameters, inline=inline)
        function.linkage = ""
        return function

    def keep(self, variable: ir.GlobalVariable) -> None:
        """Keep a variable that only other programs may use: the backend emits only what a function uses. Legalisation
        drops the function that does it."""
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
        """An object of static storage; without an initializer its value is undefined. `shared`: several programs know
        the object by this name; without an initializer another one defines it."""
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
        """The constant array of `value` and a final NUL."""
        entry = self._strings.get(value)
        if entry is None:
            array = ir.ArrayType(I8, len(value) + 1)
            text = ir.Constant(array, bytearray(value + b"\0"))
            entry = self.global_variable(".str", array, AddressSpace.CONSTANT, text, 1)
            entry.unnamed_addr = True
            self._strings[value] = entry
        return entry

    def loop_node(self, unroll: int) -> MDValue:
        """Metadata for the back edge of a loop; `unroll` as in `typed.While`."""
        if unroll == 0:
            hint: list[ir.Value | str] = ["llvm.loop.unroll.full"]
        elif unroll == 1:
            hint = ["llvm.loop.unroll.disable"]
        else:
            hint = ["llvm.loop.unroll.count", ir.Constant(I32, unroll)]
        operand = self.ir.add_metadata(hint)
        return LoopNode(self.ir, [operand], name=str(len(self.ir.metadata)))

    def finish(self) -> str:
        """The module's text, with what every OpenCL module carries; to be called last, since the bodies go."""
        self.ir.add_named_metadata("opencl.ocl.version", [ir.Constant(I32, 3), ir.Constant(I32, 0)])
        if self.contract:
            # Without it the backend gives every kernel the execution mode ContractionOff.
            self.ir.add_named_metadata("opencl.enable.FP_CONTRACT")
        module = self.ir
        lines = [item.get_declaration() for item in module.get_identified_types().values()]
        lines += [str(item) for item in module.globals.values()]
        lines += module._get_metadata_lines()
        self._release()
        return "\n".join(lines) + "\n"

    def _release(self) -> None:
        """Cut the cycles between blocks and instructions, so that these go now, not when the collector finds them."""
        for function in self.ir.functions:
            for block in function.blocks:
                block.terminator = None
                block.instructions.clear()
            function.blocks.clear()


# --- instructions ----------------------------------------------------------------------------------


class Load(Instruction):  # type: ignore[misc]
    """A load with alignment and volatility."""

    def __init__(self, block: ir.Block, pointer: ir.Value, typ: ir.Type, align: int, volatile: bool) -> None:
        super().__init__(block, typ, "load volatile" if volatile else "load", (pointer,))
        self.align = align

    def descr(self, buf: list[str]) -> None:
        pointer = self.operands[0]
        buf.append(f"{self.opname} {self.type}, {pointer.type} {pointer.get_reference()}, align {self.align}")


class Store(Instruction):  # type: ignore[misc]
    """A store with alignment and volatility."""

    def __init__(self, block: ir.Block, value: ir.Value, pointer: ir.Value, align: int, volatile: bool) -> None:
        super().__init__(block, VOID_TYPE, "store volatile" if volatile else "store", (value, pointer))
        self.align = align

    def descr(self, buf: list[str]) -> None:
        value, pointer = self.operands
        target = f"{pointer.type} {pointer.get_reference()}, align {self.align}"
        buf.append(f"{self.opname} {value.type} {value.get_reference()}, {target}")


class ExactDivision(Instruction):  # type: ignore[misc]
    """`sdiv exact`."""

    def __init__(self, block: ir.Block, left: ir.Value, right: ir.Value) -> None:
        super().__init__(block, left.type, "sdiv", (left, right), flags=("exact",))


_COMPARE = {"icmp": ICMPInstr, "fcmp": FCMPInstr}


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """llvmlite's builder, with volatile accesses and variables that live in the entry block."""

    def load(
        self, ptr: ir.Value, name: str = "", align: int | None = None, typ: ir.Type = None, volatile: bool = False
    ) -> ir.Value:
        return self._add(Load(self._block, ptr, typ, align or 1, volatile))

    def store(self, value: ir.Value, ptr: ir.Value, align: int | None = None, volatile: bool = False) -> ir.Value:
        return self._add(Store(self._block, value, ptr, align or 1, volatile))

    def binary(self, opname: str, left: ir.Value, right: ir.Value, flags: Sequence[str] = ()) -> ir.Value:
        return self._add(Instruction(self._block, left.type, opname, (left, right), flags=list(flags)))

    def compare(self, opname: str, predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
        """`opname` is icmp or fcmp."""
        return self._add(_COMPARE[opname](self._block, predicate, left, right))

    def exact_division(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self._add(ExactDivision(self._block, left, right))

    def element(self, pointer: ir.Value, typ: ir.Type, indices: Sequence[ir.Value]) -> ir.Value:
        """The address of an element of a `typ` (or of the array of them) at `pointer`."""
        return self.gep(pointer, list(indices), inbounds=True, source_etype=typ)

    def _add(self, instruction: Any) -> ir.Value:
        self._insert(instruction)
        return instruction


class PointeeAttributes(ArgumentAttributes):  # type: ignore[misc]
    """The attributes of a pointer parameter that name the type it points to. `kind` is byval (the callee's own copy),
    sret (its result) or byref.

    The SPIR-V backend gives the parameter that type; otherwise it guesses from the uses, and gets records wrong.
    """

    def __init__(self, kind: str, pointee: ir.Type, align: int) -> None:
        super().__init__()
        self._text = [f"{kind}({pointee})", f"align {align}"]

    def _to_list(self, typ: ir.Type) -> list[str]:
        return self._text


def variable(entry: ir.Block, typ: ir.Type, align: int, name: str) -> AllocaInstr:
    """An alloca for `entry`, not inserted yet, whose type is a plain pointer."""
    result = AllocaInstr(entry, typ, None, name)
    result.align = align
    result.type = PRIVATE_POINTER
    return result
