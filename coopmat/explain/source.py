"""The user's source: its tokens, the matrices in it, and the maps of these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..frontend import typed
from ..frontend.kernel_info import sub_group_size
from ..frontend.matrix_terms import matrix_type
from ..frontend.nodes import walk
from ..frontend.types import ArrayType, CoopMatrixType, PointerType
from ..frontend.words import TERMINALS, TYPE_NAMES
from ..maps import LaneMap, MapError, MultiplyAddMap, lane_map, multiply_add_map
from ..matrices.variants import MatrixType, Operands

# Comments, strings, directives and identifiers; the name of the group is the class of the token in the page.
_TOKEN = re.compile(
    r"(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?)"
    r"|(?P<directive>^[ \t]*\#[ \t]*\w+)"
    r"|(?P<number>\b\d[\w.]*)"
    r"|(?P<word>[A-Za-z_]\w*)",
    re.DOTALL | re.MULTILINE,
)
_KEYWORDS = frozenset({*TERMINALS, *TYPE_NAMES})


@dataclass(frozen=True, slots=True)
class Token:
    """A token: `kind` is "", comment, string, directive, number, word, keyword or builtin."""

    text: str
    kind: str
    line: int
    column: int


def tokens(source: str) -> Iterator[Token]:
    """Yield tokens that together are the source, without line feeds; tokens of several lines are divided."""
    line, start, at = 1, 0, 0
    for match in (*_TOKEN.finditer(source), None):
        end = match.start() if match else len(source)
        kind = (match.lastgroup or "") if match else ""
        word = match[0] if match else ""
        if kind == "word":
            kind = "keyword" if word in _KEYWORDS else "builtin" if word.startswith(("coop_mat_", "CLK_")) else kind
        for text, of in ((source[at:end], ""), (word, kind)):
            for number, part in enumerate(text.split("\n")):
                if number:
                    line, start = line + 1, at
                if part:
                    yield Token(part.rstrip("\r"), of, line, at - start + 1)
                at += len(part) + 1
            at -= 1
        at = match.end() if match else len(source)


@dataclass(frozen=True, slots=True)
class MultiplyAdd:
    """A multiply-add in the source, and the subgroup size that its function requires."""

    line: int
    column: int
    types: tuple[MatrixType, MatrixType, MatrixType]
    operands: int
    sub_group_size: int | None

    def map(self, route: str, size: int | None) -> MultiplyAddMap:
        """Return the map on a route. Raises MapError."""
        return multiply_add_map(*self.types, route, self.sub_group_size or size, Operands(self.operands))


@dataclass(slots=True)
class Matrices:
    """The matrices of a program.

    names: (line, column) of a variable's name -> the variable's matrix type.
    words: name of a type -> the matrix types of the variables that are declared with it.
    types: matrix type -> the required subgroup sizes of the functions that use it.
    multiply_adds: the multiply-adds in the order of the source.
    """

    names: dict[tuple[int, int], MatrixType] = field(default_factory=dict)
    words: dict[str, set[MatrixType]] = field(default_factory=dict)
    types: dict[MatrixType, set[int | None]] = field(default_factory=dict)
    multiply_adds: list[MultiplyAdd] = field(default_factory=list)

    def of(self, token: Token) -> list[MatrixType]:
        """Return the matrix types that a word of the source denotes, as a variable or as a type."""
        if token.kind != "word":
            return []
        if (token.line, token.column) in self.names:
            return [self.names[token.line, token.column]]
        return sorted(self.words.get(token.text, ()), key=lambda t: t.name)


def find(unit: typed.Unit, name: str, source: str) -> Matrices:
    """Return the matrices of a unit in the file `name`, of which `source` is the text."""
    found = Matrices()
    lines = source.split("\n")
    for function in unit.functions:
        size = sub_group_size(function)
        for node in walk(*function.parameters, function.body):
            t = _matrix(getattr(node, "type", None))
            if node.span.file != name or t is None:
                continue
            found.types.setdefault(t, set()).add(size)
            place = node.span.line, node.span.column
            if isinstance(node, (typed.VarDecl, typed.VarRef)):
                found.names[place] = t
            if isinstance(node, typed.VarDecl) and node.span.line <= len(lines):
                before = lines[node.span.line - 1][: node.span.column - 1]
                if match := re.search(r"([A-Za-z_]\w*)[\s*]*$", before):
                    found.words.setdefault(match[1], set()).add(t)
            if isinstance(node, typed.MatrixMulAdd):
                a, b, c = (matrix_type(operand.type) for operand in (node.a, node.b, node.c))
                found.multiply_adds.append(MultiplyAdd(*place, (a, b, c), node.operands, size))
    found.words = {word: types for word, types in found.words.items() if word not in _KEYWORDS}
    found.multiply_adds.sort(key=lambda item: (item.line, item.column))
    return found


def _matrix(t: object) -> MatrixType | None:
    """Return the matrix type of a value, or of the elements of an array or the pointee of a pointer."""
    while isinstance(t, (ArrayType, PointerType)):
        t = t.element if isinstance(t, ArrayType) else t.pointee
    return matrix_type(t) if isinstance(t, CoopMatrixType) else None


def lane_maps(matrix: MatrixType, sizes: Iterable[int | None], route: str, usual: int | None) -> list[LaneMap]:
    """Return the maps of a matrix on a route, one for each required subgroup size. Raises MapError."""
    lanes = sorted({size or usual for size in sizes}, key=lambda size: size or 0)
    maps = [lane_map(matrix, route, size) for size in lanes]
    return list({m.lane_layout.lanes: m for m in maps}.values())


__all__ = ["MapError", "Matrices", "MultiplyAdd", "Token", "find", "lane_maps", "tokens"]
