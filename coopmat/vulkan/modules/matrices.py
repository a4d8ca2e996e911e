"""Cooperative matrices as Vulkan's drivers take them: strides of 32 bits, and components that state their sign.

OpenCL's integers have no sign in SPIR-V, and instructions state how they read them. Some drivers convert components by
the sign of their type. So a matrix type whose components are only read as signed has signed components. Where they are
read as both, matrices are cast to a type with signed components for the instructions that read them so.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...spirv.checks import STRIDE_AT
from ...spirv.module import ENUM, OP, Instruction, numbers
from .code import Code, Rule, replace_global, rewrite
from .context import Context
from .launch import MatrixProduct, MatrixShape

MATRIX, _INT = numbers("OpType*", "CooperativeMatrixKHR Int")
MULTIPLY_ADD = OP["OpCooperativeMatrixMulAddKHR"]
_CHAIN = OP["OpInBoundsAccessChain"]
# (bit that states a sign, index of the operand that it concerns, or -1 for the result)
_SIGN_BITS = tuple(
    (ENUM[f"CooperativeMatrixOperands.{name}SignedComponentsKHR"], at)
    for name, at in (("MatrixA", 0), ("MatrixB", 1), ("MatrixC", 2), ("MatrixResult", -1))
)
_SATURATING = ENUM["CooperativeMatrixOperands.SaturatingAccumulationKHR"]
# conversion -> (whether its operand is signed, whether its result is); None for a floating-point side
_CONVERSIONS = {
    OP["OpConvertSToF"]: (True, None),
    OP["OpConvertUToF"]: (False, None),
    OP["OpConvertFToS"]: (None, True),
    OP["OpConvertFToU"]: (None, False),
    OP["OpSConvert"]: (True, True),
    OP["OpUConvert"]: (False, False),
    OP["OpSDiv"]: (True, True),
    OP["OpUDiv"]: (False, False),
}
_USES = ("A", "B", "accumulator")
_SCOPES = {2: "workgroup", 3: "subgroup"}


def matrices(context: Context) -> None:
    """Convert the strides and the component types of matrices."""
    converter = _Matrices(context)
    rewrite(context.parts, dict.fromkeys(STRIDE_AT, converter.stride))
    converter.make_signed()


class _Matrices:
    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        # Matrix types with signed components -> their component type.
        self.signed: dict[int, int] = {}
        # Pointers to components of such matrices.
        self.pointers: set[int] = set()
        # Matrix types that are read as signed and as unsigned -> the type with signed components.
        self.mixed: dict[int, int] = {}

    def stride(self, code: Code, item: Instruction) -> None:
        at = STRIDE_AT[item.opcode]
        operands = list(item.operands)
        if at < len(operands):
            value = operands[at]
            kind, definition = self.parts.definitions[code.type_of(value)], self.parts.definitions[value]
            if kind.operands[0] != 32 and definition.opcode == OP["OpConstant"]:
                operands[at] = code.u32(definition.operands[0])
            elif kind.operands[0] != 32:
                operands[at] = code.add("OpUConvert", self.parts.globals.integer(32), value)
        code.keep(Instruction(item.opcode, tuple(operands), item.result_type, item.result))

    # --- signs

    def make_signed(self) -> None:
        found: dict[int, set[bool]] = {}
        for body in self.parts.functions:
            for item in body:
                for at, is_signed in self.signs(item):
                    found.setdefault(self.type_at(item, at), set()).add(is_signed)
        globals_ = self.parts.globals
        for item in list(globals_.items):
            signs = found.get(item.result or 0, set())
            if item.opcode == MATRIX and True in signs:
                scalar = globals_.intern("OpTypeInt", self.parts.definitions[item.operands[0]].operands[0], 1)
                if False in signs:
                    self.mixed[item.result or 0] = globals_.intern(item.name, scalar, *item.operands[1:])
                else:
                    replace_global(self.parts, Instruction(MATRIX, (scalar, *item.operands[1:]), None, item.result))
                    self.signed[item.result or 0] = scalar
        if self.signed:
            rules: dict[int, Rule] = {
                OP["OpCompositeConstruct"]: self.with_scalar,
                OP["OpMatrixTimesScalar"]: self.with_scalar,
                OP["OpCompositeInsert"]: self.insert,
                OP["OpCompositeExtract"]: self.extract,
                _CHAIN: self.chain,
                OP["OpLoad"]: self.load,
                OP["OpStore"]: self.store,
            }
            rewrite(self.parts, rules)
        if self.mixed:
            rewrite(self.parts, dict.fromkeys((MULTIPLY_ADD, *_CONVERSIONS), self.with_casts))

    def type_at(self, item: Instruction, at: int) -> int:
        """Return the type of an operand, or of the result (-1)."""
        return (item.result_type or 0) if at < 0 else self.parts.types.of(item.operands[at])

    def with_casts(self, code: Code, item: Instruction) -> None:
        """Cast the operands and the result that the instruction takes as signed, if their types have no sign."""
        signed = {at: self.mixed[t] for at, s in self.signs(item) if s and (t := self.type_at(item, at)) in self.mixed}
        operands = [self.cast(code, v, signed[n]) if n in signed else v for n, v in enumerate(item.operands)]
        if -1 in signed:
            code.finish(item, "OpBitcast", code.add(item.name, signed[-1], *operands))
        else:
            code.finish(item, item.name, *operands)

    def is_integer_matrix(self, type_id: int) -> bool:
        item = self.parts.definitions[type_id]
        return item.opcode == MATRIX and self.parts.definitions[item.operands[0]].opcode == _INT

    def signs(self, item: Instruction) -> Iterator[tuple[int, bool]]:
        """Yield which operands of an instruction are integer matrices, and whether it takes them as signed.

        The index -1 is the result.
        """
        pairs: list[tuple[int, bool | None]] = []
        if item.opcode == MULTIPLY_ADD:
            mask = item.operands[3] if len(item.operands) > 3 else 0
            pairs = [(at, bool(mask & bit)) for bit, at in _SIGN_BITS]
        elif item.opcode in _CONVERSIONS:
            source, result = _CONVERSIONS[item.opcode]
            pairs = [(0, source), (-1, result)]
        for at, is_signed in pairs:
            if is_signed is not None and self.is_integer_matrix(self.type_at(item, at)):
                yield at, is_signed

    def cast(self, code: Code, value: int, type_id: int) -> int:
        return code.add("OpBitcast", type_id, value)

    def with_scalar(self, code: Code, item: Instruction) -> None:
        """Cast the scalar, which is the last operand."""
        scalar = self.signed.get(item.result_type or 0)
        if scalar is None:
            code.keep(item)
        else:
            *front, last = item.operands
            code.finish(item, item.name, *front, self.cast(code, last, scalar))

    def insert(self, code: Code, item: Instruction) -> None:
        component, *rest = item.operands
        scalar = self.signed.get(item.result_type or 0)
        value = component if scalar is None else self.cast(code, component, scalar)
        code.finish(item, item.name, value, *rest)

    def extract(self, code: Code, item: Instruction) -> None:
        scalar = self.signed.get(code.type_of(item.operands[0]))
        if scalar is None:
            code.keep(item)
        else:
            code.finish(item, "OpBitcast", code.add("OpCompositeExtract", scalar, *item.operands))

    def chain(self, code: Code, item: Instruction) -> None:
        """Give a pointer to a signed component the type of the component."""
        type_id = self.parts.types.pointee(item.operands[0])
        for index in item.operands[1:]:
            if type_id in self.signed:
                space = self.parts.types.storage_class(item.operands[0])
                pointer = self.parts.globals.pointer(self.signed[type_id], space)
                item = Instruction(item.opcode, item.operands, pointer, item.result)
                self.pointers.add(item.result or 0)
                break
            kind = self.parts.definitions[type_id]
            at = self.parts.types.constants.value(index) if kind.opcode == OP["OpTypeStruct"] else 0
            type_id = self.parts.types.member(type_id, at)
        code.keep(item)

    def load(self, code: Code, item: Instruction) -> None:
        if item.operands[0] not in self.pointers:
            code.keep(item)
        else:
            pointee = self.parts.types.pointee(item.operands[0])
            code.finish(item, "OpBitcast", code.add("OpLoad", pointee, *item.operands))

    def store(self, code: Code, item: Instruction) -> None:
        pointer, value, *rest = item.operands
        if pointer in self.pointers:
            value = self.cast(code, value, self.parts.types.pointee(pointer))
        code.add("OpStore", None, pointer, value, *rest)


# --- what the device must have ---------------------------------------------------------------------


class MatrixRequirements:
    """The matrix types and products that a converted module uses."""

    def __init__(self, context: Context) -> None:
        self.parts = context.parts

    def shapes(self) -> tuple[MatrixShape, ...]:
        found = (self.shape(item) for item in self.parts.globals.items if item.opcode == MATRIX)
        return tuple(dict.fromkeys(found))

    def shape(self, item: Instruction) -> MatrixShape:
        component, *rest = item.operands
        scope, rows, columns, use = (self.parts.types.constants.value(word) for word in rest)
        return MatrixShape(self.component(component), _USES[use], _SCOPES[scope], rows, columns)

    def component(self, type_id: int) -> str:
        """Return Vulkan's name of a component type."""
        kind = self.parts.definitions[type_id]
        bits = kind.operands[0]
        if kind.opcode == _INT:
            return f"{'s' if kind.operands[1] else 'u'}int{bits}"
        encodings = {ENUM["FPEncoding.BFloat16KHR"]: "bfloat16", ENUM["FPEncoding.Float8E4M3EXT"]: "float8e4m3"}
        encodings[ENUM["FPEncoding.Float8E5M2EXT"]] = "float8e5m2"
        return encodings[kind.operands[1]] if len(kind.operands) > 1 else f"float{bits}"

    def products(self) -> tuple[MatrixProduct, ...]:
        items = (item for body in self.parts.functions for item in body if item.opcode == MULTIPLY_ADD)
        return tuple(dict.fromkeys(map(self.product, items)))

    def product(self, item: Instruction) -> MatrixProduct:
        mask = item.operands[3] if len(item.operands) > 3 else 0
        shapes = [self.shape(self.parts.definitions[self.parts.types.of(value)]) for value in item.operands[:3]]
        shapes.append(self.shape(self.parts.definitions[item.result_type or 0]))
        names = [
            shape.type if "int" not in shape.type else f"{'s' if mask & bit else 'u'}{shape.type[1:]}"
            for shape, (bit, _) in zip(shapes, _SIGN_BITS, strict=True)
        ]
        a, b, _, _ = shapes
        saturating = bool(mask & _SATURATING)
        types = (names[0], names[1], names[2], names[3])
        return MatrixProduct(a.rows, b.columns, a.columns, *types, a.scope, saturating)
