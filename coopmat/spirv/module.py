"""The SPIR-V binary format: reading, writing, and which operand words are ids.

`instructions.tsv` has the operand kinds of each opcode and the numbers of enumerants, from the SPIR-V unified grammar;
`tools/spirv-table` makes the file and explains its codes. `vendor_instructions.tsv` has opcodes and enumerants that
consumers implement and the grammar lacks. Parsing keeps every word: `Module.parse(data).to_bytes() == data`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = 0x07230203
_HEADER_WORDS = 5


class MalformedModule(ValueError):
    """An error: the bytes are no SPIR-V module.

    The header is bad, an instruction is cut off or unknown, or operands do not match the opcode.
    """


@dataclass(frozen=True, slots=True)
class Opcode:
    """One row of the table of instructions.

    has_type, has_result: whether the instruction has a result type and a result id.
    operands: the codes of the operands after the result type and the result id.
    """

    number: int
    name: str
    has_type: bool
    has_result: bool
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """An enumeration of which some values, or bits of a mask, are followed by further operands.

    is_mask: whether the enumerants are bits that may be combined.
    parameters: value or bit -> the codes of the operands that follow.
    """

    is_mask: bool
    parameters: Mapping[int, str]


_TABLES = ("instructions.tsv", "vendor_instructions.tsv")


def _load() -> tuple[dict[int, Opcode], dict[str, Enumeration], dict[str, int]]:
    """Load the tables: return number -> opcode, code -> enumeration, and name -> number of enumerants."""
    opcodes: dict[int, Opcode] = {}
    enumerations: dict[str, Enumeration] = {}
    enumerants: dict[str, int] = {}
    texts = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in _TABLES]
    for line in "".join(texts).splitlines():
        if line.startswith("#"):
            continue
        key, name, cells = line.split("\t")
        codes = cells.split()
        if key.startswith("="):
            pairs = (cell.split("=") for cell in codes)
            enumerants |= {f"{key[1:]}.{name}": int(value) for name, value in pairs}
        elif key.startswith("@"):
            parameters = {int(value): codes for value, codes in (cell.split("=") for cell in codes)}
            enumerations[key[1:]] = Enumeration(name == "bits", parameters)
        else:
            operands = tuple(code for code in codes if code not in ("T", "R"))
            opcodes[int(key)] = Opcode(int(key), name, "T" in codes, "R" in codes, operands)
    return opcodes, enumerations, enumerants


OPCODES, ENUMERATIONS, _ENUMERANTS = _load()
OP: Mapping[str, int] = {opcode.name: opcode.number for opcode in OPCODES.values()}
# "Decoration.BuiltIn" -> its number; the instructions of OpenCL.std are listed, too, as "OpenCL.std.printf".
ENUM: Mapping[str, int] = _ENUMERANTS
_NUMBERS = {**OP, **ENUM}


def numbers(pattern: str, names: str) -> list[int]:
    """Return the numbers of opcodes (`numbers("Op*", "Load Store")`) or enumerants (`numbers("Scope.*", "Device")`)."""
    return [_NUMBERS[pattern.replace("*", name)] for name in names.split()]


@dataclass(slots=True)
class Instruction:
    """One instruction of a module.

    operands: the words after the result type and the result id: ids and literals, as encoded.
    result_type, result: ids; None if the opcode has none.
    """

    opcode: int
    operands: tuple[int, ...]
    result_type: int | None = None
    result: int | None = None

    @property
    def name(self) -> str:
        """The instruction's name, for example "OpTypeInt"."""
        return OPCODES[self.opcode].name

    def words(self) -> list[int]:
        """Return all words but the first (length and opcode), in the order of the encoding."""
        prefix = [word for word in (self.result_type, self.result) if word is not None]
        return [*prefix, *self.operands]


def instruction(name: str, *words: int) -> Instruction:
    """Make the instruction `name` ("OpTypeInt") from all its words but the first, in the order of the encoding."""
    return _split(OPCODES[OP[name]], words)


