"""Operations of subgroups and work-groups, and copies between global and local memory by a work-group.

Subgroups have OpGroupNonUniform instructions in the place of OpGroup. A work-group exchanges values in local memory.
"""

from __future__ import annotations

from collections.abc import Callable

from ...spirv.module import OP, Instruction, numbers
from .arithmetic import Arithmetic
from .builtins import Builtins
from .code import Code, Rule, replace_types, rewrite
from .context import Context
from .layout import PSB
from .pointers import VECTOR, WORKGROUP

_WORK_GROUP_SCOPE, _SUBGROUP = 2, 3
_INCLUSIVE, _EXCLUSIVE = 1, 2
_BROADCAST, _ALL, _ANY = numbers("OpGroup*", "Broadcast All Any")
_ASYNC_COPY, _WAIT_EVENTS, _EVENT = numbers("Op*", "GroupAsyncCopy GroupWaitEvents TypeEvent")
# The semantics of OpenCL's barriers: sequential consistency of work-group memory, and of global memory, too.
_LOCAL_FENCE, _BOTH_FENCES = 0x110, 0x310
# name of a reduction -> (its instruction or comparison, the value that changes nothing: a number, "max" or "min")
_REDUCTIONS: dict[str, tuple[str, float | str]] = {
    "IAdd": ("OpIAdd", 0),
    "FAdd": ("OpFAdd", 0),
    "IMul": ("OpIMul", 1),
    "FMul": ("OpFMul", 1),
    "SMin": ("OpSLessThan", "max"),
    "UMin": ("OpULessThan", -1),
    "FMin": ("OpFOrdLessThan", float("inf")),
    "SMax": ("OpSGreaterThan", "min"),
    "UMax": ("OpUGreaterThan", 0),
    "FMax": ("OpFOrdGreaterThan", float("-inf")),
    "BitwiseAnd": ("OpBitwiseAnd", -1),
    "BitwiseOr": ("OpBitwiseOr", 0),
    "BitwiseXor": ("OpBitwiseXor", 0),
    "LogicalAnd": ("OpBitwiseAnd", 1),
    "LogicalOr": ("OpBitwiseOr", 0),
    "LogicalXor": ("OpBitwiseXor", 0),
}


def groups(context: Context) -> None:
    """Replace the operations of subgroups and work-groups."""
    converter = _Groups(context)
    rules: dict[int, Rule] = {_BROADCAST: converter.broadcast, _ALL: converter.vote, _ANY: converter.vote}
    for name in _REDUCTIONS:
        for suffix in ("", "KHR"):
            if f"OpGroup{name}{suffix}" in OP:
                rules[OP[f"OpGroup{name}{suffix}"]] = converter.reduce
    rewrite(context.parts, rules)


def async_copies(context: Context) -> None:
    """Replace copies by a work-group by loops, and waiting for them by barriers; an event is the integer 0."""
    globals_ = context.parts.globals
    event = next((item.result for item in globals_.items if item.opcode == _EVENT), None)
    if event is None:
        return
    replace_types(context.parts, {event: globals_.integer(32)})
    converter = _Groups(context)
    rewrite(context.parts, {_ASYNC_COPY: converter.copy, _WAIT_EVENTS: converter.wait})


