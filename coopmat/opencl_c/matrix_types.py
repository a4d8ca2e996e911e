"""Clang's matrix types: records of their elements, so that C itself copies, passes and returns them.

Expressions are calls of the trees' functions, which take pointers to elements. What is wanted as a value is wrapped in
a function that returns the record, and so is a call with operands that are no objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from ..diagnostics import InternalError, Span
from ..frontend import matrix_trees, typed
from ..frontend.matrix_trees import Expression, Leaf, MemoryLeaf, ObjectLeaf, ScalarLeaf
from ..frontend.types import (
    AddressSpace,
    ConstantMatrixType,
    MatrixLayout,
    PointerType,
    RecordType,
    Type,
    element_count,
)
from ..matrices.instance import Parameter
from ..matrices.strategies import STRATEGIES, Target
from ..matrices.trees import Tree
from . import conversions
from .declarations import alignment, declared, object_words, type_name
from .text import Binds, Text, call

if TYPE_CHECKING:
    from .context import Context, Program

_RESULT = "_of"
_ELEMENTS = "e"
# The text of a tree is the same for every target.
_ANY = Target(STRATEGIES["one"], 1)


class MatrixTypes:
    """Of one program: the types, the trees, and what wraps these."""

    def __init__(self, program: Program) -> None:
        self.program = program
        # Where trees are called, and which.
        self._told: dict[tuple[Span, Tree], None] = {}
        self._types: dict[ConstantMatrixType, str] = {}
        self._trees: dict[str, Tree] = {}
        # Name to definition.
        self._wrappers: dict[str, str] = {}

    # --- types -----------------------------------------------------------------------------------

    def type_name(self, matrix: ConstantMatrixType) -> str:
        found = self._types.get(matrix)
        if found is None:
            self.program.needs.value_of(matrix.element)
            name = f"cm_{matrix.element}_{matrix.rows}x{matrix.columns}"
            name += "_row_major" * (matrix.layout is MatrixLayout.ROW_MAJOR)
            found = self._types[matrix] = name + f"_padded{matrix.padding}" * bool(matrix.padding)
        return found

    @property
    def used(self) -> bool:
        return bool(self._types or self._trees)

    @property
    def told(self) -> list[tuple[Span, Tree]]:
        """The trees in the order of the source, with the places of their expressions."""
        return sorted(self._told, key=lambda item: (item[0].file, item[0].line, item[0].column))

    def text(self) -> str:
        """The types, the trees' functions, and those that wrap them."""
        parts = [
            f"typedef struct {{ {t.element} {_ELEMENTS}[{t.storage_elements}]; }} {name};"
            for t, name in self._types.items()
        ]
        parts += [tree.text(_ANY).strip("\n") for tree in self._trees.values()]
        text = "\n".join([*parts, *self._wrappers.values()])
        return text.replace("CM_FUNCTION", "static CM_INLINE")

    # --- values and stores -----------------------------------------------------------------------

    def value(self, c: Context, e: typed.Expr) -> Text:
        """Of what is no object."""
        expression, matrix = matrix_trees.expression(e), _matrix(e.type)
        out = (matrix, AddressSpace.PRIVATE)
        tree = expression.tree(_spaces(expression), out, contract=c.contract, separate=True, machine=c.program.machine)
        arguments = _Arguments(c, self, tree, expression.leaves)
        self._told[e.span, tree] = None
        name = self._wrapped(tree, arguments.values, matrix)
        return call(name, *arguments.texts)

    def assign(self, c: Context, target: typed.LValue, new: typed.Expr, *, fresh: bool = False) -> Text:
        """Void: `new` goes straight to an object; nothing points to a `fresh` one yet."""
        if not _has_address(target):
            return Text(f"{c.place(target).prefix} = {self.value(c, new).at(Binds.ASSIGN)}", Binds.ASSIGN)
        return self._store(c, ObjectLeaf(target), target.place.space, new, fresh)

    def store(self, c: Context, e: typed.MatrixMemoryStore) -> Text:
        out = MemoryLeaf(e.pointer, e.stride, e.row_major)
        return self._store(c, out, _pointed_to(e.pointer), e.matrix, False)

    def _store(
        self, c: Context, out: ObjectLeaf | MemoryLeaf, space: AddressSpace, new: typed.Expr, fresh: bool
    ) -> Text:
        expression = matrix_trees.expression(new)
        separate = fresh or c.overlaps.separate(out, expression.leaves)
        tree = expression.tree(
            _spaces(expression), (out, space), contract=c.contract, separate=separate, machine=c.program.machine
        )
        arguments = _Arguments(c, self, tree, (out, *expression.leaves), with_out=True)
        self._told[new.span, tree] = None
        name = self._wrapped(tree, arguments.values, None) if arguments.values else self._function(tree)
        return call(name, *arguments.texts)

    def _function(self, tree: Tree) -> str:
        self._trees[tree.function_name] = tree
        return tree.function_name

    def _wrapped(self, tree: Tree, values: dict[str, ConstantMatrixType], result: ConstantMatrixType | None) -> str:
        """A tree's function that gives its `result`; `values` are the parameters that are matrices here and pointers
        there."""
        inner = self._function(tree)
        name = inner + _RESULT * (result is not None) + "".join(f"_{parameter}" for parameter in values)
        if name in self._wrappers:
            return name
        taken = tree.signature.parameters[result is not None :]
        heads = [f"{self.type_name(values[p.name])} {p.name}" if p.name in values else _declared(p) for p in taken]
        passed = [f"{p.name}.{_ELEMENTS}" if p.name in values else p.name for p in taken]
        if result is None:
            head, lines = "void", [f"    {inner}({', '.join(passed)});"]
        else:
            head = self.type_name(result)
            lines = [f"    {head} result;", f"    {inner}({', '.join([f'result.{_ELEMENTS}', *passed])});"]
            lines.append("    return result;")
        self._wrappers[name] = _function(f"{head} {name}({', '.join(heads) or 'void'})", lines)
        return name

    # --- elements --------------------------------------------------------------------------------

    def element(self, c: Context, e: typed.MatrixSubscript) -> Text:
        matrix, before = _matrix(e.matrix.type), ""
        if isinstance(e.matrix, typed.CompoundLiteral):
            variable = c.temporary(matrix, e.span)
            before = f"{c.place(variable).text} = {c.value(e.matrix.initializer).at(Binds.ASSIGN)}, "
            elements = self.elements(c, variable)
        else:
            elements = self.elements(c, e.matrix)
        lines, inside = (e.row, e.column) if matrix.layout is MatrixLayout.ROW_MAJOR else (e.column, e.row)
        text = f"{elements}[{_offset(c, lines, inside, matrix.stride)}]"
        return Text(before + text, Binds.COMMA) if before else Text(text)

    def elements(self, c: Context, e: typed.LValue) -> str:
        """The array that an object is."""
        if isinstance(e, typed.Deref) and not isinstance(e.pointer, typed.PointerAdd):
            return f"{c.value(e.pointer).postfix}->{_ELEMENTS}"
        return f"{c.place(e).postfix}.{_ELEMENTS}"

    # --- vectors ---------------------------------------------------------------------------------

    def of_vector(self, c: Context, e: typed.MatrixOfVector) -> Text:
        matrix, vector = _matrix(e.type), e.operand.type
        t, v = self.type_name(matrix), type_name(c.program, vector)
        lines = [f"    {t} result;"]
        parts = zip(_in_memory(matrix), _parts("v", vector), strict=True)
        lines += [f"    result.{_ELEMENTS}[{place}] = {part};" for place, part in parts]
        name = f"{t}_of_vector"
        self._wrappers[name] = _function(f"{t} {name}({v} v)", [*lines, "    return result;"])
        return call(name, c.assigned(e.operand))

    def to_vector(self, c: Context, e: typed.VectorOfMatrix) -> Text:
        matrix = _matrix(e.operand.type)
        t, v = self.type_name(matrix), type_name(c.program, e.type)
        parts = ", ".join(f"m.{_ELEMENTS}[{place}]" for place in _in_memory(matrix))
        name = f"{t}_to_vector"
        self._wrappers[name] = _function(f"{v} {name}({t} m)", [f"    return ({v})({parts});"])
        return call(name, c.value(e.operand))


