"""Values of bfloat in IR. Devices have no arithmetic on them: it is done in float, or on the bits; and where matrices
are lowered the type itself is not there, so that its values are their bits.

Of one operation in float, rounded to bfloat16, the result is the one that is rounded once: float has more than twice
the bits (`+ - * /`, square root). How numbers are rounded: see `coopmat.ir.lower.bfloat16`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

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
    parse_module,
    tokens,
)

_WORD = re.compile(r"\bbfloat\b")
_TYPE = re.compile(r"bfloat|<(\d+) x bfloat>")
_BITS = re.compile(r"\"[^\"]*\"|(?<![\w.$@%])(?:0xR([0-9A-Fa-f]{4})|(bfloat))(?![\w.$])")
_FLAGS = r"(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|nneg|tail|musttail|notail)"
_CAST = re.compile(rf"\w+(?: {_FLAGS})* (.*) to (.*)")
_CHOICE = re.compile(rf"((?:{_FLAGS} )*(?:phi|select|call)\b)((?: {_FLAGS})+)(?= )")
_CLASS = re.compile(r" ?\bnofpclass\([^)]*\)")
_INTRINSIC = re.compile(r"llvm\.([a-z0-9.]+?)((?:\.v?\d*i\d+)?)\.(v\d+)?bf16")

# Of intrinsics of one floating-point type: what they give in float is exact, or may be inexact anyway.
_IN_FLOAT = frozenset(
    (
        *("fabs", "copysign", "canonicalize", "sqrt", "pow", "fptosi.sat", "fptoui.sat"),
        *("minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum"),
        *("floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"),
        *("exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan"),
    )
)
_ARITHMETIC = ("fadd", "fsub", "fmul", "fdiv", "frem")

# Functions on bits, by name. H: the bits of bfloat16s, U, F, D: i32, float, double, S: another type, W: i64, or vectors
# of them; T: truth values; [n]: a number of the type before it.
_FUNCTIONS = {
    "to_float": """
define internal F @NAME(H %x) {
  %wide = zext H %x to U
  %bits = shl U %wide, [16]
  %y = bitcast U %bits to F
  ret F %y
}""",
    "from_float": """
define internal H @NAME(F %x) {
  %bits = bitcast F %x to U
  %high = lshr U %bits, [16]
  %odd = and U %high, [1]
  %half = add U %odd, [32767]
  %sum = add U %bits, %half
  %quiet = or U %bits, [4194304]
  %less = and U %bits, [2147483647]
  %nan = icmp ugt U %less, [2139095040]
  %chosen = select T %nan, U %quiet, U %sum
  %upper = lshr U %chosen, [16]
  %y = trunc U %upper to H
  ret H %y
}""",
    # Towards zero, with an odd last bit where it is not exact: see `_odd_float` there.
    "to_odd": """
define internal F @NAME(D %x) {
  %short = fptrunc D %x to F
  %bits = bitcast F %short to U
  %exact = fpext F %short to D
  %back = bitcast D %exact to W
  %there = bitcast D %x to W
  %w = and W %back, [9223372036854775807]
  %v = and W %there, [9223372036854775807]
  %greater = icmp ugt W %w, %v
  %above = zext T %greater to U
  %less = sub U %bits, %above
  %odd = or U %less, [1]
  %same = icmp eq W %w, %v
  %nan = icmp ugt W %v, [9218868437227405312]
  %kept = or T %same, %nan
  %chosen = select T %kept, U %bits, U %odd
  %y = bitcast U %chosen to F
  ret F %y
}""",
    # What the significand has no room for becomes one sticky bit; small numbers lose nothing anyway.
    "sticky": """
