"""Texts of LLVM IR modules, made such that optimisation and LLVM's SPIR-V backend (22.1) do right by them.

Only the standard library: the emitter (`emitter.py`) loads this file without the package around it.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Callable, Collection, Iterator
from typing import Any

# Anything that looks like an illegal type: quick, because it starts with a fixed letter.
_SUSPECTS = (re.compile(r"i(?!(?:1|8|16|32|64)\b)\d+"), re.compile(r"<(?!(?:2|3|4|8|16) x )\d+ x "))
# The slow and sure look: a type, not a name (%i24, @i24, i24:), a metadata line, a comment or a string.
_TYPE = re.compile(
    r"^(?:!|attributes|target|source_filename).*|;.*|\"[^\"]*\"|(?<![\w.%@$-])(i\d+)\b(?!:)|(<\d+ x )", re.MULTILINE
)


def illegal_types(ir: str) -> list[str]:
    """Integer widths and vector lengths in the text of a module that SPIR-V lacks: ["<64 x ", "i33"]."""
    if not any(suspect.search(ir) for suspect in _SUSPECTS):
        return []
    kinds = {match[1] or match[2] for match in _TYPE.finditer(ir)} - {None}
    return sorted(kind for kind in kinds if any(suspect.fullmatch(kind) for suspect in _SUSPECTS))


# --- what the backend (LLVM 22.1) cannot do ------------------------------------------------------

_NARROWED = re.compile(r"^ *(%\S+) = (?:trunc|sext) ", re.MULTILINE)
_ZERO_EXTENSION = re.compile(r"^( *%\S+ = zext (?:nneg )?)(.+?) (%\S+)( to .+)$", re.MULTILINE)
_TRUTH_TO_FLOAT = re.compile(r"^( *%\S+ = )([us])itofp (?:nneg )?(<\d+ x i1>) (\S+) to (<\d+ x (\w+)>)", re.MULTILINE)
_TRUNCATION_TO_TRUTH = re.compile(r"^( *)(%\S+) = trunc (?:n[us]w )*(<\d+ x (i\d+)>) (\S+) to <\d+ x i1>", re.MULTILINE)


def mended(ir: str) -> str:
    """The text of a module in words that the backend gets right; the same object where there is nothing to do.

    Of a zero extension and the truncation or sign extension before it the backend makes one operation, with wrong
    types, or dies; it drops the `freeze` that goes between. Vectors of truth values it neither makes from integers
    nor turns into floats. Of an alignment it keeps eight bits, which are 0 for 256. For local memory see
    `_with_whole_locals`, for reversed bits `_with_reversals`.
    """
    narrowed = set(_NARROWED.findall(ir)) if "zext" in ir else set()
    names = (f'%"mended {number}"' for number in itertools.count())

    def freeze(match: re.Match[str]) -> str:
        head, kind, operand, tail = match.groups()
        if operand not in narrowed:
            return match[0]
        name = next(names)
        return f"  {name} = freeze {kind} {operand}\n{head}{kind} {name}{tail}"

    def choose(match: re.Match[str]) -> str:
        head, sign, kind, truth, result, element = match.groups()
        one = f"splat ({element} {'-' if sign == 's' else ''}1.0)"
        return f"{head}select {kind} {truth}, {result} {one}, {result} zeroinitializer"

    def test(match: re.Match[str]) -> str:
        indent, result, kind, element, value = match.groups()
        bit = next(names)
        masked = f"{indent}{bit} = and {kind} {value}, splat ({element} 1)"
        return f"{masked}\n{indent}{result} = icmp ne {kind} {bit}, zeroinitializer"

    text = _ZERO_EXTENSION.sub(freeze, ir) if narrowed else ir
    if " x i1>" in text:
        text = _TRUNCATION_TO_TRUTH.sub(test, _TRUTH_TO_FLOAT.sub(choose, text))
    if " addrspace(3) global " in text:
        text = _with_whole_locals(text, names)
    if _WIDELY_ALIGNED.search(text):
        text = _WIDELY_ALIGNED.sub(r"\1 128", text)
    if "@llvm.bitreverse." in text:
        text = _with_reversals(text)
    return ir if text == ir else text


_WIDELY_ALIGNED = re.compile(r"(^ .*\b(?:load|store|alloca) .*, align) (?:256|512|\d{4,})\b", re.MULTILINE)
_LOCAL_VARIABLE = re.compile(
    r"^(@\S+) = .*?\baddrspace\(3\) global (.+) (?:undef|poison|zeroinitializer)", re.MULTILINE
)
_FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_CHOICE = re.compile(r"^.* = (?:phi|select|icmp) .*@.*$", re.MULTILINE)
_NESTED = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
# A constant expression over a variable is left as it is: the backend takes the type from it.
_VARIABLE = re.compile(r"\b(?:getelementptr|addrspacecast|ptrtoint)[\w ]* " + _NESTED + r"|(@(?:\"[^\"]*\"|[\w.$-]+))")
# A function's definition up to its parameters' end, its name, and the attributes.
HEAD = re.compile(
    r"^(define .*?@(\"[^\"]*\"|[\w.$-]+)" + _NESTED + r"(?: (?:local_)?unnamed_addr)?)(.*)$", re.MULTILINE
)
# The entry block's label and variables, which must stay first.
_ENTRY = re.compile(r"\A(?s:.*?)\{\n(?:\S+:.*\n)?(?:(?:[ \t].*\n)*[ \t].* = alloca .*\n)?")


def _with_whole_locals(ir: str, names: Iterator[str]) -> str:
    """The text with an address of its own for every variable in local memory that phis, selects or comparisons name.

    The backend types such a variable by what the chosen pointer is used for, an element in place of the array, and
    with it goes the room; a getelementptr says the type first.
    """
    types = dict(_LOCAL_VARIABLE.findall(ir))

    def rewrite(function: re.Match[str]) -> str:
        names_of: dict[str, str] = {}

        def whole(match: re.Match[str]) -> str:
            variable = match[1]
            if variable not in types:
                return match[0]
            if variable not in names_of:
                names_of[variable] = next(names)
            return names_of[variable]

        body = _CHOICE.sub(lambda line: _VARIABLE.sub(whole, line[0]), function[0])
        if not names_of:
            return body
        addresses = "".join(_address(name, variable, types[variable]) for variable, name in names_of.items())
        head = _ENTRY.match(body)
        assert head is not None
        return head[0] + addresses + body[head.end() :]

    return _FUNCTION.sub(rewrite, ir)


def _address(name: str, variable: str, kind: str) -> str:
    zeros = ", i64 0, i64 0" if kind.startswith("[") else ", i64 0"
    return f"  {name} = getelementptr inbounds {kind}, ptr addrspace(3) {variable}{zeros}\n"


_REVERSAL = re.compile(r"^declare (.*?(i\d+)>?) @llvm\.(bitreverse\.\w+)\(.*$", re.MULTILINE)


def _with_reversals(ir: str) -> str:
    """The text with functions in place of llvm.bitreverse, which optimisation makes of shifts and masks.

    Its instruction needs SPV_KHR_bit_instructions, which few drivers have; without it the backend dies.
    """

    def define(match: re.Match[str]) -> str:
        kind, element, name = match.groups()
        width, value, lines = int(element[1:]), "%0", []
        everything, step = (1 << width) - 1, width // 2
        while step:
            # The lower half of every 2 * step bits; halves change places, then the halves of those.
            low, by = (
                f"splat ({element} {n})" if kind != element else str(n) for n in (everything // ((1 << step) + 1), step)
            )
            lines += [
                f"%up{step} = and {kind} {value}, {low}",
                f"%left{step} = shl {kind} %up{step}, {by}",
                f"%down{step} = lshr {kind} {value}, {by}",
                f"%right{step} = and {kind} %down{step}, {low}",
                f"%both{step} = or {kind} %left{step}, %right{step}",
            ]
            value, step = f"%both{step}", step // 2
        body = "".join(f"  {line}\n" for line in [*lines, f"ret {kind} {value}"])
        return f"define internal {kind} @coopmat.{name}({kind} %0) {{\n{body}}}"

    return _REVERSAL.sub(define, ir).replace("@llvm.bitreverse.", "@coopmat.bitreverse.")


# What the backend gets wrong: a null matrix, an undefined one that comes into a phi, a choice between events.
NOT_FOR_THE_BACKEND = re.compile(
    r"target\(\"spirv\.Cooperative[^)]*\) (?:zeroinitializer|poison)"
    r"|= phi target\(\"spirv\.Cooperative[^)]*\) .*\b(?:undef|poison|zeroinitializer)\b"
    r"|= select i1 [^,]+, target\(\"spirv\.Event\"\)"
)

# --- what is tried where optimisation makes types which SPIR-V lacks -----------------------------


def _as_it_is(ir: str, odd: Collection[str]) -> str:
    return ir


_NARROWING = re.compile(
    r"^( *)(%\S+) = (trunc (?:n[us]w )*(i\d+|<(\d+) x i\d+>)) (\S+) (to (i\d+|<\d+ x (i\d+)>))$", re.MULTILINE
)


def _with_kept_truncations(ir: str, odd: Collection[str]) -> str:
    """The text with calls of nothing between vectors and truncations, which LLVM cannot see through.

    Of the truncated element of a vector it makes an element of a vector of narrower ones: `(char)v.s1`, of an int8,
    is element 4 of a <32 x i8>.
    """
    kinds: set[str] = set()

    def keep(match: re.Match[str]) -> str:
        indent, result, head, kind, count, operand, tail, narrow, _ = match.groups()
        name = f'%"coopmat.kept.{match.start()}"'
        # An element may be taken out before or after: what a scalar is made of, or the vector itself.
        if count is None:
            kinds.add(kind)
            return f"{indent}{name} = {_call(kind, operand)}\n{indent}{result} = {head} {name} {tail}"
        kinds.add(narrow)
        return f"{indent}{name} = {head} {operand} {tail}\n{indent}{result} = {_call(narrow, name)}"

    text = _NARROWING.sub(keep, ir)
    effects = "nounwind willreturn nosync nofree speculatable memory(none)"
    declared = (f'declare {kind} @"coopmat.kept {kind}"({kind}) {effects}\n' for kind in sorted(kinds))
    return f"{text}\n{''.join(declared)}"


def _call(kind: str, operand: str) -> str:
    return f'call {kind} @"coopmat.kept {kind}"({kind} {operand})'


def apart(ir: str, odd: Collection[str]) -> str:
    """Rewrite the text as `_with_kept_truncations` does, and forbid inlining: a probe for what is odd by itself."""
    return HEAD.sub(lambda head: head[1] + not_inlined(head[3]), _with_kept_truncations(ir, odd))


def with_odd_ones_out(ir: str, odd: Collection[str]) -> str:
    """Rewrite the text as `_with_kept_truncations` does, and exempt the functions in `odd` from optimisation."""

    def mark(head: re.Match[str]) -> str:
        return f"{head[1]} optnone{not_inlined(head[3])}" if head[2].strip('"') in odd else head[0]

    return HEAD.sub(mark, _with_kept_truncations(ir, odd))


def not_inlined(attributes: str) -> str:
    """A function's attributes, with a mark where it is not the user's wish, which `released` takes back."""
    if re.search(r"\bnoinline\b", attributes):
        return attributes
    return ' noinline "coopmat.apart"' + attributes.replace(" alwaysinline", "")


_KNOWN = r"(?:(?:noundef|range\([^)]*\)) )*"
_CALL_OF_NOTHING = re.compile(
    rf'^( *%\S+ = )(?:tail )?call {_KNOWN}(i\d+|<\d+ x i\d+>) @"coopmat\.kept .*?"\(\2 {_KNOWN}(.*)\)(?: #\d+)?$',
    re.MULTILINE,
)
_DECLARED_NOTHING = re.compile(r'^declare .*@"coopmat\.kept .*\n', re.MULTILINE)
_DEFINITION = re.compile(
    r'^define (?:internal )?([^@\n]*)@"?([\w.]+)"?\(([^)\n]*)\)[^\n]*\n\{?.*?^\}\n', re.MULTILINE | re.DOTALL
)
_SET_APART = re.compile(r'^attributes #.*(?:"coopmat\.apart"| optnone\b).*$', re.MULTILINE)


def released(ir: str) -> str:
    """The text without what the attempts put in, or the same object. The backend drops a `freeze`."""
    if "coopmat.kept" in ir:
        ir = _DECLARED_NOTHING.sub("", _CALL_OF_NOTHING.sub(r"\1freeze \2 \3", ir))
    if "noinline" in ir:
        ir = _SET_APART.sub(_put_back, ir)
    return ir


def _put_back(match: re.Match[str]) -> str:
    line = match[0].replace(" optnone", "")
    return line.replace(" noinline", "") if '"coopmat.apart"' in line else line


def imported(ir: str, names: Collection[str]) -> str:
    """The text with these functions declared where it defines them. Those with a result read no memory; the others do
    something to it, or to registers, in their order."""

    def declare(match: re.Match[str]) -> str:
        if match[2] not in names:
            return match[0]
        types = re.sub(r" %[^,]+", "", match[3])
        effects = "" if re.search(r"\bvoid\b", match[1]) else " memory(none)"
        return f'declare {match[1]}@"{match[2]}"({types}) nounwind willreturn{effects}\n'

    return _DEFINITION.sub(declare, ir)


# --- long arrays ---------------------------------------------------------------------------------


#: Shorter arrays take the backend no time.
_LONG = 64
# The emitter writes the target before the first line.
_GLOBAL_ARRAY = re.compile(
    r'(?:^|(?<=" ))(@(?:"([^"\\\n]+)"|([-\w.$]+)) = [^\n\[]*\b(?:constant|global) '
    r"((?:\[\d+ x )+)(i8|i16|i32|i64|half|float|double)\]+ )"
    r'((?:\[|c")[^\n]*?)((?:, (?:align|section|comdat|!)[^\n]*)?)$',
    re.MULTILINE,
)
_ELEMENT = re.compile(r'c"((?:[^"\\]|\\[0-9A-Fa-f]{2})*)"|\[\d+ x [^\[\]]+\]+ |\w+ (-?[\w.+-]+)|[\[\], ]+|(.)')
_BYTE = re.compile(r"\\([0-9A-Fa-f]{2})|(.)", re.DOTALL)


def without_arrays(ir: str) -> tuple[str, dict[str, dict[str, list[Any]]]]:
    """The text with zeros for the elements of long arrays of numbers, and these: by the variable's name the array's
    `shape`, and the `words` of a SPIR-V constant for each element."""
    arrays: dict[str, dict[str, list[Any]]] = {}

    def cut(match: re.Match[str]) -> str:
        head, quoted, plain, dimensions, kind, text, tail = match.groups()
        shape = [int(length) for length in re.findall(r"\d+", dimensions)]
        count = 1
        for length in shape:
            count *= length
        words = _elements(text, kind) if count >= _LONG else None
        if words is None or len(words) != count:
            return match[0]
        arrays[quoted or plain] = {"shape": shape, "words": words}
        return f"{head}zeroinitializer{tail}"

    return _GLOBAL_ARRAY.sub(cut, ir), arrays


def _elements(text: str, kind: str) -> list[list[int]] | None:
    """The words of the elements of an initializer, or None for what is not written as a number."""
    words: list[list[int]] = []
    for match in _ELEMENT.finditer(text):
        string, number, other = match.groups()
        if other is not None:
            return None
        if string is not None:
            words += [[int(byte[1], 16) if byte[1] else ord(byte[2])] for byte in _BYTE.finditer(string)]
        elif number is not None:
            element = _words(number, kind)
            if element is None:
                return None
            words.append(element)
    return words


_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "float": 32, "double": 64}


def _words(number: str, kind: str) -> list[int] | None:
    """The words of a constant as LLVM prints it; floats are decimal, or the bits of a double, or those of a half."""
    try:
        if kind.startswith("i"):
            bits = int(number) & (1 << _BITS[kind]) - 1
        elif number.startswith("0xH"):
            bits = int(number[3:], 16)
        else:
            value = struct.unpack(">d", int(number, 16).to_bytes(8, "big"))[0] if number[:2] == "0x" else float(number)
            code, integer = {"half": ("<e", "<H"), "float": ("<f", "<I"), "double": ("<d", "<Q")}[kind]
            if value != value and kind != "double":
                return None
            bits = struct.unpack(integer, struct.pack(code, value))[0]
    except (ValueError, OverflowError):
        return None
    return [bits] if _BITS[kind] <= 32 else [bits & 0xFFFFFFFF, bits >> 32]


def functions_of_illegal_types(ir: str) -> set[str]:
    """The names of the functions in a module's text which have types that SPIR-V lacks."""
    names: set[str] = set()
    if illegal_types(ir):
        for function in _FUNCTION.finditer(ir):
            head = HEAD.match(function[0])
            if head is not None and illegal_types(function[0]):
                names.add(head[2].strip('"'))
    return names


# What to run on which text, and what to try from the start where that leaves types which SPIR-V lacks. Functions that
# are odd only when others are inlined into them are seen late: hence twice. SROA's <64 x i8> for a union has no option.
_O1 = (
    ("O1", _as_it_is),
    ("O1", _with_kept_truncations),
    ("O1", apart),
    ("O1", with_odd_ones_out),
    ("O1", with_odd_ones_out),
)
_INLINE = (("inline", _as_it_is),)
CHAINS: dict[str, tuple[tuple[str, Callable[[str, Collection[str]], str]], ...]] = {
    "none": (("none", _as_it_is),),
    "sroa": (("sroa", _as_it_is), ("none", _as_it_is)),
    "unroll": (("unroll", _as_it_is), ("sroa", _as_it_is), ("none", _as_it_is)),
    "O1": (*_O1, *_INLINE),
    "O2": (("O2", _as_it_is), ("O2", _with_kept_truncations), *_O1[1:], *_INLINE),
    "O3": (("O3", _as_it_is), ("O3", _with_kept_truncations), *_O1[1:], *_INLINE),
}
