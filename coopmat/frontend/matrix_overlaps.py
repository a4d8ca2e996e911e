"""Whether what a tree of matrices reads may lie where it stores: then it must read all before it stores anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import typed
from .matrix_trees import Leaf, MemoryLeaf, ObjectLeaf, ScalarLeaf
from .nodes import walk
from .types import AddressSpace, PointerType


@dataclass(frozen=True, slots=True)
class _Memory:
    """Memory that an expression names: in `variable`, or behind the pointer in `pointer` (each None where that is not
    known)."""

    space: AddressSpace
    variable: typed.VarDecl | None = None
    pointer: typed.VarDecl | None = None


class Overlaps:
    """Of one function."""

    def __init__(self, function: typed.FunctionDecl) -> None:
        self._pointed_to = frozenset(_pointed_to(function))
        changed = {root.decl for root in _assigned(function) if isinstance(root, typed.VarRef)}
        # Those that point into what they were given.
        self._pointers = frozenset(function.parameters) - changed - self._pointed_to

    def separate(self, out: ObjectLeaf | MemoryLeaf, leaves: Sequence[Leaf]) -> bool:
        """Whether no leaf overlaps `out`. Leaves that are no objects are copied first, and so overlap nothing."""
        target = _memory(out)
        if target is None:
            return True
        read = [_memory(leaf) for leaf in leaves if not isinstance(leaf, ScalarLeaf)]
        return all(memory is None or self._apart(target, memory) for memory in read)

    def _apart(self, a: _Memory, b: _Memory) -> bool:
        if a.space != b.space and AddressSpace.GENERIC not in (a.space, b.space):
            return True
        if a.variable is not None and b.variable is not None:
            return a.variable is not b.variable
        for variable in (a.variable, b.variable):
            if variable is not None:
                return self._is_own(variable)
        return self._restricted(a.pointer, b.pointer)

    def _is_own(self, variable: typed.VarDecl) -> bool:
        """Whether no pointer leads to it."""
        return variable.storage != "static" and variable not in self._pointed_to

    def _restricted(self, a: typed.VarDecl | None, b: typed.VarDecl | None) -> bool:
        """C11 6.7.3.1: what a `restrict` parameter is used to store to is reached by no other."""
        if a is None or b is None or a is b or not {a, b} <= self._pointers:
            return False
        return a.qualifiers.restrict or b.qualifiers.restrict


def _memory(leaf: ObjectLeaf | MemoryLeaf) -> _Memory | None:
    """None of an object that nothing else names."""
    if isinstance(leaf, MemoryLeaf):
        pointer = leaf.pointer.type
        assert isinstance(pointer, PointerType)
        return _behind(leaf.pointer, pointer.qualifiers.space)
    e = leaf.expression
    if not isinstance(e, typed.LValue):
        return None
    space = e.place.space
    while isinstance(e, (typed.Member, typed.Index)):
        e = e.base
    if isinstance(e, typed.VarRef):
        return _Memory(space, variable=e.decl)
    return _behind(e.pointer, space) if isinstance(e, typed.Deref) else None


def _behind(pointer: typed.Expr, space: AddressSpace) -> _Memory:
    """Casts and offsets lead to the same object."""
    while True:
        if isinstance(pointer, typed.PointerAdd):
            pointer = pointer.pointer
        elif isinstance(pointer, typed.Convert) and isinstance(pointer.operand.type, PointerType):
            pointer = pointer.operand
        else:
            break
    if isinstance(pointer, typed.Load) and isinstance(pointer.operand, typed.VarRef):
        return _Memory(space, pointer=pointer.operand.decl)
    if isinstance(pointer, (typed.AddressOf, typed.Convert)) and isinstance(pointer.operand, typed.LValue):
        root = _root(pointer.operand)
        if isinstance(root, typed.VarRef):
            return _Memory(space, variable=root.decl)
    return _Memory(space)


def _root(e: typed.LValue) -> typed.LValue:
    while isinstance(e, (typed.Member, typed.Index, typed.Swizzle)):
        e = e.base
    return e


def _pointed_to(function: typed.FunctionDecl) -> Iterator[typed.VarDecl]:
    """The variables whose address, or that of a part of them, is taken."""
    for node in walk(function.body):
        taken = node.operand if isinstance(node, (typed.AddressOf, typed.Convert)) else None
        root = _root(taken) if isinstance(taken, typed.LValue) else None
        if isinstance(root, typed.VarRef):
            yield root.decl


def _assigned(function: typed.FunctionDecl) -> Iterator[typed.LValue]:
    for node in walk(function.body):
        if isinstance(node, typed.Assign):
            yield _root(node.target)
