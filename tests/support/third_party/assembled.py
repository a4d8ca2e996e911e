"""Random modules in assembly, with one kernel that uses matrices as other front ends may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import widen
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType, Operands, Use, default_operands

from .assembly import Assembly, Body
from .memory import Buffer, Memory
from .values import Environment, Value, from_integers, is_exact, small

_SIZES = (1, 2, 3, 4, 5, 8, 16)
_EXACT = {"f16": 256, "bf16": 16, "e4m3": 4, "e5m2": 3, "s8": 100, "u8": 100}
_OPERANDS = {
    Operands.A_SIGNED: "MatrixASignedComponentsKHR",
    Operands.B_SIGNED: "MatrixBSignedComponentsKHR",
    Operands.C_SIGNED: "MatrixCSignedComponentsKHR",
    Operands.RESULT_SIGNED: "MatrixResultSignedComponentsKHR",
}


class Program:
    """A module of a seed; `features` are the names of the makers that were used."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.asm = _Specialised(self.rng) if seed % 2 else Assembly()
        self.memory = Memory(self.asm, self.rng)
        self.features: set[str] = {"specialised"} if seed % 2 else set()
        self.values: list[Value] = []
        names = [name for name, row in COMPONENT_TYPES.items() if seed % 4 == 0 or not row.is_bits]
        self.components = [COMPONENT_TYPES[str(name)] for name in self.rng.choice(names, 3, replace=False)]
        self.m, self.n, self.k = (int(self.rng.choice(_SIZES)) for _ in range(3))
        self.values.append(self.new(self.some_type()))
        statements = 6 + int(self.rng.integers(5))
        for number in range(statements):
            maker = _MAKERS[(seed * 7 + number * 5) % len(_MAKERS)] if number < 4 else self._choice(_MAKERS)
            made = maker(self, self.pick())
            if made is not None:
                self.features.add(maker.__name__)
                self.values.append(made)
        for value in self.values[-3:]:
            self.memory.store(value)

    @property
    def text(self) -> str:
        return self.asm.text()

    @property
    def buffers(self) -> list[Buffer]:
        return self.memory.buffers

    # --- pieces

    def _choice(
        self, items: list[Callable[[Program, Value], Value | None]]
    ) -> Callable[[Program, Value], Value | None]:
        return items[int(self.rng.integers(len(items)))]

    def pick(self) -> Value:
        return self.values[-1] if self.rng.random() < 0.6 else self.values[int(self.rng.integers(len(self.values)))]

    def some_type(self) -> MatrixType:
        component = self.components[int(self.rng.integers(len(self.components)))]
        return self.of_use(component, Use(int(self.rng.integers(3))))

    def of_use(self, component: ComponentType, use: Use) -> MatrixType:
        rows, columns = {Use.A: (self.m, self.k), Use.B: (self.k, self.n), Use.ACCUMULATOR: (self.m, self.n)}[use]
        return MatrixType(component, rows, columns, use)

    def new(self, matrix: MatrixType) -> Value:
        """Return a new value: loaded, constant or filled."""
        asm, component = self.asm, matrix.component
        number = int(self.rng.integers(0 if not component.signed else -3, 4))
        filled = np.full((matrix.rows, matrix.columns), from_integers(component, np.array(number)))
        match int(self.rng.integers(6)):
            case 0:
                id_ = asm.once(f"OpConstantComposite {asm.matrix(matrix)} {asm.value(component, number)}")
                return Value(id_, matrix, lambda _: filled)
            case 1:
                zeros = np.zeros_like(filled)
                return Value(asm.once(f"OpConstantNull {asm.matrix(matrix)}"), matrix, lambda _: zeros)
            case 2:
                scalar = self.memory.scalar(matrix, number, filled[0, 0])
                return Value(asm.emit("OpCompositeConstruct", asm.matrix(matrix), scalar), matrix, lambda _: filled)
        return self.memory.loaded(matrix, small(component, (matrix.rows, matrix.columns), self.rng))

    def other(self, value: Value) -> Value:
        """Return another value of the same type."""
        same = [v for v in self.values if v.matrix == value.matrix and v is not value]
        if same and self.rng.random() < 0.5:
            return same[int(self.rng.integers(len(same)))]
        return self.new(value.matrix)

    def plus(self, x: Value, y: Value) -> Value:
        """Return the sum; for small floats, which have no sum, the second operand."""
        component = x.matrix.component
        if component.is_bits:
            return Value(self.asm.emit("OpCopyObject", self.asm.matrix(y.matrix), y.id), y.matrix, y.of)
        name = "OpIAdd" if component.is_integer else "OpFAdd"
        id_ = self.asm.emit(name, self.asm.matrix(x.matrix), x.id, y.id)
        return Value(id_, x.matrix, lambda e: numpy_reference.binary(component, "add", x.of(e), y.of(e)))


