"""A builder of SPIR-V assembly: types and constants are declared once, and functions begin with their variables."""

from __future__ import annotations

from dataclasses import dataclass, field

from coopmat.matrices.variants import ComponentType, MatrixType

STORAGE = {"global": "CrossWorkgroup", "constant": "UniformConstant", "local": "Workgroup", "private": "Function"}


@dataclass
class Body:
    """The code of a function; `block` is the label of the current block."""

    block: str
    variables: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


class Assembly:
    """A module with one kernel, `k`, whose parameters are pointers. Ids are `%` and a word."""

    def __init__(self) -> None:
        self.capabilities = {"Kernel", "Addresses", "CooperativeMatrixKHR", "Int8", "Int16", "Int64"}
        self.extensions = {"SPV_KHR_cooperative_matrix"}
        self.version = "1.4"
        self.modes: list[str] = []
        self.names: list[str] = []
        self.decorations: list[str] = []
        self.interface: list[str] = []
        self.parameters: list[tuple[str, str]] = []
        self.functions: list[str] = []
        self.globals: dict[str, str] = {}
        self.body = Body("%entry")
        self._count = 0

    def text(self) -> str:
        void = self.once("OpTypeVoid")
        signature = self.once(" ".join(["OpTypeFunction", void, *(kind for _, kind in self.parameters)]))
        lines = [
            *(f"OpCapability {name}" for name in sorted(self.capabilities)),
            *(f'OpExtension "{name}"' for name in sorted(self.extensions)),
            "OpMemoryModel Physical64 OpenCL",
            " ".join(['OpEntryPoint Kernel %k "k"', *self.interface]),
            *self.modes,
            *self.names,
            *self.decorations,
            *(f"{name} = {text.partition(';')[0]}" for text, name in self.globals.items()),
            *self.functions,
            f"%k = OpFunction {void} None {signature}",
            *(f"{name} = OpFunctionParameter {kind}" for name, kind in self.parameters),
            "%entry = OpLabel",
            *self.body.variables,
            *self.body.code,
            "OpReturn",
            "OpFunctionEnd",
        ]
        return "\n".join(lines) + "\n"

    # --- pieces

    def fresh(self, word: str = "v") -> str:
        self._count += 1
        return f"%{word}{self._count}"

    def once(self, text: str) -> str:
        """Return the id of a type, constant or global variable; a comment after `;` distinguishes equal texts."""
        if text not in self.globals:
            self.globals[text] = f"%g{len(self.globals)}"
        return self.globals[text]

    def emit(self, name: str, kind: str, *operands: object) -> str:
        result = self.fresh()
        self.body.code.append(" ".join([f"{result} = {name} {kind}", *map(str, operands)]))
        return result

    def do(self, *words: object) -> None:
        self.body.code.append(" ".join(map(str, words)))

    def label(self, name: str, terminator: str) -> None:
        """End the current block with `terminator`, and begin another."""
        self.body.code += [terminator, f"{name} = OpLabel"]
        self.body.block = name

    def variable(self, pointee: str, initializer: str = "") -> str:
        name = self.fresh("var")
        self.body.variables.append(f"{name} = OpVariable {self.pointer('private', pointee)} Function {initializer}")
        return name

    # --- types and constants

    def integer(self, bits: int = 32) -> str:
        return self.once(f"OpTypeInt {bits} 0")

    def number(self, value: int, bits: int = 32) -> str:
        return self.once(f"OpConstant {self.integer(bits)} {value}")

    def scalar(self, component: ComponentType) -> str:
        if component.is_integer:
            return self.integer(component.bits)
        if component.encoding is not None:
            self.capabilities |= set(component.encoding.capabilities[:2])
            self.extensions.add(component.encoding.extension)
            return self.once(f"OpTypeFloat {component.bits} {component.encoding.name}")
        if component.bits != 32:
            self.capabilities.add(f"Float{component.bits}")
        return self.once(f"OpTypeFloat {component.bits}")

    def vector(self, component: ComponentType, count: int) -> str:
        if count > 4:
            self.capabilities.add("Vector16")
        scalar = self.scalar(component)
        return scalar if count == 1 else self.once(f"OpTypeVector {scalar} {count}")

    def value(self, component: ComponentType, value: int) -> str:
        """Return a constant; bf16 constants are written as numbers, as spirv-as requires."""
        text = str(value % 2**component.bits) if component.is_integer else str(value)
        return self.once(f"OpConstant {self.scalar(component)} {text}")

    def pointer(self, space: str, pointee: str) -> str:
        return self.once(f"OpTypePointer {STORAGE.get(space, space)} {pointee}")

    def array(self, element: str, count: int) -> str:
        return self.once(f"OpTypeArray {element} {self.number(count)}")

    def struct(self, *members: str) -> str:
        return self.once(" ".join(["OpTypeStruct", *members]))

    def matrix(self, matrix: MatrixType) -> str:
        shape = self.dimension(matrix.rows), self.dimension(matrix.columns)
        words = (self.scalar(matrix.component), self.number(3), *shape, self.number(int(matrix.use)))
        return self.once(" ".join(["OpTypeCooperativeMatrixKHR", *words]))

    def dimension(self, value: int) -> str:
        """Return a constant for a number of rows or columns; subclasses may return specialization constants."""
        return self.number(value)
