"""The tiles of our own native modules: local variables that hold one tile for each subgroup of a work-group.

A native module is compiled for its consumer's subgroups. A route may form smaller subgroups, and so more of them. If
a kernel states the size of its work-groups, its tiles are enlarged; otherwise its work-groups have a largest size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...spirv.module import ENUM, OP, Instruction, decode_string, encode_string, id_positions, numbers
from ...spirv.module_globals import ModuleGlobals
from ...spirv.refusal import Refused
from ...spirv.sections import Section
from .kernels import Kernel, with_callers

_VARIABLE, _POINTER, _ARRAY, _CONSTANT = numbers("Op*", "Variable TypePointer TypeArray Constant")
_LABEL, _BITCAST = OP["OpLabel"], OP["OpBitcast"]
_BEFORE_CODE = frozenset({_VARIABLE, OP["OpLine"], OP["OpNoLine"]})
_WORKGROUP = ENUM["StorageClass.Workgroup"]
# The number in a variable's name is the number of subgroups for which there are tiles.
_NAME = re.compile(r"coop_mat_tiles\.([1-9]\d{0,5})\.")
# More components than any device's local memory holds.
_MOST_COMPONENTS = 1 << 24


@dataclass(frozen=True, slots=True)
class _Tiles:
    """A variable with tiles.

    name: the index of its OpName in the section.
    room: the number of tiles.
    component, count: the element type and the length of its array.
    users: the functions that use the variable, and their callers.
    """

    variable: Instruction
    name: int
    room: int
    component: int
    count: int
    users: frozenset[int]


def _tiles(
    functions: Mapping[int, list[Instruction]], sections: Mapping[Section, list[Instruction]], globals_: ModuleGlobals
) -> Iterator[_Tiles]:
    """Yield the variables of a module that have the names and types of our own tiles."""
    seen: set[int | None] = set()
    for at, item in enumerate(sections[Section.NAME]):
        match = _NAME.match(decode_string(item.operands[1:])[0]) if item.name == "OpName" else None
        variable = globals_.definitions.get(item.operands[0]) if match else None
        if match is None or variable is None or variable.result in seen:
            continue
        seen.add(variable.result)
        if (variable.opcode, variable.operands[:1]) != (_VARIABLE, (_WORKGROUP,)):
            continue
        array = globals_.definitions[globals_.definitions[variable.result_type or 0].operands[1]]
        length = globals_.definitions[array.operands[1]] if array.opcode == _ARRAY else array
        room = int(match[1])
        if length.opcode == _CONSTANT and length.operands[0] % room == 0:
            own = (f for f, code in functions.items() if any(variable.result in i.operands for i in code))
            users = frozenset(with_callers(own, functions))
            yield _Tiles(variable, at, room, array.operands[0], length.operands[0], users)


def read_tiles(
    kernels: Iterable[Kernel],
    functions: Mapping[int, list[Instruction]],
    sections: Mapping[Section, list[Instruction]],
    globals_: ModuleGlobals,
) -> None:
    """Set for each kernel the number of subgroups for which all tiles that it uses have room."""
    for tiles in _tiles(functions, sections, globals_):
        for kernel in kernels:
            if kernel.function in tiles.users:
                kernel.tiles = min(tiles.room, kernel.tiles or tiles.room)


def enlarge_tiles(
    kernels: Iterable[Kernel],
    functions: Mapping[int, list[Instruction]],
    sections: Mapping[Section, list[Instruction]],
    globals_: ModuleGlobals,
) -> None:
    """Enlarge tiles to hold all subgroups of the kernels that state the size of their work-groups.

    Raise Refused if this needs more local memory than any device has.
    """
    for tiles in list(_tiles(functions, sections, globals_)):
        needed = tiles.room
        for kernel in kernels:
            if kernel.function not in tiles.users or not kernel.work_items or kernel.target is None:
                continue
            needed = max(needed, -(-kernel.work_items // kernel.target.sub_group_size))
            if tiles.count // tiles.room * needed > _MOST_COMPONENTS:
                message = f"kernel '{kernel.name}' needs local memory for {needed} subgroups, more than any device has"
                raise Refused("spirv-not-supported", message, kernel.name)
        if needed > tiles.room:
            _enlarge(tiles, needed, functions, sections, globals_)


def _enlarge(
    tiles: _Tiles,
    room: int,
    functions: Mapping[int, list[Instruction]],
    sections: Mapping[Section, list[Instruction]],
    globals_: ModuleGlobals,
) -> None:
    """Give a variable a larger array type and a name with the new room; functions use a pointer of the old type."""
    old = tiles.variable
    array = globals_.intern("OpTypeArray", tiles.component, globals_.number(tiles.count // tiles.room * room))
    new = Instruction(old.opcode, old.operands, globals_.pointer(array, _WORKGROUP), old.result)
    globals_.items[globals_.items.index(old)] = new
    globals_.definitions[old.result or 0] = new
    names = sections[Section.NAME]
    text = decode_string(names[tiles.name].operands[1:])[0]
    words = encode_string(_NAME.sub(f"coop_mat_tiles.{room}.", text, count=1))
    names[tiles.name] = Instruction(names[tiles.name].opcode, (old.result or 0, *words))
    for code in functions.values():
        cast = Instruction(_BITCAST, (old.result or 0,), old.result_type, globals_.module.new_id())
        replaced = [_with_operand(item, old.result or 0, cast.result or 0, globals_) for item in code]
        if replaced == code:
            continue
        entry = next(at for at, item in enumerate(code) if item.opcode == _LABEL) + 1
        while code[entry].opcode in _BEFORE_CODE:
            entry += 1
        code[:] = [*replaced[:entry], cast, *replaced[entry:]]
        globals_.definitions.update((item.result, item) for item in code if item.result is not None)


def _with_operand(item: Instruction, old: int, new: int, globals_: ModuleGlobals) -> Instruction:
    """Return an instruction with the id `new` in place of `old`."""
    ids = id_positions(item, globals_.definitions) if old in item.operands else ()
    operands = tuple(new if n in ids and word == old else word for n, word in enumerate(item.operands))
    return Instruction(item.opcode, operands, item.result_type, item.result)