class _Arguments:
    """What a tree's function, or what wraps it, is called with. `values`: the matrices that are no objects, by the
    names of their parameters. The first leaf is the target where that is passed `with_out`."""

    def __init__(
        self, c: Context, types: MatrixTypes, tree: Tree, leaves: Sequence[Leaf], with_out: bool = False
    ) -> None:
        self.texts: list[Text] = []
        self.values: dict[str, ConstantMatrixType] = {}
        names = [p.name for p in tree.signature.parameters if not p.name.endswith("_stride")]
        for name, leaf in zip(names[not with_out :], leaves, strict=True):
            if isinstance(leaf, ScalarLeaf):
                self.texts.append(c.value(leaf.expression) if leaf.index else c.assigned(leaf.expression))
            elif isinstance(leaf, MemoryLeaf):
                if _pointed_to(leaf.pointer) is AddressSpace.GENERIC:
                    c.program.needs.generic()
                self.texts.append(c.value(leaf.pointer))
                if not isinstance(leaf.stride, typed.IntConst):
                    self.texts.append(c.assigned(leaf.stride))
            elif _has_address(leaf.expression):
                self.texts.append(Text(types.elements(c, leaf.expression)))
            else:
                e = leaf.expression
                self.values[name] = leaf.matrix
                self.texts.append(c.value(e.initializer if isinstance(e, typed.CompoundLiteral) else e))


