"""Instructions that llvmlite's ir layer lacks or spells incompletely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from llvmlite.ir.instructions import AllocaInstr, FCMPInstr, ICMPInstr, Instruction
from llvmlite.ir.values import ArgumentAttributes

from .type_map import PRIVATE_POINTER, VOID_TYPE


class Load(Instruction):  # type: ignore[misc]
    """A load with alignment and volatility."""

    def __init__(self, block: ir.Block, pointer: ir.Value, typ: ir.Type, align: int, volatile: bool) -> None:
        super().__init__(block, typ, "load volatile" if volatile else "load", (pointer,))
        self.align = align

    def descr(self, buf: list[str]) -> None:
        pointer = self.operands[0]
        buf.append(f"{self.opname} {self.type}, {pointer.type} {pointer.get_reference()}, align {self.align}")


class Store(Instruction):  # type: ignore[misc]
    """A store with alignment and volatility."""

    def __init__(self, block: ir.Block, value: ir.Value, pointer: ir.Value, align: int, volatile: bool) -> None:
        super().__init__(block, VOID_TYPE, "store volatile" if volatile else "store", (value, pointer))
        self.align = align

    def descr(self, buf: list[str]) -> None:
        value, pointer = self.operands
        target = f"{pointer.type} {pointer.get_reference()}, align {self.align}"
        buf.append(f"{self.opname} {value.type} {value.get_reference()}, {target}")


class ExactDivision(Instruction):  # type: ignore[misc]
    """`sdiv exact`."""

    def __init__(self, block: ir.Block, left: ir.Value, right: ir.Value) -> None:
        super().__init__(block, left.type, "sdiv", (left, right), flags=("exact",))


_COMPARE = {"icmp": ICMPInstr, "fcmp": FCMPInstr}


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """llvmlite's builder, with volatile accesses and variables that live in the entry block."""

    def load(
        self, ptr: ir.Value, name: str = "", align: int | None = None, typ: ir.Type = None, volatile: bool = False
    ) -> ir.Value:
        return self._add(Load(self._block, ptr, typ, align or 1, volatile))

    def store(self, value: ir.Value, ptr: ir.Value, align: int | None = None, volatile: bool = False) -> ir.Value:
        return self._add(Store(self._block, value, ptr, align or 1, volatile))

    def binary(self, opname: str, left: ir.Value, right: ir.Value, flags: Sequence[str] = ()) -> ir.Value:
        return self._add(Instruction(self._block, left.type, opname, (left, right), flags=list(flags)))

    def compare(self, opname: str, predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
        """`opname` is icmp or fcmp."""
        return self._add(_COMPARE[opname](self._block, predicate, left, right))

    def exact_division(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self._add(ExactDivision(self._block, left, right))

    def element(self, pointer: ir.Value, typ: ir.Type, indices: Sequence[ir.Value]) -> ir.Value:
        """The address of an element of a `typ` (or of the array of them) at `pointer`."""
        return self.gep(pointer, list(indices), inbounds=True, source_etype=typ)

    def _add(self, instruction: Any) -> ir.Value:
        self._insert(instruction)
        return instruction


class PointeeAttributes(ArgumentAttributes):  # type: ignore[misc]
    """What a pointer parameter points to: `kind` is byval (the callee's own copy), sret (its result) or byref.

    The SPIR-V backend gives the parameter that type; otherwise it guesses from the uses, and gets records wrong.
    """

    def __init__(self, kind: str, pointee: ir.Type, align: int) -> None:
        super().__init__()
        self._text = [f"{kind}({pointee})", f"align {align}"]

    def _to_list(self, typ: ir.Type) -> list[str]:
        return self._text


def variable(entry: ir.Block, typ: ir.Type, align: int, name: str) -> AllocaInstr:
    """An alloca for `entry`, not inserted yet, whose type is a plain pointer."""
    result = AllocaInstr(entry, typ, None, name)
    result.align = align
    result.type = PRIVATE_POINTER
    return result
