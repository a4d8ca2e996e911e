"""Lowering of a translation unit: its functions, its kernels with their metadata, and its static objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir
from llvmlite.ir.instructions import AllocaInstr

from ...diagnostics import CompileError, Diagnostic, InternalError, Severity, Span
from ...frontend import typed
from ...frontend.kernel_info import KernelInfo, describe, shared, sub_group_size
from ...frontend.reserved import LIBRARY_PREFIX, is_library, is_reserved
from ...frontend.types import (
    AddressSpace,
    ArrayType,
    PointerType,
    RecordType,
    Type,
    contains_matrix,
    is_complete,
    is_opaque,
)
from .. import LoweredModule, LowerOptions
from ..module import Builder, ModuleBuilder, PointeeAttributes, variable
from ..type_map import I32, VOID_TYPE, TypeMap, undefined
from . import expressions, initializers
from .builtin_calls import mangle
from .context import FunctionContext
from .lvalues import MemoryPlace
from .native_matrices import NativeMatrixTypes
from .operators import is_signed
from .statements import lower_body, nested


def lower(unit: typed.Unit, options: LowerOptions) -> LoweredModule:
    """Lower a translation unit: its roots and their callees, and the variables that other programs may use.

    Passes (`coopmat.passes`) have lowered everything other than plain C and native instructions to library calls.
    Raise CompileError for constructs that cannot be lowered.
    """
    return Program(unit, options).lower()


class Program:
    """The lowering of one unit to one module; other packages call `lower` only."""

    operand = staticmethod(expressions.operand)
    rvalue = staticmethod(expressions.rvalue)
    argument = staticmethod(expressions.argument)
    nested = staticmethod(nested)

    def __init__(self, unit: typed.Unit, options: LowerOptions) -> None:
        self.options = options
        self.unit = unit
        # The location of the statement that is being lowered.
        self.span: Span | None = None
        context = ir.Context()
        matrices = NativeMatrixTypes()
        types = TypeMap(context, matrices, small_bits=not options.is_native)
        self.module = matrices.module = ModuleBuilder(context, types)
        self._functions: dict[typed.FunctionDecl, ir.Function] = {}
        self._objects: dict[typed.VarDecl, ir.GlobalVariable] = {}
        self._waiting: list[tuple[ir.Function, typed.FunctionDecl]] = []

    def lower(self) -> LoweredModule:
        heads = {decl: declare(self, decl) for decl in self.unit.kernels}
        for function in self.unit.functions:
            if function.symbol is not None:
                self.callee(function)
        for item in self.unit.variables:
            if item.symbol is not None and not item.imported:
                self.module.keep(self.static_object(item, ""))
        for decl, head in heads.items():
            self._define(head, decl)
        for function in self.unit.roots:
            if not function.is_kernel:
                self.callee(function)
        self._lower_waiting()
        infos = tuple(self._finish_kernel(decl, function) for decl, function in heads.items())
        if not self.options.is_native:
            passes = "O1"
        elif self.unit.has_matrix_types and not self.unit.has_matrices and not self.options.opt_disable:
            # Without cooperative matrices in the module, O1 is safe; it promotes the private objects of matrix
            # expressions to registers.
            passes = "O1"
        else:
            passes = "none" if self.options.opt_disable else "sroa"
        extensions = tuple(sorted(self.module.extensions))
        imports = frozenset(self.module.imports)
        text = self.module.finish()
        return LoweredModule(text, infos, passes, extensions, shared(self.unit), imports, self.module.places)

    # --- functions -------------------------------------------------------------------------------

    def callee(self, decl: typed.FunctionDecl) -> ir.Function:
        """Return the function to call for `decl`, whose body is queued for lowering.

        For a kernel, that is a second function. Raise CompileError if `decl` is not defined.
        """
        function = self._functions.get(decl)
        if function is None:
            if decl.body is None and decl.symbol is None:
                text = f"function '{decl.name}' is declared but not defined"
                raise CompileError([Diagnostic(Severity.ERROR, "undefined-function", text, decl.span)])
            types = self.module.types
            parameters = [types.parameter(parameter.type) for parameter in decl.parameters]
            result = types.value(decl.type.result)
            if types.in_memory(decl.type.result):
                result, parameters = VOID_TYPE, [types.parameter(decl.type.result), *parameters]
            inline = bool(decl.attributes.get("always_inline"))
            if decl.symbol is not None:
                function = self.module.share(_symbol(decl), result, parameters, decl.body is not None, inline)
            else:
                name = _module_name(decl.name, decl.span)
                function = self.module.define(name, result, parameters, inline=inline)
            if decl.attributes.get("noinline") and not inline:
                function.attributes.add("noinline")
            self._describe_pointees(function, decl)
            self._functions[decl] = function
            if decl.body is not None:
                self._waiting.append((function, decl))
        return function

    def _describe_pointees(self, function: ir.Function, decl: typed.FunctionDecl) -> None:
        """Attach attributes with the pointee type, which the backend must not guess, to pointer parameters.

        These are parameters and results handled in memory, pointers to matrices, and pointer parameters of functions
        that several programs share. In shared functions, parameters passed as copies are byval, as in clang's.
        """
        types, is_shared = self.module.types, decl.symbol is not None
        arguments = list(function.args)
        if types.in_memory(decl.type.result):
            result = decl.type.result
            arguments.pop(0).attributes = PointeeAttributes("sret", types.of(result), types.align(result))
        for argument, parameter in zip(arguments, decl.parameters, strict=True):
            t = parameter.type
            attach_restrict(argument, parameter)
            pointee = t if types.in_memory(t) else t.pointee if isinstance(t, PointerType) else None
            if pointee is not None and pointee is t and is_shared:
                argument.attributes = PointeeAttributes("byval", types.of(pointee), types.align(pointee))
            elif pointee is not None and (
                pointee is t or contains_matrix(pointee) or (is_shared and is_complete(pointee))
            ):
                argument.attributes = PointeeAttributes("byref", types.of(pointee), types.align(pointee))

    def _lower_waiting(self) -> None:
        while self._waiting:
            self._define(*self._waiting.pop(0))

    def _define(self, function: ir.Function, decl: typed.FunctionDecl) -> None:
        if decl.body is None:
            raise InternalError(f"function '{decl.name}' has no body")
        self.module.contract &= bool(decl.attributes.get("fp_contract", True))
        ctx = FunctionContext(self, function, decl)
        if self.options.places:
            function.metadata["dbg"] = decl.span
        ctx.at(decl.span)
        arguments = list(function.args)
        if self.module.types.in_memory(decl.type.result):
            ctx.result = arguments.pop(0)
            ctx.result.name = "result"
        for argument, parameter in zip(arguments, decl.parameters, strict=True):
            argument.name = parameter.name
            self._parameter(ctx, argument, parameter)
        lower_body(ctx, decl.body)

    def _parameter(self, ctx: FunctionContext, argument: ir.Value, decl: typed.VarDecl) -> None:
        if is_opaque(decl.type):
            ctx.handles[decl] = argument
            return
        align = ctx.types.align(decl.type)
        if ctx.types.in_memory(decl.type):
            # The caller passes the address of a copy.
            pointer = argument
        else:
            pointer = ctx.allocate(ctx.types.of(decl.type), align, f"{decl.name}.addr")
            MemoryPlace(pointer, decl.type, align).write(ctx, argument)
        ctx.variables[decl] = MemoryPlace(pointer, decl.type, align, decl.qualifiers.volatile)

    # --- kernels ---------------------------------------------------------------------------------

    def _finish_kernel(self, decl: typed.FunctionDecl, function: ir.Function) -> KernelInfo:
        if self.options.align_frames and decl.attributes.get("matrix_loops"):
            align_frame(function, self.options.machine.register_bits)
        size = sub_group_size(decl)
        attach_metadata(self, function, decl, size)
        return decl.info or describe(decl, size, uses_matrices=False)

    # --- objects ---------------------------------------------------------------------------------

    def static_object(self, decl: typed.VarDecl, function: str) -> ir.GlobalVariable:
        """Return the global variable for a static variable; one in local memory is named after `function`."""
        entry = self._objects.get(decl)
        if entry is None:
            space = decl.qualifiers.space
            # The names of variables that passes create contain a dot.
            is_own = space is AddressSpace.LOCAL and "." not in decl.name
            name = f"{function}.{decl.name}" if is_own else _module_name(decl.name, decl.span)
            if decl.symbol is not None:
                entry = self._objects[decl] = self._shared_object(decl, name)
                return entry
            align = max(self.module.types.align(decl.type), decl.alignment or 1)
            if self.options.memory_rules is not None and isinstance(decl.type, (ArrayType, RecordType)):
                align = max(align, self.options.memory_rules.placement)
            typ, value = self.module.types.of(decl.type), self._initial_value(decl)
            if value is not None:
                # The type of a union's constant is that of the initialized member.
                typ = value.type
            entry = self._objects[decl] = self.module.global_variable(name, typ, space, value, align)
        return entry

    def _shared_object(self, decl: typed.VarDecl, name: str) -> ir.GlobalVariable:
        """Return the global variable for a variable that several programs share."""
        types, t = self.module.types, decl.type
        if isinstance(t, ArrayType) and t.size is None:
            # The length is known only to the program that defines the array; use 1.
            t = replace(t, size=1)
        value = None if decl.imported else self._initial_value(decl)
        typ = types.of(t) if value is None else value.type
        align = max(types.align(t), decl.alignment or 1)
        return self.module.global_variable(name, typ, decl.qualifiers.space, value, align, shared=True)

    def _initial_value(self, decl: typed.VarDecl) -> ir.Constant | None:
        if decl.initializer is None:
            undefined = decl.qualifiers.space is AddressSpace.LOCAL
            return None if undefined else ir.Constant(self.module.types.of(decl.type), None)
        value = initializers.constant(self, decl.initializer)
        if value is None:
            text = f"this initialiser of '{decl.name}' is not supported yet: it is not a constant"
            raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, decl.initializer.span)])
        return value

    def constant_object(self, name: str, value: ir.Constant, align: int) -> ir.GlobalVariable:
        """Return a new object in constant memory whose address is insignificant (`unnamed_addr` in LLVM)."""
        result = self.module.global_variable(name, value.type, AddressSpace.CONSTANT, value, align)
        result.unnamed_addr = True
        return result


def _module_name(name: str, span: Span) -> str:
    """Return the name of a function or variable in the module.

    A user's name that LLVM, a reader of this IR, or the library may also use gets the prefix "user.".
    """
    # Passes append suffixes to names after a dot.
    own = name.partition(".")[0]
    known = is_reserved(own) or own.startswith(LIBRARY_PREFIX) or own in ("llvm", "spirv")
    return f"user.{name}" if known and not is_library(span.file) else name


def _symbol(decl: typed.FunctionDecl) -> str:
    """Return the module's name of a shared function, by which other programs refer to it.

    An overloadable function's name is mangled. Raise CompileError if it cannot be.
    """
    if not decl.attributes.get("overloadable"):
        return _module_name(decl.symbol or "", decl.span)
    try:
        return mangle(decl.symbol or "", decl.type.parameters)
    except InternalError:
        text = f"'{decl.name}' cannot be shared with other programs: a parameter has a type without a name"
        raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, decl.span)]) from None


# --- kernels ---------------------------------------------------------------------------------------


def declare(program: Program, decl: typed.FunctionDecl) -> ir.Function:
    """Declare a kernel; records are passed as byval pointers, as in clang."""
    types = program.module.types
    parameters = [types.parameter(parameter.type) for parameter in decl.parameters]
    function = program.module.define(decl.name, VOID_TYPE, parameters, kernel=True)
    for argument, parameter in zip(function.args, decl.parameters, strict=True):
        attach_restrict(argument, parameter)
        if types.in_memory(parameter.type):
            typ, align = types.of(parameter.type), types.align(parameter.type)
            argument.attributes = PointeeAttributes("byval", typ, align)
    return function


def attach_restrict(argument: ir.Value, parameter: typed.VarDecl) -> None:
    """Add noalias to a restrict pointer parameter, as clang does."""
    if parameter.qualifiers.restrict and isinstance(parameter.type, PointerType):
        argument.attributes.add("noalias")


# The alignment in bits that LLVM's x86 code generation always provides.
_ALIGNED_ANYWAY = 128


def align_frame(function: ir.Function, bits: int) -> None:
    """Align a kernel's private memory to registers of `bits` bits, by a volatile variable that optimizers must keep.

    Intel's CPU runtime aligns a kernel's frame for its remaining variables, and to 16 bytes if there are none. Spilled
    vectors then straddle cache lines: loops over matrices took 1.5 times as long.
    """
    if bits <= _ALIGNED_ANYWAY:
        return
    entry, size = function.blocks[0], bits // 8
    slot = variable(entry, I32, size, "frame")
    entry.instructions.insert(0, slot)
    builder = Builder(entry)
    builder.position_before(next(item for item in entry.instructions if not isinstance(item, AllocaInstr)))
    builder.store(ir.Constant(I32, 0), slot, align=size, volatile=True)


def attach_metadata(program: Program, function: ir.Function, decl: typed.FunctionDecl, size: int | None) -> None:
    """Attach the metadata of a kernel's attributes and of its required subgroup size in lanes."""

    def attach(name: str, operands: Sequence[ir.Value]) -> None:
        function.set_metadata(name, program.module.ir.add_metadata(list(operands)))

    for name in ("reqd_work_group_size", "work_group_size_hint"):
        sizes = decl.attributes.get(name)
        if isinstance(sizes, tuple):
            attach(name, [ir.Constant(I32, n) for n in sizes])
    hint = decl.attributes.get("vec_type_hint")
    if isinstance(hint, Type):
        typ = program.module.types.of(hint)
        attach("vec_type_hint", [undefined(typ), ir.Constant(I32, int(is_signed(hint)))])
    if size is not None:
        attach("intel_reqd_sub_group_size", [ir.Constant(I32, size)])
