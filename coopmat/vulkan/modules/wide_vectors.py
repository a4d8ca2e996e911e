"""Vectors of 8 and 16 components as arrays of vectors of 4, since Vulkan has at most four components.

%r = OpFAdd %v8float %a %b    ->    two OpFAdd %v4float, and an OpCompositeConstruct of their results
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...spirv.module import OP, Instruction, id_positions, numbers
from .code import Code, operand_ids, rewrite_all
from .context import Context
from .layout import PSB, WIDEST_VECTOR as _WIDTH
from .pointers import ARRAY, CHAINS, ELEMENT_CHAINS, POINTER, STRUCT, VECTOR

_COMPOSITE, _BITCAST, _EXT_INST = OP["OpConstantComposite"], OP["OpBitcast"], OP["OpExtInst"]
# Instructions that work on arrays as they do on vectors.
_SAME = frozenset(
    numbers(
        "Op*", "Load Store Phi CopyObject Undef FunctionCall Return ReturnValue CopyLogical Variable FunctionParameter"
    )
)


def wide_vectors(context: Context) -> None:
    """Split the wide vectors of a module."""
    types = [item for item in context.parts.globals.items if item.opcode == VECTOR and item.operands[1] > _WIDTH]
    if types:
        _Splitter(context, types).run()


class _Splitter:
    """The rewriting of one module; `parts_of` maps a wide type to its part's type and their number."""

    def __init__(self, context: Context, types: list[Instruction]) -> None:
        self.context, self.parts, self.globals = context, context.parts, context.parts.globals
        self.parts_of: dict[int, tuple[int, int]] = {}
        self.decorations = self.parts.decorations()
        for item in types:
            element, count = item.operands
            part = self.globals.intern("OpTypeVector", element, _WIDTH)
            self.parts_of[item.result or 0] = (part, count // _WIDTH)

    def run(self) -> None:
        globals_ = self.globals
        for type_id, (part, count) in self.parts_of.items():
            array = Instruction(ARRAY, (part, globals_.number(count)), None, type_id)
            at = next(n for n, item in enumerate(globals_.items) if item.result == type_id)
            globals_.items[at] = self.parts.definitions[type_id] = array
        for n, item in enumerate(globals_.items):
            if item.opcode == _COMPOSITE and item.result_type in self.parts_of:
                part, _ = self.parts_of[item.result_type or 0]
                vectors = [
                    globals_.intern("OpConstantComposite", *item.operands[at : at + _WIDTH], result_type=part)
                    for at in range(0, len(item.operands), _WIDTH)
                ]
                globals_.items[n] = Instruction(_COMPOSITE, tuple(vectors), item.result_type, item.result)
                self.parts.definitions[item.result or 0] = globals_.items[n]
        rewrite_all(self.parts, self.instruction)

    def is_wide(self, value: int) -> bool:
        item = self.parts.definitions.get(value)
        return item is not None and item.result_type in self.parts_of

    def has_wide(self, item: Instruction) -> bool:
        """Return whether an instruction has a wide vector as result or operand."""
        return item.result_type in self.parts_of or any(map(self.is_wide, operand_ids(self.parts, item)))

    def instruction(self, code: Code, item: Instruction) -> None:
        name = item.name
        if item.opcode in CHAINS | ELEMENT_CHAINS:
            self.chain(code, item)
        elif name in ("OpCompositeExtract", "OpCompositeInsert"):
            self.composite(code, item)
        elif item.opcode in _SAME or not (
            item.result_type in self.parts_of or any(map(self.is_wide, operand_ids(self.parts, item)))
        ):
            code.keep(item)
        elif name == "OpCompositeConstruct":
            self.finish(code, item, [c for value in item.operands for c in self.components(code, value)])
        elif name == "OpVectorShuffle":
            self.shuffle(code, item)
        elif name in ("OpVectorExtractDynamic", "OpVectorInsertDynamic"):
            self.dynamic(code, item)
        elif item.opcode == _BITCAST:
            self.bitcast(code, item)
        elif name in ("OpAny", "OpAll"):
            self.reduce(code, item)
        elif name == "OpSelect" and not self.is_wide(item.operands[0]):
            code.keep(item)
        else:
            self.elementwise(code, item)

    # --- components and parts

    def part(self, code: Code, value: int, n: int) -> int:
        """Return part `n` of a wide vector."""
        return code.add("OpCompositeExtract", self.parts_of[code.type_of(value)][0], value, n)

    def components(self, code: Code, value: int) -> list[int]:
        """Return the components of a vector, or a scalar alone."""
        type_id = code.type_of(value)
        if type_id in self.parts_of:
            part, count = self.parts_of[type_id]
            element = self.parts.definitions[part].operands[0]
            places: Sequence[tuple[int, ...]] = [(n, k) for n in range(count) for k in range(_WIDTH)]
        elif self.parts.definitions[type_id].opcode == VECTOR:
            element, length = self.parts.definitions[type_id].operands
            places = [(k,) for k in range(length)]
        else:
            return [value]
        return [code.add("OpCompositeExtract", element, value, *place) for place in places]

    def finish(self, code: Code, item: Instruction, components: list[int]) -> None:
        """Define the result of `item` as the vector of these components."""
        if item.result_type not in self.parts_of:
            code.finish(item, "OpCompositeConstruct", *components)
            return
        part, count = self.parts_of[item.result_type]
        vectors = [
            code.add("OpCompositeConstruct", part, *components[n * _WIDTH : (n + 1) * _WIDTH]) for n in range(count)
        ]
        code.finish(item, "OpCompositeConstruct", *vectors)

    # --- instructions

    def elementwise(self, code: Code, item: Instruction) -> None:
        """Apply an instruction to each part of its operands."""
        ids = set(id_positions(item, self.parts.definitions))
        wide = next(v for v in (item.result or 0, *operand_ids(self.parts, item)) if self.is_wide(v))
        count = self.parts_of[self.parts.definitions[wide].result_type or 0][1]
        part = self.parts_of[item.result_type][0] if item.result_type in self.parts_of else item.result_type
        results = []
        for n in range(count):
            operands = [self.operand(code, value, n) if at in ids else value for at, value in enumerate(item.operands)]
            results.append(code.add(item.name, part, *operands))
            self.parts.decorate(results[-1], self.decorations.get(item.result or 0, ()))
        code.finish(item, "OpCompositeConstruct", *results)
        self.undecorated(item)

    def operand(self, code: Code, value: int, n: int) -> int:
        """Return part `n` of a wide vector, or of the vector that a pointer points to; other values unchanged."""
        if self.is_wide(value):
            return self.part(code, value, n)
        item = self.parts.definitions[value]
        kind = self.parts.definitions[item.result_type or 0] if item.result_type else None
        if kind is None or kind.opcode != POINTER or self.context.layout.plain(kind.operands[1]) not in self.parts_of:
            return value
        space, (part, _) = kind.operands[0], self.parts_of[self.context.layout.plain(kind.operands[1])]
        is_address = space == PSB
        pointer = self.context.layout.pointer(part) if is_address else self.globals.pointer(part, space)
        return code.add("OpInBoundsAccessChain", pointer, value, code.u32(n))

    def undecorated(self, item: Instruction) -> None:
        """Remove the decorations of a result that is composed of the parts now."""
        if item.result in self.decorations:
            self.parts.forget({item.result or 0})

    def chain(self, code: Code, item: Instruction) -> None:
        base, *indices = item.operands
        front = [indices.pop(0)] if item.opcode in ELEMENT_CHAINS else []
        code.finish(item, item.name, base, *front, *self.indices(code, self.parts.types.pointee(base), indices))

    def indices(self, code: Code, type_id: int, indices: list[int]) -> Iterator[int]:
        """Yield the indices of a chain, with two for each index into a wide vector."""
        for index in indices:
            type_id = self.context.layout.plain(type_id)
            if type_id in self.parts_of:
                integer = code.type_of(index)
                bits = self.parts.definitions[integer].operands[0]
                four, three = (self.globals.number(n, bits) for n in (_WIDTH, _WIDTH - 1))
                yield code.add("OpUDiv", integer, index, four)
                yield code.add("OpBitwiseAnd", integer, index, three)
                return
            yield index
            kind = self.parts.definitions[type_id]
            at = self.parts.types.constants.value(index) if kind.opcode == STRUCT else 0
            type_id = self.parts.types.member(type_id, at)

    def composite(self, code: Code, item: Instruction) -> None:
        """Split the literal index into a wide vector, in an insertion or extraction."""
        at = 2 if item.name == "OpCompositeInsert" else 1
        type_id, literals = code.type_of(item.operands[at - 1]), list[int]()
        for index in item.operands[at:]:
            if type_id in self.parts_of:
                literals += divmod(index, _WIDTH)
                break
            literals.append(index)
            type_id = self.parts.types.member(type_id, index)
        code.finish(item, item.name, *item.operands[:at], *literals)

    def shuffle(self, code: Code, item: Instruction) -> None:
        first, second, *literals = item.operands
        sources = self.components(code, first) + self.components(code, second)
        # The literal 0xFFFFFFFF denotes an undefined component.
        self.finish(code, item, [sources[n] if n < len(sources) else sources[0] for n in literals])

    def dynamic(self, code: Code, item: Instruction) -> None:
        """Choose among the results for all parts by the index, which is the last operand."""
        vector, *value, index = item.operands
        integer, bool_ = code.type_of(index), self.globals.intern("OpTypeBool")
        bits = self.parts.definitions[integer].operands[0]
        inner = code.add("OpBitwiseAnd", integer, index, self.globals.number(_WIDTH - 1, bits))
        outer = code.add("OpUDiv", integer, index, self.globals.number(_WIDTH, bits))
        part, count = self.parts_of[code.type_of(vector)]
        results: list[int] = []
        for n in range(count):
            own = self.part(code, vector, n)
            result_type = part if value else item.result_type
            new = code.add(item.name, result_type, own, *value, inner)
            is_here = code.add("OpIEqual", bool_, outer, self.globals.number(n, bits))
            other = own if value else (results[-1] if results else new)
            results.append(code.add("OpSelect", result_type, is_here, new, other))
        if value:
            code.finish(item, "OpCompositeConstruct", *results)
        else:
            code.finish(item, "OpCopyObject", results[-1])

    def reduce(self, code: Code, item: Instruction) -> None:
        count = self.parts_of[code.type_of(item.operands[0])][1]
        results = [code.add(item.name, item.result_type, self.part(code, item.operands[0], n)) for n in range(count)]
        joined = results[0]
        for result in results[1:]:
            joined = code.add(
                "OpLogicalOr" if item.name == "OpAny" else "OpLogicalAnd", item.result_type, joined, result
            )
        code.finish(item, "OpCopyObject", joined)

    def bitcast(self, code: Code, item: Instruction) -> None:
        """Cast the bits through integers of the narrower components."""
        source, target = self.element(code.type_of(item.operands[0])), self.element(item.result_type or 0)
        components = self.components(code, item.operands[0])
        sizes = [self.parts.definitions[type_id].operands[0] for type_id in (source, target)]
        middle = self.globals.integer(32)
        if sizes[0] > _WIDTH * sizes[1]:
            components = self.parted(code, self.parted(code, components, middle), target)
        elif sizes[0] > sizes[1]:
            components = self.parted(code, components, target)
        elif sizes[1] > _WIDTH * sizes[0]:
            components = self.joined(code, self.joined(code, components, middle), target)
        elif sizes[0] < sizes[1]:
            components = self.joined(code, components, target)
        elif source != target:
            components = [code.add("OpBitcast", target, value) for value in components]
        if self.parts.definitions[item.result_type or 0].opcode in (VECTOR, ARRAY):
            self.finish(code, item, components)
        else:
            code.finish(item, "OpCopyObject", components[0])

    def parted(self, code: Code, values: list[int], target: int) -> list[int]:
        """Return the bits of scalars as more scalars of a narrower type."""
        bits = [self.parts.definitions[type_id].operands[0] for type_id in (code.type_of(values[0]), target)]
        vector = self.globals.intern("OpTypeVector", target, bits[0] // bits[1])
        return [part for value in values for part in self.components(code, code.add("OpBitcast", vector, value))]

    def joined(self, code: Code, values: list[int], target: int) -> list[int]:
        """Return the bits of scalars as fewer scalars of a wider type."""
        source = code.type_of(values[0])
        step = self.parts.definitions[target].operands[0] // self.parts.definitions[source].operands[0]
        vector = self.globals.intern("OpTypeVector", source, step)
        groups = [values[n : n + step] for n in range(0, len(values), step)]
        return [code.add("OpBitcast", target, code.add("OpCompositeConstruct", vector, *group)) for group in groups]

    def element(self, type_id: int) -> int:
        """Return the type of a vector's components, or a scalar type itself."""
        if type_id in self.parts_of:
            type_id = self.parts_of[type_id][0]
        kind = self.parts.definitions[type_id]
        return kind.operands[0] if kind.opcode == VECTOR else type_id
