"""The state shared by the lowering of a function's body: the insertion point, the variables, the module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from llvmlite import ir
from llvmlite.ir.values import ArgumentAttributes

from ...diagnostics import Span
from ...frontend import typed
from ...frontend.types import AddressSpace
from ...matrix_types import Overlaps
from .. import LowerOptions
from ..module import Builder, ModuleBuilder, variable
from ..type_map import I1, I64, VOID_TYPE, TypeMap


class Memory(Protocol):
    """An object in memory: the members of `places.MemoryPlace` used here."""

    pointer: ir.Value
    align: int
    volatile: bool


class Program(Protocol):
    """The members of `program.Program` that functions use.

    span: the location of the statement that is being lowered.
    operand, rvalue, argument, nested: the functions of `expressions` and `statements`.
    """

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
    """The function under construction.

    `builder` holds the insertion point. If `live` is false, the current block has a terminator, and nothing may be
    emitted. `block` creates a block, `jump` and `branch` branch to it, and `begin` continues there. `begin` omits
    unreachable blocks: after a return, jump or endless loop no code is emitted until a label.
    """

    def __init__(self, program: Program, function: ir.Function, decl: typed.FunctionDecl) -> None:
        self.program = program
        self.module: ModuleBuilder = program.module
        self.types: TypeMap = program.module.types
        self.options: LowerOptions = program.options
        self.float_flags = _float_flags(program.options, decl)
        self.function = function
        self.decl = decl
        # variable -> its `places.MemoryPlace`.
        self.variables: dict[typed.VarDecl, Any] = {}
        # parameter that is an image or sampler -> its value.
        self.handles: dict[typed.VarDecl, ir.Value] = {}
        # The address for a result that is handled in memory.
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
        """Whether expressions of Clang's matrix types may be contracted."""
        return self.options.contract_matrices or bool(self.decl.attributes.get("fp_contract", True))

    def at(self, span: Span | None) -> Span | None:
        """Set the place of the next instructions, if the options ask for places; return the place before."""
        before: Span | None = self.builder.debug_metadata
        if self.options.places:
            self.builder.debug_metadata = span
        return before

    # --- values ----------------------------------------------------------------------------------

    def operand(self, e: typed.Expr) -> Any:
        """Call `expressions.operand`; for modules that cannot import `expressions`, which imports them."""
        return self.program.operand(self, e)

    def rvalue(self, e: typed.Expr) -> ir.Value:
        return self.program.rvalue(self, e)

    def argument(self, e: typed.Expr) -> ir.Value:
        return self.program.argument(self, e)

    def nested(self, body: typed.Block) -> None:
        """Call `statements.nested`, which lowers the statements of a statement expression."""
        self.program.nested(self, body)

    # --- memory ----------------------------------------------------------------------------------

    def allocate(self, typ: ir.Type, align: int, name: str = "") -> ir.Value:
        """Create a variable in the entry block, and return its address."""
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

    def call(
        self,
        name: str,
        result: ir.Type,
        arguments: Sequence[ir.Value],
        attributes: Sequence[str] = ("convergent", "nounwind"),
    ) -> ir.Value:
        """Emit a call of the external function `name`, declared with the arguments' types."""
        function = self.module.declare(name, result, [argument.type for argument in arguments], attributes)
        return self.builder.call(function, arguments)

    # --- control flow ----------------------------------------------------------------------------

    @property
    def live(self) -> bool:
        return self.builder.block.terminator is None

    def block(self, name: str) -> ir.Block:
        return ir.Block(self.function, name=name)

    def jump(self, target: ir.Block) -> ir.Value | None:
        """Emit a branch to `target` and return it; if the insertion point is dead, return None."""
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
        """Mark `block` as reachable by a terminator that was emitted elsewhere."""
        self._reached.add(block)

    def begin(self, block: ir.Block) -> bool:
        """Continue in `block`, to which a live current block falls through.

        If the block is unreachable, return False.
        """
        self.jump(block)
        if block not in self._reached:
            return False
        self.function.blocks.append(block)
        self.builder.position_at_end(block)
        return True

    def finish(self) -> None:
        """Insert the variables at the front of the entry block. This must be the last call."""
        self._entry.instructions[0:0] = self._variables


_FAST = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")


def _float_flags(options: LowerOptions, decl: typed.FunctionDecl) -> tuple[str, ...]:
    """Return a function's fast-math flags; a pragma that disables contraction takes precedence over the options."""
    if decl.attributes.get("fp_contract", True):
        return options.float_flags
    flags = _FAST if "fast" in options.float_flags else options.float_flags
    return tuple(flag for flag in flags if flag != "contract")


def space_of(pointer: ir.Value) -> AddressSpace:
    return AddressSpace(pointer.type.addrspace)
