"""A parser of LLVM IR as LLVM prints it, as detailed as the dialects need: lines, types, calls, operands.

The text has been read and printed by LLVM: an instruction is one line (a switch is joined into one), and each operand
follows its type. `Malformed` is raised for text that the parser does not understand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


class Malformed(Exception):
    """The error for text that a dialect cannot represent or that is invalid.

    code, message: those of the diagnostic.
    line: the instruction's text, from which a caller determines the place.
    """

    def __init__(self, code: str, message: str, line: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.line = code, message, line


class Line(str):
    """The text of an instruction as it was read: instruction number `ordinal`, from 0, of the function `function`."""

    def __new__(cls, text: str, function: str, ordinal: int) -> Line:
        line = super().__new__(cls, text)
        line.function, line.ordinal = function, ordinal
        return line

    function: str
    ordinal: int

    def __deepcopy__(self, memo: object) -> Line:
        return self

    def __reduce__(self) -> tuple[type[Line], tuple[str, str, int]]:
        return Line, (str(self), self.function, self.ordinal)


TOKEN = re.compile(
    r"[%@$]\"[^\"]*\"|[%@$][-\w.$]+|c?\"[^\"]*\"|![-\w.$]+|#\d+|-?\d+\.\d+(?:e[+-]?\d+)?|[-\w.]+|\.\.\.|\s+|."
)
# The name of a value or a type.
NAME = re.compile(r"%(?:\"[^\"]*\"|[-\w.$]+)")
POINTER = re.compile(r"ptr(?: addrspace\((\d+)\))?")
INTEGER = re.compile(r"i(\d+)")
CAST = re.compile(r"(\w+)(?: (?:nuw|nsw|nneg))* (.*) to (\S.*?)(?:, !.*)?", re.DOTALL)
_TYPE_WORD = re.compile(r"i\d+|half|bfloat|float|double|fp128|void|ptr|label|metadata|token|x86_\w+|target|%.+|[\[<{]")
_VALUE_WORD = re.compile(
    r"[%@\[<{!].*|c\".*|-?\d.*|[fhb]?0x.*|[a-z]*inf|[a-z]*nan"
    r"|true|false|null|none|undef|poison|zeroinitializer|splat|asm"
    r"|getelementptr|inttoptr|ptrtoint|addrspacecast|bitcast|trunc|add|sub|xor|blockaddress|dso_local_equivalent"
)
_OPENING, _CLOSING = "([{<", ")]}>"


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def group_end(words: list[str], at: int) -> int:
    """Return the index of the token behind the bracket that closes the one at `at`. Raise Malformed if none does."""
    depth = 0
    for n in range(at, len(words)):
        if words[n] in _OPENING:
            depth += 1
        elif words[n] in _CLOSING:
            depth -= 1
            if depth == 0:
                return n + 1
    raise Malformed("ir-syntax", "expected a closing bracket", "".join(words))


def skip_blanks(words: list[str], at: int) -> int:
    while at < len(words) and words[at].isspace():
        at += 1
    return at


def type_end(words: list[str], at: int) -> int:
    """Return the index of the token behind the type at index `at`. Raise Malformed for other tokens."""
    word = words[at] if at < len(words) else ""
    if not _TYPE_WORD.fullmatch(word):
        raise Malformed("ir-syntax", f"expected a type, not '{word}'", "".join(words))
    if word in _OPENING:
        return group_end(words, at)
    if word == "target":
        return group_end(words, skip_blanks(words, at + 1))
    after = skip_blanks(words, at + 1)
    if word == "ptr" and after < len(words) and words[after] == "addrspace":
        return group_end(words, after + 1)
    return at + 1


def split(words: list[str]) -> list[list[str]]:
    """Split tokens at commas outside of brackets; strip blanks, and leave out empty parts."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in _OPENING) - (word in _CLOSING)
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [_stripped(part) for part in parts if _stripped(part)]


def _stripped(words: list[str]) -> list[str]:
    return tokens("".join(words).strip())


@dataclass(slots=True)
class Argument:
    """An operand or a parameter; `value` is empty in a declaration."""

    type: str
    value: str = ""
    attributes: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.type, self.attributes, self.value) if part)


def parse_argument(words: list[str]) -> Argument:
    """Parse a type, attributes and a value."""
    if words == ["..."]:
        return Argument("...")
    end = type_end(words, 0)
    at = skip_blanks(words, end)
    start = at
    while at < len(words) and not _VALUE_WORD.fullmatch(words[at]):
        at = skip_blanks(words, at + 1)
        if at < len(words) and words[at] == "(":
            at = group_end(words, at)
        elif words[start:at] and "".join(words[start:at]).split()[-1] == "align":
            at += 1
        at = skip_blanks(words, at)
    return Argument("".join(words[:end]), "".join(words[at:]).strip(), "".join(words[start:at]).strip())


