"""The state that the lowering of a function body shares: the insertion point, the function's variables, the module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from llvmlite import ir
from llvmlite.ir.values import ArgumentAttributes

from ...diagnostics import Span
from ...frontend import typed
from ...frontend.types import AddressSpace, Type
from ...matrix_types import Overlaps
from .. import LowerOptions
from ..module import Builder, ModuleBuilder, variable
from ..type_map import I1, I64, VOID_TYPE, TypeMap


class Memory(Protocol):
    """An object in memory, as `places.MemoryPlace` describes one."""

    pointer: ir.Value
    align: int
    volatile: bool


class Program(Protocol):
    """The module under construction, as its functions know it: `program.Program`. `span` is that of the statement being
    lowered. The callables lower an expression, in the three forms of `expressions`, and the statements of one."""

    options: LowerOptions
    span: Span | None

    @property
    def module(self) -> ModuleBuilder: ...
    @property
    def operand(self) -> Callable[[FunctionContext, typed.Expr], Any]: ...
    @property
    def rvalue(self) -> Callable[[FunctionContext, typed.Expr], ir.Value]: ...
    @property
    def argument(self) -> Callable[[FunctionContext, typed.Expr], ir.Value]: ...
    @property
    def nested(self) -> Callable[[FunctionContext, typed.Block], None]: ...

    def callee(self, decl: typed.FunctionDecl) -> ir.Function: ...
    def static_object(self, decl: typed.VarDecl, function: str) -> ir.GlobalVariable: ...
    def constant_object(self, name: str, value: ir.Constant, align: int) -> ir.GlobalVariable: ...


class FunctionContext:
    """The function under construction. `builder` is where code goes; nothing may be added where `live` is false.

    A block is made by `block`, reached by `jump` and `branch`, and begun by `begin`, which leaves out blocks that
    nothing reaches: after a return, a jump or an endless loop there is no block, hence no code, until a label.
    """

    def __init__(self, program: Program, function: ir.Function, decl: typed.FunctionDecl) -> None:
        self.program = program
        self.module: ModuleBuilder = program.module
        self.types: TypeMap = program.module.types
        self.options: LowerOptions = program.options
        self.float_flags = _float_flags(program.options, decl)
        self.function = function
        self.decl = decl
        # The `places.MemoryPlace` of each variable.
        self.variables: dict[typed.VarDecl, Any] = {}
        # Parameters that are images and samplers.
        self.handles: dict[typed.VarDecl, ir.Value] = {}
        # Where a result that is handled in memory goes.
        self.result: ir.Value | None = None
        self._overlaps: Overlaps | None = None
        entry = function.append_basic_block("entry")
        self.builder = Builder(entry)
        self._entry = entry
        self._variables: list[ir.Value] = []
        self._reached: set[ir.Block] = {entry}

    @property
    def overlaps(self) -> Overlaps:
        if self._overlaps is None:
            self._overlaps = Overlaps(self.decl)
        return self._overlaps

    @property
    def contract_matrices(self) -> bool:
        """Return whether expressions of Clang's matrix types may be contracted."""
        return self.options.contract_matrices or bool(self.decl.attributes.get("fp_contract", True))

    # --- values ----------------------------------------------------------------------------------

    def operand(self, e: typed.Expr) -> Any:
        """Call `expressions.operand`, for modules that `expressions` itself imports."""
        return self.program.operand(self, e)

    def rvalue(self, e: typed.Expr) -> ir.Value:
        return self.program.rvalue(self, e)

    def argument(self, e: typed.Expr) -> ir.Value:
        return self.program.argument(self, e)

    def nested(self, body: typed.Block) -> None:
        """The statements of an expression, as `statements.nested`."""
        self.program.nested(self, body)

    # --- memory ----------------------------------------------------------------------------------

    def allocate(self, typ: ir.Type, align: int, name: str = "") -> ir.Value:
        """A variable in the entry block."""
        result = variable(self._entry, typ, align, name)
        self._variables.append(result)
        return result

    def copy_bytes(self, target: Memory, source: Memory, size: int) -> None:
        pointers = (target.pointer, source.pointer)
        name = "llvm.memcpy." + ".".join(f"p{p.type.addrspace}" for p in pointers) + ".i64"
        memcpy = self.module.declare(name, VOID_TYPE, [*(p.type for p in pointers), I64, I1], ("nounwind",))
        volatile = ir.Constant(I1, int(target.volatile or source.volatile))
        call = self.builder.call(memcpy, [*pointers, ir.Constant(I64, size), volatile])
        for index, place in enumerate((target, source)):
            attributes = ArgumentAttributes()
            attributes.align = place.align
            call.arg_attributes[index] = attributes

    # --- calls -----------------------------------------------------------------------------------

    def llvm_type(self, t: Type) -> ir.Type:
        return self.types.of(t)

    def declare_function(
        self, name: str, result: ir.Type, parameters: Sequence[ir.Type], attributes: Sequence[str]
    ) -> ir.Function:
        """The external function of this name, declared once per module."""
        return self.module.declare(name, result, parameters, attributes)

    def call(
        self,
        name: str,
        result: ir.Type,
        arguments: Sequence[ir.Value],
        attributes: Sequence[str] = ("convergent", "nounwind"),
    ) -> ir.Value:
        """A call of the external function of this name, declared after its arguments."""
        function = self.module.declare(name, result, [argument.type for argument in arguments], attributes)
        return self.builder.call(function, arguments)

    # --- control flow ----------------------------------------------------------------------------

    @property
    def live(self) -> bool:
        return self.builder.block.terminator is None

    def block(self, name: str) -> ir.Block:
        return ir.Block(self.function, name=name)

    def jump(self, target: ir.Block) -> ir.Value | None:
        """Branch to `target` if control reaches this place, and return the branch; None otherwise."""
        if not self.live:
            return None
        self._reached.add(target)
        return self.builder.branch(target)

    def branch(self, condition: ir.Value, then: ir.Block, otherwise: ir.Block) -> ir.Value | None:
        if isinstance(condition, ir.Constant):
            return self.jump(then if condition.constant else otherwise)
        self._reached.update((then, otherwise))
        return self.builder.cbranch(condition, then, otherwise)

    def reach(self, block: ir.Block) -> None:
        """Control can get to `block`, in a way that this context does not see."""
        self._reached.add(block)

    def begin(self, block: ir.Block) -> bool:
        """Go on in `block`, falling through to it; False, and nothing done, if control never gets there."""
        self.jump(block)
        if block not in self._reached:
            return False
        self.function.blocks.append(block)
        self.builder.position_at_end(block)
        return True

    def finish(self) -> None:
        """Move the variables to the front of the entry block. This must be the last call."""
        self._entry.instructions[0:0] = self._variables


_FAST = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")


def _float_flags(options: LowerOptions, decl: typed.FunctionDecl) -> tuple[str, ...]:
    """LLVM's fast-math flags in a function; a pragma against contraction has precedence over options."""
    if decl.attributes.get("fp_contract", True):
        return options.float_flags
    flags = _FAST if "fast" in options.float_flags else options.float_flags
    return tuple(flag for flag in flags if flag != "contract")


def space_of(pointer: ir.Value) -> AddressSpace:
    return AddressSpace(pointer.type.addrspace)
