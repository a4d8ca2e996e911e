"""An analysis of whether the memory that a tree of matrices reads may overlap its destination.

If so, the tree must read all inputs before it stores any element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..frontend import typed
from ..frontend.nodes import walk
from ..frontend.types import AddressSpace, PointerType
from .trees import Leaf, MemoryLeaf, ObjectLeaf, ScalarLeaf


@dataclass(frozen=True, slots=True)
class _Memory:
    """The memory that an expression names: a part of `variable`, or of the object to which `pointer` points.

    Both are None if unknown.
    """

    space: AddressSpace
    variable: typed.VarDecl | None = None
    pointer: typed.VarDecl | None = None


class Overlaps:
    """The overlaps between parts of memory that one function names."""

    def __init__(self, function: typed.FunctionDecl) -> None:
        self._pointed_to = frozenset(_pointed_to(function))
        assigned_variables = {root.decl for root in _assigned(function) if isinstance(root, typed.VarRef)}
        # Parameters that are never modified, so that they point into memory of the caller.
        self._pointers = frozenset(function.parameters) - assigned_variables - self._pointed_to

    def separate(self, out: ObjectLeaf | MemoryLeaf, leaves: Sequence[Leaf]) -> bool:
        """Return whether no leaf overlaps `out`.

        Leaves that are not lvalues are copied to temporaries first, which overlap nothing.
        """
        target = _memory(out)
        if target is None:
            return True
        memories = [_memory(leaf) for leaf in leaves if not isinstance(leaf, ScalarLeaf)]
        return all(memory is None or self._disjoint(target, memory) for memory in memories)

    def _disjoint(self, a: _Memory, b: _Memory) -> bool:
        """Return whether two parts of memory cannot overlap."""
        if a.space != b.space and AddressSpace.GENERIC not in (a.space, b.space):
            return True
        if a.variable is not None and b.variable is not None:
            return a.variable is not b.variable
        for variable in (a.variable, b.variable):
            if variable is not None:
                return self._is_own(variable)
        return self._restricted(a.pointer, b.pointer)

    def _is_own(self, variable: typed.VarDecl) -> bool:
        """Return whether no pointer can point to the variable."""
        return variable.storage != "static" and variable not in self._pointed_to

    def _restricted(self, a: typed.VarDecl | None, b: typed.VarDecl | None) -> bool:
        """Return whether a `restrict` parameter separates `a` and `b` (C11 6.7.3.1).

        An object that is modified through such a parameter is accessed by no other pointer.
        """
        if a is None or b is None or a is b or not {a, b} <= self._pointers:
            return False
        return a.qualifiers.restrict or b.qualifiers.restrict


def _memory(leaf: ObjectLeaf | MemoryLeaf) -> _Memory | None:
    """Return the memory of a leaf, or None for a temporary."""
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
    """Return the object to which a pointer points; casts and offsets lead to the same object."""
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
    """Return the object of which an lvalue is a part."""
    while isinstance(e, (typed.Member, typed.Index, typed.Swizzle)):
        e = e.base
    return e


def _pointed_to(function: typed.FunctionDecl) -> Iterator[typed.VarDecl]:
    """Yield the variables whose address, or the address of a part of which, is taken."""
    for node in walk(function.body):
        operand = node.operand if isinstance(node, (typed.AddressOf, typed.Convert)) else None
        root = _root(operand) if isinstance(operand, typed.LValue) else None
        if isinstance(root, typed.VarRef):
            yield root.decl


def _assigned(function: typed.FunctionDecl) -> Iterator[typed.LValue]:
    """Yield the objects to which the function assigns."""
    for node in walk(function.body):
        if isinstance(node, typed.Assign):
            yield _root(node.target)