@dataclass(slots=True)
class Call:
    """A call, or the head of a function.

    before: the text before the result type (define, tail, flags, calling convention).
    callee: the name with its sigil, or a pointer value.
    after: the text behind the parentheses.
    """

    before: str
    type: str
    callee: str
    arguments: list[Argument]
    after: str = ""

    def __str__(self) -> str:
        head = f"{self.before} {self.type} " if self.before else f"{self.type} "
        return f"{head}{self.callee}({', '.join(map(str, self.arguments))}){self.after}"

    @property
    def name(self) -> str:
        """The name of the callee without sigil and quotes; empty for an indirect call."""
        return unquoted(self.callee) if self.callee.startswith("@") else ""


def unquoted(name: str) -> str:
    return name[1:].strip('"')


def quoted(sigil: str, name: str) -> str:
    return f"{sigil}{name}" if re.fullmatch(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*", name) else f'{sigil}"{name}"'


class Names:
    """A source of new names for values of a function, different from its present names."""

    def __init__(self, function: Function) -> None:
        self._names = {item.result for item in function.instructions()} | {f"%{b.label}" for b in function.blocks}
        self._names |= {argument.value for argument in function.head.arguments}
        self._numbers: Counter[str] = Counter()

    def fresh(self, base: str) -> str:
        """Return a new name, with a sigil: `base`, or if that is taken, `base` with a number."""
        name = quoted("%", base)
        while name in self._names:
            self._numbers[base] += 1
            name = quoted("%", f"{base}.{self._numbers[base]}")
        self._names.add(name)
        return name


_IS_CALL = re.compile(r"(?:(?:tail|musttail|notail) )?call\b")


def parse_call(text: str) -> Call | None:
    """Return the call of an instruction's text without its result; None for other instructions."""
    return parse_head(text) if _IS_CALL.match(text) else None


def parse_head(text: str) -> Call | None:
    """Parse a call, or the head of a function; return None for other text."""
    words = tokens(text)
    at = 0
    while at < len(words) and not _TYPE_WORD.fullmatch(words[at]):
        at += 1
        if at < len(words) and words[at] == "(":
            at = group_end(words, at)
    if at == len(words):
        return None
    end = type_end(words, at)
    name = skip_blanks(words, end)
    if name < len(words) and words[name] == "(":
        # The callee is variadic: the text contains the function type.
        end = group_end(words, name)
        name = skip_blanks(words, end)
    if name < len(words) and words[name] == "addrspace":
        name = skip_blanks(words, group_end(words, name + 1))
    if name + 1 >= len(words) or words[name][0] not in "%@" or words[name + 1] != "(":
        return None
    close = group_end(words, name + 1)
    arguments = [parse_argument(part) for part in split(words[name + 2 : close - 1])]
    before = "".join(words[:at]).strip()
    return Call(before, "".join(words[at:end]), words[name], arguments, "".join(words[close:]))


@dataclass(slots=True)
class Instruction:
    """An instruction.

    result: the name of the value with its sigil, or None.
    text: the text behind `result =`, or the whole text.
    source: the text as it was read, a `Line` if it comes from the input.
    """

    result: str | None
    text: str
    source: str = ""

    def __str__(self) -> str:
        return f"  {self.result} = {self.text}" if self.result else f"  {self.text}"

    @property
    def opcode(self) -> str:
        return self.text.split(None, 1)[0]


@dataclass(slots=True)
class Block:
    """A basic block; `label` has no sigil and no quotes."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    head: Call
    blocks: list[Block]

    @property
    def name(self) -> str:
        return self.head.name

    @property
    def is_kernel(self) -> bool:
        return "spir_kernel" in self.head.before.split()

    def instructions(self) -> Iterator[Instruction]:
        for block in self.blocks:
            yield from block.instructions

    def __str__(self) -> str:
        lines = [f"{self.head} {{"]
        for block in self.blocks:
            lines.append(f"{quoted('', block.label)}:")
            lines += map(str, block.instructions)
        return "\n".join([*lines, "}"])


@dataclass(slots=True)
class Module:
    """A module.

    types: name of a named type -> its body.
    rest: all other lines at module scope (attributes, metadata), in order.
    """

    types: dict[str, str] = field(default_factory=dict)
    globals: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    declarations: list[Call] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [f"{name} = type {body}" for name, body in self.types.items()]
        parts += self.globals
        parts += map(str, self.functions)
        parts += map(str, self.declarations)
        return "\n".join([*parts, *self.rest, ""])

    def map_text(self, change: Callable[[str], str]) -> None:
        """Apply `change` to each text of the module that may contain types."""
        self.types = {name: change(body) for name, body in self.types.items()}
        self.globals = [change(line) for line in self.globals]
        for head in (*(function.head for function in self.functions), *self.declarations):
            head.type, head.after, head.before = change(head.type), change(head.after), change(head.before)
            for argument in head.arguments:
                argument.type, argument.attributes = change(argument.type), change(argument.attributes)
        for function in self.functions:
            for item in function.instructions():
                item.text = change(item.text)


# --- reading -------------------------------------------------------------------------------------

_CODE = re.compile(r"(?:[^\";]|\"[^\"]*\")*")
_LABEL = re.compile(r"(\"[^\"]*\"|[-\w.$]+):$")
_RESULT = re.compile(r"(%(?:\"[^\"]*\"|[-\w.$]+)) = (.*)", re.DOTALL)
_TYPE_DEFINITION = re.compile(r"(%(?:\"[^\"]*\"|[-\w.$]+)) = type (.*)")


def parse_module(text: str) -> Module:
    """Parse a module as LLVM prints it. Raises Malformed."""
    module = Module()
    lines = iter(text.split("\n"))
    for raw in lines:
        line = without_comment(raw)
        definition = _TYPE_DEFINITION.fullmatch(line)
        if not line or line.startswith(("source_filename", "target ")):
            continue
        if definition:
            module.types[definition[1]] = definition[2]
        elif line.startswith("@"):
            module.globals.append(line)
        elif line.startswith("declare "):
            module.declarations.append(_head(line))
        elif line.startswith("define "):
            module.functions.append(_function(line, lines))
        else:
            module.rest.append(line)
    return module


def without_comment(line: str) -> str:
    """Return a line without its comment, which begins at the first semicolon outside strings and quoted names."""
    match = _CODE.match(line) if ";" in line else None
    return (match[0] if match else line).rstrip()


def _head(line: str) -> Call:
    head = parse_head(line)
    if head is None:
        raise Malformed("ir-syntax", "cannot parse this function's declaration", line)
    return head


def _function(line: str, lines: Iterator[str]) -> Function:
    head = _head(line.removesuffix("{").rstrip())
    blocks: list[Block] = []
    for raw in lines:
        text = without_comment(raw)
        if text == "}":
            break
        label = _LABEL.fullmatch(text)
        if label:
            blocks.append(Block(label[1].strip('"')))
        elif text:
            if not blocks:
                blocks.append(Block(_first_label(head)))
            _append(blocks[-1], text, lines)
    function = Function(head, blocks)
    for ordinal, item in enumerate(function.instructions()):
        item.source = Line(item.source, function.name, ordinal)
    _name_values(function)
    return function


def _append(block: Block, text: str, lines: Iterator[str]) -> None:
    stripped = text.strip()
    if stripped.startswith("switch ") and stripped.endswith("["):
        for raw in lines:
            stripped += " " + without_comment(raw).strip()
            if stripped.endswith("]"):
                break
    if stripped.startswith("#dbg_"):
        return
    match = _RESULT.fullmatch(stripped)
    result, rest = (match[1], match[2]) if match else (None, stripped)
    block.instructions.append(Instruction(result, rest, stripped))


def _first_label(head: Call) -> str:
    """Return the label of an entry block without a label: numbers continue from the unnamed parameters."""
    return str(sum(bool(re.fullmatch(r"%\d+", argument.value)) for argument in head.arguments))


_NUMBER = re.compile(r"%(\d+)\b")
_STRING_OR_NUMBER = re.compile(r"\"[^\"]*\"|%(\d+)\b")


def _name_values(function: Function) -> None:
    """Name unnamed values and blocks: numbers would have to stay consecutive when instructions are added or removed."""
    if not function.blocks:
        return
    used_names = {item.result for item in function.instructions()} | {f"%{block.label}" for block in function.blocks}
    used_names |= {argument.value for argument in function.head.arguments}
    prefix = "v"
    while any(name and name.startswith(f"%{prefix}") and name[len(prefix) + 1 :].isdigit() for name in used_names):
        prefix += "v"

    def rename(match: re.Match[str]) -> str:
        return f"%{prefix}{match[1]}" if match[1] else match[0]

    for argument in function.head.arguments:
        argument.value = _STRING_OR_NUMBER.sub(rename, argument.value)
    for block in function.blocks:
        block.label = f"{prefix}{block.label}" if block.label.isdigit() else block.label
        for item in block.instructions:
            item.text = _STRING_OR_NUMBER.sub(rename, item.text)
            if item.result:
                item.result = _STRING_OR_NUMBER.sub(rename, item.result)


_FLAGS = re.compile(
    r"(?:(?:volatile|atomic|inbounds|nuw|nusw|nsw|exact|disjoint|inrange\([^)]*\)"
    r"|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )+"
)


def operands(text: str) -> list[str]:
    """Return the operands of an instruction, split at commas; opcode, flags, metadata and alignment are left out."""
    parts = ["".join(part) for part in split(tokens(text)[1:])]
    if parts:
        match = _FLAGS.match(parts[0])
        parts[0] = parts[0][match.end() :] if match else parts[0]
    return [part for part in parts if not part.startswith(("!", "align "))]
