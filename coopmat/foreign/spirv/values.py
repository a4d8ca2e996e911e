"""The lowering of instructions that move matrices: loads, stores, parts of aggregates, calls, component addresses.

Each function of CHANGES lowers an instruction and returns True, or returns False if the instruction has no matrices.
"""

from __future__ import annotations

from ...spirv.module import OP, Instruction, numbers
from ...spirv.module_globals import FUNCTION
from ...spirv.refusal import Refused, label, unsupported
from .function import Change, FunctionLowering
from .subgroups import query


def load(f: FunctionLowering, item: Instruction) -> bool:
    if item.result not in f.places:
        return query(f, item)
    f.copy(item.result, item.operands[0])
    return True


def store(f: FunctionLowering, item: Instruction) -> bool:
    pointer, value = item.operands[:2]
    if not f.carries(value):
        return False
    f.copy(pointer, f.place(value))
    return True


def variable(f: FunctionLowering, item: Instruction) -> bool:
    """Lower a variable: an initializer with matrices becomes a copy. Raise Refused outside of private memory."""
    type_id = f.definitions[item.result_type or 0].operands[1]
    if not f.types.carries(type_id):
        return False
    if item.operands[0] != FUNCTION:
        raise unsupported(item, "matrices in memory that is not private to a function are not supported")
    f.out.append(Instruction(item.opcode, item.operands[:1], item.result_type, item.result))
    if len(item.operands) > 1:
        source, before = f.place(item.operands[1]), f.out
        f.out = f.entry
        f.copy(item.result or 0, source)
        f.out = before
    return True


def alias(f: FunctionLowering, item: Instruction) -> bool:
    if not f.carries(item.operands[0]):
        return False
    f.places[item.result or 0] = f.place(item.operands[0])
    f.module.rewritten.add(item.result or 0)
    f.module.undefined.add(item.result or 0)
    return True


def extract(f: FunctionLowering, item: Instruction) -> bool:
    whole, *path = item.operands
    if not f.carries(whole):
        return False
    type_id = f.types.of(whole)
    if f.types.carries(item.result_type):
        result = item.result or 0
        address, _ = f.member(f.place(whole), type_id, path)
        f.places[result] = address
        f.module.rewritten.add(result)
        f.module.undefined.add(result)
    else:
        address, _ = f.member(f.place(whole), type_id, path)
        f.emit("OpLoad", item.result_type or 0, address, result=item.result)
    return True


def insert(f: FunctionLowering, item: Instruction) -> bool:
    part, whole, *path = item.operands
    if item.result not in f.places:
        return False
    f.copy(item.result, f.place(whole))
    _put(f, part, f.member(item.result, f.types.of(whole), path)[0])
    return True


def _put(f: FunctionLowering, value: int, address: int) -> None:
    if f.carries(value):
        f.copy(address, f.place(value))
    else:
        f.out.append(Instruction(OP["OpStore"], (address, value)))


def construct(f: FunctionLowering, item: Instruction) -> bool:
    """Lower the construction of an array or struct with matrices; return False for that of a matrix."""
    if item.result not in f.places:
        return False
    type_id = item.result_type or 0
    if type_id in f.types.matrices:
        return False
    for n, part in enumerate(item.operands):
        _put(f, part, f.member(item.result, type_id, [n])[0])
    return True


def undefined(f: FunctionLowering, item: Instruction) -> bool:
    return item.result in f.places


def copy_logical(f: FunctionLowering, item: Instruction) -> bool:
    """Lower OpCopyLogical to a copy: the two types have the same members."""
    if item.result not in f.places:
        return False
    pointer = f.globals.pointer(item.result_type or 0)
    f.copy(item.result, f.emit("OpBitcast", pointer, f.place(item.operands[0])))
    return True


def select(f: FunctionLowering, item: Instruction) -> bool:
    if item.result not in f.places:
        return False
    condition, *choices = item.operands
    if f.definitions[f.types.of(condition)].opcode != OP["OpTypeBool"]:
        raise unsupported(item, "a condition that is a vector cannot choose between matrices")
    pointer = f.globals.pointer(item.result_type or 0)
    f.copy(item.result, f.emit("OpSelect", pointer, condition, *map(f.place, choices)))
    return True


def call(f: FunctionLowering, item: Instruction) -> bool:
    callee, *arguments = item.operands
    version = f.module.version(callee, f.target)
    kind = f.definitions[f.definitions[callee].operands[1]]
    carries = [f.types.carries(t) for t in kind.operands]
    if not any(carries):
        f.out.append(Instruction(item.opcode, (version, *arguments), item.result_type, item.result))
        return True
    operands = [f.place(a) if carries[n] else a for n, a in enumerate(arguments, 1)]
    if carries[0]:
        void = f.globals.intern("OpTypeVoid")
        f.emit("OpFunctionCall", void, version, item.result or 0, *operands)
    else:
        f.out.append(Instruction(item.opcode, (version, *operands), item.result_type, item.result))
    return True