class _Groups:
    def __init__(self, context: Context) -> None:
        self.context, self.parts, self.globals = context, context.parts, context.parts.globals
        self.builtins = Builtins.of(context)
        self.uint, self.bool = self.globals.integer(32), self.globals.intern("OpTypeBool")
        # Type -> array in local memory with an element for each work-item.
        self.exchanges: dict[int, int] = {}

    def is_subgroup(self, item: Instruction) -> bool:
        return self.parts.types.constants.value(item.operands[0]) == _SUBGROUP

    def barrier(self, code: Code, semantics: int = _LOCAL_FENCE) -> None:
        scope = code.u32(_WORK_GROUP_SCOPE)
        code.add("OpControlBarrier", None, scope, scope, code.u32(semantics))

    def count(self, code: Code) -> int:
        """Return the number of work-items in the work-group, a specialisation constant."""
        x, y, z = self.context.work_group_size
        return self.product(self.product(x, y), z)

    def product(self, left: int, right: int) -> int:
        operands = (OP["OpIMul"], left, right)
        return self.globals.add(Instruction(OP["OpSpecConstantOp"], operands, self.uint, self.parts.module.new_id()))

    def place(self, code: Code, type_id: int, index: int) -> int:
        """Return a pointer to the element of work-item `index` in the array for values of a type."""
        if type_id not in self.exchanges:
            array = self.globals.intern("OpTypeArray", type_id, self.count(code))
            self.exchanges[type_id] = self.context.variable(array, "Workgroup")
        pointer = self.globals.pointer(type_id, WORKGROUP)
        return code.add("OpInBoundsAccessChain", pointer, self.exchanges[type_id], index)

    def index(self, code: Code) -> int:
        return self.builtins.value(code, "LocalInvocationIndex")

    # --- operations

    def broadcast(self, code: Code, item: Instruction) -> None:
        _, value, id_ = item.operands
        a = Arithmetic(code, 0)
        if self.is_subgroup(item):
            code.finish(item, "OpGroupNonUniformBroadcast", item.operands[0], value, a.convert("OpUConvert", id_, 32))
            return
        source = self.linear(code, a, id_)
        kind = item.result_type or 0
        code.add("OpStore", None, self.place(code, kind, self.index(code)), value)
        self.barrier(code)
        code.finish(item, "OpLoad", self.place(code, kind, source))
        self.barrier(code)

    def linear(self, code: Code, a: Arithmetic, id_: int) -> int:
        """Return the linear index of a local id, of one to three components."""
        kind = self.parts.definitions[code.type_of(id_)]
        if kind.opcode != VECTOR:
            return a.convert("OpUConvert", id_, 32)
        total = code.u32(0)
        for n in reversed(range(kind.operands[1])):
            part = a.convert("OpUConvert", code.add("OpCompositeExtract", kind.operands[0], id_, n), 32)
            total = a.op("OpIAdd", a.op("OpIMul", total, self.context.work_group_size[n]), part)
        return total

    def vote(self, code: Code, item: Instruction) -> None:
        scope, value = item.operands
        name = item.name.removeprefix("OpGroup")
        if self.is_subgroup(item):
            code.finish(item, f"OpGroupNonUniform{name}", scope, value)
            return
        self.of_truths(code, item, value, "LogicalAnd" if name == "All" else "LogicalOr", 0)

    def reduce(self, code: Code, item: Instruction) -> None:
        scope, operation, value = item.operands
        name = item.name.removeprefix("OpGroup").removesuffix("KHR")
        if self.is_subgroup(item):
            code.finish(item, f"OpGroupNonUniform{name}", scope, operation, value)
        elif name.startswith("Logical"):
            self.of_truths(code, item, value, name, operation)
        else:
            code.finish(item, "OpCopyObject", self.scan(code, value, name, operation))

    def of_truths(self, code: Code, item: Instruction, value: int, name: str, operation: int) -> None:
        """Reduce truth values as the numbers 0 and 1, which memory can hold."""
        number = code.add("OpSelect", self.uint, value, code.u32(1), code.u32(0))
        code.finish(item, "OpINotEqual", self.scan(code, number, name, operation), code.u32(0))

    def scan(self, code: Code, value: int, name: str, operation: int) -> int:
        """Return the result of a reduction or scan over the work-group.

        In the steps d = 1, 2, 4, ..., each work-item adds the sum that ends d elements before its own.
        """
        a, kind, index = Arithmetic(code, 0), code.type_of(value), self.index(code)
        count, identity = self.count(code), self.identity(a, kind, name)
        own = self.place(code, kind, index)
        code.add("OpStore", None, own, value)
        self.barrier(code)

        def step(distance: int) -> None:
            has_other = code.add("OpULessThanEqual", self.bool, distance, index)
            other = code.add("OpSelect", self.uint, has_other, a.op("OpISub", index, distance), index)
            left = code.add(
                "OpSelect", kind, has_other, code.add("OpLoad", kind, self.place(code, kind, other)), identity
            )
            total = self.combined(a, name, left, code.add("OpLoad", kind, own))
            self.barrier(code)
            code.add("OpStore", None, own, total)
            self.barrier(code)

        code.loop(code.u32(1), count, lambda distance: a.shift("OpShiftLeftLogical", distance, 1), step)
        result = self.result(code, a, kind, operation, index, identity)
        self.barrier(code)
        return result

    def result(self, code: Code, a: Arithmetic, kind: int, operation: int, index: int, identity: int) -> int:
        """Return the work-item's result from the inclusive sums."""
        if operation == _INCLUSIVE:
            return code.add("OpLoad", kind, self.place(code, kind, index))
        if operation != _EXCLUSIVE:
            last = a.op("OpISub", self.count(code), code.u32(1))
            return code.add("OpLoad", kind, self.place(code, kind, last))
        is_first = code.add("OpIEqual", self.bool, index, code.u32(0))
        before = code.add("OpSelect", self.uint, is_first, index, a.op("OpISub", index, code.u32(1)))
        return code.add("OpSelect", kind, is_first, identity, code.add("OpLoad", kind, self.place(code, kind, before)))

    def identity(self, a: Arithmetic, kind: int, name: str) -> int:
        """Return the value that leaves every other one unchanged."""
        number = _REDUCTIONS[name][1]
        if isinstance(number, str):
            most = (1 << self.parts.definitions[kind].operands[0] - 1) - 1
            number = most if number == "max" else -most - 1
        return a.constant(kind, number)

    def combined(self, a: Arithmetic, name: str, left: int, right: int) -> int:
        instruction = _REDUCTIONS[name][0]
        is_choice = "Less" in instruction or "Greater" in instruction
        return a.select(a.test(instruction, left, right), left, right) if is_choice else a.op(instruction, left, right)

    # --- copies

    def copy(self, code: Code, item: Instruction) -> None:
        """Copy the elements in turns; the stride is that of the side in global memory."""
        _, target, source, count, stride, _ = item.operands
        a = Arithmetic(code, 0)
        total, many = self.count(code), a.convert("OpUConvert", count, 32)
        step = a.convert("OpUConvert", stride, 64)

        def move(n: int) -> None:
            wide = a.convert("OpUConvert", n, 64)
            far = a.op("OpIMul", wide, step)
            places = []
            for pointer in (target, source):
                is_global = self.parts.types.storage_class(pointer) == PSB
                index = far if is_global else wide
                places.append(code.add("OpInBoundsPtrAccessChain", code.type_of(pointer), pointer, index))
            kind = self.context.layout.plain(self.parts.types.pointee(source))
            code.add("OpStore", None, places[0], code.add("OpLoad", kind, places[1]))

        following: Callable[[int], int] = lambda n: a.op("OpIAdd", n, total)  # noqa: E731
        code.loop(self.index(code), many, following, move)
        code.finish(item, "OpCopyObject", self.globals.intern("OpConstantNull", result_type=item.result_type))

    def wait(self, code: Code, item: Instruction) -> None:
        self.barrier(code, _BOTH_FENCES)
