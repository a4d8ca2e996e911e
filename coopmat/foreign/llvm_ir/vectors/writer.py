"""The emission of instructions in place of vectors that SPIR-V lacks: their memory, and loads and stores of parts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....ir import LowerOptions
from ....matrices.routes import LOWERED_ROUTES, Target
from ..calls import LibraryCalls
from ..text import Argument, Call, Function, Instruction, Malformed, Module, Names
from .types import Vector, wide_types


class Lowering:
    """The state of a module's lowering.

    exact: whether there are operations that must not be contracted.
    calls: the library functions that are called.
    heads: name -> declaration of an intrinsic that is called.
    own: the functions whose parameters or result are vectors that SPIR-V lacks.
    """

    def __init__(self, module: Module, options: LowerOptions) -> None:
        self.options, self.exact = options, False
        self.calls = LibraryCalls(Target(LOWERED_ROUTES["one"], 1))
        self.heads: dict[str, Call] = {}
        self.own = {f.name for f in module.functions if has_wide(f.head)}

    def declare(self, name: str, result: str, arguments: Sequence[Argument]) -> None:
        types = [Argument(argument.type) for argument in arguments]
        self.heads[name] = Call("declare", result, f"@{name}", types)


def has_wide(head: Call) -> bool:
    return any(wide_types(text) for text in (head.type, *(argument.type for argument in head.arguments)))


class Writer:
    """A writer of instructions: `out` is the block being written, `source` the line that is being lowered."""

    def __init__(self, module: Lowering, function: Function) -> None:
        self.module, self.function = module, function
        self.fresh = Names(function).fresh
        self.allocas: list[Instruction] = []
        self.out: list[Instruction] = []
        self.source = ""

    def fail(self, message: str, code: str = "ir-not-supported") -> Malformed:
        return Malformed(code, message, self.source)

    def emit(self, text: str, result: str | None = None) -> None:
        self.out.append(Instruction(result, text, self.source))

    def define(self, text: str, name: str = "element") -> str:
        """Emit the definition of a value under a new name, and return the name."""
        result = self.fresh(name)
        self.emit(text, result)
        return result

    # --- memory

    def allocate(self, vector: Vector) -> Argument:
        result = self.fresh("memory")
        self.allocas.append(Instruction(result, f"alloca {vector.room}, align 8", self.source))
        return Argument("ptr", result)

    def address(self, vector: Vector, base: Argument, index: str) -> Argument:
        """Return the address of an element in memory; `index` includes its type."""
        pointer = Argument(base.type, base.value)
        if index == "i64 0":
            return pointer
        text = f"getelementptr inbounds {vector.stored}, {pointer}, {index}"
        return Argument(base.type, self.define(text, "address"))

    def load(self, vector: Vector, base: Argument) -> list[str]:
        return [self.load_one(part, self.address(vector, base, f"i64 {at}")) for at, part in vector.parts]

    def load_one(self, part: Vector, address: Argument) -> str:
        kind = Vector(part.count, part.stored)
        value = self.define(f"load {kind}, {address}, align {part.size}")
        return self.define(f"trunc {kind} {value} to {part}") if kind != part else value

    def store(self, vector: Vector, base: Argument, parts: list[str]) -> None:
        for (at, part), value in zip(vector.parts, parts, strict=True):
            if value != "poison":
                self.store_one(part, self.address(vector, base, f"i64 {at}"), value)

    def store_one(self, part: Vector, address: Argument, value: str) -> None:
        kind = Vector(part.count, part.stored)
        stored = self.define(f"zext {part} {value} to {kind}") if kind != part else value
        self.emit(f"store {kind} {stored}, {address}, align {part.size}")

    def spilled(self, vector: Vector, parts: list[str]) -> Argument:
        place = self.allocate(vector)
        self.store(vector, place, parts)
        return place

    def copy(self, target: Argument, source: Argument, vector: Vector, volatile: str) -> None:
        """Emit a copy of a vector's memory, whatever its alignment."""
        spaces = [(re.search(r"\d+", a.type) or ["0"])[0] for a in (target, source)]
        name = f"llvm.memcpy.p{spaces[0]}.p{spaces[1]}.i64"
        arguments = [
            Argument(target.type, target.value),
            Argument(source.type, source.value),
            Argument("i64", str(vector.count * vector.size)),
            Argument("i1", "true" if volatile else "false"),
        ]
        self.module.declare(name, "void", arguments)
        self.emit(str(Call("call", "void", f"@{name}", arguments)))
