"""The expansion of bfloat operations in IR to float: SPIR-V has only conversions of bfloat16, no arithmetic.

For + - * / and square root, rounding a float result to bfloat16 equals rounding the exact result once: float has more
than twice as many bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .operations import read_name
from .text import (
    Argument,
    Call,
    Function,
    Instruction,
    Malformed,
    Module,
    Names,
    operands,
    parse_argument,
    parse_call,
    tokens,
)

_WORD = re.compile(r"\bbfloat\b")
_TYPE = re.compile(r"bfloat|<(\d+) x bfloat>")
_INTRINSIC = re.compile(r"llvm\.([a-z0-9.]+?)((?:\.v?\d*i\d+)?)\.(v\d+)?bf16")

# The intrinsics on one floating-point type whose result in float is exact, or is allowed to be inexact.
_IN_FLOAT = frozenset(
    (
        *("fabs", "copysign", "canonicalize", "sqrt", "pow", "fptosi.sat", "fptoui.sat"),
        *("minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum"),
        *("floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"),
        *("exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan"),
    )
)


def expand(module: Module) -> None:
    """Expand operations on bfloat in place; only moves and conversions of bfloat remain. Raises Malformed."""
    intrinsics: dict[str, Call] = {}
    for function in module.functions:
        if any("bfloat" in item.text for item in function.instructions()):
            _Expansion(function, intrinsics).run()
    callees = {m for f in module.functions for item in f.instructions() if (m := _callee(item.text))}
    declarations = [h for h in module.declarations if h.name in callees or not _INTRINSIC.fullmatch(h.name)]
    declared_names = {head.name for head in declarations}
    module.declarations = declarations + [head for name, head in intrinsics.items() if name not in declared_names]


def _callee(text: str) -> str:
    call = parse_call(text) if "call" in text else None
    return call.name if call is not None else ""


def _float(kind: str) -> str:
    """Return the type with float in place of bfloat."""
    return kind.replace("bfloat", "float")


class _Expansion:
    """The expansion of one function; `intrinsics` collects name -> declaration of the intrinsics that it calls."""

    def __init__(self, function: Function, intrinsics: dict[str, Call]) -> None:
        self.function, self.intrinsics = function, intrinsics
        self.names = Names(function)
        self.out: list[Instruction] = []
        self.source = ""

    def run(self) -> None:
        for block in self.function.blocks:
            self.out = []
            for item in block.instructions:
                self.source = item.source
                if "bfloat" not in item.text or not self.instruction(item):
                    self.out.append(item)
            block.instructions = self.out

    def instruction(self, item: Instruction) -> bool:
        if item.opcode in _MAKERS:
            return _MAKERS[item.opcode](self, item)
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None:
            return self.intrinsic(item, call)
        if item.opcode in ("atomicrmw", "cmpxchg") and _WORD.search(item.text):
            raise Malformed("ir-not-supported", f"{item.opcode} of a bfloat is not supported", item.source)
        return False

    # --- building blocks

    def emit(self, text: str, result: str | None = None) -> str:
        result = result or self.names.fresh("bf16")
        self.out.append(Instruction(result, text, self.source))
        return result

    def wide(self, kind: str, value: str) -> str:
        """Emit the extension of a bfloat, or a vector of bfloat, to float; return its name."""
        return self.emit(f"fpext {kind} {value} to {_float(kind)}")

    def narrow(self, kind: str, value: str, result: str | None) -> bool:
        """Emit the truncation of a float result to the type `kind`; return True, since an instruction was expanded."""
        self.emit(f"fptrunc {_float(kind)} {value} to {kind}", result)
        return True

    # --- expansions: each returns whether it has replaced the instruction

    def arithmetic(self, item: Instruction) -> bool:
        first, *others = operands(item.text)
        argument = parse_argument(tokens(first))
        kind = argument.type
        if not _TYPE.fullmatch(kind):
            return False
        values = ", ".join(self.wide(kind, value) for value in (argument.value, *others))
        return self.narrow(kind, self.emit(f"{item.opcode} {_float(kind)} {values}"), item.result)

    def compare(self, item: Instruction) -> bool:
        first, second = operands(item.text)
        relation, _, first = first.partition(" ")
        argument = parse_argument(tokens(first))
        if not _TYPE.fullmatch(argument.type):
            return False
        a, b = (self.wide(argument.type, value) for value in (argument.value, second))
        self.emit(f"fcmp {relation} {_float(argument.type)} {a}, {b}", item.result)
        return True

    def intrinsic(self, item: Instruction, call: Call) -> bool:
        match = _INTRINSIC.fullmatch(call.name)
        if match is None:
            return False
        word, other, vector = match.groups()
        if word == "fmuladd":
            return self.multiply_add(item, call)
        if word not in _IN_FLOAT:
            return False
        arguments = [
            Argument(_float(a.type), self.wide(a.type, a.value)) if _TYPE.fullmatch(a.type) else a
            for a in call.arguments
        ]
        replacement = Call("call", _float(call.type), f"@llvm.{word}{other}.{vector or ''}f32", arguments)
        types = [Argument(argument.type) for argument in arguments]
        self.intrinsics[replacement.name] = Call("declare", replacement.type, replacement.callee, types)
        if replacement.type == call.type:
            self.emit(str(replacement), item.result)
            return True
        return self.narrow(call.type, self.emit(str(replacement)), item.result)

    def multiply_add(self, item: Instruction, call: Call) -> bool:
        """Expand llvm.fmuladd as a multiplication and an addition, each rounded, as its definition permits."""
        kind = call.type
        a, b, c = (self.wide(kind, argument.value) for argument in call.arguments)
        self.narrow(kind, self.emit(f"fmul {_float(kind)} {a}, {b}"), None)
        product = self.wide(kind, self.out[-1].result or "")
        return self.narrow(kind, self.emit(f"fadd {_float(kind)} {product}, {c}"), item.result)


_MAKERS: dict[str, Callable[[_Expansion, Instruction], bool]] = {
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem", "fneg"), _Expansion.arithmetic),
    "fcmp": _Expansion.compare,
}


def check(module: Module) -> None:
    """Raise Malformed if the module declares a function that takes or returns a bfloat: the device may lack the type.

    Matrix operations and the intrinsics that are computed in float are excepted.
    """
    for head in module.declarations:
        types = (head.type, *(argument.type for argument in head.arguments))
        match = _INTRINSIC.fullmatch(head.name)
        if (
            any(map(_TYPE.fullmatch, types))
            and read_name(head.name) is None
            and not (match and match[1] in {*_IN_FLOAT, "fmuladd"})
        ):
            message = (
                f"a call of '{head.name}', which takes or returns a bfloat, is not supported where matrices are lowered"
            )
            raise Malformed("ir-not-supported", message, str(head))
