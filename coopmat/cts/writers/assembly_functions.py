"""Functions of scalars, and the choice of opcodes, for SPIR-V assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coopmat.matrices.variants import ComponentType

from ..functions import F32, Function, Pointer, Scalars

if TYPE_CHECKING:
    from .assembly import AssemblyWriter

# operator -> opcodes for unsigned integers, signed integers and floating point
_BINARY = {
    "add": ("OpIAdd", "OpIAdd", "OpFAdd"),
    "sub": ("OpISub", "OpISub", "OpFSub"),
    "mul": ("OpIMul", "OpIMul", "OpFMul"),
    "div": ("OpUDiv", "OpSDiv", "OpFDiv"),
    "and": ("OpBitwiseAnd", "OpBitwiseAnd", ""),
    "xor": ("OpBitwiseXor", "OpBitwiseXor", ""),
    "shift": ("OpShiftRightLogical", "", ""),
}
_LESS = ("OpULessThan", "OpSLessThan", "OpFOrdLessThan")
# builtin -> instructions of OpenCL.std, for unsigned integers, signed integers and floating point
_BUILTINS = {
    "fmax": ("", "", "fmax"),
    "fmin": ("", "", "fmin"),
    "max": ("u_max", "s_max", ""),
    "min": ("u_min", "s_min", ""),
}


def of_class(component: ComponentType, opcodes: tuple[str, str, str]) -> str:
    """Return the opcode for a component type, of those for unsigned integers, signed integers and floating point."""
    unsigned, signed, floating = opcodes
    return floating if not component.is_integer else signed if component.signed else unsigned


def binary_opcode(operator: str, component: ComponentType) -> str:
    return of_class(component, _BINARY[operator])


def conversion(source: ComponentType, to: ComponentType) -> str | None:
    """Return the opcode of a C cast; None if the SPIR-V types are equal: integer types there have no signedness."""
    if source.is_integer and to.is_integer:
        return None if source.bits == to.bits else "OpSConvert" if source.signed else "OpUConvert"
    if source.is_integer:
        return "OpConvertSToF" if source.signed else "OpConvertUToF"
    if to.is_integer:
        return "OpConvertFToS" if to.signed else "OpConvertFToU"
    return None if source == to else "OpFConvert"


def define(w: AssemblyWriter, name: str, function: Function, ignored: ComponentType | None = None) -> None:
    """Write the definition of a function, whose id is `name`.

    If `ignored` is not None, the function gets a third parameter of this type, after row and column, which it ignores.
    """
    kinds: list[ComponentType | Pointer] = list(function.parameters)
    if ignored is not None:
        kinds.insert(2, ignored)
    types = [
        w.pointer_type(kind.space, w.scalar_type(kind.component)) if isinstance(kind, Pointer) else w.scalar_type(kind)
        for kind in kinds
    ]
    names = [w.fresh() for _ in kinds]
    outer, w.code = w.code, []
    result = function.body(AssemblyScalars(w), *(n for at, n in enumerate(names) if ignored is None or at != 2))
    code, w.code = w.code, outer
    kind = w.scalar_type(function.result)
    w.functions += [
        f"{name} = OpFunction {kind} None {w.unique_definition(' '.join(['OpTypeFunction', kind, *types]))}",
        *(f"{n} = OpFunctionParameter {t}" for t, n in zip(types, names, strict=True)),
        f"{name}_entry = OpLabel",
        *code,
        f"OpReturnValue {result}",
        "OpFunctionEnd",
    ]


class AssemblyScalars(Scalars[str]):
    """The operations as instructions, appended to the writer's current block."""

    def __init__(self, writer: AssemblyWriter) -> None:
        self.writer = writer

    def number(self, component: ComponentType, value: int | float) -> str:
        return self.writer.component_constant(component, value)

    def binary(self, operator: str, component: ComponentType, x: str, y: str) -> str:
        wide = _wide(component)
        opcode = binary_opcode(operator, wide)
        value = self.writer.emit(
            opcode, self.writer.scalar_type(wide), *(self.convert(component, wide, v) for v in (x, y))
        )
        return self.convert(wide, component, value)

    def builtin(self, name: str, component: ComponentType, *operands: str) -> str:
        wide = _wide(component)
        values = [self.convert(component, wide, x) for x in operands]
        word = of_class(wide, _BUILTINS[name])
        value = self.writer.emit("OpExtInst", self.writer.scalar_type(wide), self.writer.opencl_std(), word, *values)
        return self.convert(wide, component, value)

    def is_less(self, component: ComponentType, x: str, y: str) -> str:
        wide = _wide(component)
        values = (self.convert(component, wide, v) for v in (x, y))
        return self.writer.emit(of_class(wide, _LESS), self.writer.unique_definition("OpTypeBool"), *values)

    def select(self, component: ComponentType, truth: str, x: str, y: str) -> str:
        return self.writer.emit("OpSelect", self.writer.scalar_type(component), truth, x, y)

    def convert(self, source: ComponentType, to: ComponentType, x: str) -> str:
        if to.is_bits and source.is_integer:
            source, x = F32, self.convert(source, F32, x)
        opcode = conversion(source, to)
        return x if opcode is None else self.writer.emit(opcode, self.writer.scalar_type(to), x)

    def item(self, pointer: Pointer, array: str, index: str) -> str:
        kind = self.writer.scalar_type(pointer.component)
        at = self.writer.emit("OpInBoundsPtrAccessChain", self.writer.pointer_type(pointer.space, kind), array, index)
        return self.writer.emit("OpLoad", kind, at, "Aligned", pointer.component.size)


def _wide(component: ComponentType) -> ComponentType:
    """Return the type in which operations on the components are computed."""
    return F32 if component.is_bits else component