class _Specialised(Assembly):
    """An assembly whose shapes, layouts and strides are specialization constants, or computed from some."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self.rng = rng
        self.known: dict[int, str] = {}

    def dimension(self, value: int) -> str:
        if value not in self.known:
            self.known[value] = self._made(value)
        return self.known[value]

    def _made(self, value: int) -> str:
        number, kind = len(self.known), self.integer()
        base = f"%spec{number}"
        match int(self.rng.integers(4)):
            case 0:
                return self.number(value)
            case 1:
                given, result = value, base
            case 2:
                given = value + 3
                result = self.once(f"OpSpecConstantOp {kind} ISub {base} {self.number(3)}")
            case _:
                given = 2 * value
                result = self.once(f"OpSpecConstantOp {kind} UDiv {base} {self.number(2)}")
        text = f"OpSpecConstant {kind} {given} ;{number}"
        self.globals = {**dict.fromkeys([text], base), **self.globals}
        # Insert the constant before its uses and after its type.
        type_text = "OpTypeInt 32 0"
        self.globals = {type_text: self.globals.pop(type_text), **self.globals}
        self.decorations.append(f"OpDecorate {base} SpecId {number}")
        return result


# --- makers ----------------------------------------------------------------------------------------


def operator(p: Program, x: Value) -> Value | None:
    component = x.matrix.component
    if component.is_bits:
        return None
    y, asm = p.other(x), p.asm
    name = str(p.rng.choice(["add", "sub", "mul"]))
    opcode = ("OpI" if component.is_integer else "OpF") + name.capitalize()
    id_ = asm.emit(opcode, asm.matrix(x.matrix), x.id, y.id)
    if not component.is_integer and p.rng.random() < 0.3:
        asm.decorations.append(f"OpDecorate {id_} FPFastMathMode None")
        asm.names.append(f'OpName {id_} "sum"')
    return Value(id_, x.matrix, lambda e: numpy_reference.binary(component, name, x.of(e), y.of(e)))


def quotient(p: Program, x: Value) -> Value | None:
    """Return a quotient of integers, by a nonzero divisor."""
    component = x.matrix.component
    if not component.is_integer:
        return None
    y = p.memory.loaded(x.matrix, small(component, (x.matrix.rows, x.matrix.columns), p.rng) * 2 + 1)
    id_ = p.asm.emit("OpSDiv" if component.signed else "OpUDiv", p.asm.matrix(x.matrix), x.id, y.id)
    return Value(id_, x.matrix, lambda e: numpy_reference.binary(component, "div", x.of(e), y.of(e)))


def negation(p: Program, x: Value) -> Value | None:
    component = x.matrix.component
    if component.is_bits:
        return None
    id_ = p.asm.emit("OpSNegate" if component.is_integer else "OpFNegate", p.asm.matrix(x.matrix), x.id)
    return Value(id_, x.matrix, lambda e: numpy_reference.negate(component, x.of(e)))


def conversion(p: Program, x: Value) -> Value | None:
    source = x.matrix.component
    to = p.components[int(p.rng.integers(len(p.components)))]
    if to == source or not is_exact(source, x.of({}), 100):
        return None
    if not to.signed and np.any(widen(source, x.of({})) < 0):
        return None
    opcode = _conversion(source, to)
    matrix = replace(x.matrix, component=to)
    if opcode is None:
        return Value(x.id, matrix, lambda e: x.of(e).view(to.numpy))
    id_ = p.asm.emit(opcode, p.asm.matrix(matrix), x.id)
    return Value(id_, matrix, lambda e: numpy_reference.convert(x.of(e), source, to))


def _conversion(source: ComponentType, to: ComponentType) -> str | None:
    if source.is_integer and to.is_integer:
        return None if source.bits == to.bits else "OpSConvert" if source.signed else "OpUConvert"
    if source.is_integer:
        return "OpConvertSToF" if source.signed else "OpConvertUToF"
    return ("OpConvertFToS" if to.signed else "OpConvertFToU") if to.is_integer else "OpFConvert"


def product(p: Program, x: Value) -> Value | None:
    """Return a multiply-add with x as accumulator, if x is one with small numbers, or with another one."""
    kind = x.matrix.component.kind
    wide = [t for t in COMPONENT_TYPES.values() if t.kind == kind and (not t.is_bits or t in p.components)]
    a, b = (wide[int(p.rng.integers(len(wide)))] for _ in range(2))
    addend = x if x.matrix.use == Use.ACCUMULATOR else p.new(p.of_use(x.matrix.component, Use.ACCUMULATOR))
    if not is_exact(x.matrix.component, addend.of({}), _EXACT.get(x.matrix.component.name, 1000)):
        return None
    first, second = p.new(p.of_use(a, Use.A)), p.new(p.of_use(b, Use.B))
    component = x.matrix.component
    mask = default_operands(a, b, component)
    words = "|".join(word for bit, word in _OPERANDS.items() if bit in mask)
    ids = [first.id, second.id, addend.id, *([words] if words else [])]
    types = (a, b, component)

    def compute(e: Environment) -> np.ndarray:
        return numpy_reference.mul_add(types, first.of(e), second.of(e), addend.of(e), mask)[0]

    result = Value(
        p.asm.emit("OpCooperativeMatrixMulAddKHR", p.asm.matrix(addend.matrix), *ids), addend.matrix, compute
    )
    return result if is_exact(component, result.of({}), 2 * _EXACT.get(component.name, 1000)) else None


def variable(p: Program, x: Value) -> Value:
    """Return x passed through variables, with or without an initializer, and a copy between them."""
    asm, kind = p.asm, p.asm.matrix(x.matrix)
    null = asm.once(f"OpConstantNull {kind}") if p.rng.random() < 0.5 else ""
    first, second = asm.variable(kind, null), asm.variable(kind)
    if null and p.rng.random() < 0.5:
        asm.do("OpCopyMemory", second, first)
        return Value(asm.emit("OpLoad", kind, second), x.matrix, lambda e: np.zeros_like(x.of(e)))
    asm.do("OpStore", first, x.id)
    asm.do("OpCopyMemory", second, first)
    return Value(asm.emit("OpLoad", kind, second), x.matrix, x.of)


def array(p: Program, x: Value) -> Value:
    """Return x passed through an array, in memory by access chains, and as a value."""
    asm, y = p.asm, p.other(x)
    matrix, kind = asm.matrix(x.matrix), asm.array(asm.matrix(x.matrix), 3)
    pointer = asm.pointer("private", matrix)
    name = asm.variable(kind)
    for n, value in enumerate((x, y, x)):
        at = asm.emit("OpInBoundsAccessChain", pointer, name, asm.number(n, 64))
        asm.do("OpStore", at, value.id)
    whole = asm.emit("OpLoad", kind, name)
    changed = asm.emit("OpCompositeInsert", kind, y.id, whole, 0)
    again = asm.variable(kind)
    asm.do("OpStore", again, changed)
    loaded = asm.emit("OpLoad", matrix, asm.emit("OpAccessChain", pointer, again, asm.number(2)))
    return p.plus(
        Value(loaded, x.matrix, x.of), Value(asm.emit("OpCompositeExtract", matrix, changed, 0), x.matrix, y.of)
    )


def structure(p: Program, x: Value) -> Value:
    """Return x passed through values of the structure { uint, matrix, matrix[2] }.

    The values are composed, taken apart, zero and undefined.
    """
    asm, y = p.asm, p.other(x)
    matrix = asm.matrix(x.matrix)
    pair = asm.array(matrix, 2)
    kind = asm.struct(asm.integer(), matrix, pair)
    both = asm.emit("OpCompositeConstruct", pair, x.id, y.id)
    match int(p.rng.integers(3)):
        case 0:
            whole = asm.emit("OpCompositeConstruct", kind, asm.number(7), y.id, both)
        case 1:
            start = asm.emit("OpUndef", kind)
            whole = asm.emit("OpCompositeInsert", kind, both, asm.emit("OpCompositeInsert", kind, y.id, start, 1), 2)
        case _:
            start = asm.once(f"OpConstantNull {kind}")
            whole = asm.emit("OpCompositeInsert", kind, y.id, start, 1)
            whole = asm.emit(
                "OpCompositeInsert", kind, y.id, asm.emit("OpCompositeInsert", kind, x.id, whole, 2, 0), 2, 1
            )
    room = asm.variable(kind)
    asm.do("OpStore", room, whole)
    place = asm.emit("OpAccessChain", asm.pointer("private", matrix), room, asm.number(2), asm.number(0))
    first = Value(asm.emit("OpLoad", matrix, place), x.matrix, x.of)
    second = Value(asm.emit("OpCompositeExtract", matrix, asm.emit("OpLoad", kind, room), 2, 1), x.matrix, y.of)
    return p.plus(first, second)


def constant_aggregate(p: Program, x: Value) -> Value:
    """Return an item of a constant array of constant matrices."""
    asm, component = p.asm, x.matrix.component
    matrix = asm.matrix(x.matrix)
    parts = [asm.once(f"OpConstantComposite {matrix} {asm.value(component, n)}") for n in (1, 2)]
    whole = asm.once(f"OpConstantComposite {asm.array(matrix, 2)} {' '.join(parts)}")
    two = np.full((x.matrix.rows, x.matrix.columns), from_integers(component, np.array(2)))
    if p.rng.random() < 0.5:
        room = asm.variable(asm.array(matrix, 2), whole)
        at = asm.emit("OpAccessChain", asm.pointer("private", matrix), room, asm.number(1))
        return Value(asm.emit("OpLoad", matrix, at), x.matrix, lambda _: two)
    return Value(asm.emit("OpCompositeExtract", matrix, whole, 1), x.matrix, lambda _: two)


def function(p: Program, x: Value) -> Value:
    """Return the result of f(m, pointer), which adds and stores; it is called twice, and calls another function."""
    asm, kind = p.asm, p.asm.matrix(x.matrix)
    pointer, name = asm.pointer("private", kind), asm.fresh("f")
    outer, asm.body = asm.body, Body(f"{name}_entry")
    values, p.values = p.values, []
    m, q = asm.fresh("m"), asm.fresh("q")
    one, other = Value(m, x.matrix, lambda e: e[m]), Value(asm.emit("OpLoad", kind, q), x.matrix, lambda e: e[q])
    result = p.plus(other, one)
    asm.do("OpStore", q, one.id)
    asm.functions += [
        f"{name} = OpFunction {kind} {p.rng.choice(['None', 'Inline', 'DontInline'])}"
        f" {asm.once(f'OpTypeFunction {kind} {kind} {pointer}')}",
        f"{m} = OpFunctionParameter {kind}",
        f"{q} = OpFunctionParameter {pointer}",
        f"{name}_entry = OpLabel",
        *asm.body.variables,
        *asm.body.code,
        f"OpReturnValue {result.id}",
        "OpFunctionEnd",
    ]
    asm.body, p.values = outer, values
    y, room = p.other(x), asm.variable(kind)
    asm.do("OpStore", room, y.id)
    first = Value(
        asm.emit("OpFunctionCall", kind, name, x.id, room), x.matrix, lambda e: result.of({m: x.of(e), q: y.of(e)})
    )
    second = Value(
        asm.emit("OpFunctionCall", kind, name, first.id, room),
        x.matrix,
        lambda e: result.of({m: first.of(e), q: x.of(e)}),
    )
    left = Value(asm.emit("OpLoad", kind, room), x.matrix, first.of)
    return p.plus(second, left)


def loop(p: Program, x: Value) -> Value:
    """Return the result of a loop with two phis that exchange their values; one of them grows."""
    asm, y = p.asm, p.other(x)
    kind, uint, count = asm.matrix(x.matrix), asm.integer(), int(p.rng.integers(1, 4))
    head, inside, behind, i, following, first, second = (asm.fresh() for _ in range(7))
    before = asm.body.block
    asm.label(head, f"OpBranch {head}")
    phi = len(asm.body.code)
    asm.do("")
    more = asm.emit("OpULessThan", asm.once("OpTypeBool"), i, asm.number(count))
    if p.rng.random() < 0.5:
        asm.do("OpLoopMerge", behind, inside, "None")
    asm.label(inside, f"OpBranchConditional {more} {inside} {behind}")
    u, v = Value(first, x.matrix, lambda e: e[first]), Value(second, x.matrix, lambda e: e[second])
    grown = p.plus(u, v)
    asm.do(following, "=", "OpIAdd", uint, i, asm.number(1))
    back = asm.body.block
    asm.body.code[phi] = "\n".join(
        [
            f"{i} = OpPhi {uint} {asm.number(0)} {before} {following} {back}",
            f"{first} = OpPhi {kind} {x.id} {before} {second} {back}",
            f"{second} = OpPhi {kind} {y.id} {before} {grown.id} {back}",
        ]
    )
    asm.label(behind, f"OpBranch {head}")

    def compute(e: Environment) -> np.ndarray:
        here = {first: x.of(e), second: y.of(e)}
        for _ in range(count):
            here = {first: here[second], second: grown.of({first: here[first], second: here[second]})}
        return here[second]

    return Value(second, x.matrix, compute)


def branches(p: Program, x: Value) -> Value:
    """Return a phi of the cases of a switch on a run-time number; some cases share a block."""
    asm, y = p.asm, p.other(x)
    kind, taken = asm.matrix(x.matrix), int(p.rng.integers(4))
    uint = asm.pointer("global", asm.integer())
    base = p.memory.argument(uint, Buffer(np.array([taken], np.uint32)))
    selector = asm.emit("OpLoad", asm.integer(), base, "Aligned", 4)
    one, two, end = (asm.fresh("case") for _ in range(3))
    start = asm.body.block
    if p.rng.random() < 0.5:
        asm.do("OpSelectionMerge", end, "None")
    asm.label(one, f"OpSwitch {selector} {end} 1 {one} 2 {two} 3 {two}")
    sum_ = p.plus(x, y)
    asm.label(two, f"OpBranch {end}")
    asm.label(end, f"OpBranch {end}")
    id_ = asm.emit("OpPhi", kind, x.id, start, sum_.id, one, y.id, two)
    return Value(id_, x.matrix, lambda e: (x, sum_, y, y)[taken].of(e))


def diamond(p: Program, x: Value) -> Value:
    """Return a phi of both sides of a branch: a constant, and a value that one side computes."""
    asm, y = p.asm, p.new(x.matrix)
    kind, taken = asm.matrix(x.matrix), bool(p.rng.integers(2))
    base = p.memory.argument(asm.pointer("global", asm.integer()), Buffer(np.array([taken], np.uint32)))
    number = asm.emit("OpLoad", asm.integer(), base, "Aligned", 4)
    condition = asm.emit("OpINotEqual", asm.once("OpTypeBool"), number, asm.number(0))
    yes, no, end = (asm.fresh("side") for _ in range(3))
    asm.label(yes, f"OpBranchConditional {condition} {yes} {no}")
    sum_ = p.plus(x, y)
    asm.label(no, f"OpBranch {end}")
    asm.label(end, f"OpBranch {end}")
    null = asm.once(f"OpConstantNull {kind}")
    id_ = asm.emit("OpPhi", kind, sum_.id, yes, null, no)
    return Value(id_, x.matrix, lambda e: sum_.of(e) if taken else np.zeros_like(x.of(e)))


def components(p: Program, x: Value) -> Value | None:
    """Return x plus one, computed component by component through addresses."""
    component = x.matrix.component
    if component.is_bits:
        return None
    asm, kind = p.asm, p.asm.matrix(x.matrix)
    room, uint, scalar = asm.variable(kind), asm.integer(), asm.scalar(component)
    asm.do("OpStore", room, x.id)
    count = asm.emit("OpCooperativeMatrixLengthKHR", uint, kind)
    head, inside, behind, i, following = (asm.fresh() for _ in range(5))
    before = asm.body.block
    asm.label(head, f"OpBranch {head}")
    asm.do(f"{i} = OpPhi {uint} {asm.number(0)} {before} {following} {inside}")
    more = asm.emit("OpULessThan", asm.once("OpTypeBool"), i, count)
    asm.label(inside, f"OpBranchConditional {more} {inside} {behind}")
    at = asm.emit("OpAccessChain", asm.pointer("private", scalar), room, i)
    value = asm.emit("OpLoad", scalar, at, "Aligned", component.size)
    name = "OpIAdd" if component.is_integer else "OpFAdd"
    asm.do("OpStore", at, asm.emit(name, scalar, value, asm.value(component, 1)), "Aligned", component.size)
    asm.do(f"{following} = OpIAdd {uint} {i} {asm.number(1)}")
    asm.label(behind, f"OpBranch {head}")
    one = np.full((x.matrix.rows, x.matrix.columns), from_integers(component, np.array(1)))
    return Value(
        asm.emit("OpLoad", kind, room), x.matrix, lambda e: numpy_reference.binary(component, "add", x.of(e), one)
    )


def parts(p: Program, x: Value) -> Value:
    """Return x after a component was extracted and inserted again, and copies."""
    asm, kind = p.asm, p.asm.matrix(x.matrix)
    index = int(p.rng.integers(x.matrix.rows))
    component = asm.emit("OpCompositeExtract", asm.scalar(x.matrix.component), x.id, index)
    same = asm.emit("OpCompositeInsert", kind, component, asm.emit("OpCopyObject", kind, x.id), index)
    return Value(asm.emit("OpCopyObject", kind, same), x.matrix, x.of)


def logical_copy(p: Program, x: Value) -> Value:
    """Return x passed through a logical copy between structures of equal members."""
    asm, matrix = p.asm, p.asm.matrix(x.matrix)
    kinds = [asm.once(f"OpTypeStruct {matrix} ;{which} of {matrix}") for which in ("one", "other")]
    first = asm.emit("OpCompositeConstruct", kinds[0], x.id)
    second = asm.emit("OpCopyLogical", kinds[1], first)
    return Value(asm.emit("OpCompositeExtract", matrix, second, 0), x.matrix, x.of)


_MAKERS: list[Callable[[Program, Value], Value | None]] = [
    *(operator, negation, conversion, product, variable, array, structure, function, loop, branches, diamond),
    *(components, parts, quotient, constant_aggregate, logical_copy),
]
