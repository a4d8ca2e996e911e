"""The replacement of small floats, such as SPV_KHR_bfloat16's, by integers of the same width.

Few devices have such types, and the library holds small floats as integers, too. Values are copied unchanged, and
library functions convert them. The extensions define no arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...matrices.small_float_functions import SmallFloatFunction
from ...matrices.spelling import FLOAT, INEXACT_IN_FLOAT, from_float
from ...matrices.variants import COMPONENT_TYPES, SMALL_FLOATS, ComponentType
from ...spirv.module import ENUM, OP, Instruction, Module, id_positions, numbers
from ...spirv.refusal import unsupported
from ...spirv.sections import Section
from .function import FunctionLowering
from .types import MATRIX

_ENCODINGS: dict[tuple[int, ...], ComponentType] = {
    (row.bits, row.encoding.number): row for row in SMALL_FLOATS if row.encoding is not None
}
_SPELLINGS = [row.encoding for row in SMALL_FLOATS if row.encoding is not None]
CAPABILITIES = frozenset(ENUM[f"Capability.{name}"] for encoding in _SPELLINGS for name in encoding.capabilities)
EXTENSIONS = frozenset(encoding.extension for encoding in _SPELLINGS)
_FLOAT, _INT, _VECTOR, _POINTER = numbers("OpType*", "Float Int Vector Pointer")
_MERGED = frozenset({_VECTOR, _POINTER, OP["OpTypeFunction"]})
_BITCAST, _COPY = OP["OpBitcast"], OP["OpCopyObject"]
_NAMES_TYPES = (Section.NAME, Section.ANNOTATION)
# conversion -> "s" or "u", the sign of its integers
_CONVERSIONS = {
    OP[f"Op{name}"]: sign
    for name, sign in {
        **{"FConvert": "s", "ConvertFToS": "s", "ConvertSToF": "s"},
        **{"ConvertFToU": "u", "ConvertUToF": "u"},
    }.items()
}
_MOVES = frozenset(
    OP[f"Op{name}"]
    for name in (
        *("Function", "FunctionParameter", "FunctionCall", "ReturnValue", "Variable", "Load", "Store", "Phi", "Select"),
        *("Undef", "CopyObject", "CopyLogical", "Bitcast", "CompositeConstruct", "CompositeExtract", "CompositeInsert"),
        *("VectorExtractDynamic", "VectorInsertDynamic", "VectorShuffle", "GroupBroadcast"),
        *("CooperativeMatrixReduceEXT", "CooperativeMatrixPerElementOpEXT"),
        *(name.removeprefix("Op") for name in OP if name.startswith(("OpGroupNonUniformShuffle", "OpSubgroupShuffle"))),
    )
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion of a scalar or a vector of `count` components."""

    source: ComponentType
    target: ComponentType
    count: int


@dataclass(slots=True)
class Replaced:
    """The facts that a module's types no longer state after the replacement.

    matrices: matrix type -> its component.
    conversions: result of a conversion -> its types.
    """

    matrices: dict[int, ComponentType] = field(default_factory=dict)
    conversions: dict[int, Conversion] = field(default_factory=dict)
    # Whether the module had small floats.
    any: bool = False


def replace(
    module: Module, sections: Mapping[Section, list[Instruction]], functions: Iterable[list[Instruction]]
) -> Replaced:
    """Replace small floats by integers in place; return the facts that the types no longer state. Raise Refused."""
    replaced = Replaced()
    code = sections[Section.GLOBAL]
    types = declared(code)
    if not types:
        return replaced
    replaced.any = True
    definitions = module.definitions()
    replaced.matrices = of_matrices(code)
    functions = list(functions)
    for body in functions:
        for item in body:
            _look_at(item, definitions, types, replaced)
    _Substitution(module, code, types).run([sections[s] for s in Section if s not in _NAMES_TYPES], functions)
    undefined = {i.result for i in definitions.values()} - {i.result for i in code} - _defined(sections, functions)
    for section in _NAMES_TYPES:
        sections[section][:] = [i for i in sections[section] if i.operands[0] not in undefined]
    for bits in dict.fromkeys(component.bits for component in types.values()):
        capability = Instruction(OP["OpCapability"], (ENUM[f"Capability.Int{bits}"],))
        if capability not in sections[Section.CAPABILITY]:
            sections[Section.CAPABILITY].append(capability)
    return replaced


def declared(code: Iterable[Instruction]) -> dict[int, ComponentType]:
    """Return id -> component type, for the small floats among a module's types."""
    encoded = ((i.result or 0, _ENCODINGS.get(i.operands)) for i in code if i.opcode == _FLOAT)
    return {type_id: row for type_id, row in encoded if row is not None}


def of_matrices(code: Sequence[Instruction]) -> dict[int, ComponentType]:
    """Return id -> component type, for the matrix types whose components are small floats."""
    types = declared(code)
    return {i.result or 0: types[i.operands[0]] for i in code if i.opcode == MATRIX and i.operands[0] in types}


def _defined(sections: Mapping[Section, list[Instruction]], functions: list[list[Instruction]]) -> set[int | None]:
    return {i.result for body in (*sections.values(), *functions) for i in body}