define internal S @NAME(S %x) {
  %low = and S %x, [LOW]
  %some = icmp ne S %low, [0]
  %one = zext T %some to S
  %bit = shl S %one, [SHIFT]
  %high = and S %x, [HIGH]
  %sticky = or S %high, %bit
  %top = MOVE S %x, [ROOM]
  %next = add S %top, [1]
  %small = icmp ult S %next, [2]
  %y = select T %small, S %x, S %sticky
  ret S %y
}""",
}


@dataclass(slots=True)
class _Functions:
    """Those that are wanted, by name."""

    texts: dict[str, str] = field(default_factory=dict)
    intrinsics: dict[str, Call] = field(default_factory=dict)

    def name(self, which: str, count: int, macros: dict[str, str]) -> str:
        name = ".".join(["coopmat.bfloat16", which, *(macros[word] for word in ("MOVE", "ROOM") if macros), str(count)])
        if name not in self.texts:
            words = {letter: _vector(scalar, count) for letter, scalar in _LETTERS.items()} | macros
            text = _FUNCTIONS[which].replace("NAME", name)
            text = re.sub(r"(?<![%\w@])([A-Z]+)\b", lambda m: words.get(m[1], m[1]), text)
            self.texts[name] = re.sub(r"(<\d+ x (\w+)>|\w+)( %\w+,) \[(-?\d+)\]", _number, text)
        return name


_LETTERS = {"H": "i16", "U": "i32", "F": "float", "D": "double", "W": "i64", "T": "i1"}


def _number(match: re.Match[str]) -> str:
    kind, scalar, between, value = match.groups()
    return f"{kind}{between} {f'splat ({scalar} {value})' if scalar else value}"


def _vector(scalar: str, count: int) -> str:
    return scalar if count == 1 else f"<{count} x {scalar}>"


def _count(kind: str) -> int:
    """Of a scalar 1."""
    match = re.match(r"<(\d+) x ", kind)
    return int(match[1]) if match else 1


def _scalar(kind: str) -> str:
    return kind.partition(" x ")[2][:-1] if kind.startswith("<") else kind


# --- operations ----------------------------------------------------------------------------------


def expand(module: Module) -> None:
    """Operations on bfloat as others, in place: what is left moves values, and takes their bits. Raises Malformed."""
    functions = _Functions()
    for function in module.functions:
        if any("bfloat" in item.text for item in function.instructions()):
            _Expansion(function, functions).run()
    text = "\n".join(functions.texts.values())
    if text:
        module.functions += parse_module(text).functions
    called = {m for f in module.functions for item in f.instructions() if (m := _callee(item.text))}
    kept = [h for h in module.declarations if h.name in called or not _INTRINSIC.fullmatch(h.name)]
    known = {head.name for head in kept}
    module.declarations = kept + [head for name, head in functions.intrinsics.items() if name not in known]


def _callee(text: str) -> str:
    call = parse_call(text) if "call" in text else None
    return call.name if call is not None else ""


class _Expansion:
    def __init__(self, function: Function, functions: _Functions) -> None:
        self.function, self.functions = function, functions
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
        make = _MAKERS.get(item.opcode)
        if make is not None:
            return make(self, item)
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None:
            return self.intrinsic(item, call)
        if item.opcode in ("atomicrmw", "cmpxchg") and _WORD.search(item.text):
            raise Malformed("ir-not-supported", f"{item.opcode} of a bfloat is not supported", item.source)
        return False

    # --- pieces

    def emit(self, text: str, result: str | None = None) -> str:
        result = result or self.names.fresh("bf16")
        self.out.append(Instruction(result, text, self.source))
        return result

    def call(self, which: str, kinds: tuple[str, str], value: str, **macros: str) -> str:
        to, given = kinds
        return self.emit(f"call {to} @{self.functions.name(which, _count(to), macros)}({given} {value})")

    def wide(self, kind: str, value: str) -> str:
        """A bfloat, or a vector of them, as float."""
        count = _count(kind)
        bits = self.emit(f"bitcast {kind} {value} to {_vector('i16', count)}")
        return self.call("to_float", (_vector("float", count), _vector("i16", count)), bits)

    def narrow(self, kind: str, value: str, result: str | None) -> bool:
        """What was computed in float as the result, of type `kind`."""
        count = _count(kind)
        bits = self.call("from_float", (_vector("i16", count), _vector("float", count)), value)
        self.emit(f"bitcast {_vector('i16', count)} {bits} to {kind}", result)
        return True

    # --- makers

    def arithmetic(self, item: Instruction) -> bool:
        first, second = operands(item.text)
        kind, left = _typed(first)
        if not _TYPE.fullmatch(kind):
            return False
        a, b = self.wide(kind, left), self.wide(kind, second)
        return self.narrow(kind, self.emit(f"{item.opcode} {_vector('float', _count(kind))} {a}, {b}"), item.result)

    def negate(self, item: Instruction) -> bool:
        kind, value = _typed(operands(item.text)[0])
        if not _TYPE.fullmatch(kind):
            return False
        count = _count(kind)
        bits = _vector("i16", count)
        sign = "-32768" if count == 1 else "splat (i16 -32768)"
        flipped = self.emit(f"xor {bits} {self.emit(f'bitcast {kind} {value} to {bits}')}, {sign}")
        self.emit(f"bitcast {bits} {flipped} to {kind}", item.result)
        return True

    def compare(self, item: Instruction) -> bool:
        first, second = operands(item.text)
        relation, _, first = first.partition(" ")
        kind, left = _typed(first)
        if not _TYPE.fullmatch(kind):
            return False
        a, b = self.wide(kind, left), self.wide(kind, second)
        self.emit(f"fcmp {relation} {_vector('float', _count(kind))} {a}, {b}", item.result)
        return True

    def cast(self, item: Instruction) -> bool:
        match = _CAST.fullmatch(item.text)
        if match is None:
            return False
        (kind, value), to = _typed(match[1]), match[2].partition(",")[0].strip()
        if _TYPE.fullmatch(kind):
            floats = _vector("float", _count(kind))
            number = self.wide(kind, value)
            if to == floats:
                # The name is the result's.
                self.out[-1].result = item.result
            else:
                self.emit(f"{item.opcode} {floats} {number} to {to}", item.result)
            return True
        return _TYPE.fullmatch(to) is not None and self.narrow(to, self.to_float(item.opcode, kind, value), item.result)

    def to_float(self, opcode: str, kind: str, value: str) -> str:
        """A number that rounds to a bfloat16 as the given one does."""
        count = _count(kind)
        floats, doubles, scalar = _vector("float", count), _vector("double", count), _scalar(kind)
        if scalar == "float":
            return value
        if scalar == "double":
            return self.call("to_odd", (floats, doubles), value)
        if scalar == "half":
            return self.emit(f"fpext {kind} {value} to {floats}")
        bits = int(scalar[1:]) if re.fullmatch(r"i\d+", scalar) else 128
        if bits <= 16:
            return self.emit(f"{opcode} {kind} {value} to {floats}")
        if bits > 64:
            raise Malformed("ir-not-supported", f"{scalar} as a bfloat is not supported", self.source)
        width, lost, room = (32, 9, 23) if bits <= 32 else (64, 12, 52)
        whole = _vector(f"i{width}", count)
        signed = opcode == "sitofp"
        if bits != width:
            value = self.emit(f"{'sext' if signed else 'zext'} {kind} {value} to {whole}")
        macros = {"MOVE": "ashr" if signed else "lshr", "S": whole, "ROOM": str(room), "SHIFT": str(lost - 1)}
        macros |= {"LOW": str((1 << lost) - 1), "HIGH": str(-1 << lost)}
        number = self.call("sticky", (whole, whole), value, **macros)
        if width == 32:
            return self.emit(f"{opcode} {whole} {number} to {floats}")
        return self.call("to_odd", (floats, doubles), self.emit(f"{opcode} {whole} {number} to {doubles}"))

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
            Argument(_vector("float", _count(a.type)), self.wide(a.type, a.value)) if _TYPE.fullmatch(a.type) else a
            for a in call.arguments
        ]
        suffix = f"{other}.{vector or ''}f32"
        type_ = _vector("float", _count(call.type)) if _TYPE.fullmatch(call.type) else call.type
        made = Call("call", type_, f"@llvm.{word}{suffix}", arguments)
        types = [Argument(argument.type) for argument in arguments]
        self.functions.intrinsics[made.name] = Call("declare", type_, made.callee, types)
        if type_ == call.type:
            self.emit(str(made), item.result)
            return True
        return self.narrow(call.type, self.emit(str(made)), item.result)

    def multiply_add(self, item: Instruction, call: Call) -> bool:
        """As a multiplication and an addition, which it may be."""
        kind = call.type
        floats = _vector("float", _count(kind))
        a, b, c = (self.wide(kind, argument.value) for argument in call.arguments)
        self.narrow(kind, self.emit(f"fmul {floats} {a}, {b}"), None)
        product = self.wide(kind, self.out[-1].result or "")
        return self.narrow(kind, self.emit(f"fadd {floats} {product}, {c}"), item.result)


def _typed(text: str) -> tuple[str, str]:
    argument = parse_argument(tokens(text))
    return argument.type, argument.value


_MAKERS: dict[str, Callable[[_Expansion, Instruction], bool]] = {
    **dict.fromkeys(_ARITHMETIC, _Expansion.arithmetic),
    **dict.fromkeys(("fpext", "fptrunc", "sitofp", "uitofp", "fptosi", "fptoui"), _Expansion.cast),
    "fneg": _Expansion.negate,
    "fcmp": _Expansion.compare,
}


# --- the type ------------------------------------------------------------------------------------


def check(module: Module) -> None:
    """Raises Malformed for functions that take or give a bfloat and are not here: devices need not know the type."""
    for head in module.declarations:
        types = (head.type, *(argument.type for argument in head.arguments))
        match = _INTRINSIC.fullmatch(head.name)
        if (
            any(map(_TYPE.fullmatch, types))
            and read_name(head.name) is None
            and not (match and match[1] in {*_IN_FLOAT, "fmuladd"})
        ):
            message = (
                f"a call of '{head.name}', which takes or gives a bfloat, is not supported where matrices are lowered"
            )
            raise Malformed("ir-not-supported", message, str(head))
