"""Atomic functions as SPIR-V instructions (specification, 3.56.19), called by names that LLVM's backend knows.

The memory semantics of an operation are its order and the storage class of its pointer. Floats are loaded, stored and
exchanged as integers: SPIR-V compares and exchanges integers only, and a device compiler loads a float by adding zero,
which loses the sign of -0.0. Private memory is accessed by plain loads and stores: no other work-item can access it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llvmlite import ir

from ...diagnostics import InternalError
from ...frontend.typed import BuiltinCall
from ...frontend.types import (
    INT,
    UINT,
    AddressSpace,
    AtomicType,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    align_of,
    integer_type,
)
from ..type_map import I1, I8, I32, VOID_TYPE
from . import address_spaces
from .builtin_calls import BuiltinContext, Lowering, mangle
from .synchronization import (
    ACQUIRE,
    ACQUIRE_RELEASE,
    DEVICE,
    RELAXED,
    RELEASE,
    SEQUENTIALLY_CONSISTENT,
    order_of,
    scope_of,
)

_CLASSES = {AddressSpace.GLOBAL: 0x200, AddressSpace.LOCAL: 0x100}

Plain = Callable[[BuiltinContext, ScalarType, ir.Value, ir.Value], ir.Value]


# --- in private memory ---------------------------------------------------------------------------


def _binary(integer: str, floating: str = "") -> Plain:
    def compute(ctx: BuiltinContext, t: ScalarType, old: ir.Value, value: ir.Value) -> ir.Value:
        return getattr(ctx.builder, floating if t.is_float else integer)(old, value)

    return compute


def _lesser_or_greater(name: str, order: str) -> Plain:
    def compute(ctx: BuiltinContext, t: ScalarType, old: ir.Value, value: ir.Value) -> ir.Value:
        if t.is_float:
            return ctx.call(mangle(f"f{name}", [t, t]), old.type, [old, value], ("nounwind", "readnone"))
        compare = ctx.builder.icmp_signed if t.signed else ctx.builder.icmp_unsigned
        return ctx.builder.select(compare(order, value, old), value, old)

    return compute


# --- the operations ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Operation:
    """A read-modify-write operation.

    signed, unsigned, floating: the suffix of the SPIR-V instruction by the operand's class.
    plain: emits the computation for private memory.
    """

    signed: str
    unsigned: str
    plain: Plain
    floating: str = ""

    def instruction(self, t: ScalarType) -> str:
        return self.floating if t.is_float else self.signed if t.signed else self.unsigned


_OPERATIONS = {
    "add": _Operation("IAdd", "IAdd", _binary("add", "fadd"), "FAddEXT"),
    "sub": _Operation("ISub", "ISub", _binary("sub", "fsub")),
    "and": _Operation("And", "And", _binary("and_")),
    "or": _Operation("Or", "Or", _binary("or_")),
    "xor": _Operation("Xor", "Xor", _binary("xor")),
    "min": _Operation("SMin", "UMin", _lesser_or_greater("min", "<"), "FMinEXT"),
    "max": _Operation("SMax", "UMax", _lesser_or_greater("max", ">"), "FMaxEXT"),
    "exchange": _Operation("Exchange", "Exchange", lambda ctx, t, old, value: value),
}


@dataclass(frozen=True, slots=True)
class _Access:
    """The parts of one call.

    element: the object's type.
    orders: the memory order, or two (success, failure) for compare and exchange.
    scope: the memory scope.
    """

    call: BuiltinCall
    pointer: ir.Value
    values: Sequence[ir.Value]
    element: ScalarType
    orders: tuple[int, ...]
    scope: int

    def instruction(
        self,
        ctx: BuiltinContext,
        name: str,
        pointer: ir.Value,
        element: ScalarType,
        values: Sequence[ir.Value] = (),
        result: ir.Type | None = None,
    ) -> ir.Value:
        """Emit `__spirv_Atomic<name>` on an object of type `element` at `pointer`."""
        space = AddressSpace(pointer.type.addrspace)
        fixed = [self.scope, *(order and order | _CLASSES[space] for order in self.orders)]
        types: list[Type] = [PointerType(element, Qualifiers(space, volatile=True)), *[UINT] * len(fixed)]
        arguments = [pointer, *(ir.Constant(I32, number) for number in fixed), *values]
        mangled = mangle(f"__spirv_Atomic{name}", [*types, *[element] * len(values)])
        return ctx.call(mangled, result or ctx.types.of(element), arguments, ("nounwind",))


def _access(call: BuiltinCall, arguments: Sequence[ir.Value], values: int, kinds: int = 1) -> _Access:
    """Split a call into the pointer, `values` values, `kinds` memory orders and the scope, with OpenCL's defaults."""
    pointer = call.parameters[0]
    assert isinstance(pointer, PointerType)
    pointee = pointer.pointee
    options = list(arguments[1 + values :])
    if isinstance(pointee, AtomicType):
        orders = tuple(order_of(order) for order in options[:kinds]) or (SEQUENTIALLY_CONSISTENT,) * kinds
        scope = scope_of(options[kinds]) if len(options) > kinds else DEVICE
        return _Access(call, arguments[0], arguments[1 : 1 + values], pointee.value, orders, scope)
    if not isinstance(pointee, ScalarType):
        raise InternalError(f"'{call.name}' of '{pointee}'", str(call.span))
    # The OpenCL C 1.x functions are relaxed.
    return _Access(call, arguments[0], arguments[1:], pointee, (RELAXED,) * kinds, DEVICE)


