"""Structured control flow: random graphs of blocks, before and after, run by an interpreter of a few instructions."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from coopmat.foreign.consumers import Parts
from coopmat.spirv.module import Instruction, Module, instruction
from coopmat.spirv.refusal import Refused
from coopmat.spirv.tools import validate
from coopmat.vulkan.modules.structure import structure

VOID, FUNCTION_TYPE, INT, BOOL, POINTER, STATE, MAIN, ZERO = range(1, 9)
# The constants n = 0 to 63 are the ids FIRST + n.
FIRST = 10
_LABELS = FIRST + 64


def constant(value: int) -> int:
    return FIRST + value


def module_of(code: list[Instruction], bound: int) -> Module:
    """Return a Vulkan module with one kernel; the variable STATE has the values that `run` begins with and returns."""
    name = [int.from_bytes(b"main", "little"), 0]
    head = [
        instruction("OpCapability", 1),
        instruction("OpMemoryModel", 0, 1),
        instruction("OpEntryPoint", 5, MAIN, *name, STATE),
        instruction("OpExecutionMode", MAIN, 17, 1, 1, 1),
        instruction("OpTypeVoid", VOID),
        instruction("OpTypeFunction", FUNCTION_TYPE, VOID),
        instruction("OpTypeInt", INT, 32, 0),
        instruction("OpTypeBool", BOOL),
        instruction("OpTypePointer", POINTER, 6, INT),
        instruction("OpVariable", POINTER, STATE, 6),
        *(instruction("OpConstant", INT, constant(n), n) for n in range(64)),
        instruction("OpFunction", VOID, MAIN, 0, FUNCTION_TYPE),
    ]
    return Module(0x00010600, bound, [*head, *code, instruction("OpFunctionEnd")])


class Graph:
    """A random graph of blocks whose values depend on the way to them.

    Each block computes a value from a value that its predecessors bring, or from that of a dominator, and branches by
    its bits.
    """

    def __init__(self, random: Random, size: int) -> None:
        self.random, self.bound = random, _LABELS + size
        self.size = size
        self.targets = {n: self.draw(n) for n in range(size)}
        self.values = [self.new() for _ in range(size)]
        self.sources: dict[int, list[int]] = {n: [] for n in range(size)}
        for n, targets in self.targets.items():
            for target in dict.fromkeys(targets):
                self.sources[target].append(n)

    def new(self) -> int:
        self.bound += 1
        return self.bound - 1

    def draw(self, n: int) -> list[int]:
        """Return the targets of block n: mostly the next blocks, sometimes earlier ones; the last block returns."""
        if n == self.size - 1:
            return []
        count = self.random.choice([1, 2, 2, 2, 2, 4])
        near = min(n + 4, self.size - 1)
        ahead = [
            self.random.randint(n + 1, near if self.random.random() < 0.8 else self.size - 1) for _ in range(count)
        ]
        if n and count > 1 and self.random.random() < 0.4:
            ahead[self.random.randrange(count)] = self.random.randint(max(1, n - 5), n)
        return ahead

    def code(self) -> Iterator[Instruction]:
        label = lambda n: _LABELS + n  # noqa: E731
        for n, targets in self.targets.items():
            yield instruction("OpLabel", label(n))
            value = constant(n)
            if self.sources[n]:
                value = self.new()
                pairs = [word for source in self.sources[n] for word in (self.values[source], label(source))]
                yield instruction("OpPhi", INT, value, *pairs)
            state, product = self.new(), self.new()
            yield instruction("OpLoad", INT, state, STATE)
            yield instruction("OpIMul", INT, product, value, constant(self.random.choice([3, 5, 7, 11])))
            yield instruction("OpIAdd", INT, self.values[n], product, state)
            yield instruction("OpStore", STATE, self.values[n])
            if not targets:
                yield instruction("OpReturn")
            elif len(targets) == 1:
                yield instruction("OpBranch", label(targets[0]))
            else:
                bits = self.new()
                yield instruction("OpBitwiseAnd", INT, bits, self.values[n], constant(12))
                if len(targets) == 2:
                    condition = self.new()
                    yield instruction("OpIEqual", BOOL, condition, bits, constant(self.random.choice([0, 4, 8])))
                    yield instruction("OpBranchConditional", condition, *map(label, targets))
                else:
                    cases = [word for k, target in enumerate(targets[1:]) for word in (4 * k, label(target))]
                    yield instruction("OpSwitch", bits, label(targets[0]), *cases)


def run(module: Module, state: int, limit: int = 400) -> list[int]:
    """Return the first values that the kernel stores to STATE; `state` is its value before."""
    memory: dict[int, int] = {STATE: state}
    values = {constant(n): n for n in range(64)}
    code = module.instructions
    labels = {item.result: n for n, item in enumerate(code) if item.name == "OpLabel"}
    stored: list[int] = []
    at = next(n for n, item in enumerate(code) if item.name == "OpLabel")
    before = block = 0
    binary = {"OpIMul": int.__mul__, "OpIAdd": int.__add__, "OpBitwiseAnd": int.__and__, "OpIEqual": int.__eq__}
    while len(stored) < limit:
        item = code[at]
        o = item.operands
        at += 1
        if item.name == "OpLabel":
            before, block = block, item.result or 0
            # All phis of a block read the values from before the block.
            phis = {}
            while code[at].name == "OpPhi":
                pairs = dict(zip(code[at].operands[1::2], code[at].operands[::2], strict=True))
                phis[code[at].result or 0] = values[pairs[before]]
                at += 1
            values |= phis
        elif item.name == "OpLoad":
            values[item.result or 0] = memory[o[0]]
        elif item.name == "OpStore":
            memory[o[0]] = values[o[1]]
            stored += [values[o[1]]] if o[0] == STATE else []
        elif item.name in binary:
            values[item.result or 0] = int(binary[item.name](values[o[0]], values[o[1]])) & 0xFFFFFFFF
        elif item.name == "OpBranch":
            at = labels[o[0]]
        elif item.name == "OpBranchConditional":
            at = labels[o[1] if values[o[0]] else o[2]]
        elif item.name == "OpSwitch":
            at = labels[dict(zip(o[2::2], o[3::2], strict=True)).get(values[o[0]], o[1])]
        elif item.name == "OpReturn":
            return stored
        else:
            assert item.name in ("OpVariable", "OpSelectionMerge", "OpLoopMerge"), item.name
    return stored


def structured(module: Module) -> Module:
    parts = Parts.of(Module.parse(module.to_bytes()))
    structure(parts)
    parts.write()
    return parts.module


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_compute_the_same_and_are_valid(seed: int) -> None:
    random = Random(seed)
    tried = 0
    while tried < 5:
        graph = Graph(random, random.randint(3, 30))
        module = module_of(list(graph.code()), graph.bound)
        try:
            result = structured(module)
        except Refused:
            continue  # a loop with two entries
        tried += 1
        assert validate(result.to_bytes(), "vulkan1.3") is None
        for state in (0, 1, 4, 9, 77, 1234567):
            assert run(result, state) == run(module, state)


def test_a_loop_with_two_entries_is_refused() -> None:
    graph = Graph(Random(1), 4)
    graph.targets = {0: [1, 2], 1: [2, 3], 2: [1, 3], 3: []}
    graph.sources = {0: [], 1: [0, 2], 2: [0, 1], 3: [1, 2]}
    with pytest.raises(Refused, match="goto"):
        structured(module_of(list(graph.code()), graph.bound))
