"""Kernels as SPIR-V assembly, for spirv-as: no compiler has a part in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coopmat.matrices.variants import SCOPE_SUBGROUP, ComponentType, MatrixType, Operands

from ..experiment import Argument, Experiment
from .base import KERNEL, Value, Writer

_STORAGE = {"global": "CrossWorkgroup", "constant": "UniformConstant", "local": "Workgroup"}
# Operators, for integers (unsigned, signed) and floating point.
_BINARY = {
    "add": ("OpIAdd", "OpIAdd", "OpFAdd"),
    "sub": ("OpISub", "OpISub", "OpFSub"),
    "mul": ("OpIMul", "OpIMul", "OpFMul"),
    "div": ("OpUDiv", "OpSDiv", "OpFDiv"),
}
_OPERANDS = {
    Operands.A_SIGNED: "MatrixASignedComponentsKHR",
    Operands.B_SIGNED: "MatrixBSignedComponentsKHR",
    Operands.C_SIGNED: "MatrixCSignedComponentsKHR",
    Operands.RESULT_SIGNED: "MatrixResultSignedComponentsKHR",
    Operands.SATURATING: "SaturatingAccumulationKHR",
}


class AssemblyWriter(Writer):
    """`code` is the kernel's body; types, constants and variables of the module are made once, by `once`."""

    mode = "spirv"

    def __init__(self, experiment: Experiment, sub_group_size: int | None) -> None:
        super().__init__(experiment, sub_group_size)
        self.capabilities = {"Kernel", "Addresses", "Linkage", "CooperativeMatrixKHR", "Int8", "Int16", "Int64"}
        self.extensions = {"SPV_KHR_cooperative_matrix"}
        self.interface: list[str] = []
        self.decorations: list[str] = []
        self.code: list[str] = []
        # Function variables, which stand first in the entry block.
        self.variables: list[str] = []
        # Whole functions before the kernel.
        self.functions: list[str] = []
        self._globals: dict[str, str] = {}
        self._count = 0

    # --- the module

    def text(self, kernel: str = KERNEL) -> str:
        void, signature = self.once("OpTypeVoid"), self._signature()
        if self.sub_group_size is not None:
            self.capabilities.add("SubgroupDispatch")
        parameters = [
            f"%{a.name} = OpFunctionParameter {self.pointer(a.space, self.pointee(a))}"
            for a in self.experiment.arguments
        ]
        lines = [
            *(f"OpCapability {name}" for name in sorted(self.capabilities - {"Linkage"})),
            *(f'OpExtension "{name}"' for name in sorted(self.extensions)),
            "OpMemoryModel Physical64 OpenCL",
            " ".join(["OpEntryPoint Kernel %kernel", f'"{kernel}"', *self.interface]),
        ]
        if self.sub_group_size is not None:
            lines.append(f"OpExecutionMode %kernel SubgroupSize {self.sub_group_size}")
        lines += self.decorations
        lines += [f"{name} = {text}" for text, name in self._globals.items()]
        lines += self.functions
        lines += [f"%kernel = OpFunction {void} None {signature}", *parameters, "%entry = OpLabel"]
        return "\n".join([*lines, *self.variables, *self.code, "OpReturn", "OpFunctionEnd", ""])

    def _signature(self) -> str:
        types = [self.pointer(a.space, self.pointee(a)) for a in self.experiment.arguments]
        return self.once(" ".join(["OpTypeFunction", self.once("OpTypeVoid"), *types]))

    def fresh(self) -> Value:
        self._count += 1
        return f"%v{self._count}"

    def once(self, text: str) -> str:
        """The id of a type, constant or variable of the module; the same for the same text."""
        if text not in self._globals:
            self._globals[text] = f"%g{len(self._globals)}"
        return self._globals[text]

    def emit(self, opcode: str, result_type: str, *operands: str | int) -> Value:
        """An instruction with a result."""
        result = self.fresh()
        self.code.append(" ".join([f"{result} = {opcode} {result_type}", *map(str, operands)]))
        return result

    # --- types and constants

    def scalar(self, component: ComponentType) -> str:
        if component.is_integer:
            return self.once(f"OpTypeInt {component.bits} 0")
        if component.name == "bf16":
            self.capabilities |= {"BFloat16TypeKHR", "BFloat16CooperativeMatrixKHR"}
            self.extensions.add("SPV_KHR_bfloat16")
            return self.once("OpTypeFloat 16 BFloat16KHR")
        if component.bits != 32:
            self.capabilities.add(f"Float{component.bits}")
        return self.once(f"OpTypeFloat {component.bits}")

    def uint(self, value: int, bits: int = 32) -> str:
        return self.once(f"OpConstant {self.once(f'OpTypeInt {bits} 0')} {value}")

    def component_constant(self, component: ComponentType, value: int | float) -> str:
        return self.once(f"OpConstant {self.scalar(component)} {_literal(component, value)}")

    def matrix(self, matrix: MatrixType) -> str:
        numbers = (SCOPE_SUBGROUP, matrix.rows, matrix.columns, int(matrix.use))
        ids = " ".join(self.uint(number) for number in numbers)
        return self.once(f"OpTypeCooperativeMatrixKHR {self.scalar(matrix.component)} {ids}")

    def pointer(self, space: str, pointee: str) -> str:
        return self.once(f"OpTypePointer {_STORAGE.get(space, space)} {pointee}")

    def pointee(self, argument: Argument) -> str:
        component = self.scalar(argument.component)
        width = argument.place.vector if argument.place is not None else 1
        if width == 1:
            return component
        if width > 4:
            self.capabilities.add("Vector16")
        return self.once(f"OpTypeVector {component} {width}")

    # --- memory

    def address(self, argument: Argument) -> tuple[Value, str, str]:
        """Pointer, layout and stride for a load or a store."""
        place = argument.place
        assert place is not None, argument
        pointee = 4 if place.vector == 3 else place.vector
        kind = self.pointer(argument.space, self.pointee(argument))
        at = self.emit("OpInBoundsPtrAccessChain", kind, f"%{argument.name}", self.uint(place.offset // pointee, 64))
        return at, self.uint(int(place.layout)), self.uint(place.stride // pointee, 64)

    def load(self, argument: Argument) -> Value:
        assert argument.place is not None, argument
        return self.emit("OpCooperativeMatrixLoadKHR", self.matrix(argument.place.matrix), *self.address(argument))

    def store(self, argument: Argument, value: Value) -> None:
        pointer, layout, stride = self.address(argument)
        self.code.append(f"OpCooperativeMatrixStoreKHR {pointer} {value} {layout} {stride}")

    # --- values

    def constant(self, matrix: MatrixType, value: int | float) -> Value:
        component = self.component_constant(matrix.component, value)
        return self.once(f"OpConstantComposite {self.matrix(matrix)} {component}")

    def binary(self, operator: str, matrix: MatrixType, x: Value, y: Value) -> Value:
        unsigned, signed, floating = _BINARY[operator]
        component = matrix.component
        opcode = floating if not component.is_integer else signed if component.signed else unsigned
        return self.emit(opcode, self.matrix(matrix), x, y)

    def negate(self, matrix: MatrixType, x: Value) -> Value:
        return self.emit("OpSNegate" if matrix.component.is_integer else "OpFNegate", self.matrix(matrix), x)

    def convert(self, matrix: MatrixType, to: ComponentType, x: Value) -> Value:
        result = self.matrix(MatrixType(to, matrix.rows, matrix.columns, matrix.use))
        opcode = conversion(matrix.component, to)
        return x if opcode is None else self.emit(opcode, result, x)

    def multiply_add(self, types: Sequence[MatrixType], a: Value, b: Value, c: Value, operands: Operands) -> Value:
        mask = "|".join(word for bit, word in _OPERANDS.items() if bit in operands)
        return self.emit("OpCooperativeMatrixMulAddKHR", self.matrix(types[2]), a, b, c, *([mask] if mask else []))

    def store_length(self, argument: Argument, matrix: MatrixType) -> None:
        uint = self.once("OpTypeInt 32 0")
        length = self.emit("OpCooperativeMatrixLengthKHR", uint, self.matrix(matrix))
        at = self.emit(
            "OpInBoundsPtrAccessChain", self.pointer(argument.space, uint), f"%{argument.name}", self.global_id()
        )
        self.code.append(f"OpStore {at} {length} Aligned 4")

    def global_id(self) -> Value:
        """Of dimension 0, 64 bits."""
        ulong = self.once("OpTypeInt 64 0")
        vector = self.once(f"OpTypeVector {ulong} 3")
        variable = self.once(f"OpVariable {self.pointer('Input', vector)} Input")
        if variable not in self.interface:
            self.interface.append(variable)
            self.decorations.append(f"OpDecorate {variable} BuiltIn GlobalInvocationId")
        whole = self.emit("OpLoad", vector, variable)
        return self.emit("OpCompositeExtract", ulong, whole, 0)


def conversion(source: ComponentType, to: ComponentType) -> str | None:
    """The opcode of a C cast; None where the SPIR-V types are the same: its integers have no sign."""
    if source.is_integer and to.is_integer:
        return None if source.bits == to.bits else "OpSConvert" if source.signed else "OpUConvert"
    if source.is_integer:
        return "OpConvertSToF" if source.signed else "OpConvertUToF"
    if to.is_integer:
        return "OpConvertFToS" if to.signed else "OpConvertFToU"
    return None if source == to else "OpFConvert"


def _literal(component: ComponentType, value: int | float) -> str:
    if component.is_integer:
        return str(int(value) % 2**component.bits)
    if component.name == "bf16":
        return f"!0x{int(np.float32(value).view(np.uint32)) >> 16:08x}"
    bits = int(np.array(value, component.numpy).view(f"u{component.size}"))
    return f"!0x{bits:08x}" if component.bits <= 32 else f"!0x{bits & 0xFFFFFFFF:08x} !0x{bits >> 32:08x}"