def _bits_of(t: ScalarType) -> ScalarType:
    return integer_type(t.bits, False) if t.is_float else t


def _as_bits(ctx: BuiltinContext, t: ScalarType, value: ir.Value) -> ir.Value:
    return ctx.builder.bitcast(value, ctx.types.of(_bits_of(t))) if t.is_float else value


def _from_bits(ctx: BuiltinContext, t: ScalarType, value: ir.Value) -> ir.Value:
    return ctx.builder.bitcast(value, ctx.types.of(t)) if t.is_float else value


def _load(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    access = _access(call, arguments, 0)
    t, order = access.element, access.orders[0]
    # A release load is invalid; the analysis has warned about it.
    order = order if order in (RELAXED, ACQUIRE) else SEQUENTIALLY_CONSISTENT
    access = _Access(call, access.pointer, (), t, (order,), access.scope)

    def act(pointer: ir.Value, space: AddressSpace) -> ir.Value:
        if space is AddressSpace.PRIVATE:
            return ctx.builder.load(pointer, align=align_of(t), typ=ctx.types.of(t))
        return _from_bits(ctx, t, access.instruction(ctx, "Load", pointer, _bits_of(t)))

    return address_spaces.in_known_space(ctx, access.pointer, act)


def _store(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> None:
    access = _access(call, arguments, 1)
    t, order = access.element, access.orders[0]
    order = order if order in (RELAXED, RELEASE) else SEQUENTIALLY_CONSISTENT
    access = _Access(call, access.pointer, access.values, t, (order,), access.scope)

    def act(pointer: ir.Value, space: AddressSpace) -> None:
        if space is AddressSpace.PRIVATE:
            ctx.builder.store(access.values[0], pointer, align=align_of(t))
            return
        bits = _as_bits(ctx, t, access.values[0])
        access.instruction(ctx, "Store", pointer, _bits_of(t), [bits], VOID_TYPE)

    address_spaces.in_known_space(ctx, access.pointer, act)


def _init(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> None:
    """Emit a plain store: `atomic_init` is not atomic (6.15.12.2), as no other work-item may access the object yet."""
    pointer, value = arguments
    parameter = call.parameters[1]
    ctx.builder.store(value, address_spaces.known_pointer(pointer), align=align_of(parameter))


def _update(ctx: BuiltinContext, access: _Access, operation: _Operation) -> ir.Value | None:
    t, value = access.element, access.values[0]
    if operation is _OPERATIONS["exchange"]:
        t, value = _bits_of(t), _as_bits(ctx, t, value)
    elif t.is_float and not operation.floating:
        # SPIR-V has no atomic FSub; a + -b is exactly a - b.
        operation, value = _OPERATIONS["add"], ctx.builder.fneg(value)

    def act(pointer: ir.Value, space: AddressSpace) -> ir.Value:
        if space is AddressSpace.PRIVATE:
            old = ctx.builder.load(pointer, align=align_of(t), typ=ctx.types.of(t))
            ctx.builder.store(operation.plain(ctx, t, old, value), pointer, align=align_of(t))
            return old
        return access.instruction(ctx, operation.instruction(t), pointer, t, [value])

    old = address_spaces.in_known_space(ctx, access.pointer, act)
    return old if t == access.element else _from_bits(ctx, access.element, old)


def _compare_exchange(ctx: BuiltinContext, access: _Access, expected: ir.Value, desired: ir.Value) -> ir.Value | None:
    """Emit a compare and exchange; operands and the result, the old value, are integers (`_bits_of`)."""
    t = _bits_of(access.element)

    def act(pointer: ir.Value, space: AddressSpace) -> ir.Value:
        if space is AddressSpace.PRIVATE:
            old = ctx.builder.load(pointer, align=align_of(t), typ=ctx.types.of(t))
            equal = ctx.builder.icmp_unsigned("==", old, expected)
            ctx.builder.store(ctx.builder.select(equal, desired, old), pointer, align=align_of(t))
            return old
        return access.instruction(ctx, "CompareExchange", pointer, t, [desired, expected])

    return address_spaces.in_known_space(ctx, access.pointer, act)


# order on failure -> order on success -> the order on success that is at least as strong as both.
_STRONGER = {
    ACQUIRE: {RELAXED: ACQUIRE, RELEASE: ACQUIRE_RELEASE},
    SEQUENTIALLY_CONSISTENT: dict.fromkeys((RELAXED, ACQUIRE, RELEASE, ACQUIRE_RELEASE), SEQUENTIALLY_CONSISTENT),
}


def _compare_exchange_c11(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value:
    """Lower `atomic_compare_exchange_*`: return whether the object was equal to `*expected`.

    If not, the object's value is stored in `*expected`.
    """
    access = _access(call, arguments, 2, kinds=2)
    t, builder = access.element, ctx.builder
    success, failure = access.orders
    # The order on failure is that of a load, so without release; success must be at least as strong.
    failure = {RELEASE: RELAXED, ACQUIRE_RELEASE: ACQUIRE}.get(failure, failure)
    success = _STRONGER.get(failure, {}).get(success, success)
    access = _Access(call, access.pointer, access.values, t, (success, failure), access.scope)
    place = address_spaces.known_pointer(access.values[0])
    expected = _as_bits(ctx, t, builder.load(place, align=align_of(t), typ=ctx.types.of(t)))
    old = _compare_exchange(ctx, access, expected, _as_bits(ctx, t, access.values[1]))
    equal = builder.icmp_unsigned("==", old, expected)
    old_value = _from_bits(ctx, t, old)
    if place.type.addrspace == AddressSpace.PRIVATE:
        builder.store(old_value, place, align=align_of(t))
    else:
        # Other work-items may see this memory, so write it on failure only.
        failed, end = (builder.append_basic_block(f"exchange.{name}") for name in ("failed", "end"))
        builder.cbranch(equal, end, failed)
        builder.position_at_end(failed)
        builder.store(old_value, place, align=align_of(t))
        builder.branch(end)
        builder.position_at_end(end)
    return builder.zext(equal, I8)


def _flag(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    access = _access(call, arguments, 0)
    clears = "clear" in call.name
    if clears:
        order = access.orders[0] if access.orders[0] in (RELAXED, RELEASE) else SEQUENTIALLY_CONSISTENT
        access = _Access(call, access.pointer, (), INT, (order,), access.scope)

    def act(pointer: ir.Value, space: AddressSpace) -> ir.Value | None:
        if space is AddressSpace.PRIVATE:
            old = ctx.builder.load(pointer, align=align_of(INT), typ=I32)
            ctx.builder.store(ir.Constant(I32, 0 if clears else 1), pointer, align=align_of(INT))
            return None if clears else ctx.builder.icmp_unsigned("!=", old, ir.Constant(I32, 0))
        if clears:
            access.instruction(ctx, "FlagClear", pointer, INT, (), VOID_TYPE)
            return None
        return access.instruction(ctx, "FlagTestAndSet", pointer, INT, (), I1)

    result = address_spaces.in_known_space(ctx, access.pointer, act)
    return None if result is None else ctx.builder.zext(result, I8)


# --- by name -------------------------------------------------------------------------------------


def _fetch(operation: str, step: int | None = None) -> Lowering:
    """Return the lowering of an operation with an argument, or with the constant `step`, that returns the old value."""

    def lower(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
        if step is None:
            return _update(ctx, _access(call, arguments, 1), _OPERATIONS[operation])
        one = ir.Constant(ctx.types.of(call.type), step)
        return _update(ctx, _access(call, [arguments[0], one], 1), _OPERATIONS[operation])

    return lower


def _compare_exchange_legacy(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    access = _access(call, arguments, 2, kinds=2)
    return _compare_exchange(ctx, access, *access.values)


_BY_NAME: dict[str, Lowering] = {
    "load": _load,
    "store": _store,
    "exchange": _fetch("exchange"),
    "compare_exchange_strong": _compare_exchange_c11,
    "compare_exchange_weak": _compare_exchange_c11,
    "flag_test_and_set": _flag,
    "flag_clear": _flag,
    "xchg": _fetch("exchange"),
    "cmpxchg": _compare_exchange_legacy,
    "inc": _fetch("add", 1),
    "dec": _fetch("sub", 1),
    **{name: _fetch(name) for name in ("add", "sub", "min", "max", "and", "or", "xor")},
}


def _atomic(ctx: BuiltinContext, call: BuiltinCall, arguments: Sequence[ir.Value]) -> ir.Value | None:
    """Lower `atomic_NAME`, `atomic_fetch_NAME` or `atom_NAME`, each with or without `_explicit`."""
    name = call.name.removesuffix("_explicit").removeprefix("atomic_").removeprefix("atom_").removeprefix("fetch_")
    return _BY_NAME[name](ctx, call, arguments)


LOWERINGS: dict[str, Lowering] = {"atomic": _atomic, "atomic_init": _init}