def declaration(c: Context, decl: typed.VarDecl) -> str | None:
    """A variable that a tree is calculated into, which makes two statements; None where that is not what it is."""
    new = decl.initializer
    if new is None or decl.storage != "automatic" or not isinstance(decl.type, ConstantMatrixType):
        return None
    if not matrix_trees.is_tree(new):
        return None
    words = [word for word in object_words(decl.qualifiers) if word != "const"]
    head = declared(c.program, decl.type, c.program.names.variable(decl), words)
    target = typed.VarRef(decl.span, decl.type, decl.qualifiers, decl)
    return f"{head}{alignment(decl.alignment)}; {c.program.matrix_types.assign(c, target, new, fresh=True).text}"


def _spaces(expression: Expression) -> list[AddressSpace | None]:
    return [_space(leaf) for leaf in expression.leaves]


def _space(leaf: Leaf) -> AddressSpace | None:
    if isinstance(leaf, ScalarLeaf):
        return None
    if isinstance(leaf, MemoryLeaf):
        return _pointed_to(leaf.pointer)
    e = leaf.expression
    return e.place.space if _has_address(e) else AddressSpace.PRIVATE


def _has_address(e: typed.Expr) -> TypeGuard[typed.LValue]:
    """Whether it is an object that pointers to elements may lead to, which members of packed records need not be
    aligned for."""
    if not isinstance(e, typed.LValue) or isinstance(e, typed.CompoundLiteral):
        return False
    while isinstance(e, (typed.Member, typed.Index)):
        if isinstance(e, typed.Member) and _is_packed(e.base.type, e.index):
            return False
        e = e.base
    return True


def _is_packed(record: Type, index: int) -> bool:
    return isinstance(record, RecordType) and (record.packed or (record.fields or ())[index].packed)


def _pointed_to(pointer: typed.Expr) -> AddressSpace:
    assert isinstance(pointer.type, PointerType)
    return pointer.type.qualifiers.space


def _matrix(t: Type) -> ConstantMatrixType:
    if not isinstance(t, ConstantMatrixType):
        raise InternalError(f"'{t}' is no matrix type")
    return t


def _offset(c: Context, line: typed.Expr, inside: typed.Expr, stride: int) -> str:
    """Of an element: `stride` elements are from one line (column, row) to the next."""
    if isinstance(line, typed.IntConst) and isinstance(inside, typed.IntConst):
        return str(line.value * stride + inside.value)
    parts = [] if _is(inside, 0) else [c.value(conversions.bare_constant(inside)).at(Binds.SUM)]
    if isinstance(line, typed.IntConst):
        parts += [str(line.value * stride)] * (line.value != 0)
    else:
        index = c.value(line)
        parts.append(index.at(Binds.SUM) if stride == 1 else f"{index.at(Binds.PRODUCT)} * {stride}")
    return " + ".join(parts) or "0"


def _is(e: typed.Expr, value: int) -> bool:
    return isinstance(e, typed.IntConst) and e.value == value


def _in_memory(matrix: ConstantMatrixType) -> range:
    """Where the elements of a matrix of one row or column lie."""
    lines = matrix.columns if matrix.layout is MatrixLayout.COLUMN_MAJOR else matrix.rows
    return range(0, matrix.stride * lines, matrix.stride) if lines > 1 else range(matrix.rows * matrix.columns)


def _parts(name: str, vector: Type) -> list[str]:
    count = element_count(vector)
    return [name] if count == 1 else [f"{name}.s{number:x}" for number in range(count)]


def _function(head: str, lines: list[str]) -> str:
    return "\n".join([f"CM_FUNCTION {head}", "{", *lines, "}"])


def _declared(p: Parameter) -> str:
    if p.space is None:
        return f"{p.type} {p.name}"
    words = [f"__{p.space}", *(["const"] if p.const else []), *(["volatile"] if p.volatile else []), p.type]
    return f"{' '.join(words)} *{p.name}"
