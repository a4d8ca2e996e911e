"""bfloat16 (SPV_KHR_bfloat16) as integers of 16 bits, since few devices have the type: the library holds it as those.

Values are copied as they are, and converted by the library's functions. There is no arithmetic in the extension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...matrices.bfloat16 import Bfloat16Function
from ...matrices.spelling import BFLOAT16, INEXACT_IN_FLOAT
from ...matrices.variants import COMPONENT_TYPES, ComponentType
from ..module import OP, Instruction, Module, id_positions
from ..refusal import unsupported
from .function import FunctionLowering
from .sections import Section
from .types import MATRIX

CAPABILITIES = frozenset({5116, 5117, 5118})
EXTENSION = "SPV_KHR_bfloat16"
_ENCODING = 0
_INT16 = 22  # the capability
_FLOAT, _INT, _VECTOR, _POINTER = (OP[f"OpType{name}"] for name in ("Float", "Int", "Vector", "Pointer"))
_MERGED = frozenset({_VECTOR, _POINTER, OP["OpTypeFunction"]})
_BITCAST, _COPY = OP["OpBitcast"], OP["OpCopyObject"]
_NAMES_TYPES = (Section.NAME, Section.ANNOTATION)
# By instruction: the sign of integers that are converted.
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
        *(name.removeprefix("Op") for name in OP if name.startswith(("OpGroupNonUniformShuffle", "OpSubgroupShuffle"))),
    )
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """Of values that are not matrices; `count` is of a vector's components."""

    source: ComponentType
    target: ComponentType
    count: int


@dataclass(slots=True)
class Replaced:
    """What the types do not tell any more: which matrix types were of bfloat16, what instructions convert."""

    matrices: set[int] = field(default_factory=set)
    conversions: dict[int, Conversion] = field(default_factory=dict)
    # Whether there was bfloat16 at all.
    any: bool = False


def replace(
    module: Module, sections: Mapping[Section, list[Instruction]], functions: Iterable[list[Instruction]]
) -> Replaced:
    """Rewrites a module with matrices in place. Raises Refused."""
    found = Replaced()
    code = sections[Section.GLOBAL]
    types = {i.result or 0 for i in code if i.opcode == _FLOAT and i.operands == (16, _ENCODING)}
    if not types:
        return found
    found.any = True
    definitions = module.definitions()
    found.matrices = {i.result or 0 for i in code if i.opcode == MATRIX and i.operands[0] in types}
    functions = list(functions)
    for body in functions:
        for item in body:
            _look_at(item, definitions, types, found)
    _Substitution(module, code, types).run([sections[s] for s in Section if s not in _NAMES_TYPES], functions)
    gone = {i.result for i in definitions.values()} - {i.result for i in code} - _defined(sections, functions)
    for section in _NAMES_TYPES:
        sections[section][:] = [i for i in sections[section] if i.operands[0] not in gone]
    capability = Instruction(OP["OpCapability"], (_INT16,))
    if capability not in sections[Section.CAPABILITY]:
        sections[Section.CAPABILITY].append(capability)
    return found


def _defined(sections: Mapping[Section, list[Instruction]], functions: list[list[Instruction]]) -> set[int | None]:
    return {i.result for body in (*sections.values(), *functions) for i in body}


def _component(kind: int | None, definitions: Mapping[int, Instruction], types: set[int]) -> tuple[str, int]:
    """A type's letter and bits ("" where it is neither a number nor a vector of some), and the count."""
    item, count = definitions[kind or 0], 1
    if item.opcode == _VECTOR:
        item, count = definitions[item.operands[0]], item.operands[1]
    if item.result in types:
        return "bf16", count
    letter = {_FLOAT: "f", _INT: "i"}.get(item.opcode)
    return (f"{letter}{item.operands[0]}" if letter else ""), count


