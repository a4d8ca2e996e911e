"""An independent check of native modules for code that devices reject or that the specification leaves undefined."""

from __future__ import annotations

from collections.abc import Iterator

import coopmat

MATRIX = "OpTypeCooperativeMatrixKHR"
ACCESSES = ("OpCooperativeMatrixLoadKHR", "OpCooperativeMatrixStoreKHR")


def faults(module: coopmat.Module) -> list[str]:
    """Return the faults of a module: that it does not validate, or those that `readings` finds."""
    module.validate()
    return list(dict.fromkeys(readings(module.spirv_text)))


def readings(disassembly: str) -> Iterator[str]:
    lines = [line.split(";")[0].split() for line in disassembly.splitlines()]
    lines = [line for line in lines if line]
    made = {line[0]: line[2:] for line in lines if len(line) > 2 and line[1] == "="}
    code = [(line[2], line[3:]) if len(line) > 2 and line[1] == "=" else (line[0], line[1:]) for line in lines]
    if MATRIX not in {name for name, _ in code}:
        yield "there is no matrix in the module"

    def type_of(value: str) -> list[str]:
        return made[made[value][1]]

    for name, operands in code:
        if "LinkageAttributes" in operands or (name == "OpCapability" and operands[0] == "Linkage"):
            yield "something is imported"
        elif name == "OpMatrixTimesScalar":
            yield "OpMatrixTimesScalar needs the capability Matrix"
        elif name == "OpSelect" and made[operands[0]][0] == MATRIX:
            yield "OpSelect between matrices"
        elif name == "OpTypeInt" and operands[1] != "0":
            yield "an integer type with a sign"
        elif name in ACCESSES:
            yield from _access(name, operands, made, type_of(operands[3]))
        elif name in ("OpPtrAccessChain", "OpInBoundsPtrAccessChain"):
            # An access chain may step to another matrix, never into a matrix.
            if made[type_of(operands[1])[2]][0] == MATRIX and len(operands) > 3:
                yield f"{name} into a matrix"
        elif name == "OpBitcast" and made[operands[0]][0] == MATRIX and type_of(operands[1])[0] != MATRIX:
            yield "OpBitcast makes a matrix of something else"


def _access(name: str, operands: list[str], made: dict[str, list[str]], stride: list[str]) -> Iterator[str]:
    """Yield the faults of a load or store: pointer, layout and stride follow the result type or the object."""
    if stride[:2] != ["OpTypeInt", "64"]:
        yield f"{name}: the stride is no 64-bit integer"
    pointer = made[made[operands[1 if "Load" in name else 0]][1]]
    if pointer[1] not in ("CrossWorkgroup", "Workgroup", "UniformConstant"):
        yield f"{name} through a pointer to {pointer[1]}"
