"""The inlining of functions that take or return matrices.

A call's block is split around the callee's blocks; a callee of one block does not split it. The callee's variables move
to the entry block of the caller, as SPIR-V requires.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...native_profiles import NativeProfile
from ...spirv.module import ENUM, OP, Instruction, decode_string, id_positions, numbers
from ...spirv.sections import Section
from ..spirv.types import Types
from .parts import DECORATE, Parts

_LABEL, _VARIABLE, _PHI, _CALL = numbers("Op*", "Label Variable Phi FunctionCall")
_RETURN, _RETURN_VALUE, _BRANCH, _STORE = numbers("Op*", "Return ReturnValue Branch Store")
_EXT_INST, _UNDEF = OP["OpExtInst"], OP["OpUndef"]
_LINKAGE_ATTRIBUTES = ENUM["Decoration.LinkageAttributes"]
_DEBUG_SETS = ("OpenCL.DebugInfo.", "NonSemantic.")


def inline(parts: Parts, profile: NativeProfile) -> None:
    """Inline functions that take or return matrices, unless the consumer supports them; keep recursive functions."""
    if not profile.functions:
        _Inliner(parts).run()


class _Inliner:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.bodies = {code[0].result or 0: code for code in parts.functions}
        self.decorations = parts.decorations()
        self.inlinable = {name for name, code in self.bodies.items() if self.has_matrices(code)}
        self.debug_sets = {
            item.result
            for item in parts.sections[Section.IMPORT]
            if decode_string(item.operands)[0].startswith(_DEBUG_SETS)
        }
        # Functions whose calls are all inlined; functions on the stack of `expand`, which detects recursion.
        self.complete: set[int] = set()
        self.open: set[int] = set()

    def run(self) -> None:
        if not self.inlinable:
            return
        for name in self.bodies:
            self.expand(name)
        self.parts.functions[:] = [self.bodies[code[0].result or 0] for code in self.parts.functions]
        self.drop_unused()

    def has_matrices(self, code: list[Instruction]) -> bool:
        """Return whether a function has a body, and matrices or pointers to matrices in its type."""
        types = self.parts.types
        kind = self.parts.definitions[code[0].operands[1]]
        return any(i.opcode == _LABEL for i in code) and any(_reaches_matrices(types, t) for t in kind.operands)

    def expand(self, name: int) -> None:
        """Inline the calls in function `name`, after those in its callees, so that complete callees are copied."""
        if name in self.complete or name in self.open:
            return
        self.open.add(name)
        for item in self.bodies[name]:
            if item.opcode == _CALL and item.operands[0] in self.bodies:
                self.expand(item.operands[0])
        if any(self.is_inlinable(item) for item in self.bodies[name]):
            self.bodies[name] = _Caller(self, self.bodies[name]).run()
            self.parts.define(self.bodies[name])
        self.open.discard(name)
        self.complete.add(name)

    def is_inlinable(self, item: Instruction) -> bool:
        # A function that is not complete yet calls itself, directly or indirectly.
        return item.opcode == _CALL and item.operands[0] in self.inlinable & self.complete

    def copied(self, old: int, new: int) -> None:
        """Copy the decorations of a callee's id to the new id in the caller."""
        if old in self.decorations:
            words = self.decorations[old]
            self.decorations[new] = words
            self.parts.decorate(new, words)

    def drop_unused(self) -> None:
        callees = {item.operands[0] for body in self.parts.functions for item in body if item.opcode == _CALL}
        annotations = self.parts.sections[Section.ANNOTATION]
        exported = {i.operands[0] for i in annotations if i.opcode == DECORATE and i.operands[1] == _LINKAGE_ATTRIBUTES}
        unused = self.inlinable - callees - exported
        ids = {item.result or 0 for name in unused for item in self.bodies[name]}
        self.parts.functions[:] = [code for code in self.parts.functions if code[0].result not in unused]
        self.parts.forget(ids)


def _reaches_matrices(types: Types, type_id: int) -> bool:
    pointee = types.pointee_or_none(type_id)
    return _reaches_matrices(types, pointee) if pointee is not None else types.carries(type_id)


