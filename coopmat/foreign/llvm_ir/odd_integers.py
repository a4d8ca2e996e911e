"""The legalization of integers of odd widths: i33 in i64, i65 in a pair of i64.

LLVM's optimisations create them: a sum over a 32-bit loop counter becomes a multiplication of i33. An iN with N < 64
becomes the next larger of i8, i16, i32 and i64, with zeros above bit N; i65 to i127 become two i64. Multiples of 8 bits
above 64 occur as bit casts of vectors, and are left to `wide_integers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .block_order import reverse_postorder
from .text import (
    CAST,
    INTEGER,
    Argument,
    Call,
    Function,
    Instruction,
    Malformed,
    Module,
    Names,
    operands,
    parse_argument,
    tokens,
)

_ODD = re.compile(r"(?<![\w.%@$\"-])i(\d+)\b")
_LEGAL = (1, 8, 16, 32, 64)
_WRAPS = ("add", "sub", "mul", "shl", "xor")
_KEEPS_ZEROS = ("and", "or", "lshr", "udiv", "urem")
_SIGNED = ("sdiv", "srem", "ashr")
_MUL_HI = "_Z6mul_himm"


def lower(module: Module) -> None:
    """Legalize a module in place. Raise Malformed for an instruction on such integers that has no lowering."""
    uses_mul_hi = False
    for function in module.functions:
        if any(is_odd(int(n)) for item in function.instructions() for n in _ODD.findall(item.text)):
            uses_mul_hi |= _Lowering(function).run()
    if uses_mul_hi and all(
        head.name != _MUL_HI for head in (*module.declarations, *(f.head for f in module.functions))
    ):
        module.declarations.append(Call("declare spir_func", "i64", f"@{_MUL_HI}", [Argument("i64"), Argument("i64")]))


def is_odd(width: int) -> bool:
    """Return whether this module legalizes values of this width."""
    return (width < 64 and width not in _LEGAL) or (64 < width < 128 and width % 8 != 0)


def _width(kind: str) -> int:
    match = INTEGER.fullmatch(kind)
    return int(match[1]) if match else 0


def _carrier(width: int) -> int:
    """Return the width in bits of the legal integer type that holds a value of `width` bits."""
    return next((legal for legal in _LEGAL if width <= legal), 64)


@dataclass(slots=True)
class _Pair:
    """The lower and upper 64 bits of a wider integer, as names or constants."""

    low: str
    high: str


class _Lowering:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.fresh = Names(function).fresh
        self.pairs: dict[str, _Pair] = {}
        self.out: list[Instruction] = []
        self.item = Instruction(None, "")
        self.uses_mul_hi = False

    def run(self) -> bool:
        """Legalize the function, and return whether it now calls `mul_hi`."""
        for block in reverse_postorder(self.function):
            self.out = []
            for self.item in block.instructions:
                widths = [int(n) for n in _ODD.findall(self.item.text) if is_odd(int(n))]
                if not widths:
                    self.out.append(self.item)
                elif max(widths) > 64:
                    self.wide(max(widths))
                else:
                    self.narrow()
            block.instructions = self.out
        return self.uses_mul_hi

    # --- emission

    def emit(self, text: str, result: str | None = None) -> str:
        name = result or self.fresh("odd")
        self.out.append(Instruction(name, text, self.item.source))
        return name

    def masked(self, width: int, text: str) -> None:
        """Emit `text` and a mask that clears the bits above `width`; the masked value is the instruction's result."""
        value = self.emit(text)
        self.emit(f"and i{_carrier(width)} {value}, {(1 << width) - 1}", self.item.result)

    def refuse(self) -> Malformed:
        odd = next(n for n in _ODD.findall(self.item.text) if is_odd(int(n)))
        message = f"'{self.item.opcode}' of i{odd} is not supported: SPIR-V has integers of 8, 16, 32 and 64 bits"
        return Malformed("ir-not-supported", message, self.item.source)

    def arguments(self) -> tuple[int, list[str]]:
        """Return the width of the operands in bits, and the operands as values of the carrier type."""
        first, *others = operands(self.item.text.split(", !")[0])
        argument = parse_argument(tokens(first.split(None, 1)[1] if self.item.opcode == "icmp" else first))
        width = _width(argument.type)
        if not is_odd(width):
            raise self.refuse()
        return width, [self.value(width, text) for text in (argument.value, *others)]

    @staticmethod
    def value(width: int, text: str) -> str:
        """Return an operand; the bits above `width` of a constant are cleared."""
        return str(int(text) & ((1 << width) - 1)) if re.fullmatch(r"-?\d+", text) else text

    def signed(self, width: int, value: str) -> str:
        """Emit the sign extension of a value in its carrier; return its name."""
        kind, by = f"i{_carrier(width)}", _carrier(width) - width
        return self.emit(f"ashr {kind} {self.emit(f'shl {kind} {value}, {by}')}, {by}")

    # --- integers in one carrier

    def narrow(self) -> None:
        opcode = self.item.opcode
        handlers: dict[str, Callable[[], None]] = {
            **dict.fromkeys((*_WRAPS, *_KEEPS_ZEROS, *_SIGNED), self.arithmetic),
            **dict.fromkeys(("zext", "sext", "trunc", "uitofp", "sitofp", "fptoui", "fptosi"), self.cast),
            **dict.fromkeys(("phi", "select", "freeze", "switch"), self.retype),
            "icmp": self.compare,
        }
        if opcode not in handlers or ("<" in self.item.text and opcode != "select"):
            raise self.refuse()
        handlers[opcode]()

    def arithmetic(self) -> None:
        width, values = self.arguments()
        opcode = self.item.opcode
        if opcode in _SIGNED:
            count = 1 if opcode == "ashr" else 2
            values[:count] = [self.signed(width, value) for value in values[:count]]
        text = f"{opcode} i{_carrier(width)} {', '.join(values)}"
        if opcode in _KEEPS_ZEROS:
            self.emit(text, self.item.result)
        else:
            self.masked(width, text)

    def compare(self) -> None:
        width, values = self.arguments()
        words = self.item.text.split()
        predicate = next(word for word in words[1:] if word != "samesign")
        if predicate.startswith("s"):
            values = [self.signed(width, value) for value in values]
        self.emit(f"icmp {predicate} i{_carrier(width)} {', '.join(values)}", self.item.result)

    def cast(self) -> None:
        match = CAST.fullmatch(self.item.text)
        if match is None:
            raise self.refuse()
        opcode, source, target = match[1], parse_argument(tokens(match[2])), match[3]
        before, after = _width(source.type), _width(target)
        value, kind, wanted = source.value, source.type, target
        if is_odd(before):
            kind, value = f"i{_carrier(before)}", self.value(before, value)
            value = self.signed(before, value) if opcode in ("sext", "sitofp") else value
        if is_odd(after):
            wanted = f"i{_carrier(after)}"
        text = f"{opcode} {kind} {value} to {wanted}"
        if kind == wanted:
            text = f"or {kind} {value}, 0"
        elif opcode in ("zext", "sext", "trunc") and _width(wanted) < _width(kind):
            text = f"trunc {kind} {value} to {wanted}"
        if is_odd(after) and not (opcode == "zext" and after >= before):
            self.masked(after, text)
        else:
            self.emit(text, self.item.result)

    def retype(self) -> None:
        """Change the types and constants of an instruction that only moves values."""
        widths = {int(n) for n in _ODD.findall(self.item.text) if is_odd(int(n))}
        if len(widths) != 1:
            raise self.refuse()
        width = widths.pop()
        kind, carrier = f"i{width}", f"i{_carrier(width)}"
        text = re.sub(rf"(\b{kind}) (-\d+)", lambda m: f"{m[1]} {self.value(width, m[2])}", self.item.text)
        if self.item.opcode == "phi":
            text = re.sub(r"\[ (-\d+),", lambda m: f"[ {self.value(width, m[1])},", text)
        self.out.append(Instruction(self.item.result, re.sub(rf"\b{kind}\b", carrier, text), self.item.source))

    # --- integers in pairs

    def wide(self, width: int) -> None:
        match = CAST.fullmatch(self.item.text)
        result = self.item.result or ""
        if match and match[1] == "zext" and 0 < _width(match[2].split()[0]) <= 64:
            source = parse_argument(tokens(match[2]))
            same = source.type == "i64"
            low = source.value if same else self.emit(f"zext {source} to i64")
            self.pairs[result] = _Pair(low, "0")
        elif match and match[1] == "trunc" and _width(match[3]) in _LEGAL:
            pair = self.pair(width, parse_argument(tokens(match[2])).value)
            same = match[3] == "i64"
            self.emit(f"or i64 {pair.low}, 0" if same else f"trunc i64 {pair.low} to {match[3]}", result)
        elif self.item.opcode == "mul":
            left, right = self.operand_pairs(width)
            self.pairs[result] = self.product(width, left, right)
        elif self.item.opcode == "lshr" and operands(self.item.text)[1].isdigit():
            first, by = operands(self.item.text)[:2]
            self.pairs[result] = self.shifted(self.pair(width, first.split()[-1]), int(by))
        else:
            raise self.refuse()

    def operand_pairs(self, width: int) -> tuple[_Pair, _Pair]:
        first, second = operands(self.item.text)[:2]
        return self.pair(width, first.split()[-1]), self.pair(width, second)

    def pair(self, width: int, text: str) -> _Pair:
        if text in self.pairs:
            return self.pairs[text]
        if not re.fullmatch(r"-?\d+", text):
            raise self.refuse()
        number = int(text) & ((1 << width) - 1)
        return _Pair(str(number & (2**64 - 1)), str(number >> 64))

    def product(self, width: int, left: _Pair, right: _Pair) -> _Pair:
        self.uses_mul_hi = True
        low = self.emit(f"mul i64 {left.low}, {right.low}")
        high = self.emit(f"call spir_func i64 @{_MUL_HI}(i64 {left.low}, i64 {right.low})")
        for a, b in ((left.low, right.high), (left.high, right.low)):
            if "0" not in (a, b):
                high = self.emit(f"add i64 {high}, {self.emit(f'mul i64 {a}, {b}')}")
        return _Pair(low, self.emit(f"and i64 {high}, {(1 << (width - 64)) - 1}"))

    def shifted(self, pair: _Pair, by: int) -> _Pair:
        if by >= 64:
            return _Pair(self.emit(f"lshr i64 {pair.high}, {by - 64}"), "0")
        if by == 0:
            return pair
        upper = self.emit(f"shl i64 {pair.high}, {64 - by}")
        low = self.emit(f"or i64 {self.emit(f'lshr i64 {pair.low}, {by}')}, {upper}")
        return _Pair(low, self.emit(f"lshr i64 {pair.high}, {by}"))
