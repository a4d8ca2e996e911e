"""The writer of kernels as SPIR-V assembly, which spirv-as assembles; no compiler is involved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from coopmat.matrices.memory_rules import MOST_PLACED
from coopmat.matrices.variants import SCOPE_WORKGROUP, ComponentType, MatrixType, Operands, Use
from coopmat.spirv.module import ENUM

from ..experiment import Argument, Experiment, Place
from ..functions import Function
from .assembly_functions import AssemblyScalars, binary_opcode, conversion, define
from .base import KERNEL, Body, Parameter, Value, Variable, Writer, local_argument
from .literals import assembly_literal

_STORAGE = {"global": "CrossWorkgroup", "constant": "UniformConstant", "local": "Workgroup", "private": "Function"}
_MAINTENANCE = "SPV_EXT_cooperative_matrix_maintenance1"
_REDUCTIONS = {1: "Row", 2: "Column", 4: "2x2"}
_LOCAL_FENCE = ENUM["MemorySemantics.SequentiallyConsistent"] | ENUM["MemorySemantics.WorkgroupMemory"]
_OPERANDS = {
    Operands.A_SIGNED: "MatrixASignedComponentsKHR",
    Operands.B_SIGNED: "MatrixBSignedComponentsKHR",
    Operands.C_SIGNED: "MatrixCSignedComponentsKHR",
    Operands.RESULT_SIGNED: "MatrixResultSignedComponentsKHR",
    Operands.SATURATING: "SaturatingAccumulationKHR",
}


class AssemblyWriter(Writer):
    """A writer of kernels as SPIR-V assembly.

    code: the instructions of the current function's body.
    functions: the instructions of the functions that precede the kernel.
    variables: the OpVariable instructions of the current function, which must be first in its entry block.
    block: the id of the block that contains the next instruction.
    of_work_group: whether the kernel uses matrices with the scope of a work-group.

    Types, constants and variables of the module are declared by `unique_definition`.
    """

    def __init__(self, experiment: Experiment, sub_group_size: int | None) -> None:
        super().__init__(experiment, sub_group_size)
        self.capabilities = {"Kernel", "Addresses", "Linkage", "CooperativeMatrixKHR", "Int8", "Int16", "Int64"}
        self.extensions = {"SPV_KHR_cooperative_matrix"}
        self.imports: list[str] = []
        self.interface: list[str] = []
        self.decorations: list[str] = []
        self.code: list[str] = []
        self.variables: list[str] = []
        self.block = "%entry"
        self.of_work_group = False
        self.functions: list[str] = []
        self._globals: dict[str, str] = {}
        self._operands: dict[str, Function] = {}
        self._count = 0

    # --- the module

    def text(self, kernel: str = KERNEL) -> str:
        types = [self.pointer_type(a.space, self.pointee(a)) for a in self.experiment.arguments]
        void = self.unique_definition("OpTypeVoid")
        signature = self.unique_definition(" ".join(["OpTypeFunction", void, *types]))
        if self.sub_group_size is not None:
            self.capabilities.add("SubgroupDispatch")
        names = [argument.name for argument in self.experiment.arguments]
        parameters = [f"%{name} = OpFunctionParameter {t}" for name, t in zip(names, types, strict=True)]
        lines = [
            *(f"OpCapability {name}" for name in sorted(self.capabilities - {"Linkage"})),
            *(f'OpExtension "{name}"' for name in sorted(self.extensions)),
            *self.imports,
            "OpMemoryModel Physical64 OpenCL",
            " ".join(["OpEntryPoint Kernel %kernel", f'"{kernel}"', *self.interface]),
        ]
        if self.sub_group_size is not None:
            lines.append(f"OpExecutionMode %kernel SubgroupSize {self.sub_group_size}")
        if self.of_work_group:
            # Matrices of a work-group are distributed over all its work-items, so consumers need their number.
            size = self.experiment.sub_groups * (self.sub_group_size or 1)
            lines.append(f"OpExecutionMode %kernel LocalSize {size} 1 1")
        lines += self.decorations
        lines += [f"{name} = {text}" for text, name in self._globals.items()]
        lines += self.functions
        lines += [f"%kernel = OpFunction {void} None {signature}", *parameters, "%entry = OpLabel"]
        return "\n".join([*lines, *self.variables, *self.code, "OpReturn", "OpFunctionEnd", ""])

    def fresh(self) -> Value:
        self._count += 1
        return f"%v{self._count}"

    def unique_definition(self, text: str) -> str:
        """Return the id of a type, constant or variable of the module, declared at the first use of this text."""
        if text not in self._globals:
            self._globals[text] = f"%g{len(self._globals)}"
        return self._globals[text]

    def emit(self, opcode: str, result_type: str, *operands: str | int) -> Value:
        """Append an instruction with a result to the current block, and return the result's id."""
        result = self.fresh()
        self.code.append(" ".join([f"{result} = {opcode} {result_type}", *map(str, operands)]))
        return result

    # --- types and constants

    def scalar_type(self, component: ComponentType) -> str:
        if component.is_integer:
            return self.unique_definition(f"OpTypeInt {component.bits} 0")
        if component.encoding is not None:
            self.capabilities |= set(component.encoding.capabilities[:2])
            self.extensions.add(component.encoding.extension)
            return self.unique_definition(f"OpTypeFloat {component.bits} {component.encoding.name}")
        if component.bits != 32:
            self.capabilities.add(f"Float{component.bits}")
        return self.unique_definition(f"OpTypeFloat {component.bits}")

    def uint(self, value: int, bits: int = 32) -> str:
        return self.unique_definition(f"OpConstant {self.unique_definition(f'OpTypeInt {bits} 0')} {value}")

    def component_constant(self, component: ComponentType, value: int | float) -> str:
        return self.unique_definition(f"OpConstant {self.scalar_type(component)} {assembly_literal(component, value)}")

    def matrix(self, matrix: MatrixType) -> str:
        self.of_work_group |= matrix.of_work_group
        numbers = (matrix.scope, matrix.rows, matrix.columns, int(matrix.use))
        ids = " ".join(self.uint(number) for number in numbers)
        return self.unique_definition(f"OpTypeCooperativeMatrixKHR {self.scalar_type(matrix.component)} {ids}")

    def pointer_type(self, space: str, pointee: str) -> str:
        return self.unique_definition(f"OpTypePointer {_STORAGE.get(space, space)} {pointee}")

    def pointee(self, argument: Argument) -> str:
        scalar, width = argument.pointee
        if width == 1:
            return self.scalar_type(scalar)
        if width > 4:
            self.capabilities.add("Vector16")
        return self.unique_definition(f"OpTypeVector {self.scalar_type(scalar)} {width}")

    # --- memory

    def address(self, argument: Argument) -> tuple[Value, str, str]:
        """Return the pointer, layout and stride operands of a load or a store."""
        place = argument.place
        assert place is not None, argument
        at = self.element(argument, self.uint(place.pointees(place.offset), 64))
        return at, self.uint(int(place.layout)), self.uint(place.pointees(place.stride), 64)

    def element(self, argument: Argument, index: Value) -> Value:
        """Return a pointer to the pointee at `index` of a buffer, or of an array in local or private memory."""
        kind = self.pointer_type(argument.space, self.pointee(argument))
        if argument.space in ("local", "private"):
            return self.emit("OpInBoundsAccessChain", kind, f"%{argument.space}_{argument.name}", index)
        return self.emit("OpInBoundsPtrAccessChain", kind, f"%{argument.name}", index)

    def local(self, name: str, place: Place) -> Argument:
        return self._local_array(local_argument(name, place))

    def _local_array(self, argument: Argument) -> Argument:
        array = self.unique_definition(f"OpTypeArray {self.pointee(argument)} {self.uint(argument.before.size)}")
        variable = f"%local_{argument.name}"
        self._globals[f"OpVariable {self.pointer_type('local', array)} Workgroup ; {argument.name}"] = variable
        self.interface.append(variable)
        self.decorations.append(f"OpDecorate {variable} Alignment {MOST_PLACED}")  # satisfies every device's alignment
        return argument

    def copy_components(self, source: Argument, target: Argument) -> None:
        first, step = (self.built_in(name) for name in ("LocalInvocationId", "WorkgroupSize"))
        self._copy_items(source, target, first, step)

    def _copy_items(self, source: Argument, target: Argument, first: Value, step: Value) -> None:
        component, size = self.scalar_type(source.component), source.component.size

        def copy(i: Value) -> None:
            value = self.emit("OpLoad", component, self.element(source, i), "Aligned", size)
            self.code.append(f"OpStore {self.element(target, i)} {value} Aligned {size}")

        self._loop(64, first, step, self.uint(target.before.size, 64), copy)

    def copy_array(self, source: Argument, target: Argument) -> None:
        truth, zero = self.unique_definition("OpTypeBool"), self.uint(0)
        uint = self.unique_definition("OpTypeInt 32 0")
        ids = [self._read_built_in(name, uint) for name in ("SubgroupId", "SubgroupLocalInvocationId")]
        first = self.emit("OpLogicalAnd", truth, *(self.emit("OpIEqual", truth, number, zero) for number in ids))
        inside, behind = self.fresh(), self.fresh()
        self._label(inside, f"OpBranchConditional {first} {inside} {behind}")
        self.code.append(f"OpCopyMemory %local_{target.name} %local_{source.name}")
        self._label(behind, f"OpBranch {behind}")

    def barrier(self) -> None:
        scope = self.uint(SCOPE_WORKGROUP)
        self.code.append(f"OpControlBarrier {scope} {scope} {self.uint(_LOCAL_FENCE)}")

    def load(self, argument: Argument) -> Value:
        assert argument.place is not None, argument
        return self.emit("OpCooperativeMatrixLoadKHR", self.matrix(argument.place.matrix), *self.address(argument))

    def store(self, argument: Argument, value: Value) -> None:
        pointer, layout, stride = self.address(argument)
        self.code.append(f"OpCooperativeMatrixStoreKHR {pointer} {value} {layout} {stride}")

    # --- values

    def constant(self, matrix: MatrixType, value: int | float) -> Value:
        component = self.component_constant(matrix.component, value)
        return self.unique_definition(f"OpConstantComposite {self.matrix(matrix)} {component}")

    def binary(self, operator: str, matrix: MatrixType, x: Value, y: Value) -> Value:
        return self.emit(binary_opcode(operator, matrix.component), self.matrix(matrix), x, y)

    def negate(self, matrix: MatrixType, x: Value) -> Value:
        return self.emit("OpSNegate" if matrix.component.is_integer else "OpFNegate", self.matrix(matrix), x)

    def convert(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        if Use.ACCUMULATOR not in (source.use, target.use) and source.use != target.use:
            # The extension's conversions change the use only to or from Accumulator.
            between = replace(source, use=Use.ACCUMULATOR)
            x, source = self._converted(source, between, x), between
        return self._converted(source, target, x)

    def transpose(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        """Transpose a matrix by way of an accumulator: only conversions of accumulators to A or B can transpose."""
        accumulator = replace(source, use=Use.ACCUMULATOR)
        use = Use.A if target.use is Use.ACCUMULATOR else target.use
        operand = replace(target, use=use)
        result = self._converted(accumulator, operand, self._converted(source, accumulator, x))
        self.decorations.append(f"OpDecorate {result} CooperativeMatrixTransposeEXT")
        return self._converted(operand, target, result)

    def _converted(self, source: MatrixType, target: MatrixType, x: Value) -> Value:
        """Return x converted by one instruction, or x itself if the SPIR-V types are equal."""
        opcode = conversion(source.component, target.component)
        if source.use != target.use:
            self._extend("CooperativeMatrixConversionsEXT")
            opcode = opcode or "OpCooperativeMatrixConvertUseEXT"
        return x if opcode is None else self.emit(opcode, self.matrix(target), x)

    def _extend(self, capability: str) -> None:
        """Declare the extension SPV_EXT_cooperative_matrix_maintenance1 and one of its capabilities."""
        self.capabilities.add(capability)
        self.extensions.add(_MAINTENANCE)

    def multiply_add(self, types: Sequence[MatrixType], a: Value, b: Value, c: Value, operands: Operands) -> Value:
        mask = "|".join(word for bit, word in _OPERANDS.items() if bit in operands)
        return self.emit("OpCooperativeMatrixMulAddKHR", self.matrix(types[2]), a, b, c, *([mask] if mask else []))

    # --- private memory

    def declare(self, matrix: MatrixType, value: Value) -> Variable:
        variable = Variable(matrix, self._function_variable(self.matrix(matrix)))
        self.assign(variable, value)
        return variable

    def array(self, matrix: MatrixType, count: int) -> Callable[[Value], Variable]:
        array = self._function_variable(self.unique_definition(f"OpTypeArray {self.matrix(matrix)} {self.uint(count)}"))

        def item(index: Value) -> Variable:
            kind = self.pointer_type("Function", self.matrix(matrix))
            return Variable(matrix, self.emit("OpInBoundsAccessChain", kind, array, index))

        return item

    def _function_variable(self, pointee: str) -> str:
        name = self.fresh()
        self.variables.append(f"{name} = OpVariable {self.pointer_type('Function', pointee)} Function")
        return name

    def read(self, variable: Variable) -> Value:
        return self.emit("OpLoad", self.matrix(variable.matrix), variable.name)

    def assign(self, variable: Variable, value: Value) -> None:
        self.code.append(f"OpStore {variable.name} {value}")

    def _component_pointer(self, variable: Variable, index: Value) -> Value:
        kind = self.pointer_type("Function", self.scalar_type(variable.matrix.component))
        return self.emit("OpAccessChain", kind, variable.name, index)

    def component(self, variable: Variable, index: Value) -> Value:
        return self.emit(
            "OpLoad", self.scalar_type(variable.matrix.component), self._component_pointer(variable, index)
        )

    def set_component(self, variable: Variable, index: Value, scalar: Value) -> None:
        self.code.append(f"OpStore {self._component_pointer(variable, index)} {scalar}")

    def add_scalars(self, component: ComponentType, x: Value, y: Value) -> Value:
        return self.emit("OpIAdd" if component.is_integer else "OpFAdd", self.scalar_type(component), x, y)

    # --- control flow

    def number(self, value: int) -> Value:
        return self.uint(value)

    def repeat(self, count: int, body: Callable[[Value], None]) -> None:
        self._loop(32, self.uint(0), self.uint(1), self.uint(count), body)

    def each_component(self, matrix: MatrixType, body: Callable[[Value], None]) -> None:
        self._loop(32, self.uint(0), self.uint(1), self._length(matrix), body)

    def _loop(self, bits: int, first: Value, step: Value, end: Value, body: Callable[[Value], None]) -> None:
        """Write a loop that runs `body` with an unsigned index of `bits` bits: first, first + step, ... below end."""
        kind, before = self.unique_definition(f"OpTypeInt {bits} 0"), self.block
        head, inside, behind, i, following = (self.fresh() for _ in range(5))
        self._label(head, f"OpBranch {head}")
        phi = len(self.code)
        self.code.append("")
        more = self.emit("OpULessThan", self.unique_definition("OpTypeBool"), i, end)
        self._label(inside, f"OpBranchConditional {more} {inside} {behind}")
        body(i)
        self.code.append(f"{following} = OpIAdd {kind} {i} {step}")
        self.code[phi] = f"{i} = OpPhi {kind} {first} {before} {following} {self.block}"
        self._label(behind, f"OpBranch {head}")

    def _label(self, name: str, terminator: str) -> None:
        """End the current block with `terminator`, and begin the block `name`."""
        self.code += [terminator, f"{name} = OpLabel"]
        self.block = name

    # --- functions

    def function(
        self, name: str, parameters: Sequence[Parameter], result: MatrixType | None, body: Body
    ) -> Callable[..., Value]:
        outer = self.code, self.variables, self.block
        self.code, self.variables, self.block = [], [], f"%{name}_entry"
        types = [self._parameter_type(p) for p in parameters]
        names = [self.fresh() for _ in parameters]
        variables = [
            Variable(p.matrix, n) if p.pointer else self.declare(p.matrix, n)
            for p, n in zip(parameters, names, strict=True)
        ]
        returned = body(variables)
        kind = self.unique_definition("OpTypeVoid") if result is None else self.matrix(result)
        self.functions += [
            f"%{name} = OpFunction {kind} None {self.unique_definition(' '.join(['OpTypeFunction', kind, *types]))}",
            *(f"{n} = OpFunctionParameter {t}" for t, n in zip(types, names, strict=True)),
            f"%{name}_entry = OpLabel",
            *self.variables,
            *self.code,
            "OpReturn" if returned is None else f"OpReturnValue {returned}",
            "OpFunctionEnd",
        ]
        self.code, self.variables, self.block = outer
        return lambda *arguments: self.emit(
            "OpFunctionCall", kind, f"%{name}", *(a.name if isinstance(a, Variable) else a for a in arguments)
        )

    def _parameter_type(self, parameter: Parameter) -> str:
        matrix = self.matrix(parameter.matrix)
        return self.pointer_type("Function", matrix) if parameter.pointer else matrix

    # --- functions of scalars, as operands

    def opencl_std(self) -> str:
        """Return the id of the extended instruction set OpenCL.std, imported at the first use."""
        if not self.imports:
            self.imports.append('%opencl_std = OpExtInstImport "OpenCL.std"')
        return "%opencl_std"

    def _operand(self, function: Function, ignored: ComponentType | None = None) -> str:
        """Return the id of the function, defined at the first use."""
        name = f"%operand_{function.name}"
        if name not in self._operands:
            self._operands[name] = function
            define(self, name, function, ignored)
        assert self._operands[name] is function, name
        return name

    def map(self, matrix: MatrixType, function: Function, operands: Sequence[Value], further: Sequence[Value]) -> Value:
        return self._per_element(matrix, self._operand(function), [*operands, *further])

    def build(self, matrix: MatrixType, function: Function, further: Sequence[Value]) -> Value:
        """Write a per-element operation on a matrix of zeros, whose components the function ignores."""
        name = self._operand(function, matrix.component)
        return self._per_element(matrix, name, [self.constant(matrix, 0), *further])

    def _per_element(self, matrix: MatrixType, name: str, operands: Sequence[Value]) -> Value:
        self._extend("CooperativeMatrixPerElementOperationsEXT")
        first, *further = operands
        return self.emit("OpCooperativeMatrixPerElementOpEXT", self.matrix(matrix), first, name, *further)

    def reduce(self, source: MatrixType, target: MatrixType, how: int, function: Function, x: Value) -> Value:
        self._extend("CooperativeMatrixReductionsEXT")
        words = "|".join(word for bit, word in _REDUCTIONS.items() if bit & how)
        return self.emit("OpCooperativeMatrixReduceEXT", self.matrix(target), x, words, self._operand(function))

    def scalar(self, argument: Argument, index: int, to: ComponentType) -> Value:
        at = self.element(argument, self.uint(index, 64))
        value = self.emit("OpLoad", self.scalar_type(argument.component), at, "Aligned", argument.component.size)
        return AssemblyScalars(self).convert(argument.component, to, value)

    def copied(self, argument: Argument, space: str) -> Argument:
        if space == "local":
            array = self._local_array(replace(argument, space=space))
            self.copy_components(argument, array)
            self.barrier()
            return array
        if space == "private":
            array = replace(argument, space=space)
            kind = self.unique_definition(f"OpTypeArray {self.pointee(array)} {self.uint(array.before.size)}")
            self.variables.append(f"%private_{array.name} = OpVariable {self.pointer_type(space, kind)} Function")
            self._copy_items(argument, array, self.uint(0, 64), self.uint(1, 64))
            return array
        return argument

    def pointer(self, argument: Argument) -> Value:
        return self.element(argument, self.uint(0, 64))

    # --- helpers that append instructions

    def _length(self, matrix: MatrixType) -> Value:
        return self.emit("OpCooperativeMatrixLengthKHR", self.unique_definition("OpTypeInt 32 0"), self.matrix(matrix))

    def store_length(self, argument: Argument, matrix: MatrixType, offset: int) -> None:
        length, ulong = self._length(matrix), self.unique_definition("OpTypeInt 64 0")
        index = self.emit("OpIAdd", ulong, self.built_in("GlobalInvocationId"), self.uint(offset, 64))
        self.code.append(f"OpStore {self.element(argument, index)} {length} Aligned 4")

    def built_in(self, name: str) -> Value:
        """Load dimension 0 of a built-in variable, an integer of 64 bits."""
        ulong = self.unique_definition("OpTypeInt 64 0")
        vector = self._read_built_in(name, self.unique_definition(f"OpTypeVector {ulong} 3"))
        return self.emit("OpCompositeExtract", ulong, vector, 0)

    def _read_built_in(self, name: str, kind: str) -> Value:
        variable = f"%built_in_{name}"
        if variable not in self.interface:
            self._globals[f"OpVariable {self.pointer_type('Input', kind)} Input ; {name}"] = variable
            self.interface.append(variable)
            self.decorations.append(f"OpDecorate {variable} BuiltIn {name}")
        return self.emit("OpLoad", kind, variable)