def _component(
    type_id: int | None, definitions: Mapping[int, Instruction], types: Mapping[int, ComponentType]
) -> tuple[str, int]:
    """Return the name of a type's component, and the number of components.

    The name is that of a small float, or "f" or "i" and the bits; it is empty for types that are neither scalars nor
    vectors.
    """
    item, count = definitions[type_id or 0], 1
    if item.opcode == _VECTOR:
        item, count = definitions[item.operands[0]], item.operands[1]
    if small := types.get(item.result or 0):
        return small.name, count
    letter = {_FLOAT: "f", _INT: "i"}.get(item.opcode)
    return (f"{letter}{item.operands[0]}" if letter else ""), count


def _look_at(
    item: Instruction, definitions: Mapping[int, Instruction], types: Mapping[int, ComponentType], replaced: Replaced
) -> None:
    if item.opcode in _MOVES or not _small(item.operands, item, definitions, types):
        return
    sign = _CONVERSIONS.get(item.opcode)
    if sign is None:
        if small := _small((item.operands[at] for at in id_positions(item, definitions)), item, definitions, types):
            raise unsupported(item, f"of {small[0].opencl_c} is not supported where matrices are lowered")
        return
    type_ids = definitions[item.operands[0]].result_type, item.result_type
    (source, count), (target, _) = (_component(type_id, definitions, types) for type_id in type_ids)
    components = [COMPONENT_TYPES[name.replace("i", sign)] for name in (source, target)]
    replaced.conversions[item.result or 0] = Conversion(components[0], components[1], count)


def _small(
    operands: Iterable[int],
    item: Instruction,
    definitions: Mapping[int, Instruction],
    types: Mapping[int, ComponentType],
) -> list[ComponentType]:
    """Return the small floats that are the types, or the components of the types, of the result and these operands."""
    kinds = [item.result_type, *(definitions[word].result_type for word in operands if word in definitions)]
    names = [_component(type_id, definitions, types)[0] for type_id in kinds if type_id is not None]
    return [row for row in types.values() if row.name in names]


class _Substitution:
    """The replacement of the types; types that have become equal are merged."""

    def __init__(self, module: Module, code: list[Instruction], types: Mapping[int, ComponentType]) -> None:
        self.code, self.definitions = code, module.definitions()
        integers: dict[int, Instruction] = {}
        for bits in dict.fromkeys(component.bits for component in types.values()):
            own = next((i for i in code if i.opcode == _INT and i.operands == (bits, 0)), None)
            integers[bits] = own or Instruction(_INT, (bits, 0), None, module.new_id())
        # Integer types depend on no other type, and others may need them early.
        rest = (i for i in code if i not in integers.values() and i.result not in types)
        code[:] = [*integers.values(), *rest]
        self.ids = {type_id: integers[component.bits].result or 0 for type_id, component in types.items()}

    def run(self, sections: list[list[Instruction]], functions: list[list[Instruction]]) -> None:
        ids_by_key: dict[tuple[int, tuple[int, ...]], int] = {}
        items = []
        for item in self.code:
            changed = self.changed(item)
            key = (changed.opcode, changed.operands)
            if item.opcode in _MERGED and key in ids_by_key:
                self.ids[item.result or 0] = ids_by_key[key]
                continue
            ids_by_key.setdefault(key, item.result or 0)
            items.append(changed)
        self.code[:] = items
        for body in (*(body for body in sections if body is not self.code), *functions):
            body[:] = [self.changed(item) for item in body]

    def changed(self, item: Instruction) -> Instruction:
        type_id = self.ids.get(item.result_type or 0, item.result_type)
        operands = item.operands
        if any(word in self.ids for word in operands):
            ids = set(id_positions(item, self.definitions))
            operands = tuple(self.ids.get(w, w) if n in ids else w for n, w in enumerate(operands))
        opcode = item.opcode
        if opcode == _BITCAST:
            source = self.definitions[operands[0]].result_type or 0
            opcode = _COPY if self.ids.get(source, source) == type_id else opcode
        return Instruction(opcode, operands, type_id, item.result)


def convert(f: FunctionLowering, item: Instruction, how: Conversion, rounding: str, saturate: bool) -> None:
    """Emit calls of library functions that convert from or to a small float; the last one has the result's id."""
    value, source = item.operands[0], how.source
    f.module.rewritten.add(item.result or 0)

    def call(component: ComponentType, what: str, last: bool = False) -> int:
        return f.call(SmallFloatFunction(component, what, how.count), value, result=item.result if last else None)

    if source.is_bits:
        value = call(source, "to_float", last=how.target == FLOAT)
        source = FLOAT
        if not how.target.is_bits:
            if how.target != FLOAT:
                f.out.append(Instruction(item.opcode, (value,), item.result_type, item.result))
            return
    if source in INEXACT_IN_FLOAT:
        value = call(source, "to_odd")
    elif source != FLOAT:
        float_ = f.globals.intern("OpTypeFloat", 32)
        type_id = float_ if how.count == 1 else f.globals.intern("OpTypeVector", float_, how.count)
        value = f.emit(item.name, type_id, value)
    call(how.target, from_float(how.target, rounding, saturate), last=True)