def _look_at(item: Instruction, definitions: Mapping[int, Instruction], types: set[int], found: Replaced) -> None:
    if item.opcode in _MOVES or not _names(item.operands, item, definitions, types):
        return
    sign = _CONVERSIONS.get(item.opcode)
    if sign is None:
        if _names((item.operands[at] for at in id_positions(item, definitions)), item, definitions, types):
            raise unsupported(item, "of bfloat16 is not supported where matrices are lowered")
        return
    (source, count), (target, _) = (
        _component(kind, definitions, types) for kind in (definitions[item.operands[0]].result_type, item.result_type)
    )
    components = [COMPONENT_TYPES[name.replace("i", sign)] for name in (source, target)]
    found.conversions[item.result or 0] = Conversion(components[0], components[1], count)


def _names(operands: Iterable[int], item: Instruction, definitions: Mapping[int, Instruction], types: set[int]) -> bool:
    """Whether the result, or one of these operands, is bfloat16."""
    kinds = [item.result_type, *(definitions[word].result_type for word in operands if word in definitions)]
    return any(kind is not None and _component(kind, definitions, types)[0] == "bf16" for kind in kinds)


class _Substitution:
    """Integers in place of bfloat16, and one type where two are the same now."""

    def __init__(self, module: Module, code: list[Instruction], types: set[int]) -> None:
        self.code, self.definitions = code, module.definitions()
        short = next((i for i in code if i.opcode == _INT and i.operands == (16, 0)), None)
        if short is None:
            short = Instruction(_INT, (16, 0), None, module.new_id())
        # It needs nothing, and others may need it early.
        code[:] = [short, *(i for i in code if i is not short and i.result not in types)]
        self.ids = dict.fromkeys(types, short.result or 0)

    def run(self, sections: list[list[Instruction]], functions: list[list[Instruction]]) -> None:
        known: dict[tuple[int, tuple[int, ...]], int] = {}
        made = []
        for item in self.code:
            changed = self.changed(item)
            key = (changed.opcode, changed.operands)
            if item.opcode in _MERGED and key in known:
                self.ids[item.result or 0] = known[key]
                continue
            known.setdefault(key, item.result or 0)
            made.append(changed)
        self.code[:] = made
        for body in (*(body for body in sections if body is not self.code), *functions):
            body[:] = [self.changed(item) for item in body]

    def changed(self, item: Instruction) -> Instruction:
        kind = self.ids.get(item.result_type or 0, item.result_type)
        operands = item.operands
        if any(word in self.ids for word in operands):
            ids = set(id_positions(item, self.definitions))
            operands = tuple(self.ids.get(w, w) if n in ids else w for n, w in enumerate(operands))
        opcode = item.opcode
        if opcode == _BITCAST:
            source = self.definitions[operands[0]].result_type or 0
            opcode = _COPY if self.ids.get(source, source) == kind else opcode
        return Instruction(opcode, operands, kind, item.result)


def convert(f: FunctionLowering, item: Instruction, how: Conversion, rounding: str) -> None:
    """From or to bfloat16, by the library."""
    value, count = item.operands[0], how.count
    f.module.rewritten.add(item.result or 0)
    if how.source == BFLOAT16:
        if how.target.name == "f32":
            f.call(Bfloat16Function("to_float", count), value, result=item.result)
            return
        made = f.call(Bfloat16Function("to_float", count), value)
        f.out.append(Instruction(item.opcode, (made,), item.result_type, item.result))
        return
    if how.source in INEXACT_IN_FLOAT:
        value = f.call(Bfloat16Function(f"{how.source}_to_odd", count), value)
    elif how.source.name != "f32":
        float_ = f.pool.intern("OpTypeFloat", 32)
        kind = float_ if count == 1 else f.pool.intern("OpTypeVector", float_, count)
        value = f.emit(item.name, kind, value)
    f.call(Bfloat16Function(f"from_float_{rounding or 'rte'}", count), value, result=item.result)