def return_value(f: FunctionLowering, item: Instruction) -> bool:
    if not f.carries(item.operands[0]):
        return False
    f.copy(f.returns, f.place(item.operands[0]))
    f.out.append(Instruction(OP["OpReturn"], ()))
    return True


# --- addresses of components -----------------------------------------------------------------------


def chain(f: FunctionLowering, item: Instruction) -> bool:
    base, *indices = item.operands
    first = 1 if item.opcode in _POINTER_CHAINS else 0
    type_id = f.types.pointee(base)
    if not f.types.carries(type_id):
        return False
    for n in range(first, len(indices)):
        if type_id in f.types.matrices:
            if n + 1 != len(indices):
                raise Refused("spirv-invalid", f"{label(item)} has an index behind that of a matrix component")
            _component(f, item, type_id, indices[:n], indices[n])
            return True
        at = f.types.constants.value(indices[n]) if f.definitions[type_id].opcode == OP["OpTypeStruct"] else 0
        type_id = f.types.member(type_id, at)
    return False


def _component(f: FunctionLowering, item: Instruction, type_id: int, path: list[int], index: int) -> None:
    """Emit the address of a component; if vectors hold the rows, the matrix is accessed as an array of components."""
    base = item.operands[0]
    if f.width(type_id) == 1:
        f.out.append(item)
        return
    space = f.types.storage_class(base)
    if path:
        base = f.emit(item.name, f.globals.pointer(type_id, space), base, *path)
    address(f, base, type_id, index, space, item.result)


def address(
    f: FunctionLowering, base: int, type_id: int, index: int, space: int = FUNCTION, result: int | None = None
) -> int:
    """Emit the address of a component of a matrix, given its index among those that the work-item holds."""
    pointer = f.globals.pointer(f.types.elements(type_id), space)
    if f.width(type_id) == 1:
        return f.emit("OpInBoundsAccessChain", pointer, base, index, result=result)
    return f.emit("OpInBoundsPtrAccessChain", pointer, f.emit("OpBitcast", pointer, base), index, result=result)


_POINTER_CHAINS = frozenset({OP["OpPtrAccessChain"], OP["OpInBoundsPtrAccessChain"]})


# Instructions whose pointee type has no meaning: front ends with opaque pointers choose any type.
_FROM_ANYWHERE = frozenset(numbers("Op*", "Phi Select FunctionCall FunctionParameter Load"))


def view(f: FunctionLowering, item: Instruction) -> bool:
    """Lower a bitcast of a pointer to an object with matrices to a pointer to another type, or back.

    Raise Refused if any other memory is cast to memory with matrices.
    """
    before, after = f.types.pointee_or_none(f.types.of(item.operands[0])), f.types.pointee_or_none(item.result_type)
    if f.types.carries(before) and after is not None and not f.types.carries(after):
        # A pointer to an object whose first part is no matrix may still be used.
        if f.types.first(before) in f.types.matrices:
            f.cast_addresses.add(item.result or 0)
        f.out.append(item)
        return True
    if not f.types.carries(after) or f.types.carries(before):
        return False
    if item.operands[0] not in f.cast_addresses and f.definitions[item.operands[0]].opcode not in _FROM_ANYWHERE:
        raise unsupported(item, "accessing other memory as that of a matrix is not supported")
    f.out.append(item)
    return True


def lifetime(f: FunctionLowering, item: Instruction) -> bool:
    """Drop lifetime markers: their sizes refer to types that the lowering removes, and they are only hints."""
    return f.module.has_matrices


def debug(f: FunctionLowering, item: Instruction) -> bool:
    """Drop debug information about values that are in memory now; return whether the instruction is dropped."""
    return item.operands[0] in f.module.debug_sets and f.names_matrices(item)


CHANGES: dict[int, Change] = {
    OP[f"Op{name}"]: change
    for name, change in {
        "Load": load,
        "Store": store,
        "Variable": variable,
        "CopyObject": alias,
        "CompositeExtract": extract,
        "CompositeInsert": insert,
        "Undef": undefined,
        "CopyLogical": copy_logical,
        "Select": select,
        "FunctionCall": call,
        "ReturnValue": return_value,
        "AccessChain": chain,
        "InBoundsAccessChain": chain,
        "PtrAccessChain": chain,
        "InBoundsPtrAccessChain": chain,
        "LifetimeStart": lifetime,
        "LifetimeStop": lifetime,
        "ExtInst": debug,
    }.items()
}