def _split(opcode: Opcode, words: Sequence[int]) -> Instruction:
    """Make an instruction from all its words but the first; raise MalformedModule if there are too few."""
    fixed = opcode.has_type + opcode.has_result
    if len(words) < fixed:
        raise MalformedModule(f"{opcode.name} has {len(words)} operand words, fewer than its result type and id")
    return Instruction(
        opcode.number,
        tuple(words[fixed:]),
        words[0] if opcode.has_type else None,
        words[fixed - 1] if opcode.has_result else None,
    )


def encode_string(text: str) -> list[int]:
    """Return the words of a literal string: UTF-8 with a terminating zero, padded to whole words."""
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def decode_string(words: Sequence[int]) -> tuple[str, int]:
    """Return the literal string that starts at `words[0]`, and the number of words that it takes."""
    data = b"".join(word.to_bytes(4, "little") for word in words)
    end = data.find(b"\0")
    if end < 0:
        raise MalformedModule("a literal string has no terminating zero")
    return data[:end].decode(errors="replace"), end // 4 + 1


@dataclass(slots=True)
class Module:
    """A SPIR-V module: the fields of the header, and the instructions in order.

    version: the word of the header (0x00010400 for 1.4).
    bound: one more than the largest id in use.
    byte_order: "<" or ">", as in `struct`.
    """

    version: int
    bound: int
    instructions: list[Instruction] = field(default_factory=list)
    generator: int = 0
    schema: int = 0
    byte_order: str = "<"

    @classmethod
    def parse(cls, data: bytes, before_functions: bool = False) -> Module:
        """Parse the bytes of a module of either byte order, which `to_bytes` keeps.

        If `before_functions` is set, stop before the first function. Raise MalformedModule if the bytes are no module.
        """
        if len(data) < 4 * _HEADER_WORDS or len(data) % 4:
            raise MalformedModule(f"{len(data)} bytes are no SPIR-V module")
        order = next((o for o in "<>" if struct.unpack_from(o + "I", data)[0] == MAGIC), None)
        if order is None:
            raise MalformedModule("the magic number of SPIR-V is missing")
        words = struct.unpack(f"{order}{len(data) // 4}I", data)
        _, version, generator, bound, schema = words[:_HEADER_WORDS]
        module = cls(version, bound, [], generator, schema, order)
        stop = OP["OpFunction"] if before_functions else None
        at, end, append = _HEADER_WORDS, len(words), module.instructions.append
        while at < end:
            length, number = words[at] >> 16, words[at] & 0xFFFF
            opcode = OPCODES.get(number)
            if opcode is None or length == 0 or at + length > end:
                what = "is cut off" if opcode is not None else f"has the unknown opcode {number}"
                raise MalformedModule(f"the instruction at word {at} {what}")
            if number == stop:
                break
            append(_split(opcode, words[at + 1 : at + length]))
            at += length
        return module

    def to_bytes(self) -> bytes:
        """Return the module's bytes."""
        words = [MAGIC, self.version, self.generator, self.bound, self.schema]
        for item in self.instructions:
            body = item.words()
            words.append((len(body) + 1) << 16 | item.opcode)
            words += body
        return struct.pack(f"{self.byte_order}{len(words)}I", *words)

    def new_id(self) -> int:
        """Return a new id and raise the bound."""
        self.bound += 1
        return self.bound - 1

    def definitions(self) -> dict[int, Instruction]:
        """Return id -> the instruction that defines this id."""
        return {item.result: item for item in self.instructions if item.result is not None}


def with_unique_names(data: bytes) -> bytes:
    """Return the module with a different name in each OpName, for programs that take quadratic time over equal names.

    SPIRV-Tools (2026.4) count from 0 for each `x` and each block `entry`. Data that is no little-endian module is
    returned unchanged.
    """
    if len(data) % 4 or data[:4] != struct.pack("<I", MAGIC):
        return data
    words = struct.unpack(f"<{len(data) // 4}I", data)
    at, end, name = _HEADER_WORDS, len(words), OP["OpName"]
    while at < end and words[at] & 0xFFFF != name and words[at] >> 16:
        at += words[at] >> 16
    # All OpName instructions are adjacent.
    first, names = at, []
    while at + 1 < end and words[at] & 0xFFFF == name and words[at] >> 16:
        names.append(struct.pack("<2I8s", 4 << 16 | name, words[at + 1], b"%07x" % words[at + 1]))
        at += words[at] >> 16
    return b"".join([data[: 4 * first], *names, data[4 * at :]])