class _Caller:
    """A function whose calls are inlined."""

    def __init__(self, inliner: _Inliner, code: list[Instruction]) -> None:
        self.inliner, self.code = inliner, code
        self.parts = inliner.parts
        self.out: list[Instruction] = []
        self.variables: list[Instruction] = []
        # The label of the block that the next instruction belongs to.
        # original label of a block of the caller -> label of the block in which that block now ends
        self.block = 0
        self.ends: dict[int, int] = {}
        # result of an inlined call -> the value that the callee returned; indices of the caller's own phis in `out`.
        self.values: dict[int, int] = {}
        self.phis: list[int] = []

    def run(self) -> list[Instruction]:
        label = 0
        for item in self.code:
            if item.opcode == _LABEL:
                self.block = label = item.result or 0
            if item.opcode == _PHI:
                self.phis.append(len(self.out))
            if self.inliner.is_inlinable(item):
                self.replace(item)
            else:
                self.out.append(item)
            self.ends[label] = self.block
        for at in self.phis:
            phi = self.out[at]
            words = [self.ends.get(w, w) if n % 2 else w for n, w in enumerate(phi.operands)]
            self.out[at] = Instruction(phi.opcode, tuple(words), phi.result_type, phi.result)
        out = [self.renamed(item, self.values) for item in self.out] if self.values else self.out
        first = next(n for n, item in enumerate(out) if item.opcode == _LABEL)
        return [*out[: first + 1], *self.variables, *out[first + 1 :]]

    def renamed(self, item: Instruction, ids: Mapping[int, int]) -> Instruction:
        result = None if item.result is None else ids.get(item.result, item.result)
        if not any(word in ids for word in item.operands):
            return item if result == item.result else Instruction(item.opcode, item.operands, item.result_type, result)
        at = set(id_positions(item, self.parts.definitions))
        operands = tuple(_last(ids, word) if n in at else word for n, word in enumerate(item.operands))
        return Instruction(item.opcode, operands, item.result_type, result)

    def replace(self, call: Instruction) -> None:
        body = self.inliner.bodies[call.operands[0]]
        start = next(n for n, item in enumerate(body) if item.opcode == _LABEL)
        parameters = [item.result or 0 for item in body[:start] if item.opcode == OP["OpFunctionParameter"]]
        ids = dict(zip(parameters, call.operands[1:], strict=True))
        ids[body[start].result or 0] = self.block
        for item in body[start + 1 :]:
            if item.result is not None:
                ids[item.result] = self.parts.module.new_id()
                self.inliner.copied(item.result, ids[item.result])
        blocks = sum(item.opcode == _LABEL for item in body)
        returns: list[tuple[int, int]] = []
        behind = self.parts.module.new_id() if blocks > 1 else 0
        self.body(body[start + 1 : -1], ids, behind, returns)
        if behind:
            self.out.append(Instruction(_LABEL, (), None, behind))
            self.block = behind
        self.result(call, returns)

    def body(
        self, code: Iterable[Instruction], ids: Mapping[int, int], behind: int, returns: list[tuple[int, int]]
    ) -> None:
        for item in code:
            if item.opcode == _EXT_INST and item.operands[0] in self.inliner.debug_sets:
                continue
            copy = self.renamed(item, ids)
            if item.opcode == _LABEL:
                self.block = copy.result or 0
            if item.opcode == _VARIABLE:
                self.variable(copy)
            elif item.opcode in (_RETURN, _RETURN_VALUE):
                returns.append((copy.operands[0] if copy.operands else 0, self.block))
                if behind:
                    self.out.append(Instruction(_BRANCH, (behind,)))
            else:
                self.out.append(copy)
                self.parts.define([copy])

    def variable(self, item: Instruction) -> None:
        """Move a variable to the caller's entry block; store its initializer at each call."""
        storage, *initializer = item.operands
        self.variables.append(Instruction(_VARIABLE, (storage,), item.result_type, item.result))
        self.parts.define(self.variables[-1:])
        if initializer:
            self.out.append(Instruction(_STORE, (item.result or 0, initializer[0])))

    def result(self, call: Instruction, returns: list[tuple[int, int]]) -> None:
        kind = self.parts.definitions[call.result_type or 0]
        if kind.opcode == OP["OpTypeVoid"]:
            return
        if len(returns) == 1:
            self.values[call.result or 0] = returns[0][0]
            return
        words = tuple(word for pair in returns for word in pair)
        opcode = _PHI if words else _UNDEF  # the callee never returns
        self.out.append(Instruction(opcode, words, call.result_type, call.result))


def _last(ids: Mapping[int, int], word: int) -> int:
    """Return the replacement of an id; follow chains, since a returned value may be an inlined call's result itself."""
    while word in ids:
        word = ids[word]
    return word