def id_positions(item: Instruction, definitions: Mapping[int, Instruction]) -> list[int]:
    """Return the indices into `item.operands` of the words that are ids; scopes and memory semantics are ids too.

    `definitions` (of the module) gives the width of an OpSwitch's selector, which is the width of the literals. Raise
    MalformedModule if the words do not match the opcode's operands.
    """
    reader = _Reader(item, definitions)
    reader.read(OPCODES[item.opcode].operands)
    if reader.at != len(item.operands):
        raise MalformedModule(f"{item.name} has {len(item.operands) - reader.at} words too many")
    if item.opcode == _EXT_INST and item.operands[1] in _LAST_IS_LITERAL and _is_opencl(item, definitions):
        del reader.ids[-1]
    return reader.ids


# Instructions of OpenCL.std whose last operand is a literal.
_EXT_INST = OP["OpExtInst"]
_LAST_IS_LITERAL = frozenset(
    numbers("OpenCL.std.*", "vloadn vload_halfn vstore_half_r vstore_halfn_r vloada_halfn vstorea_halfn_r")
)
_OPENCL = tuple(encode_string("OpenCL.std"))


def _is_opencl(item: Instruction, definitions: Mapping[int, Instruction]) -> bool:
    """Return whether the instruction set of an OpExtInst is OpenCL.std."""
    imported = definitions.get(item.operands[0])
    return imported is not None and imported.operands == _OPENCL


@dataclass(slots=True)
class _Reader:
    """A reader that walks through the operand words of an instruction and collects the indices of the ids in `ids`."""

    item: Instruction
    definitions: Mapping[int, Instruction]
    at: int = 0
    ids: list[int] = field(default_factory=list)

    def read(self, codes: Iterable[str]) -> None:
        """Read operands of these codes; a code with * is repeated to the end, a code with ? is optional."""
        end = len(self.item.operands)
        for code in codes:
            if code.endswith("*"):
                while self.at < end:
                    self.read_one(code[:-1])
            elif not code.endswith("?"):
                self.read_one(code)
            elif self.at < end:
                self.read_one(code[:-1])

    def read_one(self, code: str) -> None:
        """Read the words of one operand; each letter of the code is one part of the operand."""
        if code in ENUMERATIONS:
            self.enumeration(ENUMERATIONS[code])
            return
        for letter in code:
            if letter == "I":
                self.ids.append(self.at)
                self.step(1)
            elif letter == "S":
                self.step(decode_string(self.item.operands[self.at :])[1])
            elif letter == "N":
                self.step(len(self.item.operands) - self.at)
            elif letter == "O":
                self.spec_constant_op()
            else:
                self.step(self.switch_words() if code == "LI" else 1)

    def step(self, count: int) -> int:
        """Advance by `count` words and return the first of them.

        Raise MalformedModule if the instruction is too short.
        """
        if self.at + max(count, 1) > len(self.item.operands):
            raise MalformedModule(f"{self.item.name} has too few operand words")
        self.at += count
        return self.item.operands[self.at - count]

    def enumeration(self, kind: Enumeration) -> None:
        """Read an enumerant and the operands that its value or its bits require."""
        value = self.step(1)
        if kind.is_mask:
            for bit, codes in kind.parameters.items():  # in ascending order of the bits, as encoded
                if value & bit:
                    self.read_one(codes)
        else:
            self.read_one(kind.parameters.get(value, ""))

    def spec_constant_op(self) -> None:
        """Read the opcode and the operands of an OpSpecConstantOp."""
        opcode = OPCODES.get(self.step(1))
        if opcode is None:
            raise MalformedModule("OpSpecConstantOp of an unknown opcode")
        self.read(opcode.operands)

    def switch_words(self) -> int:
        """Return the number of words of an OpSwitch's literal: 2 if the selector has more than 32 bits, otherwise 1."""
        selector = self.definitions.get(self.item.operands[0])
        kind = self.definitions.get(selector.result_type) if selector and selector.result_type is not None else None
        return 2 if kind is not None and kind.opcode == OP["OpTypeInt"] and kind.operands[0] > 32 else 1
